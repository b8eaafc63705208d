"""A decider is told facts, then one more, and must decide just this; nothing else is around it.

As live: it hears what the topology says that it hears, and what it decides itself comes back to it
through the log. Every other event is for the test to tell; one without its tag is read as an old
log is. A decision is given back by what it says to people: that it has its tag is looked at here.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from rutter.actors.decider import Decider, DecidingActor
from rutter.actors.topology import row
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.envelope import Actor, Envelope
from rutter.events.event import Event
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.upcast import with_causes
from rutter.events.vocabulary import AnyEvent

BEGIN_NS = 1_700_000_000_000_000_000
SESSION = "session-1"


class Told(NamedTuple):
    """An event is told in a session, counted from the beginning of the story. `cause` is the number
    of what it is told about."""

    event: AnyEvent
    ms: int | None = None
    session: str = SESSION
    cause: int = 0


def at(ms: int, event: AnyEvent) -> Told:
    return Told(event, ms)


def of(session: str, event: AnyEvent) -> Told:
    return Told(event, session=session)


TAGS = ("source", "code", "cause")
UNTAGGED = (PlanProposed, ActionJudged, CompletionChecked, RunStopped)


def untagged(event: AnyEvent) -> AnyEvent:
    """A decision without its tag, which it must have."""
    if not isinstance(event, UNTAGGED):
        return event
    [tag] = (each for each in TAGS if each in event.__struct_fields__)
    assert getattr(event, tag), f"{tag} is not said of {event}"
    [usual] = (each.default for each in msgspec.structs.fields(type(event)) if each.name == tag)
    return msgspec.structs.replace(event, **{tag: usual})


class Story:
    """A story is a decider and the log that it has heard so far."""

    def __init__(self, decider: Decider[Any]) -> None:
        self.actor: DecidingActor[Any] = DecidingActor(decider)
        self.seq = 0
        self.decided: list[AnyEvent] = []  # with their tags
        self._n: dict[str, int] = {}
        self._ms = 0

    def tell(self, told: AnyEvent | Told, *, then: Iterable[AnyEvent] = ()) -> tuple[AnyEvent, ...]:
        """The decisions of the turn that this event opens. `then` is what others say to it, which
        is numbered right behind this decider's own answer to it."""
        event, ms, session, cause = told if isinstance(told, Told) else Told(told)
        event = with_causes(event)
        self._ms = self._ms if ms is None else ms
        waiting: deque[tuple[Actor, AnyEvent, int]] = deque(
            [("runtime", with_causes(event), cause)]
        )
        others = deque(then)
        decided: list[AnyEvent] = []
        while waiting:
            actor, event, cause = waiting.popleft()
            envelope = self._number(session, actor, event, cause)
            following: tuple[AnyEvent, ...] = ()
            if self.actor.name in row(event).deciders:
                following = self.actor.step(envelope)
            self.decided += following
            decided += map(untagged, following)
            waiting.extend((self.actor.name, each, envelope.n) for each in following)
            while others:
                waiting.append(("runtime", with_causes(others.popleft()), envelope.n))
        return tuple(decided)

    def _number(self, session: str, actor: Actor, event: AnyEvent, cause: int) -> Envelope:
        self.seq += 1
        n = self._n[session] = self._n.get(session, 0) + 1
        at_ns = BEGIN_NS + self._ms * 1_000_000
        return Envelope(self.seq, session, n, at_ns, actor, cause, event, bytes(32))


def given(decider: Decider[Any], *story: AnyEvent | Told) -> tuple[AnyEvent, ...]:
    """What the decider decides on the last event, having heard those before it."""
    told = Story(decider)
    decided: tuple[AnyEvent, ...] = ()
    for event in story:
        decided = told.tell(event)
    return decided


def only(decided: Iterable[AnyEvent], kind: type[Event]) -> Any:
    """The one event of this kind among the decided ones."""
    [event] = [event for event in decided if isinstance(event, kind)]
    return event
