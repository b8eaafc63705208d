"""The Planner where a language model is asked (C2): before a run would stop, and what follows."""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.correction import ModelHelp
from rutter.actors.planner.model_question import (
    AGAIN,
    ModelRun,
    again,
    ask,
    claimed,
    evolve_consulting,
    planned,
    tried,
    worked,
)
from rutter.actors.planner.provider_choice import NEVER_SHOWN, evolve_asking, request
from rutter.actors.planner.state import (
    BY_HAND,
    PlannerState,
    for_a_person,
    loops,
    over_limit,
    stop_run,
)
from rutter.actors.rules.steps.service_script import (
    ScriptProgress,
    evolve_going,
    gone,
    is_helped,
    is_of_way,
    next_of_way,
    refused,
    way_here,
)
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from rutter.events.critic import ActionJudged, CompletionChecked, StateDiffered
from rutter.events.executor import QueryFailed, TargetResolved
from rutter.events.planner import AdviceRequested, CheckpointReached, PlanProposed, RunStopped
from rutter.events.runtime import Failure, SessionStarted
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import ActionRejected, CheckpointPassed
from rutter.events.vocabulary import AnyEvent


def evolve_advised(state: PlannerState, event: AnyEvent) -> PlannerState:
    """What concerns asking a model, where one may be asked, and the service's own way."""
    change = msgspec.structs.replace
    if (going := _gone_on(state, event)) is not state.going:
        state = change(state, going=going)
    on, plan = state.consulting, state.plan
    if on is None:
        return state
    match event:
        case AdviceRequested() | AdviceReceived() | AdviceFailed() | AdviceLost():
            on = change(on, asking=evolve_asking(on.asking, event))
            on = evolve_consulting(on, event)
        case TargetResolved(element=element):
            return change(state, element=element)
        case ActionRejected(step=step, reason=why) if _is_advised(plan, step):
            on = _tried(state, on, why)
        case StateDiffered(step=step, expected=expected, actual=actual) if _is_advised(plan, step):
            # A step of the workflow that was done is done: the next one shows where that led.
            detour = plan is not None and plan.index < 0
            why = f"it led to {actual}, not to {expected}"
            on = _tried(state, on, why) if detour else on
        case ActionJudged(step=step, verdict="confirmed") if plan is not None and plan.step == step:
            # In a free run there is no step to be at: it may still turn out to lead elsewhere.
            on = worked(on, there=plan.index >= 0 or plan.driver != "model")
        case ActionJudged(step=step, verdict=verdict, reason=why) if _is_advised(plan, step):
            on = _tried(state, on, f"{verdict}: {why}")
        case QueryFailed(step=step, code=code) if _is_advised(plan, step):
            on = _tried(state, on, code)
        case CompletionChecked(verified=False) if state.due is None:
            on = claimed(on)
        case CheckpointPassed():
            on = change(on, helping=ModelHelp())  # a person put it right: another beginning
        case _:
            return state
    return change(state, consulting=on)


def _gone_on(state: PlannerState, event: AnyEvent) -> ScriptProgress:
    started, plan, going = state.started, state.plan, state.going
    if started is None or (started.models is None and not is_helped(started)):
        return going
    if plan is not None and is_of_way(plan):
        if isinstance(event, ActionJudged) and event.step == plan.step:
            return gone(going, event)
        if isinstance(event, ActionRejected) and event.step == plan.step:
            return refused(going)
    return evolve_going(going, event, started)


def _is_advised(plan: PlanProposed | None, step: int) -> bool:
    return plan is not None and plan.step == step and plan.driver == "model"


def _tried(state: PlannerState, on: ModelRun, why: str) -> ModelRun:
    assert state.plan is not None
    return tried(on, _needed(state), state.plan.action, state.element, why)


def _needed(state: PlannerState) -> int:
    """The step of the workflow that help is needed for; -1 in a free run."""
    return state.due.index if state.due is not None else -1


