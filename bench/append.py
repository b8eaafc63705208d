"""The append bench measures throughput of the log against a bare sqlite3 loop in the same run.

The loop is what cannot be beaten: one thread, no event loop, the same table, pragmas and rows, as
many to an INSERT as the log reached on average, the parameters ready before the clock starts, and
as many checkpoints. Log and loop take turns, so that both see the same disk.
"""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.tables import Cell, middle, print_table
from rutter.events import sqlite_schema as schema
from rutter.events.envelope import Record, kind
from rutter.events.sqlite_log import SqliteLog
from tests.crash.vfs import RecordingVfs
from tests.support.envelopes import Scribe, marked_turn

TURNS = {1: 200, 8: 1_000, 64: 4_000}  # per round, by writers: about a fifth of a second each
EVENTS = ["x" * 250] * 4  # in a turn: a fact and three decisions, about 300 bytes each
ROUNDS = 11
AIM = 0.9


class Round(NamedTuple):
    log_s: float
    raw_s: float
    events: int
    commits: int


async def append_all(log: SqliteLog, turns: Sequence[list[Record]], writers: int) -> None:
    """Each writer hands in a turn, waits until it is on disk, and takes the next."""
    left = iter(turns)

    async def write() -> None:
        for turn in left:
            await log.append(turn)

    async with asyncio.TaskGroup() as group:
        for _ in range(writers):
            group.create_task(write())


async def time_log(log: SqliteLog, turns: Sequence[list[Record]], writers: int) -> float:
    begun = perf_counter()
    await append_all(log, turns, writers)
    async for _ in log.read(log.next_seq - 2):  # behind a checkpoint, when one is under way
        pass
    return perf_counter() - begun


def time_raw(
    raw: sqlite3.Connection, turns: Sequence[list[Record]], batch: int, checkpoints: int
) -> float:
    rows = [row_of(record) for turn in turns for record in turn]
    batches = [rows[at : at + batch] for at in range(0, len(rows), batch)]
    calls = [(statement(len(some)), [value for row in some for value in row]) for some in batches]
    begun = perf_counter()
    for sql, values in calls:
        raw.execute(sql, values)
    for _ in range(checkpoints):
        raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    return perf_counter() - begun


def row_of(record: Record) -> tuple[object, ...]:
    e, payload = record
    return (e.seq, e.session, e.n, e.at_ns, e.actor, e.cause, kind(e.event), payload, e.hash)


def statement(rows: int) -> str:
    row = f"({','.join('?' * schema.COLUMNS)})"
    return f"INSERT INTO events VALUES {','.join([row] * rows)}"


def make_turns(scribe: Scribe, count: int) -> list[list[Record]]:
    return [scribe.turn(f"session-{i % 64}", marked_turn(i, EVENTS)) for i in range(count)]


def open_raw(path: Path) -> sqlite3.Connection:
    schema.create_file(path)
    raw = sqlite3.connect(path, isolation_level=None, cached_statements=256)
    for pragma in schema.WRITER_PRAGMAS:
        raw.execute(pragma)
    return raw


async def measure(directory: Path, writers: int) -> list[Round]:
    """The first round warms both up and is left out."""
    log, scribe, rounds = await SqliteLog.open(directory / "log.db"), Scribe(), list[Round]()
    with closing(open_raw(directory / "raw.db")) as raw:
        for _ in range(ROUNDS + 1):
            turns, before = make_turns(scribe, TURNS[writers]), log.statistics()
            log_s = await time_log(log, turns, writers)
            after = log.statistics()
            events, commits = after.events - before.events, after.commits - before.commits
            checkpoints = after.checkpoints - before.checkpoints
            raw_s = time_raw(raw, turns, round(events / commits), checkpoints)
            rounds.append(Round(log_s, raw_s, events, commits))
    await log.close()
    return rounds[1:]


def syncs_per_commit(directory: Path, writers: int) -> Cell:
    """Counted by the kernel where strace is there, else by a VFS below SQLite."""
    child = [sys.executable, "-m", "bench.append", str(directory / "counted.db"), str(writers)]
    summary = directory / "strace"
    if shutil.which("strace"):
        strace = ["strace", "-f", "-c", "-e", "trace=fdatasync", "-o", str(summary)]
        done = subprocess.run([*strace, *child], capture_output=True, text=True)
        if done.returncode == 0:
            calls = [line.split()[3] for line in summary.read_text().splitlines() if "sync" in line]
            return int(calls[0]) / int(done.stdout)
    done = subprocess.run([*child, "vfs"], capture_output=True, text=True)
    if done.returncode == 0:
        commits, syncs = map(int, done.stdout.split())
        return syncs / commits
    return "not measured"


def count_in_child(path: Path, writers: int, vfs: RecordingVfs | None) -> Iterator[int]:
    """The commits of one round and, with a VFS, the syncs that they took."""

    async def run() -> int:
        log = await SqliteLog.open(path)
        await append_all(log, make_turns(Scribe(log.next_seq), TURNS[writers]), writers)
        await log.close()
        return log.statistics().commits

    asyncio.run(log_made(path))
    before = len(vfs.ops) if vfs else 0
    yield asyncio.run(run())
    if vfs:
        yield sum(op.what == "sync" for op in vfs.ops[before:])


async def log_made(path: Path) -> None:
    log = await SqliteLog.open(path)
    await log.close()


def row(writers: int) -> list[Cell]:
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as name:
        directory = Path(name)
        rounds = asyncio.run(measure(directory, writers))
        events = rounds[0].events
        return [
            str(writers),
            middle([one.events / one.commits for one in rounds]),
            int(events / middle([one.log_s for one in rounds])),
            int(events / middle([one.raw_s for one in rounds])),
            middle([one.raw_s / one.log_s for one in rounds]),
            syncs_per_commit(directory, writers),
        ]


def main() -> None:
    print_table(
        f"append, synchronous=FULL, against a bare sqlite3 loop (aim {AIM} at 64 writers; "
        f"medians of {ROUNDS} rounds in {tempfile.gettempdir()})",
        ["writers", "events/commit", "log, events/s", "raw, events/s", "ratio", "syncs/commit"],
        [row(writers) for writers in TURNS],
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        place, count, *with_vfs = sys.argv[1:]
        recorder = RecordingVfs().install() if with_vfs else None
        print(*count_in_child(Path(place), int(count), recorder))
    else:
        main()
