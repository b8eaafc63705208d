"""The Validator lets no step pass without a verdict on its element as really found (E1, design 8).

It looks three times: at the proposal (is it well formed, may one look), at the resolved element
(may this very element be acted on), and again when the element changed under it. Its last word is
the intent, `ActionStarted`, in the same turn as the approval: durable before anything is touched.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal

import msgspec

from rutter.actors.rules.pages.page_state import checkpoint_of
from rutter.actors.rules.policy.policy import (
    CALLERS,
    READING,
    PolicyCase,
    PolicyVerdict,
    judge,
    missing_field,
    stands,
)
from rutter.actors.rules.steps.ghost import RULE as GHOST
from rutter.actors.rules.steps.ghost import ghost_refusal
from rutter.actors.rules.steps.healing import LIKENESS, doubtful, unlike
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.steps.pause import evolve_pause, hands_over
from rutter.actors.rules.steps.retry import so_long
from rutter.actors.validator.approvals import (
    is_final,
    is_on_the_way,
    seen_as,
    stands_by_recording,
    with_final,
    with_unknown,
)
from rutter.actors.validator.choices import (
    evolve_choice,
    question_of_choice,
    settled_by_choice,
    unless_chosen,
)
from rutter.actors.validator.questions import (
    BY_HAND,
    as_suggestion,
    left_to_ask,
    not_typed_out,
    question_by_hand,
    question_of_caller,
    question_on,
    went_on,
)
from rutter.actors.validator.state import ValidatorState
from rutter.events.action import READS, ByBeside, kind_of
from rutter.events.critic import OutcomeUnknown, PageAssessed
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import ErrorCode, TargetChanged, TargetMissing, TargetResolved
from rutter.events.observer import PageObserved
from rutter.events.page import Resolved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import CheckpointReached, PlanProposed, RunStopped, StepLost, StepSettled
from rutter.events.runtime import SessionPaused, SessionStarted
from rutter.events.tools import ApprovalSought
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    PlanAdmitted,
    QueryStarted,
)
from rutter.events.vocabulary import AnyEvent

# These need no element; everything else is resolved before it is judged, a key press to what has
# the focus. A wait_for looks for its element itself, because the element is not there yet.
UNRESOLVED = frozenset({"navigate", "wait", "wait_for", "check"})
MOST_CHANGES = 3  # of one step's element, before it is given up


class Validator:
    name: ClassVar[Actor] = "validator"

    def initial(self) -> ValidatorState | None:
        return None

    def evolve(self, state: ValidatorState | None, envelope: Envelope) -> ValidatorState | None:
        event = envelope.event
        if isinstance(event, SessionStarted):
            return ValidatorState(event)
        if state is None or _is_let_go(state, event):
            return state
        return self._evolved(_held(state, envelope), event)

    def _evolved(self, state: ValidatorState, event: AnyEvent) -> ValidatorState:
        change = msgspec.structs.replace
        match event:
            case PlanProposed() as plan:
                before = state.element if plan.attempt > 1 else None
                return change(state, plan=plan, element=None, before=before, changes=0)
            case TargetResolved(element=element):
                return change(state, element=element)
            case TargetChanged(element=element):
                return change(state, element=element, changes=state.changes + 1)
            case PageObserved(page=page, phrases=phrases):
                checkpoint = checkpoint_of(page, phrases, state.started.settings.service)
                return change(state, checkpoint=checkpoint, page_state="", page=page.url)
            case PageAssessed(state=found):
                return change(state, page_state=found)
            case ApprovalRequested() as asked:
                return change(state, asked=asked, questions=state.questions + 1)
            case StepSettled() as settled:
                return change(state, settled=settled)
            case ActionStarted(irreversible=True) as begun:
                aside = is_on_the_way(state)
                done = state.done_on_the_way or aside
                final = with_final(state, begun)
                return change(state, done_on_the_way=done, had_wheel=False, final=final)
            case OutcomeUnknown(step=step):
                return change(state, final=with_unknown(state, step))
            case ApprovalVoided():
                return change(state, asked=None)
            case RunStopped():
                return change(state, stopped=True)
            case _:
                return evolve_choice(state, event)

    def decide(self, state: ValidatorState | None, envelope: Envelope) -> Iterable[AnyEvent]:
        if state is None or _is_let_go(state, envelope.event):
            return
        if isinstance(envelope.event, RunStopped):
            yield from _void(state, "the run stopped")
            return
        if isinstance(envelope.event, ApprovalSought) and not state.stopped:
            yield question_of_caller(state, envelope.event)
        if isinstance(envelope.event, CheckpointReached | StepLost) and not state.stopped:
            yield from _void(state, "another question is put")
            yield _question(state, envelope.event)
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
                reason = _why_missing(state.plan, code, instead, waited_ms)
                yield _reject(state, "target_exists", reason, "execution_error", code)
            case ApprovalAnswered() as answer:
                yield from _answered(state, answer)
            case _:
                return


def _question(state: ValidatorState, event: CheckpointReached | StepLost) -> ApprovalRequested:
    if isinstance(event, StepLost):
        return question_of_choice(state, event)
    return question_by_hand(state, event)


def _why_missing(plan: PlanProposed | None, code: ErrorCode, instead: int, waited_ms: int) -> str:
    if plan is not None and 0 <= instead < len(plan.unless):
        return f"step {plan.unless[instead] + 1} is there instead"
    target = plan.action.target if plan is not None else None
    if target is not None and isinstance(words := target.primary, ByBeside):
        said = f"nobody sees {words.text!r} on the page with something beside it"
        if code == "element_ambiguous":
            said = f"{words.text!r} is said in several places: give more of the words there"
        return f"{said}{so_long(waited_ms)}"
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
    settings, steps = state.started.settings, state.started.steps
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
    if started.settings.dry_run and is_final(state, case):
        yield ActionWithheld(plan.step, plan.action, f"would have done it: {verdict.reason}")
        return
    if (asks := left_to_ask(state, case, verdict)) is not None:
        chosen = settled_by_choice(state, asks.rule)
        if not chosen:
            yield question_on(state, asks)
            return
        yield from _approve(state, asks.rule, "a person chose this element", chosen)
        return
    reason, rule = verdict.reason, verdict.rule
    if verdict.effect == "ask":
        reason, rule = "approved by its recording", "standing_approval"
        if not stands_by_recording(state):
            reason, rule = "a credential is bound to this origin", "bound_credential"
    yield from _approve(state, rule, reason, "")


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
    somebody wants it; of a picture, that the run is allowed to (S4 W8)."""
    if plan.render_mode == "ghost":
        ghost, seen = started.settings.ghost, state.page_state
        if (no := ghost_refusal(ghost, plan.driver, plan.action, seen)) is not None:
            yield _reject(state, GHOST, no.reason, no.code, no.error)
            return
    doubt = doubtful(started, plan, state.element)
    if doubt and not settled_by_choice(state, "healed"):
        yield question_on(state, PolicyVerdict("ask", "healed", doubt))
        return
    if (suggested := as_suggestion(state)) is not None:
        yield question_on(state, suggested)
        return
    yield _query_on(plan, state.element)