def question_about(
    state: PlannerState, why: str
) -> AdviceRequested | PlanProposed | RunStopped | None:
    """The question to a model, where one may be asked about this page; else the service's way,
    which may be that it ends here."""
    assert state.started is not None
    way = way_here(state.going, state.started)
    if way is not None and not way.actions:
        return stop_run(state, "failed", "", way.why)
    signed_out = state.due is not None and state.due.signed_out
    if state.going.state not in NEVER_SHOWN and not signed_out:
        question = ask(state.consulting, state.step + 1, _needed(state), why)
        if question is not None:
            return question
    return next_of_way(state.going, state.started, state.step + 1)


def helped(state: PlannerState, stop: RunStopped) -> AnyEvent:
    """A run that would stop here asks a model first. What cannot be undone and may have been sent
    is nothing to go on from (E7)."""
    sent = state.failure is None or state.failure.dispatched
    # What a model took for the step and changed nothing was not it: a person is asked again.
    wrong = _is_advised(state.plan, stop.step) and _changed_nothing(state)
    if (state.irreversible and sent and not wrong) or stop.reason != "failed":
        return stop
    if (question := question_about(state, stop.detail)) is not None:
        return question
    return without_a_model(state, stop)


def _changed_nothing(state: PlannerState) -> bool:
    return state.judged is not None and state.judged.verdict == "no_effect"


def without_a_model(state: PlannerState, stop: RunStopped) -> AnyEvent:
    """As it goes without one: with a person, if they have a window, where one could not help."""
    on, due = state.consulting, state.due
    if on is None or not on.helping.asks:
        return stop
    if due is not None:
        return for_a_person(state, due, stop.detail)
    assert state.started is not None
    if state.started.headed and state.by_hand[1] < BY_HAND:
        return CheckpointReached("unknown", state.step + 1, stop.detail)
    return stop


def on_advice(state: PlannerState, advice: AdviceReceived | AdviceFailed) -> Iterable[AnyEvent]:
    """What follows from an answer: a step, another question, or going on without one."""
    on = state.consulting
    last = on.asking.last if on is not None else None
    if on is None or last is None or last.request != advice.request:
        return
    if isinstance(advice, AdviceFailed):
        more = request(on.asking, last) or f"no model could be asked: {on.asking.failed}"
    else:
        more = again(on, advice) or ""
    if isinstance(more, AdviceRequested):
        yield more
    elif more and (way := next_of_way(state.going, _started(state), state.step + 1)):
        yield way
    elif more:
        nobody: Failure = "lost" if on.asking.next is not None else "model_unavailable"
        asked_for = last.note.partition(AGAIN)[0]
        why = f"{asked_for}; {more}" if asked_for else more
        yield without_a_model(state, stop_run(state, "failed", nobody, why))
    elif isinstance(advice, AdviceReceived):
        yield from _as_advised(state, on, advice)


def _started(state: PlannerState) -> SessionStarted:
    assert state.started is not None
    return state.started


def _as_advised(state: PlannerState, on: ModelRun, advice: AdviceReceived) -> Iterable[AnyEvent]:
    proposal = advice.proposal
    assert proposal is not None
    if state.due is None and proposal.state == "COMPLETE":
        # In a free run that is the end, if the page bears it out (D5).
        yield CompletionClaimed(advice.request, "success", proposal.reasoning.text[:200])
    elif state.due is None and proposal.state == "FAILED":
        yield stop_run(state, "failed", "lost", "the model says that it cannot be done")
    elif stop := over_limit(state):
        yield stop
    elif loops(state, proposal.action):
        yield stop_run(state, "no_op_loop", "", "the model proposes the same on the same page")
    else:
        yield planned(on, advice, state.step + 1, state.due)


def acknowledged(state: PlannerState, checked: CompletionChecked) -> AnyEvent:
    """An end that the page does not bear out is not acknowledged: the model looks again (D5)."""
    reason = checked.reason
    if checked.verified:
        return stop_run(state, "completed", "", reason)
    on = state.consulting
    once_more = on is not None and state.due is None and on.helping.claims < on.asking.models.asks
    if once_more and (question := question_about(state, f"it is not done: {reason}")):
        return question
    return stop_run(state, "completed_unverified", "", reason)
