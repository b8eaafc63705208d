"""The flow bench runs the order workflow of the bundled site: ours against plain Playwright.

Both run in one browser process, in turns, each in a fresh context. A span begins when the page is
open and ends when the last step is done: the document it led to is there; ours goes on until the
end is verified, and is charged for that too. What ours does besides, to read back what was stored,
is no part of the same steps: its time is given apart.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter_ns, time_ns
from typing import Any, NamedTuple

import msgspec
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from bench.plain import play_order
from bench.spans import PHASES, Span, ms, read_backs_ms, spans_of
from bench.tables import Cell, middle, p90, print_table
from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import QUIET, new_context
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate, OpenPassage, Passage
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionDone
from rutter.events.planner import RunStopped
from rutter.events.policy import Policy
from rutter.events.predictor import WorkflowLearned
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import Installer
from rutter.pipeline.demo_sites.chandlery import Site, order_script
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare

ROUNDS = 12
HERE = Policy("1", hosts=("127.0.0.1",), public_hosts=False, public_resources=False)
AIM = 1.0
RECORDED, CUSTOMER = "Aurora Shipping", "Fairlead Offshore"
SECRETS = {"password": DEFAULT_PASSWORD}


class Course(NamedTuple):
    """A course has the same steps for both sides: a script that ours records with `recorded` and
    runs with `values`, and plain calls. `documents` are the addresses that the last run of either
    loaded by GET; `check` raises where a side has not done its work."""

    title: str
    base_url: str
    script: Mapping[str, Any]
    recorded: Mapping[str, str]
    values: Mapping[str, str]
    secrets: Mapping[str, str]
    play: Callable[[Page], Awaitable[object]]
    documents: Callable[[], Sequence[str]]
    check: Callable[[int], None]


class Timing(NamedTuple):
    """A run took so long. `all_ms` is with opening the context, the others are without."""

    done_ms: float
    all_ms: float
    verified_ms: float = 0.0
    loads_ms: float = 0.0
    read_back_ms: float = 0.0


class SharedBrowser:
    """Both sides share one Chromium, which notes when a page was open. Ours goes out by the gate,
    plain Playwright goes out directly."""

    def __init__(self, browser: Browser, gate: Gate) -> None:
        self._browser = browser
        self._gate = gate
        self.opened_ns = 0

    async def new_context(self) -> BrowserContext:
        return await self.context_of(OpenPassage())

    async def context_of(self, passage: Passage) -> BrowserContext:
        return await new_context(self._browser, passage)

    async def open_window(self, policy: Policy = HERE) -> Window:
        passage = await self._gate.open(policy)
        window = await Window.open(await self.context_of(passage), passage=passage)
        self.opened_ns = time_ns()
        return window


@asynccontextmanager
async def shared_browser() -> AsyncIterator[SharedBrowser]:
    arguments = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright, Gate() as gate:
        browser = await playwright.chromium.launch(
            executable_path=Installer(print).ensure(), args=arguments
        )
        yield SharedBrowser(browser, gate)
        await browser.close()


class Ours:
    """Our side is the pipeline with its log on disk, and what it appended."""

    def __init__(self, app: App, browser: SharedBrowser, course: Course) -> None:
        self._app, self._browser, self._course = app, browser, course
        self.events: list[Envelope] = []
        app.listen(self.events.append)

    async def record(self) -> Workflow:
        """Once, from the script; a scripted person approves what cannot be undone."""
        course = self._course
        recorded = msgspec.convert(course.script, RecorderScript)
        script = prepare(recorded, course.recorded, course.secrets)
        host = course.base_url.removeprefix("http://")
        started = session_started.recording(
            "flow", script.steps, course.recorded, course.secrets, allow=[host]
        )
        person = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
        await self._app.run_in_browser(
            started, self._browser, answers=person, secrets=course.secrets, typed=script.typed
        )
        learned = [e.event for e in self.events if isinstance(e.event, WorkflowLearned)]
        return learned[-1].workflow

    async def run(self, workflow: Workflow) -> Timing:
        self.events.clear()
        course = self._course
        started = session_started.run_of(workflow, course.values, course.secrets)
        began_ns = time_ns()
        ended = await self._app.run_in_browser(started, self._browser, secrets=course.secrets)
        if ended.reason != "completed":
            raise RuntimeError(f"the run ended {ended.reason}: {ended.failure} {ended.detail}")
        done_ns = max(e.at_ns for e in self.events if isinstance(e.event, ActionDone))
        verified_ns = max(e.at_ns for e in self.events if isinstance(e.event, RunStopped))
        opened_ns, apart = self._browser.opened_ns, read_backs_ms(self.events)
        return Timing(
            ms(done_ns - opened_ns) - apart,
            ms(verified_ns - began_ns) - apart,
            ms(verified_ns - opened_ns) - apart,
            read_back_ms=apart,
        )


async def run_plain(browser: SharedBrowser, course: Course) -> Timing:
    began_ns = time_ns()
    context = await browser.new_context()
    page = await context.new_page()
    opened_ns = time_ns()
    await course.play(page)
    done_ns = time_ns()
    loads_ms = await load_again(page, course)
    await context.close()
    return Timing(ms(done_ns - opened_ns), ms(done_ns - began_ns), loads_ms=loads_ms)


async def load_again(page: Page, course: Course) -> float:
    """Only the page loads of the run behind it, one after the other: what nobody can leave out."""
    documents = list(course.documents())
    began_ns = time_ns()
    for path in documents:
        await page.goto(course.base_url + path, wait_until="domcontentloaded")
    return ms(time_ns() - began_ns)


def sync_ms(directory: Path, times: int = 60) -> list[float]:
    """What the disk takes for one write of a turn's size and its fsync, with nothing around."""
    took = []
    with (directory / "raw").open("wb", buffering=0) as file:
        for _ in range(times):
            began = perf_counter_ns()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            took.append(ms(perf_counter_ns() - began))
    return took


