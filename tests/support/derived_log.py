"""The real deciders make a log of facts that a test tells, with nothing live around them."""

from collections import deque

from rutter.actors.topology import row
from rutter.events.chain import GENESIS, link
from rutter.events.codec import encode
from rutter.events.envelope import Actor, Envelope, Record, kind
from rutter.events.predictor import LEARNED
from rutter.events.runtime import SessionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.replay.verify import fresh_deciders

BEGIN_NS = 1_700_000_000_000_000_000


class Derived:
    """A derived log numbers a fact and what follows from it, as the sequencer does."""

    def __init__(self) -> None:
        self.log: list[Envelope] = []
        self.turns: list[list[Record]] = []
        self._heads: dict[str, bytes] = {}
        self._deciders = {actor.name: actor for actor in fresh_deciders()}
        self._n: dict[str, int] = {}
        self._judged: set[str] = set()

    def tell(self, session: str, actor: Actor, fact: AnyEvent) -> list[AnyEvent]:
        """What was decided on the fact. A session of another logic decides nothing here."""
        waiting = deque([self._number(session, actor, fact, 0)])
        turn: list[Envelope] = []
        while waiting:
            envelope = waiting.popleft()
            turn.append(envelope)
            for name in row(envelope.event).deciders:
                if type(envelope.event) in LEARNED or session not in self._judged:
                    continue
                for event in self._deciders[name].step(envelope):
                    waiting.append(self._number(session, name, event, envelope.n))
        for envelope in turn:
            if type(envelope.event) in LEARNED:
                for name in row(envelope.event).deciders:
                    self._deciders[name].fold(envelope)
        self.turns.append([Record(envelope, encode(envelope.event)) for envelope in turn])
        return [envelope.event for envelope in turn[1:]]

    def start(self, session: str, started: SessionStarted, *, judged: bool = True) -> None:
        if judged:
            self._judged.add(session)
        self.tell(session, "runtime", started)

    def _number(self, session: str, actor: Actor, event: AnyEvent, cause: int) -> Envelope:
        n = self._n[session] = self._n.get(session, 0) + 1
        seq = len(self.log) + 1
        at_ns = BEGIN_NS + seq * 1_000_000
        digest = self._heads[session] = link(
            self._heads.get(session, GENESIS),
            session=session,
            n=n,
            at_ns=at_ns,
            actor=actor,
            cause=cause,
            kind=kind(event),
            payload=encode(event),
        )
        envelope = Envelope(seq, session, n, at_ns, actor, cause, event, digest)
        self.log.append(envelope)
        return envelope
