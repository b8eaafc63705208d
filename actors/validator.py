"""The Validator: no step without a verdict on the element as it was really found (E1, design 8).

It looks three times: at the proposal (is it well formed, may one look), at the resolved element
(may this very element be acted on), and again when the element changed under it. Its last word is
the intent, `ActionStarted`, in the same turn as the approval: durable before anything is touched.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal

import msgspec

from actors.healing import LIKENESS, doubtful, unlike
from actors.pausing import HAD_THE_WHEEL, Pause, evolve_pause, hands_over
from actors.pausing import RULE as PAUSED
from actors.place import origin_of, place_of
from actors.policy import (
    CALLERS,
    READING,
    Case,
    Verdict,
    is_irreversible,
    judge,
    missing_field,
    stands,
)
from actors.policy_rules import is_a_door
from actors.repeating import so_long
from actors.settling import doubt as may_have_happened
from actors.states import checkpoint_of
from actors.suggesting import RULE as SUGGESTED
from actors.suggesting import is_suggested, why_suggested
from actors.ways import is_of_way
from events.action import Secret, kind_of
from events.critic import PageAssessed
from events.envelope import Actor, Envelope
from events.executor import TargetChanged, TargetMissing, TargetResolved
from events.observer import PageObserved
from events.page import Resolved
from events.person import ApprovalAnswered
from events.planner import CheckpointReached, PlanProposed, RunStopped, StepSettled
from events.runtime import SessionPaused, SessionStarted
from events.service_pack import Checkpoint
from events.signature import signature
from events.tools import ApprovalSought, approval_of
from events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    CheckpointPassed,
    CheckpointRefused,
    PlanAdmitted,
    QueryStarted,
)
from events.vocabulary import AnyEvent
from events.workflow import Standing, Step

# These need no element; everything else is resolved before it is judged, a key press to what has
# the focus. A wait_for looks for its element itself, because the element is not there yet.
UNRESOLVED = frozenset({"navigate", "wait", "wait_for", "check"})
MOST_CHANGES = 3  # of one step's element, before it is given up
CONFIRM = "confirm"  # S1 FR-008: what the person types out before the last step
# What a person does in the window, and what they are asked then.
BY_HAND = {
    "login": "Sign in in the window",
    "unknown": "Bring the page to where this step is due, in the window",
}


class ValidatorState(msgspec.Struct, frozen=True):
    started: SessionStarted | None = None
    plan: PlanProposed | None = None
    element: Resolved | None = None
    before: Resolved | None = None
    asked: ApprovalRequested | None = None
    questions: int = 0
    changes: int = 0
    stopped: bool = False
    page: str = ""
    page_state: str = ""
    checkpoint: Checkpoint | None = None
    settled: StepSettled | None = None
    done_on_the_way: bool = False
    pause: Pause = Pause()
    open: bool = False  # proposed, and neither begun nor refused
    let_go: int = 0  # the last step that a pause came before
    had_wheel: bool = False


class Validator:
    name: ClassVar[Actor] = "validator"

    def initial(self) -> ValidatorState:
        return ValidatorState()

    def evolve(self, state: ValidatorState, envelope: Envelope) -> ValidatorState:
        if _is_let_go(state, envelope.event):
            return state
        return self._evolved(_held(state, envelope), envelope.event)

    def _evolved(self, state: ValidatorState, event: AnyEvent) -> ValidatorState:
        change = msgspec.structs.replace
        match event:
            case SessionStarted() as started:
                return ValidatorState(started=started)
            case PlanProposed() as plan:
                before = state.element if plan.attempt > 1 else None
                return change(state, plan=plan, element=None, before=before, changes=0)
            case TargetResolved(element=element):
                return change(state, element=element)
            case TargetChanged(element=element):
                return change(state, element=element, changes=state.changes + 1)
            case PageObserved(page=page, phrases=phrases):
                service = state.started.settings.service if state.started else None
                checkpoint = checkpoint_of(page, phrases, service)
                return change(state, checkpoint=checkpoint, page_state="", page=page.url)
            case PageAssessed(state=found):
                return change(state, page_state=found)
            case ApprovalRequested() as asked:
                return change(state, asked=asked, questions=state.questions + 1)
            case StepSettled() as settled:
                return change(state, settled=settled)
            case ActionStarted(irreversible=True):
                aside = _is_on_the_way(state)
                done = state.done_on_the_way or aside
                return change(state, done_on_the_way=done, had_wheel=False)
            case ApprovalVoided():
                return change(state, asked=None)
            case RunStopped():
                return change(state, stopped=True)
            case _:
                return state

    def decide(self, state: ValidatorState, envelope: Envelope) -> Iterable[AnyEvent]:
        if state.started is None or _is_let_go(state, envelope.event):
            return
        if isinstance(envelope.event, RunStopped):
            yield from _void(state, "the run stopped")
            return
        if isinstance(envelope.event, ApprovalSought) and not state.stopped:
            yield _sought(state, envelope.event)
        if isinstance(envelope.event, CheckpointReached) and not state.stopped:
            yield from _void(state, "another question is put")
            yield _by_hand(state, envelope.event)
        if state.stopped or (state.plan is None and state.asked is None):
            return
        match envelope.event:
            case PlanProposed() as plan:
                yield from _void(state, "another step was proposed")
                yield from _admit(state, plan)
            case TargetResolved():
                yield from _verdict(state)
            case TargetChanged():
                yield from _void(state, "the element changed")
                yield from _judge_again(state)
            case SessionPaused(by=by) if state.open and state.asked is None:
                yield from _let_go(state, f"paused by {by} before it began")
            case TargetMissing(code=code, instead=instead, waited_ms=waited_ms):
                reason = _why_missing(state.plan, instead, waited_ms)
                yield _reject(state, "target_exists", reason, "execution_error", code)
            case ApprovalAnswered() as answer:
                yield from _answered(state, answer)
            case _:
                return


def _why_missing(plan: PlanProposed | None, instead: int, waited_ms: int) -> str:
    if plan is not None and 0 <= instead < len(plan.unless):
        return f"step {plan.unless[instead] + 1} is there instead"
    target = plan.action.target if plan is not None else None
    looked = len(target.strategies) if target is not None else 0
    return f"none of {looked} ways to find it matched one visible element{so_long(waited_ms)}"


def _held(state: ValidatorState, envelope: Envelope) -> ValidatorState:
    """The pause, and whether the step that was proposed has begun."""
    change, event = msgspec.structs.replace, envelope.event
    pause = evolve_pause(state.pause, envelope)
    if pause is not state.pause:
        had_wheel = state.had_wheel or hands_over(state.pause, pause, state.started)
        state = change(state, pause=pause, had_wheel=had_wheel)
    match event:
        case PlanProposed() | TargetChanged():
            return change(state, open=True)
        case ActionStarted() | QueryStarted():
            return change(state, open=False)
        case ActionRejected(rule=rule, step=step):
            return change(state, open=False, let_go=step if rule == PAUSED else state.let_go)
        case _:
            return state


def _is_let_go(state: ValidatorState, event: AnyEvent) -> bool:
    """Its element was still being looked for when it was let go: what was found is for nobody."""
    if not isinstance(event, TargetResolved | TargetMissing | TargetChanged):
        return False
    return event.step == state.let_go


def _let_go(state: ValidatorState, why: str) -> Iterable[AnyEvent]:
    """It has not begun, and now it will not: whether it is still due is seen when it goes on. A
    look at what came of a step belongs to that one, which comes to its end."""
    if state.plan is not None and not state.plan.read_back_of:
        yield _reject(state, PAUSED, why, "execution_error", PAUSED)


def _admit(state: ValidatorState, plan: PlanProposed) -> Iterable[AnyEvent]:
    """First look: well formed, and not against policy before anything is even looked at."""
    missing = missing_field(plan.action)
    if missing:
        reason = f"{plan.action.type} needs a {missing}"
        yield _reject(state, "required_fields", reason, "validation_error", "invalid_params")
        return
    before = judge(_case(state, plan, None))
    if before.effect == "deny":
        yield _reject(state, before.rule, before.reason, "policy_denied", "policy_denied")
        return
    aimless = plan.action.target is None and plan.action.type != "press"
    if plan.action.type in UNRESOLVED or aimless:
        yield from _verdict(state)
        return
    assert state.started is not None
    settings = state.started.settings
    steps = state.started.workflow.steps if state.started.workflow is not None else ()
    optional = 0 <= plan.index < len(steps) and steps[plan.index].optional
    yield PlanAdmitted(
        step=plan.step,
        attempt=plan.attempt,
        action=plan.action,
        within_ms=plan.within_ms or settings.resolve_ms,
        unless=tuple(steps[index].action for index in plan.unless),
        # What may not come at all is not waited for because the page is busy.
        answer_ms=0 if plan.within_ms or optional else settings.answer_ms,
        cover_ms=plan.cover_ms,
        rest=plan.rest,
    )


def _verdict(state: ValidatorState) -> Iterable[AnyEvent]:
    """Second look: the table's verdict on the element as resolved."""
    started, plan, element = state.started, state.plan, state.element
    assert started is not None
    assert plan is not None
    if (refused := _not_it(state, started, plan)) is not None:
        yield refused
        return
    if kind_of(plan.action) == "observation":
        yield from _query(state, started, plan)
        return
    case = _case(state, plan, element)
    verdict = judge(case)
    if verdict.effect == "deny":
        yield _reject(state, verdict.rule, verdict.reason, "policy_denied", "policy_denied")
        return
    if started.settings.dry_run and _is_final(state, case):
        yield ActionWithheld(plan.step, plan.action, f"would have done it: {verdict.reason}")
        return
    if (asks := _unanswered(state, case, verdict)) is not None:
        yield _question(state, asks)
        return
    reason, rule = verdict.reason, verdict.rule
    if verdict.effect == "ask":
        reason, rule = "approved by its recording", "standing_approval"
        if not _stood(state):
            reason, rule = "a credential is bound to this origin", "bound_credential"
    yield from _approve(state, rule, reason, "")


