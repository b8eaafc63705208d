"""The log on one machine: SQLite, one writer, one fsync for all the turns that wait together.

One task owns the writing connection and its checkpoints. It is never cancelled: callers wait on
its acknowledgement. A batch is one multi-row INSERT, which is its own transaction: one hop to
the database thread and one fdatasync, however many sessions wait for it.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import aiosqlite
import msgspec

from events import sqlite_schema as schema
from events.envelope import Envelope, Record, kind
from events.errors import LogWriteFailed
from events.log import check_turn

# SQLite takes 32,766 variables in a statement; nine a row leaves room for this many rows.
MAX_ROWS = 3_000
PAGE = 1_000
AHEAD_ROWS = 16
# Fold the WAL back when it is idle and past the first, at the latest past the second.
CHECKPOINT_IDLE_BYTES = 4 << 20
CHECKPOINT_BYTES = 32 << 20


class Statistics(msgspec.Struct, frozen=True):
    """What the writer has done so far."""

    events: int
    commits: int
    checkpoints: int
    waiting: int


class _Pending(NamedTuple):
    rows: Sequence[Record]
    done: asyncio.Future[None]


class SqliteLog:
    """Open with `SqliteLog.open`; the directory's lock is the caller's (`pipeline.directory`)."""

    def __init__(self, path: Path, connection: aiosqlite.Connection, next_seq: int) -> None:
        self._path = path
        self._connection = connection
        self._next_seq = next_seq
        self._waiting: deque[_Pending] = deque()
        self._rows_waiting = 0
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
                await connection.execute(pragma)
            async with connection.execute("SELECT max(seq) FROM events") as cursor:
                row = await cursor.fetchone()
        except sqlite3.Error as error:
            await connection.close()
            raise schema.open_error(error, path) from error
        return cls(path, connection, int(row[0] or 0) + 1 if row else 1)

    @property
    def next_seq(self) -> int:
        return self._next_seq

    def statistics(self) -> Statistics:
        return Statistics(self._events, self._commits, self._checkpoints, len(self._waiting))

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._failed or self._closing:
            done.set_exception(self._failed or LogWriteFailed(f"{self._path} is closed"))
            return done
        check_turn(turn, self._next_seq)
        self._next_seq += len(turn)
        self._waiting.append(_Pending(turn, done))
        self._rows_waiting += len(turn)
        self._wake.set()
        return done

    async def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        while True:
            sql, parameters = schema.select(after, session, kinds, PAGE)
            async with self._connection.execute(sql, parameters) as cursor:
                rows = await cursor.fetchall()
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
        """Hands batches to the database thread until the log is closed and nothing waits."""
        while self._waiting or self._in_flight or not self._closing:
            await self._wake.wait()
            self._wake.clear()
            while batch := self._next_batch():
                commit = asyncio.create_task(self._commit(batch))
                self._in_flight.add(commit)
                commit.add_done_callback(self._landed)
        await self._checkpoint()
        await self._connection.close()

    def _landed(self, commit: asyncio.Task[None]) -> None:
        self._in_flight.discard(commit)
        self._wake.set()

    def _next_batch(self) -> list[_Pending]:
        """Whole turns that go into one statement now; none when it is better to wait."""
        limit = MAX_ROWS
        if self._in_flight:
            if len(self._in_flight) > 1 or self._rows_waiting < AHEAD_ROWS:
                return []
        elif self._rows_waiting >= 2 * AHEAD_ROWS:
            limit = min(limit, self._rows_waiting // 2)
        batch: list[_Pending] = []
        rows = 0
        while self._waiting and (not batch or rows + len(self._waiting[0].rows) <= limit):
            batch.append(self._waiting.popleft())
            rows += len(batch[-1].rows)
        self._rows_waiting -= rows
        return batch

    async def _commit(self, batch: list[_Pending]) -> None:
        if self._failed is None:
            values = [value for pending in batch for row in pending.rows for value in _row(row)]
            rows = len(values) // schema.COLUMNS
            try:
                await self._connection.execute(_insert(rows), values)
            except (sqlite3.Error, OverflowError, ValueError) as error:
                # Whether it reached the disk is unknown: nothing more is taken, so that what a
                # reopened log shows is all there is.
                self._failed = self._failed or schema.write_error(error, self._path)
            else:
                self._commits += 1
                self._events += rows
                self._since_checkpoint += sum(len(r.payload) + 300 for p in batch for r in p.rows)
        for pending in batch:
            if pending.done.done():
                continue
            if self._failed:
                pending.done.set_exception(self._failed)
            else:
                pending.done.set_result(None)
        due = CHECKPOINT_BYTES if self._waiting or len(self._in_flight)>1 else CHECKPOINT_IDLE_BYTES
        if self._since_checkpoint > due:
            await self._checkpoint()

    async def _checkpoint(self) -> None:
        if self._failed:
            return
        self._since_checkpoint = 0
        self._checkpoints += 1
        try:
            await self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            self._failed = schema.write_error(error, self._path)


def _insert(rows: int) -> str:
    row = f"({','.join('?' * schema.COLUMNS)})"
    return f"INSERT INTO events VALUES {','.join([row] * rows)}"


def _row(record: Record) -> tuple[object, ...]:
    envelope, payload = record
    return (
        envelope.seq,
        envelope.session,
        envelope.n,
        envelope.at_ns,
        envelope.actor,
        envelope.cause,
        kind(envelope.event),
        payload,
        envelope.hash,
    )
