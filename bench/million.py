"""The million bench opens and folds a log of a million events, and predicts while sessions run on
it.

The log is made first (`bench.long_log`): all of its sessions were really run. Each part is measured
in a process of its own, beside the least that it could do with the same rows: reading them and
decoding them. CPU beside wall time, because other work on the machine is in the latter.

`RUTTER_BENCH_EVENTS` is how many events, `RUTTER_BENCH_LOG` a file to keep the log in: one that is
there is taken as it is.
"""

import asyncio
import gc
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from time import perf_counter, perf_counter_ns, process_time, thread_time, thread_time_ns
from typing import Any, NamedTuple

import anyio
import psutil

from bench.long_log import SIDE_BY_SIDE, Use, make
from bench.tables import Cell, print_table
from rutter.actors.decider import DecidingActor
from rutter.actors.predictor import Predictor
from rutter.actors.predictor.knowledge import Knowledge
from rutter.actors.predictor.model.learners import BREAK, kept
from rutter.events import sqlite_schema as schema
from rutter.events.codec import decode
from rutter.events.critic import PageAssessed
from rutter.events.envelope import Envelope, kind
from rutter.events.observer import PageObserved
from rutter.events.predictor import (
    LEARNED,
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    WorkflowLearned,
)
from rutter.events.runtime import LogSealed, SessionEnded, SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.runtime.recovery import learn_from_log, open_sessions, unsealed_heads
from rutter.replay.projections.store import ProjectionStore
from rutter.replay.verify import fresh_deciders

EVENTS = int(os.environ.get("RUTTER_BENCH_EVENTS", "1000000"))
TEACHING = sorted(kind(event) for event in LEARNED)
WORKFLOWS = [each for each in TEACHING if each.startswith(("Workflow", "Effects"))]
STEPS = [each for each in TEACHING if each not in WORKFLOWS]
ENDS = [kind(SessionStarted), kind(SessionEnded)]
SESSIONS = 200  # that run on the log
TICK_S = 0.005
ASKED = 3  # workflows, as the Predictor asks
HISTORIES = 3_000

Rows = list[list[Cell]]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as directory:
        path = Path(os.environ.get("RUTTER_BENCH_LOG") or Path(directory, "log.db"))
        if not path.exists():
            _make(path)
        _describe(path)
        for part in PARTS:
            subprocess.run([sys.executable, "-m", "bench.million", part, str(path)], check=True)


def _make(path: Path) -> None:
    began, told = perf_counter(), 0

    def progress(events: int) -> None:
        nonlocal told
        if events * 10 // EVENTS > told:
            told = events * 10 // EVENTS
            seconds = perf_counter() - began
            print(f"  made {events:,} events in {seconds:,.0f} s", file=sys.stderr, flush=True)

    asyncio.run(make(path, EVENTS, progress))


def _describe(path: Path) -> None:
    with SqliteReader(path) as reader:
        kinds = dict(reader.query("SELECT kind, count(*) FROM events GROUP BY kind"))
        [(workflows,)] = reader.query(
            "SELECT count(DISTINCT session) FROM events WHERE kind = 'WorkflowLearned'"
        )
    events = sum(kinds.values())
    size = path.stat().st_size / 2**20
    print(
        f"{events:,} events of {kinds[kind(SessionStarted)]:,} sessions, {size:,.0f} MiB; of these"
    )
    told = ("PageObserved", "PredictionMade", "TransitionLearned", "TransitionUndone")
    print("  " + ", ".join(f"{kinds.get(each, 0):,} {each}" for each in told))
    forgotten = kinds.get(kind(SessionForgotten), 0)
    print(f"  {workflows:,} sessions taught a workflow, {forgotten} were forgotten")


# -- measuring -------------------------------------------------------------------------------------


class Cost(NamedTuple):
    wall_s: float
    cpu_s: float
    grown: int  # bytes that are resident more than before


def cost(work: Callable[[], object]) -> Cost:
    gc.collect()
    before = _resident()
    wall, cpu = perf_counter(), process_time()
    held = work()
    wall, cpu = perf_counter() - wall, process_time() - cpu
    gc.collect()
    grown = _resident() - before
    del held
    return Cost(wall, cpu, grown)


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