def _unanswered(state: ValidatorState, case: Case, verdict: Verdict) -> Verdict | None:
    """What a person is to be asked: what no recording has answered, and whether to do at all what
    was predicted and is not sure enough, whatever else it is."""
    asks, suggested = _unsettled(state, case, verdict), _suggested(state)
    if asks is None or suggested is None:
        return asks or suggested
    return msgspec.structs.replace(asks, reason=f"{asks.reason}; {suggested.reason}")


def _suggested(state: ValidatorState) -> Verdict | None:
    assert state.started is not None
    assert state.plan is not None
    settings = state.started.settings
    if not is_suggested(state.plan, settings):
        return None
    return Verdict("ask", SUGGESTED, why_suggested(state.plan, settings, state.started.values))


def _unsettled(state: ValidatorState, case: Case, verdict: Verdict) -> Verdict | None:
    started, plan, element = state.started, state.plan, state.element
    assert started is not None
    assert plan is not None
    if 0 <= plan.index < started.done_before and _is_final(state, case):
        return _done_before(state, started, verdict)
    if state.had_wheel and _is_final(state, case):
        return _done_by_hand(state, verdict)
    stood = _stood(state) and not _was_done_on_the_way(state, case)
    if verdict.effect == "ask":
        answered = stood or _is_let_in(state, case, verdict)
        return None if answered and not verdict.always else verdict
    if unbound := _unbound_secret(started, plan):
        return unbound
    if doubt := doubtful(started, plan, element):
        return Verdict("ask", "healed", doubt)
    if _was_irreversible(state) and not stood:
        reason = "it could not be undone when it was recorded, and the element is another now"
        return Verdict("ask", "was_irreversible", reason)
    return None


