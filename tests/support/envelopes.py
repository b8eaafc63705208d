"""Records are made as the sequencer makes them: numbered, caused, chained. For tests and bench/."""

from collections.abc import Iterable
from typing import NamedTuple

from rutter.events.action import Untrusted
from rutter.events.chain import GENESIS, link
from rutter.events.codec import encode
from rutter.events.envelope import Actor, Envelope, Record, kind
from rutter.events.executor import ActionDone
from rutter.events.vocabulary import AnyEvent


class Head(NamedTuple):
    """A session's chain stands here."""

    n: int
    hash: bytes


class Scribe:
    """A scribe numbers and chains the turns of any number of sessions, in the given order."""

    def __init__(self, next_seq: int = 1) -> None:
        self._next_seq = next_seq
        self._heads: dict[str, Head] = {}

    def turn(
        self, session: str, events: Iterable[AnyEvent], actor: Actor = "runtime"
    ) -> list[Record]:
        """A turn that follows everything handed out before it."""
        return [self._record(session, event, actor) for event in events]

    def _record(self, session: str, event: AnyEvent, actor: Actor) -> Record:
        n, previous = self._heads.get(session, Head(0, GENESIS))
        n, seq, payload = n + 1, self._next_seq, encode(event)
        digest = link(
            previous,
            session=session,
            n=n,
            at_ns=seq * 1_000,
            actor=actor,
            cause=n - 1,
            kind=kind(event),
            payload=payload,
        )
        self._next_seq += 1
        self._heads[session] = Head(n, digest)
        envelope = Envelope(seq, session, n, seq * 1_000, actor, n - 1, event, digest)
        return Record(envelope, payload)


def marked_turn(turn: int, texts: list[str]) -> list[AnyEvent]:
    """Events that say which turn they are of and how many it has, so half a turn can be told."""
    return [
        ActionDone(step=turn, attempt=index, took_us=len(texts), extracted=Untrusted(text))
        for index, text in enumerate(texts)
    ]