class Measured(NamedTuple):
    """Both sides are measured in all rounds, ours in every phase of every step."""

    plain: list[Timing]
    ours: list[Timing]
    spans: list[list[Span]]
    syncs_ms: list[float]


async def measure(course: Course, rounds: int) -> Measured:
    measured = Measured([], [], [], [])
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as name:
        log = await SqliteLog.open(Path(name, "log.db"))
        async with shared_browser() as browser, App.open(log) as app:
            ours = Ours(app, browser, course)
            workflow = await ours.record()
            await run_plain(browser, course)  # both sides once unmeasured: caches are warm
            await ours.run(workflow)
            for number in range(rounds):
                if number % 2:  # either side goes first as often as the other
                    measured.plain.append(await run_plain(browser, course))
                measured.ours.append(await ours.run(workflow))
                if not number % 2:
                    measured.plain.append(await run_plain(browser, course))
                measured.spans.append(spans_of(ours.events))
                measured.syncs_ms.extend(sync_ms(Path(name), 5))
        course.check(2 * rounds + 2)
    return measured


def order_course(site: Site) -> Course:
    """A side that ordered for somebody else, or not at all, would be fast and worthless."""
    last = 0

    async def play(page: Page) -> None:
        nonlocal last
        last = len(site.requests)
        await play_order(page, site.base_url, CUSTOMER)

    def documents() -> list[str]:
        asked = site.requests[last:]
        return [path for method, path in asked if method == "GET" and "/api/" not in path]

    def check(runs: int) -> None:
        placed = [order.customer for order in site.orders[-runs:]]
        if placed != [CUSTOMER] * runs:
            raise RuntimeError(f"the orders placed are not the ones asked for: {placed}")

    return Course(
        title="19 steps on the bundled site",
        base_url=site.base_url,
        script=order_script(site.base_url, customer=RECORDED),
        recorded={"customer": RECORDED},
        values={"customer": CUSTOMER},
        secrets=SECRETS,
        play=play,
        documents=documents,
        check=check,
    )


