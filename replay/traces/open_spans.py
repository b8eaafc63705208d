"""Open spans are not finished yet: an actor's work, and the step that it belongs to."""

from collections.abc import Iterator
from typing import Final, Literal

from rutter.events.action import Action
from rutter.events.advisor import AdviceFailed, AdviceReceived, VisionGiven
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import PageObserved
from rutter.replay.traces.mapping import KINDS
from rutter.replay.traces.outcomes import OPEN
from rutter.replay.traces.span import CLIENT, INTERNAL, Attributes, Link, Span, SpanEvent

# Whose child a piece of work is; `later` until it shows which step it led to, if any.
Place = Literal["step", "run", "later"]

# Reports that say how long their work took, and in what unit.
UNITS_NS: Final[dict[type[Event], tuple[str, int]]] = {
    PageObserved: ("took_us", 1_000),
    TargetResolved: ("took_us", 1_000),
    TargetMissing: ("took_us", 1_000),
    ActionDone: ("took_us", 1_000),
    ActionFailed: ("took_us", 1_000),
    QueryAnswered: ("took_us", 1_000),
    QueryFailed: ("took_us", 1_000),
    AdviceReceived: ("took_ms", 1_000_000),
    AdviceFailed: ("took_ms", 1_000_000),
    VisionGiven: ("took_ms", 1_000_000),
}


def took_ns(event: Event) -> int:
    """How long the reported work took, 0 when the report does not say."""
    found = UNITS_NS.get(type(event))
    return max(0, getattr(event, found[0])) * found[1] if found is not None else 0


class OpenWork:
    """Open work is what one actor does about one cause."""

    __slots__ = (
        "actor",
        "attributes",
        "cause",
        "end_ns",
        "events",
        "kinds",
        "link",
        "model",
        "name",
        "outcome",
        "place",
        "span_id",
        "start_ns",
        "step",
    )

    def __init__(self, envelope: Envelope, name: str, span_id: bytes, place: Place) -> None:
        self.actor = envelope.actor
        self.cause = envelope.cause
        self.name = name
        self.span_id = span_id
        self.place = place
        self.step: OpenStep | None = None
        self.start_ns = self.end_ns = 0
        self.kinds = ""
        self.model = ""
        self.attributes: Attributes = {
            "openinference.span.kind": KINDS[name],
            "rutter.actor": envelope.actor,
            "rutter.n": envelope.n,
        }
        self.link: Link | None = None
        self.events: tuple[SpanEvent, ...] = ()
        self.outcome = OPEN

    def goes_on(self, envelope: Envelope) -> bool:
        """Facts without a cause are each a piece of work of their own."""
        cause = envelope.cause
        return cause == self.cause and cause != 0 and envelope.actor == self.actor

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


class OpenStep:
    """An open step lasts from what led to its plan until the next step is planned; a retry is the
    same step.

    One that looks whether another worked lies inside that one, its `owner`.
    """

    def __init__(
        self,
        span_id: bytes,
        number: int,
        action: Action,
        words: str,
        attributes: Attributes,
        owner: "OpenStep | None" = None,
    ) -> None:
        self.owner = owner
        self.span_id = span_id
        self.number = number
        self.action = action
        self.words = words
        self.attributes = attributes
        self.notes: list[SpanEvent] = []
        self.start_ns = self.end_ns = 0
        self.attempts = 1
        self.settled = False
        self.outcome = OPEN

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
            events=tuple(self.notes),
            status=self.outcome.status,
            message=self.outcome.message,
        )
