"""A finished span is plain values: the fold makes it, and no library is in it."""

from typing import Final

import msgspec

Value = str | bool | int | float | tuple[str, ...]
Attributes = dict[str, Value]

# Numbers of the OTLP protocol, the same on the wire and in JSON.
INTERNAL: Final = 1
CLIENT: Final = 3
UNSET: Final = 0
OK: Final = 1
ERROR: Final = 2


class Link(msgspec.Struct, frozen=True):
    """A link names a span that this one came from. `why` is `cause`, `continues` or
    `forked_from`."""

    trace_id: bytes
    span_id: bytes
    why: str = "cause"


class SpanEvent(msgspec.Struct, frozen=True):
    """A span event happened at one moment inside a span."""

    name: str
    at_ns: int
    attributes: Attributes


class Span(msgspec.Struct, frozen=True):
    """A span has a `parent_id`; it is empty for a run, the root of its trace."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    kind: int = INTERNAL
    links: tuple[Link, ...] = ()
    events: tuple[SpanEvent, ...] = ()
    status: int = UNSET
    message: str = ""