def _peak() -> float:
    """The most that was ever resident, in MiB. Where the kernel tells it of this program alone:
    the other figure counts what started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        [told] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(told.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def _row(what: str, taken: Cost, count: int, limit: Cost | None) -> list[Cell]:
    each = taken.cpu_s * 1e6 / count if count else 0.0
    ratio: Cell = taken.cpu_s / limit.cpu_s if limit is not None else ""
    return [what, count, taken.wall_s, taken.cpu_s, each, taken.grown / 2**20, ratio]


COLUMNS = ("what", "count", "wall s", "CPU s", "us each", "MiB", "ratio")


def _raw(path: Path, kinds: Sequence[str] | None) -> Iterator[schema.Row]:
    """The rows in one query: no reading of ours can be cheaper."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    where = f"WHERE kind IN ({','.join('?' * len(kinds))})" if kinds else ""
    yield from db.execute(f"SELECT * FROM events {where} ORDER BY seq", kinds or ())
    db.close()


def _count(path: Path, kinds: Sequence[str]) -> int:
    with SqliteReader(path) as reader:
        marks = ",".join("?" * len(kinds))
        [(count,)] = reader.query(f"SELECT count(*) FROM events WHERE kind IN ({marks})", *kinds)
    return int(count)


# -- opening ---------------------------------------------------------------------------------------


def opening(path: Path) -> None:
    """What `App.open` does, part by part, against reading and decoding the rows that it needs."""
    taught, ends = _count(path, TEACHING), _count(path, ENDS)
    seals = _count(path, [kind(LogSealed)])
    read = cost(lambda: _drain(_raw(path, TEACHING)))
    bare = cost(lambda: _drain(decode(row[7]) for row in _raw(path, TEACHING)))
    rows: Rows = [
        _row("limit: bare read of what was learned", read, taught, bare),
        _row("limit: read and decoded", bare, taught, bare),
    ]
    knowledge = Knowledge()
    learned = cost(lambda: _learn(path, knowledge))
    rows.append(_row("learn_from_log", learned, taught, bare))
    rows.append(_row("unsealed_heads", cost(lambda: _on_log(path, unsealed_heads)), seals, bare))
    rows.append(_row("open_sessions", cost(lambda: _on_log(path, open_sessions)), ends, bare))
    print_table("opening, part by part (ratio of CPU to read and decoded)", COLUMNS, rows)
    print(f"  the journal has {len(knowledge.journal):,} rows; peak {_peak():,.0f} MiB in all")


def whole(path: Path) -> None:
    """`App.open` and nothing else, in a fresh process."""
    before = _peak()
    opened = cost(lambda: asyncio.run(_open(path)))
    print_table(
        "opening, whole: App.open in a fresh process, and closing it again",
        COLUMNS[:-1],
        [_row("App.open", opened, 0, None)[:-1]],
    )
    print(f"  peak {_peak():,.0f} MiB, {_peak() - before:,.0f} above the process that only imports")


async def _open(path: Path) -> None:
    async with App.open(await SqliteLog.open(path)):
        pass


def _learn(path: Path, knowledge: Knowledge) -> None:
    async def learn() -> None:
        log = await SqliteLog.open(path)
        await learn_from_log(log, Predictor(knowledge))
        await log.close()

    asyncio.run(learn())


def _on_log(path: Path, work: Callable[[SqliteLog], Any]) -> object:
    async def run() -> object:
        log = await SqliteLog.open(path)
        found = await work(log)
        await log.close()
        return found

    return asyncio.run(run())


def _drain(some: Iterable[object]) -> None:
    for _ in some:
        pass


# -- folding ---------------------------------------------------------------------------------------


def folding(path: Path) -> None:
    """Models from the journal, as the first session that needs one has them folded."""
    knowledge = Knowledge()
    _learn_bare(path, knowledge)
    count = len(knowledge.journal)
    limit = cost(lambda: _drain(knowledge.journal.rows()))
    rows: Rows = [_row("limit: the journal's rows, unpacked", limit, count, limit)]
    seeds = cost(lambda: knowledge.as_seeds((), 1))
    rows.append(_row("markov2, folded for the first prediction", seeds, count, limit))
    foresight = cost(lambda: knowledge.foreseen((), "", 1, ()))
    rows.append(_row("foresight, folded for the first prediction", foresight, count, limit))
    taught = _first_lesson(path)
    forgotten = cost(lambda: _forget(knowledge, taught.session))
    rows.append(_row("a session forgotten", forgotten, 1, None))
    again = cost(lambda: knowledge.foreseen((), "", 1, ()))
    rows.append(_row("foresight, folded again without it", again, count, limit))
    print_table(
        "folding the models (ratio of CPU to the limit)",
        (*COLUMNS[:5], COLUMNS[6]),
        [[*row[:5], row[6]] for row in rows],
    )
    for name, taken in (("markov2", seeds), ("foresight", foresight)):
        print(f"  {name}: {count / taken.cpu_s:,.0f} transitions a second (CPU)")


