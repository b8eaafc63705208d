"""The pipeline bench counts events a second through six actors whose effects answer at once.

The limit is what cannot be left out: the same events, each encoded, chained and put on the queue of
every decider that hears it, on bare asyncio queues. No turn, decision or log is in it.
"""

import asyncio
import cProfile
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import anyio

from bench import scripted
from bench.tables import Cell, middle, print_table
from rutter.actors.topology import DECIDERS, row
from rutter.events.chain import GENESIS, link
from rutter.events.codec import encode
from rutter.events.envelope import Envelope, kind
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.sqlite_log import SqliteLog
from rutter.pipeline.app import App

SIDE_BY_SIDE = (1, 8, 64)
SESSIONS = 64
ROUNDS = 3


async def run_sessions(app: App, sessions: int, side_by_side: int) -> None:
    started = scripted.started()
    first = app.clock.new_id("bench")
    left = iter(range(sessions))

    async def sail() -> None:
        for number in left:
            name = f"{first}-{number}"
            ended = await app.run_session(started, scripted.effectors(), name=name)
            if ended.reason != "completed":
                raise RuntimeError(f"a scripted session ended {ended.reason}: {ended.detail}")

    async with anyio.create_task_group() as group:
        for _ in range(side_by_side):
            group.start_soon(sail)


async def events_of_a_session() -> list[Envelope]:
    log = MemoryLog()
    async with App.open(log) as app:
        await app.run_session(scripted.started(), scripted.effectors(), name="sample")
    return [envelope async for envelope in log.read(session="sample")]


async def run_bare(sample: Sequence[Envelope], sessions: int) -> None:
    """The sample's events as often as so many sessions have them."""
    inboxes: dict[str, asyncio.Queue[Envelope]] = {name: asyncio.Queue(64) for name in DECIDERS}

    async def take(inbox: asyncio.Queue[Envelope]) -> None:
        while True:
            await inbox.get()
            inbox.task_done()

    async with anyio.create_task_group() as group:
        for inbox in inboxes.values():
            group.start_soon(take, inbox)
        for _ in range(sessions):
            previous = GENESIS
            for envelope in sample:
                previous = chained(previous, envelope)
                for name in row(envelope.event).deciders:
                    await inboxes[name].put(envelope)
                for name in row(envelope.event).deciders:
                    await inboxes[name].join()
        group.cancel_scope.cancel()


def chained(previous: bytes, envelope: Envelope) -> bytes:
    return link(
        previous,
        session=envelope.session,
        n=envelope.n,
        at_ns=envelope.at_ns,
        actor=envelope.actor,
        cause=envelope.cause,
        kind=kind(envelope.event),
        payload=encode(envelope.event),
    )


class Load(NamedTuple):
    log: str
    side_by_side: int


@asynccontextmanager
async def open_log(name: str) -> AsyncIterator[EventLog]:
    if name == "memory":
        yield MemoryLog()
        return
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as directory:
        yield await SqliteLog.open(Path(directory, "log.db"))


async def measure(load: Load, events: int) -> tuple[float, float]:
    """Events per second, and how many of them went into one commit."""
    async with open_log(load.log) as log, App.open(log) as app:
        await run_sessions(app, load.side_by_side, load.side_by_side)  # unmeasured, to warm up
        commits = _commits(log)
        began = perf_counter()
        await run_sessions(app, SESSIONS, load.side_by_side)
        took = perf_counter() - began
        together = events / max(1, _commits(log) - commits) if load.log == "sqlite" else 0.0
    return events / took, together


def _commits(log: EventLog) -> int:
    return log.statistics().commits if isinstance(log, SqliteLog) else 0


async def measure_bare(sample: Sequence[Envelope]) -> float:
    began = perf_counter()
    await run_bare(sample, SESSIONS)
    return len(sample) * SESSIONS / (perf_counter() - began)


async def compare() -> None:
    sample = await events_of_a_session()
    events = len(sample) * SESSIONS
    loads = [Load(log, count) for log in ("memory", "sqlite") for count in SIDE_BY_SIDE]
    rates: dict[Load, list[tuple[float, float]]] = defaultdict(list)
    bare: list[float] = []
    for _ in range(ROUNDS):
        bare.append(await measure_bare(sample))
        for load in loads:
            rates[load].append(await measure(load, events))
    limit = middle(bare)
    rows: list[list[Cell]] = [["bare queues, encode + hash", "", limit, 1e6 / limit, "", 1.0]]
    for load in loads:
        rate = middle([rate for rate, _ in rates[load]])
        together = middle([together for _, together in rates[load]])
        name = f"six actors, {load.log} log"
        committed: Cell = together if load.log == "sqlite" else ""
        rows.append([name, load.side_by_side, rate, 1e6 / rate, committed, rate / limit])
    print_table(
        f"scripted sessions of {len(sample)} events ({scripted.STEPS} steps), "
        f"{SESSIONS} of them, median of {ROUNDS} rounds (ratio to the bare queues)",
        ["through", "side by side", "events/s", "us each", "a commit", "ratio"],
        rows,
    )
    print("  sqlite is durable: synchronous=FULL, and every effect waits for its intent on disk")


# -- where the time goes ---------------------------------------------------------------------------

# Where a file belongs, the first that fits.
PLACES = (
    ("/pipeline/runtime/sequencer.py", "sequencer: turns, numbers"),
    ("/pipeline/", "sessions, queues"),
    ("/actors/", "deciders"),
    ("/events/", "log, chain, codec"),
    ("/bench/", "the scripted world"),
    ("hashlib", "log, chain, codec"),
    ("sha256", "log, chain, codec"),
    ("msgspec", "msgspec: encode, replace"),
    ("sqlite", "log, chain, codec"),
    ("/anyio/", "asyncio, anyio"),
    ("/asyncio/", "asyncio, anyio"),
    ("epoll", "waiting"),
)


class Cost(NamedTuple):
    where: str
    name: str
    calls: int
    seconds: float


async def profile(load: Load) -> list[Cost]:
    async with open_log(load.log) as log, App.open(log) as app:
        await run_sessions(app, 8, load.side_by_side)
        profiler = cProfile.Profile()
        profiler.enable()
        await run_sessions(app, SESSIONS, load.side_by_side)
        profiler.disable()
    return [
        Cost("", entry.code, entry.callcount, entry.inlinetime)
        if isinstance(entry.code, str)
        else Cost(entry.code.co_filename, entry.code.co_qualname, entry.callcount, entry.inlinetime)
        for entry in profiler.getstats()
    ]


def print_profile(load: Load) -> None:
    costs = asyncio.run(profile(load))
    total = sum(cost.seconds for cost in costs)
    places: dict[str, float] = defaultdict(float)
    for cost in costs:
        places[_place(f"{cost.where} {cost.name}")] += cost.seconds
    print_table(
        f"where the time goes ({load.log} log, {load.side_by_side} side by side, by cProfile)",
        ["own time in", "share"],
        [[place, share / total] for place, share in sorted(places.items(), key=lambda p: -p[1])],
    )
    print_table(
        "the most costly functions (own time)",
        ["function", "calls", "share"],
        [
            [f"{Path(cost.where).name} {cost.name}"[:60], cost.calls, cost.seconds / total]
            for cost in sorted(costs, key=lambda cost: -cost.seconds)[:12]
        ],
    )


def _place(function: str) -> str:
    return next((place for part, place in PLACES if part in function), "the rest of Python")


def main() -> None:
    asyncio.run(compare())
    print_profile(Load("memory", 8))


if __name__ == "__main__":
    main()
