"""A turn of the log is one fact from the world and every decision that followed from it."""

from collections.abc import Iterable, Iterator

from rutter.actors.topology import DECIDERS
from rutter.events.envelope import Envelope
from rutter.events.runtime import ActorFailed

Turn = list[Envelope]


def is_decision(envelope: Envelope) -> bool:
    """Decided, not reported: by a decider, or the failure of one."""
    if envelope.actor in DECIDERS:
        return True
    return isinstance(envelope.event, ActorFailed) and envelope.event.actor in DECIDERS


def turns(log: Iterable[Envelope]) -> Iterator[Turn]:
    """Turns in log order. One turn is contiguous: the sequencer ends it before the next begins."""
    turn: Turn = []
    for envelope in log:
        if turn and (not is_decision(envelope) or envelope.session != turn[0].session):
            yield turn
            turn = []
        turn.append(envelope)
    if turn:
        yield turn