def holding(path: Path) -> None:
    """What is held after it, by what Python itself allocated."""
    tracemalloc.start()
    knowledge = Knowledge()
    parts: dict[str, Callable[[], object]] = {
        "the journal, and how each thing is done": lambda: _learn_bare(path, knowledge, STEPS),
        "every version of every workflow": lambda: _learn_bare(path, knowledge, WORKFLOWS),
        "markov2": lambda: knowledge.as_seeds((), 1),
        "foresight": lambda: knowledge.foreseen((), "", 1, ()),
    }
    rows: Rows = []
    for name, part in parts.items():
        before = _held()
        part()
        rows.append([name, _held() - before])
    count = len(knowledge.journal)
    for row in rows:
        row.append("" if "workflow" in str(row[0]) else float(row[1]) * 1e6 / count)
    print_table(
        f"memory held for {count:,} rows of the journal, MiB",
        ("what", "MiB", "a million rows"),
        rows,
    )


def _held() -> float:
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20


def _first_lesson(path: Path) -> Envelope:
    with SqliteReader(path) as reader:
        return next(reader.read(kinds=[kind(TransitionLearned)]))


def _learn_bare(path: Path, knowledge: Knowledge, kinds: Sequence[str] = TEACHING) -> None:
    for row in _raw(path, kinds):
        knowledge.open_turn(row[0])
        knowledge.take_in(schema.to_envelope(row))
    knowledge.open_turn(sys.maxsize)


def _forget(knowledge: Knowledge, session: str) -> None:
    forgotten = SessionForgotten(session)
    knowledge.take_in(Envelope(0, "process", 1, 0, "runtime", 0, forgotten, b""))
    knowledge.open_turn(sys.maxsize)


# -- projections -----------------------------------------------------------------------------------