def _is_let_in(state: ValidatorState, case: Case, verdict: Verdict) -> bool:
    """A credential that is bound to the origin satisfies the sign-in there (E3), on the way that a
    service or a model found, if it is sent nowhere else. What was healed or proposed by a model is
    not that way."""
    started, plan, element = state.started, state.plan, state.element
    if started is None or plan is None or element is None or plan.healed:
        return False
    if not is_a_door(case) or verdict.rule not in ("sends_a_form", "denylist"):
        return False
    found = started.workflow is not None and bool(started.workflow.goal)
    if not (is_of_way(plan) or (plan.driver == "workflow" and found)):
        return False
    if element.form_action and origin_of(element.form_action) != element.origin:
        return False
    homes = started.policy.secret_origins
    return any(name in started.secrets and origin == element.origin for name, origin in homes)


def _unbound_secret(started: SessionStarted, plan: PlanProposed) -> Verdict | None:
    """Nobody recorded where the service's own way types a secret: its origin has to be bound."""
    value = plan.action.value
    if not is_of_way(plan) or not isinstance(value, Secret):
        return None
    if any(name == value.name for name, _ in started.policy.secret_origins):
        return None
    reason = f"the secret {value.name!r} would be typed there, and is bound to no origin"
    return Verdict("ask", "secret_unbound", reason)


