"""A what-if judges every decision again under another configuration, given the recorded history.

Each turn is decided twice: as it was recorded, and as the changed configuration would have it.
Then the recorded one is folded, so nothing is simulated past a difference: what a page would have
said to an action that was never done is not known, and not guessed.
"""

import tomllib
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import asdict

from rutter.actors.logic_version import LOGIC
from rutter.actors.rules.steps.confidence import is_suggested
from rutter.actors.topology import row
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Actor, Envelope, kind
from rutter.events.errors import BadInput
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.planner import AdviceRequested, PlanProposed, PlanWithheld, RunStopped
from rutter.events.policy import Policy
from rutter.events.predictor import (
    LEARNED,
    EndLearned,
    PredictionMade,
    TransitionLearned,
    TransitionUndone,
)
from rutter.events.run_settings import MILLION, ModelUse, PredictorName, RunSettings
from rutter.events.runtime import ActorFailed, PayloadGone, SessionEnded, SessionStarted
from rutter.events.signature import doing
from rutter.events.validator import ActionRejected, ActionStarted, ApprovalRequested, PlanAdmitted
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.wording import ascii_only, in_words
from rutter.replay.turns import Turn, turns
from rutter.replay.verify import fresh_deciders

ANY = RunSettings()  # of events that belong to no session of ours
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
SHARES = {"threshold", "suggest"}
LONGEST = 256  # events in a turn, as in the sequencer
Count = Annotated[int, msgspec.Meta(ge=1)]


class ChangedSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changed settings replace those of each session; a field that is left out stays as it was.

    `models = false`: no language model may be asked. Another one cannot be put in its place: what
    it would have said is not known.
    """

    threshold: Share | None = None
    suggest: Share | None = None
    predictor: PredictorName | None = None
    order: Literal[0, 1, 2] | None = None
    top_k: Count | None = None
    max_steps: Count | None = None
    max_failures: Count | None = None
    denylist: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    hosts: tuple[str, ...] | None = None
    public_hosts: bool | None = None
    models: Literal[False] | None = None
    certainty: Share | None = None


class ChangedDecision(msgspec.Struct, frozen=True):
    """A changed decision would have been another one. `calls`: so many more questions to a language
    model than there were, or fewer."""

    seq: int
    session: str
    n: int
    actor: str
    step: int
    recorded: str
    instead: str
    effect: Literal["gained", "lost", "same"]
    outcome: str = ""
    calls: int = 0


class ScoredPrediction(msgspec.Struct, frozen=True, array_like=True):
    """A scored prediction has its probability, and whether the next confirmed action was the one:
    the same done to the same element, whatever with."""

    probability: int
    correct: bool


class WhatIf(msgspec.Struct, frozen=True):
    """A what-if says which decisions would have differed, and what the predictions were worth."""

    turns: int
    sessions: int
    differences: tuple[ChangedDecision, ...]
    predictions: tuple[ScoredPrediction, ...]

    def count(self, effect: str, *, wrong: bool | None = None) -> int:
        """Executions gained or lost; of those lost, the ones that were known to be wrong."""
        return sum(
            difference.effect == effect
            and (wrong is None or (difference.outcome not in ("", "confirmed")) is wrong)
            for difference in self.differences
        )

    def calls(self) -> tuple[int, int]:
        """Questions to a language model that would have been asked, and that would not."""
        calls = [difference.calls for difference in self.differences]
        return sum(count for count in calls if count > 0), -sum(c for c in calls if c < 0)


def read_change(path: Path) -> ChangedSettings:
    """A what-if file (TOML). A misspelt key or a value out of range is refused with its place."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})", "check --what-if") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        fix = "write lines like: threshold = 0.7"
        raise BadInput(f"{path} is not TOML: {error}", fix) from error
    try:
        return msgspec.convert(raw, ChangedSettings)
    except msgspec.ValidationError as error:
        known = ", ".join(ChangedSettings.__struct_fields__)
        raise BadInput(f"{path}: {error}", f"it may have: {known}") from error


