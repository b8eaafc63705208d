"""A projection has tables, the events it folds, and one function from event to rows.

All of its state is in its own tables, so it can stop after any event and go on in another process.
"""

import inspect
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar, get_args

from rutter.events.envelope import Envelope
from rutter.events.event import Event

Handler = Callable[[Any, sqlite3.Connection, Envelope, Any], None]
H = TypeVar("H", bound=Handler)


class Projection(Protocol):
    name: ClassVar[str]
    tables: ClassVar[Mapping[str, str]]
    folds: ClassVar[frozenset[type[Event]]]

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        """Folds one event. The position moves in the same transaction."""


def hears(handler: H) -> H:
    """Marks a method that folds the events which its last parameter is annotated with."""
    *_, event = inspect.signature(handler).parameters.values()
    handler.__dict__["hears"] = get_args(event.annotation) or (event.annotation,)
    return handler


class Fold:
    """A projection whose methods say by their annotation what they hear: what it folds is derived
    from what it has a method for, so that none can be forgotten."""

    folds: ClassVar[frozenset[type[Event]]]
    _handlers: ClassVar[Mapping[type[Event], Handler]]

    def __init_subclass__(cls) -> None:
        cls._handlers = {
            event: method for method in vars(cls).values() for event in getattr(method, "hears", ())
        }
        cls.folds = frozenset(cls._handlers)

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        handler = self._handlers.get(type(envelope.event))
        if handler is not None:
            handler(self, db, envelope, envelope.event)