def _is_on_the_way(state: ValidatorState) -> bool:
    """Whether what is done in a run of a workflow is none of its steps."""
    started, plan = state.started, state.plan
    if started is None or started.workflow is None or plan is None:
        return False
    return plan.index < 0 and not plan.read_back_of


def _was_done_on_the_way(state: ValidatorState, case: Case) -> bool:
    """Something that cannot be undone was done in place of no step of the workflow: it may have
    been this very one, so that no recording approves it any more (E7)."""
    return state.done_on_the_way and _is_final(state, case)


def _judge_again(state: ValidatorState) -> Iterable[AnyEvent]:
    """The element is another one. One that never stays what it was can be approved by nobody."""
    if state.pause.holds and not (state.plan is not None and state.plan.read_back_of):
        yield from _let_go(state, "the element changed, and the session is paused")
    elif state.changes > MOST_CHANGES:
        reason = f"the element changed {state.changes} times before it could be acted on"
        yield _reject(state, "keeps_changing", reason, "execution_error", "ref_invalid")
    else:
        yield from _verdict(state)


def _query(
    state: ValidatorState, started: SessionStarted, plan: PlanProposed
) -> Iterable[AnyEvent]:
    """Reading needs no verdict of policy, only that it is the element that is meant (F2), and that
    somebody wants it."""
    if doubt := doubtful(started, plan, state.element):
        yield _question(state, Verdict("ask", "healed", doubt))
        return
    if (suggested := _suggested(state)) is not None:
        yield _question(state, suggested)
        return
    yield QueryStarted(plan.step, plan.attempt, plan.action, _seen(state.element))


def _not_it(
    state: ValidatorState, started: SessionStarted, plan: PlanProposed
) -> ActionRejected | None:
    """Why the element is not the one that was meant, whatever may be done to it."""
    element = state.element
    if other := unlike(plan, element, started.values):
        return _reject(state, LIKENESS, other, "execution_error", "element_not_found")
    if _is_another(state):
        reason = "it is another element than the one that the ref named"
        return _reject(state, "same_element", reason, "execution_error", "ref_invalid")
    if element is not None and element.tag == "select" and plan.action.type == "type":
        reason = "the element is a list to select from"
        return _reject(state, "element_kind", reason, "validation_error", "invalid_params")
    if elsewhere := _elsewhere(state):
        if kind_of(plan.action) == "observation":  # nothing leaves this site: it is only not there
            error = "element_not_found"
            return _reject(state, "recorded_origin", elsewhere, "execution_error", error)
        return _reject(state, "recorded_origin", elsewhere, "policy_denied", "policy_denied")
    return None


def _answered(state: ValidatorState, answer: ApprovalAnswered) -> Iterable[AnyEvent]:
    """An approval is for what was asked, once: another element or step needs another."""
    asked, plan = state.asked, state.plan
    if asked is None or answer.approval != asked.approval:
        return
    if answer.approved and answer.phrase != asked.phrase and asked.phrase:
        answer = _not_typed_out(answer, asked)
    late = state.pause.holds and answer.approved and bool(asked.signature)
    used = "the session is paused" if late else "used"
    yield ApprovalVoided(asked.approval, used if answer.approved else "refused")
    if late:
        # It was for the page as it was then; who has the wheel may have done it meanwhile (E7).
        yield from _let_go(state, "approved while the session was paused: it is asked again")
        return
    if asked.kind in BY_HAND and not asked.signature:
        yield _went_on(asked, answer)
        return
    if asked.kind == "requested" or plan is None:
        return  # whoever asked for it is told; it approves no step
    if not answer.approved:
        error = "needs_person" if answer.by == "nobody" else "human_rejected"
        reason = f"a person said no: {answer.message or asked.question}"
        reason = answer.message if answer.by == "nobody" else reason
        yield _reject(state, asked.rule, reason, "policy_denied", error)
        return
    yield from _approve(state, asked.rule, f"approved by a person ({answer.by})", asked.approval)


