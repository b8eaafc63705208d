"""Reading lifts old events into today's shape; the log is never rewritten.

A tag names one shape, for ever: that is the schema version, and it needs no field of its own. A new
field with a default is the same shape. Any other change (a field renamed, split, of another type)
is a new type with a new tag; the old tag retires to the table below, beside the function that turns
one shape into the next. So a payload of a newer program is an unknown tag, told as `EventUnknown`,
and is never misread; and reading what is not retired costs nothing.

The stored bytes stay as they are: the chain is over them. Only what is read is lifted, here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from rutter.events.errors import LogCorrupt

Raw = dict[str, Any]


class Successor(NamedTuple):
    """A successor names the tag of the next shape, and turns this one's fields into its own."""

    tag: str
    lift: Callable[[Raw], Raw]


def _look_requested(raw: Raw) -> Raw:
    """`wait_ms` became `within_ms` (it is a limit, not a wait), and `why` got its full words."""
    words = {"place": "place_unmet", "effect": "effect_awaited", "end": "end_awaited"}
    return {"why": words[raw["why"]], "within_ms": raw["wait_ms"]}


# Retired tags. Entries are added, never removed or changed: logs that hold them are read for ever.
RETIRED: Mapping[str, Successor] = {
    # No release wrote this one: it is the pattern, and keeps the way of all that follow it open.
    "LookRequested": Successor("ObservationRequested", _look_requested),
}


def current_tag(tag: str) -> str:
    """What an event stored under `tag` is called today."""
    while tag in RETIRED:
        tag = RETIRED[tag].tag
    return tag


def stored_tags(tags: Iterable[str]) -> list[str]:
    """Every tag that events called `tags` today may be stored under."""
    wanted = set(tags)
    return [*wanted, *(old for old in RETIRED if current_tag(old) in wanted - {old})]


def upcast(raw: Raw) -> Raw:
    """The fields of an event in their current shape, step by step."""
    tag = str(raw["event"])
    while (successor := RETIRED.get(tag)) is not None:
        try:
            raw = successor.lift(raw)
        except (KeyError, TypeError, ValueError) as error:
            raise LogCorrupt(f"event {tag!r} does not fit its type: {error!r}") from error
        tag = successor.tag
    return {"event": tag, **{name: raw[name] for name in raw if name != "event"}}
