"""The SQLite log has one writer, and one fsync for all the turns that wait together.

One task owns the writing connection and its checkpoints. It is never cancelled: callers wait on
its acknowledgement. A batch is one multi-row INSERT, which is its own transaction: one hop to
the database thread and one fdatasync, however many sessions wait for it. Under load two batches
are on their way: while the thread syncs one, the loop wakes its writers and gathers the next.

Everything else on this connection is fetched in the hop that runs it (`execute_fetchall`). A read
left open makes a checkpoint fail, and an open checkpoint puts off the next commit to the moment
when its cursor is dropped, where an error is told to nobody.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import aiosqlite
import msgspec

from rutter.events import sqlite_schema as schema
from rutter.events.envelope import Envelope, Record, kind
from rutter.events.errors import LogWriteFailed
from rutter.events.log import MAX_TURN, check_turn

# SQLite takes 32,766 variables in a statement; nine a row leaves room for this many rows.
MAX_ROWS = MAX_TURN
PAGE = 1_000
# With this many turns a batch goes to the database thread while the one before it is still there,
# so that the thread does not wait for the loop. With fewer, one more sync costs more than that.
AHEAD_TURNS = 16
# Fold the WAL back when it is idle and past the first, at the latest past the second.
CHECKPOINT_IDLE_BYTES = 4 << 20
CHECKPOINT_BYTES = 32 << 20


class LogStatistics(msgspec.Struct, frozen=True):
    """Statistics count what the writer has done so far."""

    events: int
    commits: int
    checkpoints: int
    waiting: int


class _Pending(NamedTuple):
    turn: Sequence[Record]
    done: asyncio.Future[None]


class SqliteLog:
    """A log is opened by `SqliteLog.open`; the directory's lock is the caller's
    (`rutter.pipeline.config.data_directory`)."""

    def __init__(self, path: Path, connection: aiosqlite.Connection, next_seq: int) -> None:
        self._path = path
        self._connection = connection
        self._next_seq = self._first_seq = next_seq
        self._waiting: deque[_Pending] = deque()
        self._in_flight: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._failed: LogWriteFailed | None = None
        self._closing = False
        self._since_checkpoint = 0
        self._events = self._commits = self._checkpoints = 0
        self._writer = asyncio.create_task(self._write(), name="log writer")

    @classmethod
    async def open(cls, path: Path, *, synchronous: str = "FULL") -> "SqliteLog":
        """Opens or creates the log. `synchronous` is lowered by tests that must lose events."""
        if not schema.check_file(path):
            schema.create_file(path)
        try:
            connection = await aiosqlite.connect(path, isolation_level=None, cached_statements=256)
        except sqlite3.Error as error:
            raise schema.open_error(error, path) from error
        try:
            for pragma in (*schema.WRITER_PRAGMAS, f"PRAGMA synchronous={synchronous}"):
                await connection.execute_fetchall(pragma)
            ((last_seq,),) = await connection.execute_fetchall("SELECT max(seq) FROM events")
        except sqlite3.Error as error:
            await connection.close()
            raise schema.open_error(error, path) from error
        return cls(path, connection, (last_seq or 0) + 1)

    @property
    def next_seq(self) -> int:
        return self._next_seq

    def statistics(self) -> LogStatistics:
        return LogStatistics(self._events, self._commits, self._checkpoints, len(self._waiting))

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._failed or self._closing:
            done.set_exception(self._failed or LogWriteFailed(f"{self._path} is closed"))
            return done
        check_turn(turn, self._next_seq)
        self._next_seq += len(turn)
        self._waiting.append(_Pending(turn, done))
        self._wake.set()
        return done

    async def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        while True:
            sql, parameters = schema.select(after, session, kinds, PAGE)
            try:
                rows = list(await self._connection.execute_fetchall(sql, parameters))
            except sqlite3.Error as error:
                raise schema.open_error(error, self._path) from error
            for row in rows:
                envelope = schema.to_envelope(tuple(row))
                after = envelope.seq
                yield envelope
            if not rows:
                return

    async def close(self) -> None:
        self._closing = True
        self._wake.set()
        await asyncio.shield(self._writer)

    async def _write(self) -> None:
        """Hands over batch after batch, until the log is closing and nothing is left."""
        while self._waiting or self._in_flight or not self._closing:
            await self._wake.wait()
            self._wake.clear()
            while batch := self._next_batch():
                commit = asyncio.create_task(self._commit(batch), name="log commit")
                self._in_flight.add(commit)
                commit.add_done_callback(self._landed)
        await self._checkpoint()
        await self._connection.close()

    def _landed(self, commit: asyncio.Task[None]) -> None:
        self._in_flight.discard(commit)
        self._wake.set()

    def _next_batch(self) -> list[_Pending]:
        """Whole turns for one statement; none when it is better to let them gather."""
        turns = len(self._waiting)
        if self._in_flight:
            if len(self._in_flight) > 1 or turns < AHEAD_TURNS:
                return []
        elif turns >= 2 * AHEAD_TURNS:
            turns //= 2  # the other half follows at once, and from then on they take turns
        batch: list[_Pending] = []
        rows = 0
        while len(batch) < turns and rows + len(self._waiting[0].turn) <= MAX_ROWS:
            batch.append(self._waiting.popleft())
            rows += len(batch[-1].turn)
        return batch

    async def _commit(self, batch: list[_Pending]) -> None:
        if self._failed is None:
            await self._insert([record for pending in batch for record in pending.turn])
        for pending in batch:
            if pending.done.done():
                continue
            if self._failed:
                pending.done.set_exception(self._failed)
            else:
                pending.done.set_result(None)
        busy = self._waiting or len(self._in_flight) > 1
        if self._since_checkpoint > (CHECKPOINT_BYTES if busy else CHECKPOINT_IDLE_BYTES):
            await self._checkpoint()

    async def _insert(self, records: list[Record]) -> None:
        values = _values(records)
        values.insert(1, records[0].envelope.seq - self._first_seq)
        try:
            await self._connection.execute(_statement(len(records)), values)
        except (sqlite3.Error, OverflowError, ValueError) as error:
            # Whether it reached the disk is unknown: nothing more is taken, so that what a
            # reopened log shows is all there is. (The last two: a value that SQLite cannot hold.)
            self._failed = self._failed or schema.write_error(error, self._path)
            return
        self._commits += 1
        self._events += len(records)
        self._since_checkpoint += sum(len(payload) + 300 for _, payload in records)

    async def _checkpoint(self) -> None:
        if self._failed:
            return
        self._since_checkpoint = 0
        self._checkpoints += 1
        try:
            await self._connection.execute_fetchall("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            self._failed = schema.write_error(error, self._path)


@lru_cache(maxsize=256)
def _statement(rows: int) -> str:
    """One INSERT for so many rows, that fails unless all that this connection was given is in.

    Without it, a batch handed over ahead could land though the one before it failed: a gap. The
    first row's session is NULL then, which the table refuses.
    """
    row = f"({','.join('?' * schema.COLUMNS)})"
    first = row.replace("(?,?", "(?,CASE total_changes() WHEN ? THEN ? END", 1)
    return f"INSERT INTO events VALUES {','.join([first, *[row] * (rows - 1)])}"


def _values(records: list[Record]) -> list[object]:
    """All rows in one list. The loop's part of a commit: it holds up the database thread."""
    values: list[object] = []
    for e, payload in records:
        values += (e.seq, e.session, e.n, e.at_ns, e.actor, e.cause)
        values += (kind(e.event), payload, e.hash)
    return values
