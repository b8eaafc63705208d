"""`rutter demo` takes the bundled site from start to finish: record, learn, run alone, predict,
verify, replay."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.rules.steps.confidence import hundredths
from rutter.events.durable import write_whole
from rutter.events.envelope import Envelope
from rutter.events.errors import RutterError
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.run_settings import Limits
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.cli.session_run import open_pipeline
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import going_by
from rutter.pipeline.demo_sites.chandlery import Order, Site, order_script
from rutter.pipeline.queries.workflows_and_sessions import catch_up, find_workflow, project
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.start import StartedSession
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare
from rutter.replay.accuracy.threshold_curve import ratio
from rutter.replay.projections.metrics import snapshot
from rutter.replay.step_record import StepRecord
from rutter.replay.steps import SessionSteps
from rutter.replay.story.advice import money
from rutter.replay.story.told_session import Story
from rutter.replay.verify import verify

NAME = "order"
PORT = "site.port"
# What the script types while it is watched, and what the run alone types instead.
WATCHED = {
    "customer": "Aurora Shipping",
    "product": "mooring-rope",
    "quantity": "3",
    "delivery": "2026-03-20",
    "berth": "Waalhaven pier 7",
    "note": "Call the bosun on arrival.",
}
ALONE = {
    "customer": "Juniper Tankers",
    "product": "shackle-bow",
    "quantity": "12",
    "delivery": "2026-04-02",
    "berth": "Botlek quay 2",
    "note": "Second gangway.",
}
# The same work once more, begun by nobody but the address: what comes next is predicted.
PREDICTED = {
    "customer": "Fairlead Offshore",
    "product": "signal-rocket",
    "quantity": "2",
    "delivery": "2026-04-09",
    "berth": "Maasvlakte quay 5",
    "note": "At the gate.",
}
AT_ITS_END = Indicator("heading", "Orders")
STEPS = 40  # at most, in the free run: twice what the order takes
RIGHT = 0.8  # of what it predicts, at least
APPROVES = PersonAnswer(True, "it is the script being recorded", "confirm")


Measures = Mapping[str, float]


class DemoFailed(RutterError):
    """The demo did not come out as it must."""


def demo(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Everything on embedded defaults: SQLite, headless Chromium, the site on loopback."""
    own = msgspec.structs.replace(settings, data=settings.data / "demo", named=True)
    with _site(own.data / PORT) as site:
        terminal.say(f"Chandlery, a ship chandler's back office, is at {site.base_url}")
        stories, measured = asyncio.run(_record_and_run(site, own, terminal))
        for story, values, number in zip(stories[1:], (ALONE, PREDICTED), (-2, -1), strict=True):
            order = _check_on_server(site.orders[number], story, values)
            told = f"order {order.number} for {order.customer}: {order.note}"
            terminal.say(f"checked on the server: {told}")
    _replay(own, terminal)
    catch_up(own)
    _sum_up(stories, measured, own, terminal)


@contextmanager
def _site(place: Path) -> Iterator[Site]:
    """At the address that it had the last time, if nobody else has it: what was learned there
    counts there."""
    kept = place.read_text("ascii") if place.exists() else "0"
    site = Site(port=int(kept) if kept.isdecimal() else 0)
    with ExitStack() as opened:
        try:
            opened.enter_context(site)
        except OSError:
            site = opened.enter_context(Site())
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(place, str(site.port).encode())
        yield site


async def _record_and_run(
    site: Site, settings: Settings, terminal: Terminal
) -> tuple[tuple[Story, Story, Story], Measures]:
    secrets = {"password": site.password}
    recorded = msgspec.convert(order_script(site.base_url, **WATCHED), RecorderScript)
    script = prepare(recorded, WATCHED, secrets)
    host, sure = site.base_url.removeprefix("http://"), settings.config.sureness
    async with open_pipeline(settings, terminal) as opened:
        opened.app.listen(_Shown(terminal).hear)
        terminal.say(f"\n1. Watch: a script of {len(script.steps)} steps is recorded as {NAME!r}")
        # The script is the person's own work here: a scripted person approves what it submits,
        # and the log says that it was one.
        started = session_started.recording(NAME, script.steps, WATCHED, secrets, allow=[host])
        person = ScriptedPerson(otherwise=APPROVES)
        session = StartedSession(going_by(started, sure), secrets, typed=script.typed)
        watched = await opened.run(session, person, "watching")
        _check_end(watched)
        workflow = find_workflow(settings, NAME)
        terminal.say(f"\n2. Run it alone: {NAME!r} version {workflow.version}, other values")
        started = going_by(session_started.run_of(workflow, ALONE, secrets), sure)
        session = StartedSession(started, secrets)
        alone = await opened.run(session, ScriptedPerson(), "running alone")
        _check_end(alone)
        before = _counted(settings)
        terminal.say("\n3. Predict: no workflow is named; the next step is, before it is done")
        free = session_started.free_run(
            f"{site.base_url}/login",
            PREDICTED,
            secrets,
            threshold=sure.threshold,
            limits=Limits(max_steps=STEPS),
            given=session_started.Given(criteria=Criteria(success=(AT_ITS_END,))),
            allow=[host],
        )
        session = StartedSession(going_by(free, sure), secrets)
        predicted = await opened.run(session, ScriptedPerson(otherwise=APPROVES), "predicting")
        _check_end(predicted)
        after = _counted(settings)
    new = {name: after[name] - before[name] for name in before}
    accuracy = ratio(round(new["correct_predictions"]), round(new["total_predictions"]))
    return (watched, alone, predicted), {**new, "prediction_accuracy": accuracy}