def ask(log: Iterable[Envelope], change: ChangedSettings, only: str | None = None) -> WhatIf:
    """Judges every decision of a log (or of one session of it) again under `change`."""
    asker = _DecidedAgain(change, only)
    for turn in turns(log):
        asker.take(turn)
    return asker.answer()


class _DecidedAgain:
    def __init__(self, change: ChangedSettings, only: str | None) -> None:
        self._change = change
        self._only = only
        self._deciders = {actor.name: actor for actor in fresh_deciders()}
        self._found: list[ChangedDecision] = []
        self._outcomes: dict[tuple[str, int], str] = {}
        self._step: dict[str, int] = {}
        self._predicted: dict[str, tuple[str, int]] = {}
        self._scored: list[ScoredPrediction] = []
        self._turns = 0
        self._sessions: set[str] = set()
        self._foreign: set[str] = set()
        self._settings: dict[str, tuple[RunSettings, RunSettings]] = {}  # recorded, and changed
        self._counted: set[tuple[str, int, bool]] = set()

    def take(self, turn: Turn) -> None:
        fact = changed(turn[0], self._change)
        if isinstance(fact.event, SessionStarted) and fact.event.logic != LOGIC:
            self._foreign.add(fact.session)
        if isinstance(fact.event, SessionStarted) and isinstance(turn[0].event, SessionStarted):
            self._settings[fact.session] = turn[0].event.settings, fact.event.settings
        if any(isinstance(envelope.event, PayloadGone) for envelope in turn):
            self._foreign.add(fact.session)  # nothing can be decided again on what is gone
        asked = self._only in (None, fact.session) and fact.session not in self._foreign
        derived = self._otherwise(fact, turn) if asked else []
        if asked:
            self._turns += 1
            self._sessions.add(fact.session)
            self._compare(turn, derived)
        for envelope in (fact, *turn[1:]):
            self._fold(envelope, asked=asked)
            if isinstance(envelope.event, ActorFailed):
                self._foreign.add(fact.session)  # nothing was decided in it from here on
        for envelope in derived:
            if isinstance(envelope.event, PredictionMade):
                self._predicted.pop(envelope.session, None)
                for top in envelope.event.candidates[:1]:
                    self._predicted[envelope.session] = (doing(top.action), top.probability)

    def answer(self) -> WhatIf:
        found = tuple(
            msgspec.structs.replace(
                difference, outcome=self._outcomes.get((difference.session, difference.step), "")
            )
            for difference in self._found
        )
        return WhatIf(self._turns, len(self._sessions), found, tuple(self._scored))

    # -- one turn, twice -----------------------------------------------------------------------

    def _otherwise(self, fact: Envelope, turn: Turn) -> list[Envelope]:
        """The turn as the changed configuration has it; every state is put back afterwards."""
        before = {name: actor.state(fact.session) for name, actor in self._deciders.items()}
        derived = [fact]
        waiting = deque([fact])
        while waiting:
            envelope = waiting.popleft()
            for name in row(envelope.event).deciders:
                if type(envelope.event) in LEARNED:
                    continue  # what a turn teaches counts from the next one on, as recorded
                for event in self._decided(name, envelope):
                    derived.append(_numbered(event, name, envelope, derived, turn))
                    waiting.append(derived[-1])
                    if len(derived) > LONGEST or isinstance(event, ActorFailed):
                        waiting.clear()  # the turn is cut there, as the sequencer cuts it
                        break
        for name, state in before.items():
            self._deciders[name].restore(fact.session, state)
        return derived

    def _decided(self, name: Actor, envelope: Envelope) -> Sequence[AnyEvent]:
        try:
            return self._deciders[name].step(envelope)
        except Exception as error:  # noqa: BLE001 - it failed live too, or would have
            return (ActorFailed(name, type(error).__name__, str(error)[:200]),)

    def _compare(self, turn: Turn, derived: Sequence[Envelope]) -> None:
        settings, others = self._settings.get(turn[0].session, (ANY, ANY))
        was, would = list(turn[1:]), list(derived[1:])
        other_model = settings.predictor != others.predictor
        if other_model:
            was, would = _decisions(was), _decisions(would)
        for recorded, other in zip(was, would, strict=False):
            came_to = [_came_to(e.event) if other_model else e.event for e in (recorded, other)]
            if recorded.actor != other.actor or came_to[0] != came_to[1]:
                self._differ(recorded, other.event, turn, derived)
                break
        else:
            if len(was) != len(would):
                longer = was if len(was) > len(would) else would
                extra = longer[min(len(was), len(would))]
                other_event = None if longer is was else extra.event
                self._differ(extra, other_event, turn, derived)

    def _differ(
        self, at: Envelope, other: AnyEvent | None, turn: Turn, derived: Sequence[Envelope]
    ) -> None:
        step = _step_of(turn) or _step_of(derived) or self._step.get(at.session, 0)
        effect = self._effect(at.session, step, turn, derived)
        recorded = "nothing" if at not in turn else in_plain_words(at.event)
        instead = "nothing" if other is None else in_plain_words(other)
        calls = _asks(derived) - _asks(turn)
        self._found.append(
            ChangedDecision(
                at.seq,
                at.session,
                at.n,
                at.actor,
                step,
                recorded,
                instead,
                effect,
                calls=calls,
            )
        )

    def _effect(
        self, session: str, step: int, turn: Turn, derived: Sequence[Envelope]
    ) -> Literal["gained", "lost", "same"]:
        """A step is gained or lost once, however many of its turns end otherwise."""
        settings, others = self._settings.get(session, (ANY, ANY))
        was, would = _goes_on(turn, settings), _goes_on(derived, others)
        counted = (session, step, would)
        if was == would or counted in self._counted:
            return "same"
        self._counted.add(counted)
        return "gained" if would else "lost"

    # -- the recorded history ------------------------------------------------------------------

    def _fold(self, envelope: Envelope, *, asked: bool) -> None:
        session = envelope.session
        for name in row(envelope.event).deciders:
            # Other logic decided otherwise for reasons of its own; what it taught still counts.
            if session not in self._foreign or type(envelope.event) in LEARNED:
                self._deciders[name].fold(envelope)
        match envelope.event:
            case PlanProposed(step=step):
                self._step[session] = step
            case ActionJudged(step=step, verdict=verdict):
                self._outcomes[session, step] = verdict
            case QueryAnswered(step=step):
                self._outcomes[session, step] = "answered"
            case QueryFailed(step=step):
                self._outcomes[session, step] = "failed"
            case TransitionLearned(driver=driver, action=action) if driver != "prediction":
                if asked and session in self._predicted:
                    predicted, probability = self._predicted.pop(session)
                    self._scored.append(ScoredPrediction(probability, predicted == doing(action)))
            case SessionEnded():
                self._predicted.pop(session, None)
            case _:
                pass