def print_comparison(title: str, measured: Measured) -> None:
    plain, ours = measured.plain, measured.ours
    done = [run.done_ms for run in plain]
    opening = [run.all_ms for run in plain]
    sides = [
        ("page loads alone, one goto each", [run.loads_ms for run in plain], done),
        ("plain Playwright, last step done", done, done),
        ("ours, last step done", [run.done_ms for run in ours], done),
        ("ours, end verified", [run.verified_ms for run in ours], done),
        ("apart: ours, reading back what was stored", [run.read_back_ms for run in ours], done),
        ("plain Playwright, with opening its context", opening, opening),
        ("ours, end verified, with opening its context", [run.all_ms for run in ours], opening),
    ]
    print_table(
        f"{title}, {len(ours)} rounds in turns, ms",
        ["from the open page to", "median", "p90", "best", "ratio"],
        [
            [name, middle(took), p90(took), min(took), paired_ratio(took, limit)]
            for name, took, limit in sides
        ],
    )
    print(f"  ratio to plain Playwright in the same round, median; aim {AIM} with the end verified")


def paired_ratio(took: list[float], limit: list[float]) -> float:
    """Other work on the machine comes and goes: a round is compared with itself only."""
    return middle([ours / theirs for ours, theirs in zip(took, limit, strict=True)])


def print_breakdown(measured: Measured) -> None:
    """Medians over the rounds of what a whole run spent on each phase."""
    rows: list[list[Cell]] = []
    for phase in PHASES:
        rows.append(_row(measured, phase))
        if phase == "act":
            actions = dict.fromkeys(span.action for span in measured.spans[0] if span.what == phase)
            rows.extend(_row(measured, phase, action) for action in actions)
    print_table(
        "where our time goes, from the log itself, ms",
        ["phase", "times", "each", "in a run", "share"],
        rows,
    )
    print("  act: from the intent on disk to a settled page, with the loads that it caused")


def _row(measured: Measured, phase: str, action: str = "") -> list[Cell]:
    chosen = [
        [s.ms for s in run if s.what == phase and action in ("", s.action)]
        for run in measured.spans
    ]
    total = middle([sum(run) for run in chosen])
    whole = middle([sum(s.ms for s in run if s.what in PHASES) for run in measured.spans])
    name = f"  {phase}: {action}" if action else phase
    return [name, len(chosen[0]), total / len(chosen[0]), total, total / whole]


def print_latencies(measured: Measured) -> None:
    def of(what: str) -> list[float]:
        return [span.ms for run in measured.spans for span in run if span.what == what]

    syncs, durable = measured.syncs_ms, of("make durable")
    decision, prediction = of("decision"), of("prediction")
    print_table(
        "latencies, ms (ratio to the limit in the same row)",
        ["what", "median", "p90", "most", "limit", "ratio"],
        [
            _latency("the log in a step: intent numbered -> executor has it", durable, 5.0),
            _latency("the same, to a bare 4 KB write + fsync here", durable, middle(syncs)),
            _latency("decision: page observed -> plan proposed", decision, 500.0),
            _latency("prediction: page assessed -> step due", prediction, 10.0),
        ],
    )


def _latency(name: str, figures: list[float], limit: float) -> list[Cell]:
    typical = middle(figures)
    return [name, typical, p90(figures), max(figures), limit, typical / limit]


def print_all(title: str, measured: Measured) -> None:
    print_comparison(title, measured)
    print_breakdown(measured)
    print_latencies(measured)


def main(rounds: int = ROUNDS) -> None:
    with Site() as site:
        course = order_course(site)
        print_all(course.title, asyncio.run(measure(course, rounds)))


if __name__ == "__main__":
    main()
