"""Open spans are not finished yet: an actor's work, and the step that it belongs to."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from rutter.events.action import Action
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import LookalikesFound
from rutter.replay.traces.mapping import KINDS
from rutter.replay.traces.outcomes import OPEN, SpanStatus
from rutter.replay.traces.span import CLIENT, INTERNAL, Attributes, Link, Span, SpanEvent

# Whose child a piece of work is; `later` until it shows which step it led to, if any.
Place = Literal["step", "run", "later"]


def took_ns(event: Event) -> int:
    """How long the reported work took, 0 when the report does not say. This version of the mapping
    leaves it out of a search for look-alikes."""
    if isinstance(event, LookalikesFound):
        return 0
    micros: int = getattr(event, "took_us", 0) or getattr(event, "took_ms", 0) * 1_000
    return max(0, micros) * 1_000


class OpenWork(msgspec.Struct, eq=False):
    """Open work is what one actor does about one cause, from its `first` event on."""

    first: Envelope
    name: str
    span_id: bytes
    place: Place
    step: "OpenStep | None" = None
    start_ns: int = 0
    end_ns: int = 0
    kinds: str = ""
    model: str = ""
    attributes: Attributes = {}
    link: Link | None = None
    events: tuple[SpanEvent, ...] = ()
    outcome: SpanStatus = OPEN

    def __post_init__(self) -> None:
        self.attributes = {
            "openinference.span.kind": KINDS[self.name],
            "rutter.actor": self.first.actor,
            "rutter.n": self.first.n,
        }

    def goes_on(self, envelope: Envelope) -> bool:
        """Facts without a cause are each a piece of work of their own."""
        cause, first = envelope.cause, self.first
        return cause == first.cause and cause != 0 and envelope.actor == first.actor

    def finish(self, trace_id: bytes, parent_id: bytes) -> Span:
        self.attributes["rutter.events"] = self.kinds
        return Span(
            trace_id,
            self.span_id,
            parent_id,
            f"{self.name} {self.model}" if self.model else self.name,
            self.start_ns,
            self.end_ns,
            self.attributes,
            CLIENT if self.name == "chat" else INTERNAL,
            () if self.link is None else (self.link,),
            self.events,
            *self.outcome,
        )


class OpenStep(msgspec.Struct, eq=False):
    """An open step lasts from what led to its plan until the next step is planned; a retry is the
    same step.

    One that looks whether another worked lies inside that one, its `owner`.
    """

    span_id: bytes
    number: int
    action: Action
    words: str
    attributes: Attributes
    owner: "OpenStep | None" = None
    notes: list[SpanEvent] = []
    start_ns: int = 0
    end_ns: int = 0
    attempts: int = 1
    settled: bool = False
    outcome: SpanStatus = OPEN

    def chain(self) -> "Iterator[OpenStep]":
        """This one and those that it lies in."""
        step: OpenStep | None = self
        while step is not None:
            yield step
            step = step.owner

    def cover(self, inner: "OpenWork | OpenStep") -> None:
        """A step reaches as far as its work does, and as what lies in it."""
        self.start_ns = min(self.start_ns or inner.start_ns, inner.start_ns)
        self.end_ns = max(self.end_ns, inner.end_ns)

    def finish(self, trace_id: bytes, parent_id: bytes) -> Span:
        self.attributes["rutter.attempts"] = self.attempts
        number = f"step {self.number}" if self.number else "step"
        return Span(
            trace_id,
            self.span_id,
            parent_id,
            f"{number} {self.action.type}",
            self.start_ns,
            self.end_ns,
            self.attributes,
            INTERNAL,
            (),
            tuple(self.notes),
            *self.outcome,
        )
