"""A fold hears the events that its methods are annotated with: what it listens to is derived from
what it has a method for, so that none can be forgotten."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, get_args

from rutter.events.event import Event

Handler = Callable[..., None]
H = TypeVar("H", bound=Handler)


def hears(handler: H) -> H:
    """Marks a method that folds the events which its last parameter is annotated with."""
    *_, event = inspect.signature(handler).parameters.values()
    handler.__dict__["hears"] = get_args(event.annotation) or (event.annotation,)
    return handler


class Fold:
    """A fold is a class whose methods are marked with `hears`. One that extends another hears what
    that one hears, and behind it what it has methods for itself."""

    folds: ClassVar[frozenset[type[Event]]] = frozenset()
    _handlers: ClassVar[Mapping[type[Event], tuple[Handler, ...]]] = {}

    def __init_subclass__(cls) -> None:
        found = dict(cls._handlers)
        for method in vars(cls).values():
            for event in getattr(method, "hears", ()):
                found[event] = (*found.get(event, ()), method)
        cls._handlers, cls.folds = found, frozenset(found)

    def handle(self, event: Any, *context: Any) -> None:
        """Calls each method that hears such an event, with the context before it."""
        for handler in self._handlers.get(type(event), ()):
            handler(self, *context, event)