def projecting(path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as directory:
        place = Path(directory, "projections.db")
        with SqliteReader(path) as reader, ProjectionStore(place) as store:
            events = reader.last_seq()
            limit = cost(lambda: _drain(reader.read()))
            taken = cost(lambda: store.rebuild(reader))
        size = place.stat().st_size / 2**20
    print_table(
        f"all projections rebuilt, {size:,.0f} MiB of tables (ratio of CPU to the limit)",
        COLUMNS,
        [
            _row("limit: read and decoded", limit, events, limit),
            _row("every table rebuilt", taken, events, limit),
        ],
    )


# -- while sessions run ----------------------------------------------------------------------------


class Timed(DecidingActor[Any]):
    """The Predictor's steps took this: of each page, from its being heard to what was predicted.
    The first one folds the model."""

    def __init__(self, predictor: Predictor) -> None:
        super().__init__(predictor)
        self.taken_us: list[float] = []
        self._heard: dict[str, float] = {}

    def step(self, envelope: Envelope) -> tuple[AnyEvent, ...]:
        began = thread_time_ns()
        decided = super().step(envelope)
        took = (thread_time_ns() - began) / 1_000
        match envelope.event:
            case PageObserved():
                self._heard[envelope.session] = took
            case PageAssessed() if any(isinstance(each, PredictionMade) for each in decided):
                self.taken_us.append(took + self._heard.pop(envelope.session, 0.0))
            case _:
                pass
        return decided


class Turns:
    """A turn took so long, from a page to what was predicted, by the times of the log."""

    def __init__(self) -> None:
        self.taken_us: list[float] = []
        self._observed: dict[str, int] = {}

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case PageObserved():
                self._observed[envelope.session] = envelope.at_ns
            case PredictionMade() if envelope.session in self._observed:
                took = envelope.at_ns - self._observed.pop(envelope.session)
                self.taken_us.append(took / 1_000)
            case _:
                pass


class Lags:
    """A loop that should come round every few milliseconds was so late, so much of it by our own
    CPU, and so long because the collector of garbage held it up."""

    def __init__(self) -> None:
        self.late_us: list[float] = []
        self.own_us: list[float] = []
        self.collected_us = [0.0]
        self._began = 0

    async def watch(self) -> None:
        while True:
            began, busy = perf_counter(), thread_time()
            await asyncio.sleep(TICK_S)
            late = max(0.0, perf_counter() - began - TICK_S)
            self.late_us.append(late * 1e6)
            self.own_us.append(min(late, thread_time() - busy) * 1e6)

    def collect(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = perf_counter_ns()
        else:
            self.collected_us.append((perf_counter_ns() - self._began) / 1_000)


class Running(NamedTuple):
    first_us: float
    predictor: list[float]
    turns: list[float]
    lags: Lags


def running(path: Path) -> None:
    """Sessions side by side in one pipeline: on this log, and on one that is new."""
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as directory:
        new = asyncio.run(_run(Path(directory, "log.db"), path))
    rows: Rows = []
    for name, ran in (("a new log", new), ("this log", asyncio.run(_run(path, path)))):
        rows += [
            [f"{name}: the first prediction, Predictor's CPU", 1, "", "", "", ran.first_us],
            [f"{name}: the others, Predictor's CPU", *_spread(ran.predictor)],
            [f"{name}: from a page to its prediction", *_spread(ran.turns)],
            [f"{name}: the loop's lag", *_spread(ran.lags.late_us)],
            [f"{name}: of it our own CPU", *_spread(ran.lags.own_us)],
            [f"{name}: collecting garbage", *_spread(ran.lags.collected_us)],
        ]
    print_table(
        f"{SESSIONS} sessions, {SIDE_BY_SIDE} at once, in microseconds",
        ("what", "count", "p50", "p95", "p99", "most"),
        rows,
    )


async def _run(path: Path, known: Path) -> Running:
    use = Use(sys.maxsize)
    with SqliteReader(known) as reader:
        for envelope in reader.read(kinds=[kind(WorkflowLearned)]):
            use.hear(envelope)
    use.take_over()
    predictor, turns, lags = Timed(Predictor()), Turns(), Lags()
    others = [actor for actor in fresh_deciders() if actor.name != predictor.name]
    log = await SqliteLog.open(path)
    async with App.open(log, deciders=[*others, predictor]) as app:
        app.listen(turns.hear)
        gc.callbacks.append(lags.collect)
        async with anyio.create_task_group() as group:
            group.start_soon(lags.watch)
            await use.sail_many(app, SESSIONS)
            group.cancel_scope.cancel()
        gc.callbacks.remove(lags.collect)
    return Running(predictor.taken_us[0], predictor.taken_us[1:], turns.taken_us, lags)


def _spread(taken: Sequence[float]) -> list[Cell]:
    cuts = quantiles(taken, n=100, method="inclusive") if len(taken) > 1 else [*taken] * 99
    return [len(taken), cuts[49], cuts[94], cuts[98], max(taken)]


# -- which workflow --------------------------------------------------------------------------------


def whereabouts(path: Path) -> None:
    """Which recorded workflow a session is in, asked after every step of many of the log's."""
    knowledge = Knowledge()
    _learn_bare(path, knowledge)
    knowledge.within((), ASKED)  # the first prediction folds the model
    taken: list[float] = []
    for history in _histories(path):
        began = thread_time_ns()
        knowledge.within(history, ASKED)
        taken.append((thread_time_ns() - began) / 1_000)
    print_table(
        f"which of {len(_names(path))} workflows a session is in, CPU in microseconds",
        ("what", "count", "p50", "p95", "p99", "most"),
        [["within, after each step", *_spread(taken)]],
    )


def _names(path: Path) -> set[str]:
    with SqliteReader(path) as reader:
        lessons = [envelope.event for envelope in reader.read(kinds=[kind(WorkflowLearned)])]
    return {each.workflow.name for each in lessons if isinstance(each, WorkflowLearned)}


def _histories(path: Path) -> Iterator[tuple[str, ...]]:
    """What the last sessions of the log had done after each of their steps."""
    histories: dict[str, tuple[str, ...]] = {}
    with SqliteReader(path) as reader:
        [(first,)] = reader.query(
            "SELECT min(seq) FROM (SELECT seq FROM events WHERE kind = 'TransitionLearned' "
            "ORDER BY seq DESC LIMIT ?)",
            HISTORIES,
        )
        for envelope in reader.read(first - 1, kinds=[kind(TransitionLearned)]):
            learned = envelope.event
            assert isinstance(learned, TransitionLearned)
            history = histories.get(envelope.session, ())
            broken = history and not learned.after
            history = kept((*history, *((BREAK,) if broken else ()), learned.token))
            histories[envelope.session] = history
            yield history


PARTS: dict[str, Callable[[Path], None]] = {
    "opening": opening,
    "whole": whole,
    "folding": folding,
    "holding": holding,
    "projecting": projecting,
    "whereabouts": whereabouts,
    "running": running,
}

if __name__ == "__main__":
    if sys.argv[1:]:
        PARTS[sys.argv[1]](Path(sys.argv[2]))
    else:
        main()