def changed(envelope: Envelope, change: ChangedSettings) -> Envelope:
    """A session's start with the change applied; any other event as it is."""
    event = envelope.event
    if not isinstance(event, SessionStarted):
        return envelope
    started = msgspec.structs.replace(
        event,
        settings=_settings(event.settings, change),
        policy=_policy(event.policy, change),
        models=_models(event.models, change),
    )
    return msgspec.structs.replace(envelope, event=started)


def in_plain_words(event: AnyEvent) -> str:
    """A decision in a few words, for a table."""
    match event:
        case PlanProposed(action=action, reason=reason):
            return f"{in_words(action)} ({reason})"
        case PlanWithheld(reason=reason):
            return f"withheld: {reason}"
        case ActionRejected(rule=rule, reason=reason):
            return ascii_only(f"denied by {rule}: {reason}")
        case ApprovalRequested(question=question):
            return ascii_only(f"asked: {question}")
        case PredictionMade(candidates=candidates):
            top = candidates[0] if candidates else None
            return f"{in_words(top.action)} p={top.probability / MILLION:.2f}" if top else "none"
        case AdviceRequested(provider=provider, model=model, purpose=purpose):
            return ascii_only(f"asked {provider} {model} ({purpose})")
        case RunStopped(reason=reason, failure=failure, detail=detail):
            return ascii_only(f"stopped: {failure or reason}: {detail}")
        case _:
            return kind(event)