def _not_typed_out(answer: ApprovalAnswered, asked: ApprovalRequested) -> ApprovalAnswered:
    """A yes is not enough where the phrase was asked for, whoever says it (E3)."""
    said = f'{asked.phrase!r} was not typed out (in --answers: "phrase": "{asked.phrase}")'
    return msgspec.structs.replace(answer, approved=False, message=said)


def _approve(state: ValidatorState, rule: str, reason: str, approval: str) -> Iterable[AnyEvent]:
    started, plan, element = state.started, state.plan, state.element
    assert started is not None
    assert plan is not None
    if kind_of(plan.action) == "observation":  # a person said that it is the one that is meant
        yield QueryStarted(plan.step, plan.attempt, plan.action, _seen(element))
        return
    case = _case(state, plan, element)
    irreversible = plan.action.type not in READING and _is_final(state, case)
    yield ActionApproved(plan.step, rule, reason, started.policy.version, approval)
    yield ActionStarted(
        step=plan.step,
        attempt=plan.attempt,
        action=plan.action,
        digest=_seen(element),
        irreversible=irreversible,
        rest=plan.rest if plan.action.type in UNRESOLVED else None,
    )


def _case(state: ValidatorState, plan: PlanProposed, element: Resolved | None) -> Case:
    assert state.started is not None
    return Case(
        policy=state.started.policy,
        action=plan.action,
        driver=plan.driver,
        element=element,
        state=state.page_state,
        checkpoint=state.checkpoint,
        page=state.page,
        start=state.started.url,
    )


def _done_before(state: ValidatorState, started: SessionStarted, verdict: Verdict) -> Verdict:
    """An earlier session may have done it already: no recording has answered that."""
    plan, settled = state.plan, state.settled
    seen = settled if plan is not None and settled and settled.index == plan.index else None
    reason = may_have_happened(started, seen)
    kind = verdict.kind if verdict.effect == "ask" else "policy"
    return Verdict("ask", "done_before", reason, kind, always=True)


def _done_by_hand(state: ValidatorState, verdict: Verdict) -> Verdict:
    """The first step that cannot be undone after a person had the wheel: whether they did it, no
    recording has answered. What comes behind it they have not done either, then."""
    plan, settled = state.plan, state.settled
    reason = f"{HAD_THE_WHEEL}, and may have done it already"
    if plan is not None and settled is not None and settled.index == plan.index:
        reason = f"{reason}; {settled.reason}"
    asks = verdict.effect == "ask"
    if asks:
        reason = f"{verdict.reason}; {reason}"
    return Verdict("ask", "had_the_wheel", reason, verdict.kind if asks else "policy", always=True)


def _question(state: ValidatorState, verdict: Verdict) -> ApprovalRequested:
    """Bound to this step, action, element and origin: an answer to it is for nothing else."""
    plan, element = state.plan, state.element
    assert state.started is not None
    assert plan is not None
    name = f" {element.name.text!r}" if element is not None and element.name.text else ""
    return ApprovalRequested(
        approval=f"{plan.step}.{plan.attempt}.{state.questions + 1}",
        step=plan.step,
        kind=verdict.kind,
        question=f"{plan.action.type}{name}: {verdict.reason}. Approve?",
        rule=verdict.rule,
        signature=signature(plan.action),
        digest=_seen(element),
        origin=element.origin if element is not None else "",
        phrase=CONFIRM if verdict.kind == "confirm" else "",
        policy=state.started.policy.version,
    )


def _by_hand(state: ValidatorState, reached: CheckpointReached) -> ApprovalRequested:
    """What only a person can do, in the window, or knows that they did: nothing of ours is approved
    by it."""
    asked = f"{BY_HAND[reached.kind]}, then say yes. Done?"
    if reached.taken_to >= 0:
        asked = "Is it done?"
    return ApprovalRequested(
        approval=f"{reached.step}.{reached.kind}.{state.questions + 1}",
        step=reached.step,
        kind=reached.kind,
        question=f"{reached.why}. {asked}",
        rule=f"{reached.kind}_checkpoint",
    )