def _counted(settings: Settings) -> Measures:
    with project(settings) as store:
        found = snapshot(store.db)
    return {name: found[name] for name in ("total_predictions", "correct_predictions")}


class _Shown:
    """Each step is shown when it has come to something, and what is predicted before that."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._told: set[int] = set()
        self._steps = SessionSteps()

    def hear(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, SessionStarted):
            self._told, self._steps = set(), SessionSteps()
        self._steps.take(envelope)
        if isinstance(event, PlanProposed) and event.driver == "prediction":
            sure, step = hundredths(event.probability or 0), self._steps.steps[event.step]
            self._terminal.say(f"            {sure} sure of what comes next: {step.proposed}")
        for each in self._steps.in_order:
            # What failed may be tried in another way, as long as nothing else has begun.
            over = each is not self._steps.in_order[-1] or isinstance(event, RunStopped)
            if each.step not in self._told and (each.done or (each.verdict and over)):
                self._told.add(each.step)
                self._say(each)
        if isinstance(event, RunStopped):
            self._terminal.say(f"       {self._ended(event)}")

    def _ended(self, stop: RunStopped) -> str:
        started = self._steps.started
        if stop.reason == "completed" and started is not None and started.workflow is not None:
            return "done: the last page is the one you ended on when you recorded"
        return f"{'done' if stop.reason == 'completed' else stop.reason}: {stop.detail}"

    def _say(self, step: StepRecord) -> None:
        mark = "[OK]  " if step.done else "[FAIL]"
        asked = f"  asked: {step.asked}" if step.asked else ""
        own = "  allowed, because you did it yourself when recording"
        gate = own if step.rule == "standing_approval" else ""
        words = f"{step.number:2}  {step.words}  ({step.took_ms:.0f} ms)"
        self._terminal.say(f"{mark} {words}{asked}{gate}")


def _check_end(story: Story) -> None:
    if story.reason != "completed":
        raise DemoFailed(f"the demo stopped: {story.detail}", "run: rutter doctor")


def _check_on_server(order: Order, story: Story, values: Mapping[str, str]) -> Order:
    """The result as the server has it, not as the page says it."""
    expected = {**values, "quantity": int(values["quantity"])}
    found = {name: getattr(order, name) for name in expected}
    if found != expected or str(order.number) != story.results.get("order_number"):
        raise DemoFailed(f"the server has {found}, not {expected}", "this is a bug: report it")
    return order


def _replay(settings: Settings, terminal: Terminal) -> None:
    with SqliteReader(settings.directory.log) as reader:
        report = verify(reader.read())
    if report.divergence is not None:
        raise DemoFailed(f"replay differs: {report.divergence}", "this is a bug: report it")
    terminal.say(
        f"decided again from the log: {report.decisions} decisions of {report.sessions} sessions, "
        "no divergence"
    )


def _tell_measured(measured: Measures, terminal: Terminal) -> None:
    """S0's own metrics, of the part in which it predicts: nobody expected the recording."""
    terminal.say()
    for name in ("total_predictions", "correct_predictions", "prediction_accuracy"):
        terminal.say(f"{name:<24}{measured[name]:>7g}")
    if measured["prediction_accuracy"] <= RIGHT:
        raise DemoFailed("too little of what it predicted was right", "this is a bug: report it")


def _sum_up(
    stories: tuple[Story, Story, Story],
    measured: Measures,
    settings: Settings,
    terminal: Terminal,
) -> None:
    watched, alone, predicted = stories
    calls = sum(story.model_calls for story in stories)
    spent = money(sum(story.cost_microdollars for story in stories))
    log = str(settings.directory.log)
    told = {"watched": watched, "alone": alone, "predicted": predicted}
    terminal.answer({**told, "metrics": measured, "log": log})
    _tell_measured(measured, terminal)
    terminal.say(
        f"\nwatched {len(watched.steps)} steps in {watched.took_ms / 1000:.1f} s, did "
        f"{len(alone.steps)} alone in {alone.took_ms / 1000:.1f} s; "
        f"{calls} model calls, {spent}"
    )
    terminal.say(f"log: {settings.directory.log}")
    terminal.say(f"look at it: {settings.command(f'show {alone.session}')}")
