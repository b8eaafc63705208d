"""Decide again from the log: the recorded facts go to the deciders, and what they decide must be
what was recorded, byte for byte.

There is no browser, model, network, clock or event loop here, and nothing to fall back on: the log
is the only input. The order is the log's own, so one pass verifies every session in it.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from rutter.actors.critic.actor import Critic
from rutter.actors.decider import DecidingActor
from rutter.actors.logic_version import LOGIC
from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.actors.topology import DECIDERS, row
from rutter.actors.validator.actor import Validator
from rutter.events.codec import encode
from rutter.events.envelope import Actor, Envelope, kind
from rutter.events.errors import LogCorrupt
from rutter.events.predictor import LEARNED
from rutter.events.runtime import ActorFailed, PayloadGone, SessionEnded, SessionStarted
from rutter.events.vocabulary import AnyEvent

TEACHING = frozenset(kind(event) for event in LEARNED)


class Divergence(msgspec.Struct, frozen=True):
    """A divergence is the first place where the log and the deciders differ."""

    seq: int
    session: str
    n: int
    actor: str
    field: str
    recorded: str
    derived: str
    causes: tuple[str, ...] = ()


class Verification(msgspec.Struct, frozen=True):
    events: int
    decisions: int
    sessions: int
    other_logic: int = 0
    erased: int = 0
    divergence: Divergence | None = None

    @property
    def ok(self) -> bool:
        return self.divergence is None


class _Decision(NamedTuple):
    actor: Actor
    cause: int
    event: AnyEvent


class _DueDecisions(msgspec.Struct):
    """Due decisions were made by a session's deciders; the log has yet to show them, in the order
    of the turn."""

    decisions: deque[_Decision] = msgspec.field(default_factory=deque)
    failures: dict[tuple[str, int], str] = {}
    last: int = 0
    causes: dict[int, tuple[type[AnyEvent], Actor, int]] = {}

    def missing(self) -> Divergence | None:
        """The first thing that was derived and is not on record."""
        for (actor, cause), error in self.failures.items():
            return Divergence(0, "", cause, actor, "error", "no failure", error)
        for actor, cause, event in self.decisions:
            nothing = "nothing was recorded"
            return Divergence(0, "", cause, actor, "event", nothing, kind(event))
        return None


def verify(log: Iterable[Envelope], only: str | None = None) -> Verification:
    """Derives every decision of a whole log again and compares it to what was recorded.

    With `only`, one session is judged; of the others the log need hold no more than what they
    taught, because that is all that reaches another session.
    """
    verifier = Verifier(only=only)
    for envelope in log:
        verifier.take(envelope)
        if verifier.divergence is not None:
            break
    return verifier.report()


class Verifier:
    def __init__(
        self, deciders: Sequence[DecidingActor[Any]] | None = None, *, only: str | None = None
    ) -> None:
        self._only = only
        made = deciders if deciders is not None else fresh_deciders()
        self._deciders = {actor.name: actor for actor in made}
        self._due: dict[str, _DueDecisions] = {}
        self._dead: set[str] = set()
        self._seen: set[str] = set()
        self._foreign: set[str] = set()
        self._erased: set[str] = set()
        self._unlearned = False
        self._events = self._decisions = 0
        self.divergence: Divergence | None = None

    def take(self, envelope: Envelope) -> None:
        self._events += 1
        if isinstance(envelope.event, SessionStarted) and envelope.event.logic != LOGIC:
            self._foreign.add(envelope.session)
        if isinstance(envelope.event, PayloadGone):
            self._lose(envelope, envelope.event)
        judged = self._only in (None, envelope.session) and envelope.session not in self._foreign
        if judged:
            self._seen.add(envelope.session)
        if not judged or envelope.session in self._erased:
            self._learn(envelope)
            return
        self._follow(envelope)
        if envelope.actor in DECIDERS:
            self._compare(envelope)
        elif isinstance(envelope.event, ActorFailed) and envelope.actor == "runtime":
            self._expect_failure(envelope, envelope.event)
        elif self.divergence is None:
            self._all_shown(envelope)
        if envelope.session in self._erased:
            self._learn(envelope)
        elif self.divergence is None and envelope.session not in self._dead:
            self._step(envelope)

    def report(self) -> Verification:
        for session, due in self._due.items():
            if self.divergence is None and session not in self._dead:
                self._miss(session, due, 0)
        return Verification(
            self._events,
            self._decisions,
            len(self._seen - self._erased),
            len(self._foreign),
            len(self._seen & self._erased),
            self.divergence,
        )

    def _follow(self, envelope: Envelope) -> None:
        """Every event of a session is there: one that is missing is an error, not a guess."""
        due = self._due.setdefault(envelope.session, _DueDecisions())
        if envelope.n != due.last + 1:
            raise LogCorrupt(
                f"event {due.last + 1} of session {envelope.session} is missing "
                f"(before position {envelope.seq})",
                "run: rutter log verify",
            )
        due.last = envelope.n
        due.causes[envelope.n] = (type(envelope.event), envelope.actor, envelope.cause)

    def _learn(self, envelope: Envelope) -> None:
        """Decided by another version of the logic: not ours to judge, but ours to learn from."""
        if type(envelope.event) in LEARNED:
            self._deciders["predictor"].fold(envelope)
            self._deciders["predictor"].drop(envelope.session)

    def _lose(self, envelope: Envelope, gone: PayloadGone) -> None:
        """A fact was erased on purpose: what followed from it cannot be derived any more."""
        if gone.was in TEACHING:
            self._unlearned = True
        self._give_up(envelope.session)

    def _give_up(self, session: str) -> None:
        self._erased.add(session)
        self._due.pop(session, None)
        for actor in self._deciders.values():
            actor.drop(session)

    def _step(self, envelope: Envelope) -> None:
        """As the sequencer does it: who hears the event decides, in the table's order."""
        due = self._due.setdefault(envelope.session, _DueDecisions())
        for name in row(envelope.event).deciders:
            try:
                decided = self._deciders[name].step(envelope)
            except Exception as error:  # noqa: BLE001 - a recorded failure must fail again
                due.failures[name, envelope.n] = type(error).__name__
                continue
            due.decisions.extend(_Decision(name, envelope.n, event) for event in decided)
        if isinstance(envelope.event, SessionEnded):
            self._due.pop(envelope.session, None)

    def _compare(self, envelope: Envelope) -> None:
        """A recorded decision must be the next one of its turn: actor, cause and bytes."""
        due = self._due[envelope.session]
        self._decisions += 1
        if not due.decisions:
            self._differ(envelope, "event", kind(envelope.event), "nothing was decided")
            return
        expected = due.decisions.popleft()
        if expected[:2] == (envelope.actor, envelope.cause) and (
            encode(expected.event) == encode(envelope.event)
        ):
            return
        if self._unlearned and envelope.actor == "predictor":
            # It knew what was erased since; a session that leans on that goes with it.
            self._give_up(envelope.session)
        else:
            self._differ(envelope, *_difference(envelope, expected))

    def _expect_failure(self, envelope: Envelope, failed: ActorFailed) -> None:
        """The turn was cut there. A decider's failure must be derived again; what the turn still
        had to decide never happened."""
        due = self._due[envelope.session]
        derived = due.failures.pop((failed.actor, envelope.cause), "")
        if failed.actor in DECIDERS and derived != failed.error:
            self._differ(envelope, "error", failed.error, derived or "no failure")
        self._dead.add(envelope.session)
        for actor in self._deciders.values():
            actor.drop(envelope.session)

    def _all_shown(self, envelope: Envelope) -> None:
        """A fact opens a new turn: what the last one led to must all be in the log by now."""
        due = self._due.get(envelope.session)
        if due is not None and envelope.session not in self._dead:
            self._miss(envelope.session, due, envelope.seq)

    def _miss(self, session: str, due: _DueDecisions, seq: int) -> None:
        missing = due.missing()
        if missing is not None:
            chain = self._chain(session, missing.n)
            self.divergence = msgspec.structs.replace(
                missing, seq=seq, session=session, causes=chain
            )

    def _differ(self, envelope: Envelope, field: str, recorded: str, derived: str) -> None:
        self.divergence = Divergence(
            envelope.seq,
            envelope.session,
            envelope.n,
            envelope.actor,
            field,
            recorded,
            derived,
            self._chain(envelope.session, envelope.cause),
        )

    def _chain(self, session: str, cause: int) -> tuple[str, ...]:
        """What led there, nearest first, back to the fact that the world brought."""
        causes = self._due[session].causes if session in self._due else {}
        chain = []
        while cause in causes:
            event, actor, before = causes[cause]
            chain.append(f"{cause} {kind(event)} by {actor}")
            cause = before
        return tuple(chain)


def fresh_deciders() -> list[DecidingActor[Any]]:
    return [
        DecidingActor(Critic()),
        DecidingActor(Predictor()),
        DecidingActor(Planner()),
        DecidingActor(Validator()),
    ]


def _difference(recorded: Envelope, derived: _Decision) -> tuple[str, str, str]:
    """The first field that differs, in both values."""
    event = recorded.event
    if type(event) is not type(derived.event):
        return "event", kind(event), kind(derived.event)
    if recorded.actor != derived.actor:
        return "actor", recorded.actor, derived.actor
    if recorded.cause != derived.cause:
        return "cause", str(recorded.cause), str(derived.cause)
    for field in event.__struct_fields__:
        one, other = getattr(event, field), getattr(derived.event, field)
        if one != other:
            return field, repr(one)[:500], repr(other)[:500]
    return "bytes", "", ""
