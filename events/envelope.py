"""An envelope gives an event its number, time, cause and place in its session's chain."""

from typing import Literal, NamedTuple

import msgspec

from rutter.events.event import Event
from rutter.events.vocabulary import AnyEvent

Actor = Literal[
    "runtime",
    "observer",
    "predictor",
    "planner",
    "validator",
    "executor",
    "critic",
    "person",
    "clock",
    "advisor",
]


class Envelope(msgspec.Struct, frozen=True):
    """An envelope is at `seq` in the whole log, at `n` in its session, because of event `cause`.

    `seq` is in no hash: many machines may one day share one log.
    """

    seq: int
    session: str
    n: int
    at_ns: int
    actor: Actor
    cause: int
    event: AnyEvent
    hash: bytes


class Record(NamedTuple):
    """A record is an envelope with its payload as the bytes that were hashed and will be stored."""

    envelope: Envelope
    payload: bytes


_KINDS: dict[type[Event], str] = {}


def kind(event: Event | type[Event]) -> str:
    """The tag of an event or of its type: the name it has on disk."""
    of = event if isinstance(event, type) else type(event)
    found = _KINDS.get(of)
    if found is None:
        found = _KINDS[of] = str(of.__struct_config__.tag)
    return found
