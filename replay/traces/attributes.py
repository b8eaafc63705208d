"""A rule of the mapping takes attributes from an event by the names of its fields.

A field `step` becomes `rutter.step`; `error.type=code` gives the field `code` another name, and
`rutter.page.url=page.url` reaches into a field.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from rutter.events.run_settings import MILLION
from rutter.replay.traces.outgoing_text import said
from rutter.replay.traces.span import Attributes, Value

Column = tuple[str, Callable[[Any], Any]]


class FieldsTaken:
    """`plain` as they are, `text` bounded, `maybe` where there is one, `shares` as fractions,
    `counts` by how many there are.

    `error` is the type of the error that the event itself is.
    """

    def __init__(
        self,
        plain: str = "",
        *,
        text: str = "",
        maybe: str = "",
        shares: str = "",
        counts: str = "",
        error: str = "",
    ) -> None:
        named = [_name(column) for column in plain.split()]
        self._keys = tuple(key for key, _ in named)
        self._values = _all([field for _, field in named])
        self._text = _columns(text)
        self._maybe = _columns(maybe)
        self._shares = _columns(shares)
        self._counts = _columns(counts)
        self._error = error

    def __call__(self, event: Any) -> Attributes:
        found: Attributes = dict(zip(self._keys, self._values(event), strict=True))
        for key, get in self._text:
            found[key] = said(get(event))
        for key, get in self._maybe:
            value = get(event)
            if value is not None and value != "":
                found[key] = said(value) if isinstance(value, str) else value
        for key, get in self._shares:
            millionths = get(event)
            if millionths is not None:
                found[key] = millionths / MILLION
        for key, get in self._counts:
            found[key] = len(get(event))
        if self._error:
            found["error.type"] = self._error
        return found


def _name(column: str) -> tuple[str, str]:
    key, _, field = column.rpartition("=")
    return key or f"rutter.{field}", field


def _columns(columns: str) -> tuple[Column, ...]:
    return tuple((key, attrgetter(field)) for key, field in map(_name, columns.split()))


def _all(fields: list[str]) -> Callable[[Any], Iterable[Value]]:
    """Several fields in one call: `attrgetter` alone gives no tuple for fewer than two."""
    if len(fields) > 1:
        return attrgetter(*fields)
    getters = [attrgetter(field) for field in fields]
    return lambda event: [get(event) for get in getters]