def _query_on(plan: PlanProposed, element: Resolved | None) -> QueryStarted:
    """Where an element was looked for, the page came to rest before that."""
    aimless = plan.action.type in READS and element is None
    rest = plan.rest if aimless else None
    seen = seen_as(element)
    return QueryStarted(plan.step, plan.attempt, plan.action, seen, rest, plan.render_mode)


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
        answer = not_typed_out(answer, asked)
    answer = unless_chosen(answer, asked)
    late = state.pause.holds and answer.approved and bool(asked.signature)
    used = "the session is paused" if late else "used"
    yield ApprovalVoided(asked.approval, used if answer.approved else "refused")
    if late:
        # It was for the page as it was then; who has the wheel may have done it meanwhile (E7).
        yield from _let_go(state, "approved while the session was paused: it is asked again")
        return
    if asked.kind == "choice" or (asked.kind in BY_HAND and not asked.signature):
        yield went_on(asked, answer)
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


def _approve(state: ValidatorState, rule: str, reason: str, approval: str) -> Iterable[AnyEvent]:
    started, plan, element = state.started, state.plan, state.element
    assert plan is not None
    if kind_of(plan.action) == "observation":  # a person said that it is the one that is meant
        yield _query_on(plan, element)
        return
    case = _case(state, plan, element)
    irreversible = plan.action.type not in READING and is_final(state, case)
    yield ActionApproved(plan.step, rule, reason, started.policy.version, approval)
    yield ActionStarted(
        step=plan.step,
        attempt=plan.attempt,
        action=plan.action,
        digest=seen_as(element),
        irreversible=irreversible,
        rest=plan.rest if plan.action.type in UNRESOLVED else None,
    )


def _case(state: ValidatorState, plan: PlanProposed, element: Resolved | None) -> PolicyCase:
    """Which element it is shows when it is found: then what is predicted is judged again."""
    known = plan.recorded is not None and plan.driver == "prediction"
    return PolicyCase(
        policy=state.started.policy,
        action=plan.action,
        driver=plan.driver,
        element=element,
        state=state.page_state,
        checkpoint=state.checkpoint,
        page=state.page,
        start=state.started.url,
        recorded=known and (element is None or stands(plan.recorded, element)),
    )


def _reject(
    state: ValidatorState,
    rule: str,
    reason: str,
    code: Literal["validation_error", "policy_denied", "execution_error", "tool_unavailable"],
    error: str,
) -> ActionRejected:
    assert state.plan is not None
    version = state.started.policy.version
    return ActionRejected(state.plan.step, rule, reason, version, code, error)


def _is_another(state: ValidatorState) -> bool:
    """Whoever calls tools chose one element of a snapshot. What its locators find when it is tried
    again, and was not there then, nobody chose."""
    plan, element, before = state.plan, state.element, state.before
    if plan is None or element is None or before is None:
        return False
    return plan.driver in CALLERS and element.digest != before.digest


def _elsewhere(state: ValidatorState) -> str:
    """A recorded step belongs to its site: what it types must not end up on another."""
    workflow, plan, element = state.started.workflow, state.plan, state.element
    if workflow is None or plan is None or element is None or plan.driver != "workflow":
        return ""
    recorded = workflow.steps[plan.index].before.origin
    if not recorded or recorded == element.origin:
        return ""
    return f"it was recorded on {recorded}, this is {element.origin}"


def _void(state: ValidatorState, why: str) -> Iterable[AnyEvent]:
    if state.asked is not None:
        yield ApprovalVoided(state.asked.approval, why)
