"""The disposable file that projections live in. Positions move in the transaction of their rows.

Any process may catch up: whoever comes second finds the position moved and has nothing to do.
"""

import sqlite3
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from types import TracebackType

from events.envelope import Envelope, kind
from events.errors import LogCorrupt, WorldBroken
from events.sqlite_reader import SqliteReader
from replay.projections.metrics import Metrics
from replay.projections.projection import Projection
from replay.projections.sessions import Sessions
from replay.projections.transitions import Actions, Transitions
from replay.projections.workflows import Workflows

VERSION = 1  # of the tables: another one is thrown away and rebuilt
BATCH = 2_000


def all_projections() -> tuple[Projection, ...]:
    return (Transitions(), Actions(), Metrics(), Sessions(), Workflows())


class ProjectionStore:
    def __init__(self, path: Path, projections: Iterable[Projection] | None = None) -> None:
        self._projections = tuple(projections or all_projections())
        try:
            path.touch(mode=0o600)
            self.db = sqlite3.connect(path, isolation_level=None)
            self.db.execute("PRAGMA busy_timeout=5000")
            self.db.execute("PRAGMA journal_mode=WAL")
            self._prepare()
        except (sqlite3.Error, OSError) as error:
            raise WorldBroken(
                f"{path} cannot be used ({error})", "delete it: it is rebuilt from the log"
            ) from error

    def catch_up(self, reader: SqliteReader) -> int:
        """Folds what the log has beyond the positions; returns how many events that was."""
        folded = 0
        while batch := self._step(reader):
            folded += batch
        return folded

    def rebuild(self, reader: SqliteReader) -> int:
        """Drops every table and folds the whole log again."""
        self.db.execute("BEGIN IMMEDIATE")
        self._drop()
        self._create()
        self.db.execute("COMMIT")
        return self.catch_up(reader)

    def dump(self) -> dict[str, list[tuple[object, ...]]]:
        """Every row of every table, in one canonical order: equal folds dump equal."""
        dumped: dict[str, list[tuple[object, ...]]] = {}
        for table in self._tables():
            rows = self.db.execute(f"SELECT * FROM {table}").fetchall()
            dumped[table] = sorted(rows, key=repr)
        return dumped

    def position(self) -> int:
        return int(self.db.execute("SELECT position FROM position").fetchone()[0])

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> "ProjectionStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _step(self, reader: SqliteReader) -> int:
        """One batch in one transaction; nothing of it stays when an event cannot be folded."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            batch = list(islice(reader.read(self.position()), BATCH))
            for envelope in batch:
                self._fold(envelope)
            if batch:
                self.db.execute("UPDATE position SET position = ?", (batch[-1].seq,))
        except LogCorrupt:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")
        return len(batch)

    def _fold(self, envelope: Envelope) -> None:
        for projection in self._projections:
            if type(envelope.event) not in projection.folds:
                continue
            try:
                projection.apply(self.db, envelope)
            except sqlite3.Error as error:
                raise LogCorrupt(
                    f"{kind(envelope.event)} at {envelope.seq} does not fit {projection.name} "
                    f"({error})",
                    "run: rutter doctor",
                ) from error

    def _tables(self) -> list[str]:
        return [table for projection in self._projections for table in projection.tables]

    def _prepare(self) -> None:
        self.db.execute("BEGIN IMMEDIATE")
        version = self.db.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            self._drop()
            self._create()
        self.db.execute("COMMIT")

    def _create(self) -> None:
        self.db.execute("CREATE TABLE position (position INTEGER NOT NULL)")
        self.db.execute("INSERT INTO position VALUES (0)")
        for projection in self._projections:
            for table, columns in projection.tables.items():
                self.db.execute(f"CREATE TABLE {table} ({columns})")
        self.db.execute(f"PRAGMA user_version={VERSION}")

    def _drop(self) -> None:
        names = self.db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (name,) in names:
            self.db.execute(f'DROP TABLE "{name}"')