def _settings(settings: RunSettings, change: ChangedSettings) -> RunSettings:
    given = {name: new for name, new in asdict(change).items() if new is not None}
    shares = {name: round(given[name] * MILLION) for name in given.keys() & SHARES}
    others = {name: given[name] for name in given.keys() & {"predictor", "order", "top_k"}}
    limits = {name: given[name] for name in given.keys() & {"max_steps", "max_failures"}}
    within = msgspec.structs.replace(settings.limits, **limits)
    return msgspec.structs.replace(settings, **shares, **others, limits=within)


def _models(models: ModelUse | None, change: ChangedSettings) -> ModelUse | None:
    if models is None or change.models is False:
        return None
    if change.certainty is None:
        return models
    return msgspec.structs.replace(models, certainty=round(change.certainty * MILLION))


def _policy(policy: Policy, change: ChangedSettings) -> Policy:
    denylist = policy.denylist if change.denylist is None else change.denylist
    hosts = policy.hosts if change.hosts is None else change.hosts
    public = policy.public_hosts if change.public_hosts is None else change.public_hosts
    words = tuple(dict.fromkeys((*denylist, *(word.casefold() for word in change.deny))))
    return msgspec.structs.replace(policy, denylist=words, hosts=hosts, public_hosts=public)


def _numbered(
    event: AnyEvent, actor: Actor, cause: Envelope, derived: Sequence[Envelope], turn: Turn
) -> Envelope:
    """A derived decision where it would have stood. Its time is that of the recorded one there."""
    place = len(derived)
    at_ns = turn[min(place, len(turn) - 1)].at_ns
    first = derived[0]
    seq, n = first.seq + place, first.n + place
    return Envelope(seq, first.session, n, at_ns, actor, cause.n, event, b"")


def _decisions(turn: Iterable[Envelope]) -> list[Envelope]:
    """What was decided, without what it taught: each model is taught what it asks for."""
    taught = (TransitionLearned, TransitionUndone, EndLearned)
    return [envelope for envelope in turn if not isinstance(envelope.event, taught)]


def _came_to(event: AnyEvent) -> object:
    """What two models must agree in to come to the same: each has a probability of its own."""
    match event:
        case PredictionMade(candidates=candidates):
            return PredictionMade, [doing(each.action) for each in candidates[:1]]
        case PlanProposed(driver="prediction", action=action, source=source):
            return PlanProposed, doing(action), source
        case PlanAdmitted(action=action):
            return PlanAdmitted, doing(action)
        case PlanWithheld(index=-1):
            return PlanWithheld
        case AdviceRequested(provider=provider, model=model, purpose=purpose):
            return AdviceRequested, provider, model, purpose
        case RunStopped(reason=reason, failure=failure):
            return RunStopped, reason, failure
        case _:
            return event


def _goes_on(turn: Iterable[Envelope], settings: RunSettings) -> bool:
    """Whether the turn leads to an action by itself: started, or put forward and not refused."""
    went = False
    for envelope in turn:
        match envelope.event:
            case PlanProposed() as plan:
                went = not is_suggested(plan, settings)
            case ActionStarted():
                went = True
            case ActionRejected() | ApprovalRequested():
                return False
            case _:
                pass
    return went


def _asks(turn: Iterable[Envelope]) -> int:
    return sum(isinstance(envelope.event, AdviceRequested) for envelope in turn)


def _step_of(turn: Iterable[Envelope]) -> int:
    for envelope in turn:
        if isinstance(envelope.event, PlanProposed | ActionStarted | ApprovalRequested):
            return envelope.event.step
    return 0