def _went_on(
    asked: ApprovalRequested, answer: ApprovalAnswered
) -> CheckpointPassed | CheckpointRefused:
    if answer.approved:
        return CheckpointPassed(asked.kind, asked.approval)
    return CheckpointRefused(asked.kind, asked.approval, answer.by, answer.message)


def _sought(state: ValidatorState, sought: ApprovalSought) -> ApprovalRequested:
    """The question of whoever calls tools. The answer is its own to act on: what it does next is
    judged as if nobody had been asked."""
    return ApprovalRequested(
        approval=approval_of(sought.call),
        step=state.plan.step if state.plan is not None else 0,
        kind="requested",
        question=f"{sought.action} ({sought.reason}). Approve?",
    )


def _reject(
    state: ValidatorState,
    rule: str,
    reason: str,
    code: Literal["validation_error", "policy_denied", "execution_error"],
    error: str,
) -> ActionRejected:
    assert state.started is not None
    assert state.plan is not None
    version = state.started.policy.version
    return ActionRejected(state.plan.step, rule, reason, version, code, error)


def _is_another(state: ValidatorState) -> bool:
    """Whoever calls tools chose one element of a snapshot. What its ways find when it is tried
    again, and was not there then, nobody chose."""
    plan, element, before = state.plan, state.element, state.before
    if plan is None or element is None or before is None:
        return False
    return plan.driver in CALLERS and element.digest != before.digest


def _elsewhere(state: ValidatorState) -> str:
    """A recorded step belongs to its site: what it types must not end up on another."""
    workflow = state.started.workflow if state.started else None
    plan, element = state.plan, state.element
    if workflow is None or plan is None or element is None or plan.driver != "workflow":
        return ""
    recorded = workflow.steps[plan.index].before.origin
    if not recorded or recorded == element.origin:
        return ""
    return f"it was recorded on {recorded}, this is {element.origin}"


def _seen(element: Resolved | None) -> str:
    """What the element was to the last letter. A standing approval is for its kind across runs;
    an intent and a person's answer are for this very one."""
    return (element.exact or element.digest) if element is not None else ""


def _void(state: ValidatorState, why: str) -> Iterable[AnyEvent]:
    if state.asked is not None:
        yield ApprovalVoided(state.asked.approval, why)


def _is_final(state: ValidatorState, case: Case) -> bool:
    """Whether it cannot be undone: by what the element is, or by what it was when it was recorded.
    A button that lost its form still says what it said."""
    return _was_irreversible(state) or is_irreversible(case)


def _was_irreversible(state: ValidatorState) -> bool:
    workflow = state.started.workflow if state.started else None
    plan = state.plan
    if workflow is None or plan is None or not 0 <= plan.index < len(workflow.steps):
        return False
    return workflow.steps[plan.index].irreversible


def _stood(state: ValidatorState) -> bool:
    """Whether the recording has approved this. Two addresses are the same page's if the recording
    saw it go by both."""
    return stands(_standing(state), state.element, same_page=_is_sent_there(state))


def _is_sent_there(state: ValidatorState) -> bool:
    """Whether its form is sent to the page of the recording: to one of its addresses as they are,
    for what varies in them stands for no word."""
    step, element = _recorded(state), state.element
    if step is None or element is None:
        return False
    led = place_of(element.form_action)
    return led.origin == step.before.origin and led.path in step.before.paths


def _recorded(state: ValidatorState) -> Step | None:
    workflow = state.started.workflow if state.started else None
    plan = state.plan
    if workflow is None or plan is None or plan.driver != "workflow":
        return None
    return workflow.steps[plan.index] if 0 <= plan.index < len(workflow.steps) else None


def _standing(state: ValidatorState) -> Standing | None:
    """The approval that the recording gave this very step of this workflow version. What was
    healed is another element, and has none."""
    step = _recorded(state)
    if step is None or state.plan is None or state.plan.healed:
        return None
    return step.standing
