"""A projection has tables, the events it folds, and one function from event to rows.

All of its state is in its own tables, so it can stop after any event and go on in another process.
"""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar, Protocol

from rutter.events.envelope import Envelope
from rutter.events.event import Event


class Projection(Protocol):
    name: ClassVar[str]
    tables: ClassVar[Mapping[str, str]]
    folds: ClassVar[frozenset[type[Event]]]

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        """Folds one event. The position moves in the same transaction."""
