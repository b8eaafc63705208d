"""A projection has tables, and for each event that it folds a method from event to rows.

What it knows between events stands in its own tables, or in the records of steps that the store
folds from the log: so it can stop after any event and go on in another process.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from rutter.events.envelope import Envelope
from rutter.replay.fold import Fold
from rutter.replay.step_record import StepRecord
from rutter.replay.steps import SessionSteps


class Entry(NamedTuple):
    """An entry of the log on its way into the tables, with the steps of its session up to it."""

    db: sqlite3.Connection
    envelope: Envelope
    steps: SessionSteps

    @property
    def session(self) -> str:
        return self.envelope.session

    @property
    def at_ns(self) -> int:
        return self.envelope.at_ns

    @property
    def step(self) -> StepRecord | None:
        """The step that it is about."""
        return self.steps.step_of(self.envelope.event)

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        return self.db.execute(sql, values)

    def insert(self, table: str, **columns: object) -> None:
        """A row by the names of its columns; the others have their defaults."""
        places = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
        self.db.execute(sql, tuple(columns.values()))


def named_rows(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    """What a question comes to, each row by the names of its columns."""
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class Projection(Fold):
    name: ClassVar[str]
    tables: ClassVar[Mapping[str, str]]

    def apply(self, entry: Entry) -> None:
        """Folds one event. The position moves in the same transaction."""
        self.handle(entry.envelope.event, entry)
