"""The store is the disposable file that projections live in. Positions move in the transaction of
their rows.

Any process may catch up: whoever comes second finds the position moved and has nothing to do.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from rutter.events.envelope import Envelope, kind
from rutter.events.errors import LogCorrupt, WorldBroken
from rutter.events.event import Event
from rutter.events.runtime import SessionEnded
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import write_error
from rutter.replay.projections.calibration import CalibrationTable
from rutter.replay.projections.history import HistoryTables
from rutter.replay.projections.metrics import MetricsTable
from rutter.replay.projections.model_calls import ModelCallsTable
from rutter.replay.projections.projection import Entry, Projection, named_rows
from rutter.replay.projections.sessions import SessionsTable
from rutter.replay.projections.spans import SpansTable
from rutter.replay.projections.step_trace import StepTraceTable
from rutter.replay.projections.transitions import ActionsTable, TransitionTables
from rutter.replay.projections.workflows import WorkflowsTable
from rutter.replay.steps import HEARD, SessionSteps

VERSION = 19  # of the tables: another one is thrown away and rebuilt
BATCH = 2_000
BUSY_MS = 5_000
TRIES = 20
# What an event that does not fit its tables raises.
UNFIT = (sqlite3.Error, ValueError, KeyError, TypeError)
PASSING = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR")

Progress = Callable[[int], None]
Apply = Callable[[Entry], None]


def all_projections() -> tuple[Projection, ...]:
    return (
        TransitionTables(),
        ActionsTable(),
        MetricsTable(),
        CalibrationTable(),
        SessionsTable(),
        ModelCallsTable(),
        WorkflowsTable(),
        HistoryTables(),
        StepTraceTable(),
    )


def _write_ahead(db: sqlite3.Connection) -> None:
    """Of several processes that open a new file at once one changes its mode. SQLite lets others
    wait for anything but that, so they wait for a transaction and then try again."""
    for attempt in range(TRIES):
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if attempt + 1 == TRIES:
                raise
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")


class ProjectionStore:
    def __init__(self, path: Path, projections: Iterable[Projection] | None = None) -> None:
        self._projections = tuple(projections or all_projections())
        self._spans = None if projections else SpansTable()
        self._by_kind: dict[type[Event], list[tuple[str, Apply]]] = {}
        self._steps: dict[str, SessionSteps] = {}  # of the sessions that have not ended
        self._path = path
        try:
            path.touch(mode=0o600)
            self.db = sqlite3.connect(path, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error
        try:
            self.db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            _write_ahead(self.db)
            self._prepare()
        except sqlite3.Error as error:
            self.close()
            raise self._unusable(error) from error
        except WorldBroken:
            self.close()
            raise

    def catch_up(self, reader: SqliteReader) -> int:
        """Folds what the log has beyond the position; returns how many events that was.

        An event that a projection cannot fold is parked, with the reason, and the others go on:
        a live view must not stand still for one bad row. `rebuild` stops at it.
        """
        if not self._continues(reader):
            self._start_over()
        return self._fold_all(reader, park=True, progress=None)

    def rebuild(self, reader: SqliteReader, progress: Progress | None = None) -> int:
        """Drops every table and folds the whole log again."""
        self._start_over()
        return self._fold_all(reader, park=False, progress=progress)

    def parked(self) -> list[tuple[str, int, str]]:
        """Projection, position and reason of every event that could not be folded."""
        return self.db.execute("SELECT projection, seq, why FROM parked ORDER BY seq").fetchall()

    def dump(self) -> dict[str, list[tuple[object, ...]]]:
        """Every row of every table, in one canonical order: equal folds dump equal."""
        dumped: dict[str, list[tuple[object, ...]]] = {}
        for table in chain.from_iterable(self._all_tables()):
            rows = self.db.execute(f"SELECT * FROM {table}").fetchall()
            dumped[table] = sorted(rows, key=repr)
        return dumped

    def rows(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """What a question comes to, each row by the names of its columns."""
        return named_rows(self.db.execute(sql, values))

    def position(self) -> int:
        return int(self.db.execute("SELECT position FROM position").fetchone()[0])

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> "ProjectionStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fold_all(self, reader: SqliteReader, *, park: bool, progress: Progress | None) -> int:
        folded = 0
        while batch := self._step(reader, park=park):
            folded += batch
            if progress is not None:
                progress(folded)
        return folded

    def _step(self, reader: SqliteReader, *, park: bool) -> int:
        """One batch in one transaction; nothing of it stays when an event cannot be folded. Only
        then, and where it may be parked, the batch is folded again with a way back before every
        event: nearly all batches need none."""
        try:
            return self._batch(reader, self._fold)
        except LogCorrupt:
            if not park:
                raise
            return self._batch(reader, self._fold_or_park)

    def _batch(self, reader: SqliteReader, fold: Callable[[Envelope, SqliteReader], None]) -> int:
        with self._transaction():
            batch = list(islice(reader.read(self.position()), BATCH))
            for envelope in batch:
                fold(envelope, reader)
            if batch:
                last = batch[-1]
                self.db.execute("UPDATE position SET position = ?, hash = ?", (last.seq, last.hash))
        return len(batch)

    def _continues(self, reader: SqliteReader) -> bool:
        """Whether this log is the one that was folded: it still has the last event that was."""
        position, digest = self.db.execute("SELECT position, hash FROM position").fetchone()
        if position == 0:
            return True
        there = next(reader.rows(position - 1), None)
        return there is not None and there[0] == position and there[8] == digest

    def _start_over(self) -> None:
        with self._transaction():
            self._drop()
            self._create()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it or nothing, whatever is raised; no other process writes meanwhile."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
            yield
            self.db.execute("COMMIT")
        except BaseException as error:
            if self.db.in_transaction:  # SQLite itself takes back what a full disk cut short
                self.db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise self._unusable(error) from error
            raise

    def _unusable(self, error: Exception) -> WorldBroken:
        if getattr(error, "sqlite_errorname", "").startswith(PASSING):
            return write_error(error, self._path)
        return WorldBroken(
            f"{self._path} cannot be used ({error})", "delete it: it is rebuilt from the log"
        )

    def _fold(self, envelope: Envelope, reader: SqliteReader) -> None:
        entry = self._entry(envelope, reader)
        for name, apply in self._folding(envelope, reader):
            try:
                apply(entry)
            except sqlite3.OperationalError:
                raise  # the disk, not the event: it is folded when there is room again
            except UNFIT as error:
                what = f"{kind(envelope.event)} at {envelope.seq} does not fit {name} ({error})"
                raise LogCorrupt(what, "run: rutter log verify") from error

    def _entry(self, envelope: Envelope, reader: SqliteReader) -> Entry:
        """The event with the steps of its session up to it. Where another process has folded what
        came before it, or a batch was given up, they are told from the log again."""
        session = envelope.session
        steps = self._steps.get(session)
        if steps is None or steps.n != envelope.n - 1:
            steps = self._steps[session] = SessionSteps()
            if envelope.n > 1:
                for earlier in reader.read(session=session, kinds=HEARD):
                    if earlier.n >= envelope.n:
                        break
                    steps.take(earlier)
        steps.take(envelope)
        if isinstance(envelope.event, SessionEnded):
            del self._steps[session]
        return Entry(self.db, envelope, steps)

    def _folding(self, envelope: Envelope, reader: SqliteReader) -> Sequence[tuple[str, Apply]]:
        """Who folds an event of this kind. Spans are of a whole session, once it is over."""
        of, spans = type(envelope.event), self._spans
        found = self._by_kind.get(of)
        if found is None:
            found = [(each.name, each.apply) for each in self._projections if of in each.folds]
            self._by_kind[of] = found
        if spans is None or of is not SessionEnded:
            return found

        def fold(entry: Entry) -> None:
            spans.fold_session(entry.db, entry.session, reader.read(session=entry.session))

        return [*found, (spans.name, fold)]

    def _fold_or_park(self, envelope: Envelope, reader: SqliteReader) -> None:
        """In each projection all of the event, or nothing and the reason."""
        entry = self._entry(envelope, reader)
        for name, apply in self._folding(envelope, reader):
            self.db.execute("SAVEPOINT event")
            try:
                apply(entry)
            except sqlite3.OperationalError:
                raise
            except UNFIT as error:
                self.db.execute("ROLLBACK TO event")
                why = f"{type(error).__name__}: {error}"
                self.db.execute("INSERT INTO parked VALUES (?, ?, ?)", (name, envelope.seq, why))
            self.db.execute("RELEASE event")

    def _all_tables(self) -> list[Mapping[str, str]]:
        spans = [self._spans.tables] if self._spans is not None else []
        return [*(projection.tables for projection in self._projections), *spans]

    def _prepare(self) -> None:
        with self._transaction():
            version = self.db.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                self._drop()
                self._create()

    def _create(self) -> None:
        self.db.execute("CREATE TABLE position (position INTEGER NOT NULL, hash BLOB NOT NULL)")
        self.db.execute("INSERT INTO position VALUES (0, x'')")
        self.db.execute("CREATE TABLE parked (projection TEXT, seq INTEGER, why TEXT)")
        for tables in self._all_tables():
            for table, columns in tables.items():
                self.db.execute(f"CREATE TABLE {table} ({columns})")
        self.db.execute(f"PRAGMA user_version={VERSION}")

    def _drop(self) -> None:
        names = self.db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (name,) in names:
            self.db.execute(f'DROP TABLE "{name}"')
