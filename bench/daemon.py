"""The daemon bench runs many sessions at once, against plain Playwright scripts that do the same.

Both have as many browsers, contexts, drivers and proxies, and go to one site, each in a process of
its own. They take turns, and are as patient as Playwright is by itself. Ours is charged from the
first request to the last end that is verified and on disk; a script from opening its context to the
last document.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from http.client import HTTPConnection
from io import StringIO
from os import environ, getloadavg
from pathlib import Path
from statistics import quantiles
from time import perf_counter, sleep
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import psutil

from bench.plain_fleet import CUSTOMER, Played
from bench.spans import ms
from bench.tables import Cell, middle, print_table
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope, kind
from rutter.events.executor import QueryAnswered
from rutter.events.jobs import JobEnded
from rutter.events.planner import PlanProposed
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.demo import WATCHED
from rutter.pipeline.cli.main import main as rutter
from rutter.pipeline.daemon.browsers.memory import resident_mb
from rutter.pipeline.demo_sites.chandlery import order_script
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD
from rutter.replay.verify import verify

POOL = 4
AT_ONCE = (1, 2, 5, 10, 20)
ROUNDS = 3
AIM = 0.8
LOOK_S = 0.02
CALM_S = 20.0  # for browsers to take down the pages of sessions that ended
SPENDERS = ("python", "driver", "browser", "proxy")
SERVE = "import sys; from rutter.pipeline.cli.main import main; sys.exit(main())"
CONFIG = """
[policy]
allowed_domains = ["{host}"]
[secrets.password]
source = "file:{password}"
origins = ["{site}"]
[browser]
pool_size = {pool}
max_windows = {most}
recycle_after = 100000
[jobs]
running = {most}
per_workflow = {most}
waiting = {most}
[run]
resolve_ms = 30000
place_ms = 30000
answer_ms = 30000
"""


Spent = dict[str, float]  # seconds of a processor, by who spent them


class Ran(NamedTuple):
    """All sessions of one go took so long, each step so long, and all of it cost this."""

    took_s: float
    steps_ms: list[float]
    orders: list[str]
    spent: Spent


class Resident(NamedTuple):
    """The daemon holds memory, all browsers do; it has started processes, and has handles."""

    daemon_mb: int
    browsers_mb: int
    processes: int
    handles: int


def spent_by(process: psutil.Process) -> Spent:
    """So far, by it and all that it started. What has ended counts for whoever waited for it."""
    spent: Spent = dict.fromkeys(SPENDERS, 0.0)
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            name = each.name()
            who = "browser" if "chrom" in name else "driver" if name.startswith("node") else "proxy"
            took = each.cpu_times()
            if each == process:
                who, took = "python", took._replace(children_user=0.0, children_system=0.0)
            spent[who] += sum(took[:4])
    return spent


def since(before: Spent, after: Spent) -> Spent:
    return {who: after[who] - before[who] for who in SPENDERS}


class Round(NamedTuple):
    ours: Ran
    plain: Ran
    load: float


# -- ours ------------------------------------------------------------------------------------------


class Ours:
    """Our side is `rutter serve` in a process of its own; what became of its jobs is in its log."""

    def __init__(self, process: "subprocess.Popen[str]", url: str, data: Path) -> None:
        self._process = psutil.Process(process.pid)
        self._at = urlsplit(url)
        self._token = (data / "person.token").read_text().strip()
        self.log = data / "log.db"
        self._number = 0

    def run(self, number: int) -> Ran:
        with SqliteReader(self.log) as reader:
            before = reader.last_seq()
        spent, began = spent_by(self._process), perf_counter()
        with ThreadPoolExecutor(number) as pool:
            jobs = set(pool.map(self._submit, range(number)))
        ended: dict[str, JobEnded] = {}
        while len(ended) < number:
            sleep(LOOK_S)
            ended |= self._ended(before)
        took = perf_counter() - began
        spent = since(spent, spent_by(self._process))
        if ended.keys() != jobs:
            raise RuntimeError(f"other jobs ended than were handed in: {ended.keys() ^ jobs}")
        for end in ended.values():
            if end.reason != "completed":
                print(f"  of {number} at once one ended {end.reason}: {end.failure} {end.detail}")
        sessions = [each.session for each in ended.values() if each.reason == "completed"]
        return Ran(took, *self._steps(sessions), spent)

    def _submit(self, turn: int) -> str:
        values = {**WATCHED, "customer": CUSTOMER, "note": f"of {turn}"}
        body = {"kind": "workflow", "workflow": "order", "values": values}
        connection = HTTPConnection(self._at.hostname or "", self._at.port, timeout=120)
        connection.request(
            "POST",
            "/jobs",
            json.dumps(body),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        reply = connection.getresponse()
        told = json.loads(reply.read())
        connection.close()
        if reply.status != 202:
            raise RuntimeError(f"a job was refused: {told}")
        return str(told["job_id"])

    def _ended(self, after: int) -> dict[str, JobEnded]:
        with SqliteReader(self.log) as reader:
            found = [each.event for each in reader.read(after, kinds=[kind(JobEnded)])]
        return {each.job: each for each in found if isinstance(each, JobEnded)}

    def _steps(self, sessions: list[str]) -> tuple[list[float], list[str]]:
        steps, orders = list[float](), list[str]()
        with SqliteReader(self.log) as reader:
            for session in sessions:
                events = list(reader.read(session=session))
                steps += steps_of(events)
                orders += orders_of(events)
        return steps, orders

    def resident(self) -> Resident:
        family = self._process.children(recursive=True)
        return Resident(
            resident_mb([self._process.pid]) or 0,
            resident_mb([each.pid for each in family if "chrom" in each.name()]) or 0,
            len(family),
            self._process.num_fds(),
        )

    def calm(self, processes: int) -> Resident:
        """When it has no more processes than before, or has had time for that."""
        deadline = perf_counter() + CALM_S
        while (found := self.resident()).processes > processes and perf_counter() < deadline:
            sleep(LOOK_S)
        return found


def steps_of(events: list[Envelope]) -> list[float]:
    """From the proposal to the verdict, or to the answer of what is only read."""
    began: dict[int, int] = {}
    took: list[float] = []
    for envelope in events:
        event = envelope.event
        if isinstance(event, PlanProposed):
            began[event.step] = envelope.at_ns
        elif isinstance(event, ActionJudged | QueryAnswered) and event.step in began:
            took.append(ms(envelope.at_ns - began.pop(event.step)))
    return took


def orders_of(events: list[Envelope]) -> list[str]:
    """The number of the order is all that the workflow reads."""
    answers = [each.event for each in events if isinstance(each.event, QueryAnswered)]
    return [each.text.text for each in answers if each.text is not None]


# -- the plain side --------------------------------------------------------------------------------


class Plain:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = psutil.Process(process.pid)
        self._ask, self._answers = process.stdin, process.stdout
        self._answers.readline()  # it is up

    def run(self, number: int) -> Ran:
        spent = spent_by(self._process)
        self._ask.write(f"{number}\n".encode())
        self._ask.flush()
        played = msgspec.json.decode(self._answers.readline(), type=Played)
        spent = since(spent, spent_by(self._process))
        return Ran(played.took_s, played.calls_ms, played.orders, spent)


# -- all of it -------------------------------------------------------------------------------------


@contextmanager
def started(*command: str, **more: Any) -> Iterator["subprocess.Popen[Any]"]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(environ), **more)
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.terminate()
        process.wait()


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def prepare(root: Path, site: str) -> Path:
    """A data directory with the workflow recorded in it, and room for all sessions at once."""
    data, password, script, yes = (root / name for name in ("data", "password", "script", "yes"))
    password.write_text(DEFAULT_PASSWORD)
    script.write_text(json.dumps(order_script(site, **WATCHED)))
    yes.write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 4))
    host = site.removeprefix("http://")
    params = [part for pair in WATCHED.items() for part in ("--param", "=".join(pair))]
    secret = ["--secret", f"password=file:{password}"]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        where = ["--script", str(script), "--allow", host, "--answers", str(yes)]
        code = rutter(["--data", str(data), "record", "order", *where, *params, *secret])
    if code != 0:
        raise RuntimeError("the workflow could not be recorded")
    place = data / "config.toml"
    place.write_text(
        CONFIG.format(host=host, site=site, password=password, pool=POOL, most=max(AT_ONCE))
    )
    place.chmod(0o600)
    return data


@contextmanager
def both(root: Path, pool: int = POOL) -> Iterator[tuple[Ours, Plain]]:
    """Both sides, warm, and the site."""
    with ExitStack() as stack:
        site = stack.enter_context(
            started(sys.executable, "-m", "rutter.pipeline.demo_sites.chandlery", text=True)
        )
        address = first_line(site).partition("/login")[0]
        data = prepare(root, address)
        errors = stack.enter_context((root / "daemon.err").open("w"))
        serve = (sys.executable, "-c", SERVE, "--data", str(data), "--json", "serve", "--port", "0")
        daemon = stack.enter_context(started(*serve, text=True, stderr=errors))
        ready = first_line(daemon)
        if not ready:
            raise RuntimeError((root / "daemon.err").read_text())
        fleet = (sys.executable, "-m", "bench.plain_fleet", address, str(pool))
        plain = stack.enter_context(started(*fleet, stdin=subprocess.PIPE))
        yield Ours(daemon, json.loads(ready)["url"], data), Plain(plain)


def measure(ours: Ours, plain: Plain, at_once: int, rounds: int) -> list[Round]:
    found = []
    for number in range(rounds):
        load = getloadavg()[0]
        if number % 2:  # either side goes first as often as the other
            theirs = plain.run(at_once)
            found.append(Round(ours.run(at_once), theirs, load))
        else:
            mine = ours.run(at_once)
            found.append(Round(mine, plain.run(at_once), load))
    return found


def rate_of(ran: Ran) -> float:
    """Only what was really ordered counts: to end early would be fast and worthless."""
    return len(set(ran.orders)) / ran.took_s


def finished(rounds: list[Round], at_once: int) -> str:
    """Of both sides, how many of all came to their end in time."""
    sides = ([each.ours for each in rounds], [each.plain for each in rounds])
    done = [sum(len(set(ran.orders)) for ran in side) for side in sides]
    return f"{done[0]}, {done[1]} of {at_once * len(rounds)}"


def p95(figures: list[float]) -> float:
    return quantiles(figures, n=20, method="inclusive")[-1] if len(figures) > 1 else figures[0]


def row_of(at_once: int, rounds: list[Round]) -> list[Cell]:
    mine, theirs = [each.ours for each in rounds], [each.plain for each in rounds]
    steps = [step for ran in mine for step in ran.steps_ms]
    calls = [step for ran in theirs for step in ran.steps_ms]
    return [
        f"{at_once} at once",
        middle([rate_of(ran) for ran in mine]),
        middle([rate_of(ran) for ran in theirs]),
        middle([rate_of(each.ours) / rate_of(each.plain) for each in rounds]),
        finished(rounds, at_once),
        middle(steps),
        p95(steps),
        p95(calls),
        middle([each.load for each in rounds]),
    ]


def print_throughput(rows: list[list[Cell]], rounds: int) -> None:
    print_table(
        f"19 steps each on the bundled site, {POOL} browsers, {rounds} rounds in turns",
        [
            "sessions",
            "ours/s",
            "plain/s",
            "ratio",
            "finished",
            "step ms",
            "p95",
            "plain p95",
            "load",
        ],
        rows,
    )
    print("  ratio: throughput to plain Playwright's in the same round, median; aim", AIM)
    print("  a step of ours is from its proposal to its verdict; one of plain is a call")


def costs_of(at_once: int, rounds: list[Round]) -> list[Cell]:
    """Whoever else works on the machine does not change these much."""

    def each(side: list[Ran], who: str) -> float:
        return middle([ran.spent[who] / at_once for ran in side])

    mine, theirs = [each.ours for each in rounds], [each.plain for each in rounds]
    totals = [
        middle([sum(ran.spent.values()) / at_once for ran in side]) for side in (mine, theirs)
    ]
    parts = [each(side, who) for who in SPENDERS for side in (mine, theirs)]
    return [f"{at_once} at once", *totals, totals[1] / totals[0], *parts]


def print_costs(rows: list[list[Cell]]) -> None:
    print_table(
        "what a session costs, seconds of a processor; of each part ours, then plain Playwright's",
        [
            "sessions",
            "ours",
            "plain",
            "ratio",
            *(each for who in SPENDERS for each in (who, "plain")),
        ],
        rows,
    )


def print_memory(marks: list[tuple[str, Resident]]) -> None:
    print_table(
        "what it has in memory, MiB",
        ["when", "daemon", "browsers", "processes", "handles"],
        [[when, *each] for when, each in marks],
    )


def check_log(log: Path) -> None:
    with SqliteReader(log) as reader:
        report = verify(reader.read())
    if report.divergence is not None:
        raise RuntimeError(f"the log does not replay: {report.divergence}")
    print(f"\nthe log of all of them: {report.decisions:,} decisions derived again, no divergence")


def main(rounds: int = ROUNDS) -> None:
    root = Path(tempfile.mkdtemp(prefix="rutter-bench-"))
    rows: list[list[Cell]] = []
    costs: list[list[Cell]] = []
    try:
        with both(root) as (ours, plain):
            for side in (ours, plain):
                side.run(POOL)  # once unmeasured: every browser has opened a page
            marks = [("warm", ours.calm(0))]
            for at_once in AT_ONCE:
                found = measure(ours, plain, at_once, rounds)
                rows.append(row_of(at_once, found))
                costs.append(costs_of(at_once, found))
                marks.append((f"after {at_once} at once", ours.calm(marks[0][1].processes)))
            log = ours.log
        print_throughput(rows, rounds)
        print_costs(costs)
        print_memory(marks)
        check_log(log)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
