"""Every decider has one calling convention: evolve over the log, then decide.

    step(envelope):  state = evolve(state, envelope);  return decide(state, envelope)

No await, clock, randomness, environment or file is reachable from here: a decider's only input is
the log, so replay gives the same decisions from the same events, byte for byte. Its own decisions
come back to it through the log like anyone else's.
"""

from collections.abc import Iterable
from typing import ClassVar, Generic, Protocol, TypeVar

from rutter.events.envelope import Actor, Envelope
from rutter.events.runtime import SessionEnded
from rutter.events.vocabulary import AnyEvent

State = TypeVar("State")


class Decider(Protocol[State]):
    """A decider is pure logic over one session's state. Who hears what is the topology's table."""

    name: ClassVar[Actor]

    def initial(self) -> State:
        """The state of a session of which nothing was heard yet."""

    def evolve(self, state: State, envelope: Envelope) -> State:
        """The state after this event. The only place where state changes."""

    def decide(self, state: State, envelope: Envelope) -> Iterable[AnyEvent]:
        """What follows from this event, given the state after it."""


class DecidingActor(Generic[State]):
    """An actor is a decider with its states, one per session, live and replayed alike."""

    def __init__(self, decider: Decider[State]) -> None:
        self.decider = decider
        self.name = decider.name
        self._states: dict[str, State] = {}

    def step(self, envelope: Envelope) -> tuple[AnyEvent, ...]:
        state = self.fold(envelope)
        return tuple(self.decider.decide(state, envelope))

    def fold(self, envelope: Envelope) -> State:
        """Takes in an event without deciding: how a state is rebuilt from the log."""
        session = envelope.session
        state = self._states.get(session)
        state = self.decider.evolve(self.decider.initial() if state is None else state, envelope)
        if isinstance(envelope.event, SessionEnded):
            self._states.pop(session, None)
        else:
            self._states[session] = state
        return state

    def state(self, session: str) -> State | None:
        return self._states.get(session)

    def restore(self, session: str, state: State | None) -> None:
        """Back to an earlier state: how a turn is decided a second time, otherwise."""
        if state is None:
            self.drop(session)
        else:
            self._states[session] = state

    def drop(self, session: str) -> None:
        self._states.pop(session, None)
