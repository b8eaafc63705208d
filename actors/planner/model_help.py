"""The Planner asks a language model before a run would stop, and goes on from its answer (C2)."""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.correction import ModelHelp, another_way, having_failed, having_tried
from rutter.actors.planner.model_question import again, ask, planned
from rutter.actors.planner.provider_choice import NEVER_SHOWN
from rutter.actors.planner.run import loops, own_way, stop_run
from rutter.actors.planner.state import BY_HAND, PlannedRun, for_a_person, over_limit
from rutter.events.advisor import AdviceFailed, AdviceReceived, Proposal
from rutter.events.causes import OTHER
from rutter.events.critic import ActionJudged, CompletionChecked, StateDiffered
from rutter.events.executor import QueryFailed
from rutter.events.planner import AdviceRequested, CheckpointReached, PlanProposed, RunStopped
from rutter.events.runtime import Failure
from rutter.events.signature import signature
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import ActionRejected, CheckpointPassed
from rutter.events.vocabulary import AnyEvent


def evolve_advised(state: PlannedRun, event: AnyEvent) -> PlannedRun:
    """What was asked about a step, and what came of it, where a model may be asked."""
    if state.asking is None:
        return state
    helping = _asked_about(state, state.helping, event)
    if isinstance(event, ActionJudged | ActionRejected | StateDiffered | QueryFailed):
        helping = _came_of(state, helping, event)
    return state if helping is state.helping else msgspec.structs.replace(state, helping=helping)


def _asked_about(state: PlannedRun, helping: ModelHelp, event: AnyEvent) -> ModelHelp:
    change = msgspec.structs.replace
    match event:
        case AdviceRequested(index=index, correction=correction):
            helping = helping.of(index)
            return change(helping, asks=helping.asks + 1, corrections=correction)
        case AdviceReceived(proposal=Proposal() as proposal) if state.asking is not None:
            if proposal.certainty < state.asking.models.certainty:
                return change(helping, unsure=helping.unsure + 1)
            last = state.asking.last
            corrects = last is not None and last.purpose == "correct"
            if corrects and another_way(proposal.action, helping) is None:
                return having_failed(helping, "that was tried before")
            return helping
        case CompletionChecked(verified=False) if state.due is None:
            return change(helping, claims=helping.claims + 1)
        case CheckpointPassed():
            return ModelHelp()  # a person put it right: another beginning
        case _:
            return helping


def _came_of(
    state: PlannedRun,
    helping: ModelHelp,
    event: ActionJudged | ActionRejected | StateDiffered | QueryFailed,
) -> ModelHelp:
    """Whether the last step worked; if a model proposed it and it did not, why."""
    plan = state.plan
    if plan is None or event.step != plan.step:
        return helping
    if isinstance(event, ActionJudged) and event.verdict == "confirmed":
        # On the way to the step that help was needed for: how often was asked still counts. In a
        # free run there is no step to be at: it may still turn out to lead elsewhere.
        there = plan.index >= 0 or plan.driver != "model"
        return ModelHelp() if there else msgspec.structs.replace(helping, settled=True)
    led_on = isinstance(event, StateDiffered) and plan.index >= 0  # it is done: the next one shows
    if plan.driver != "model" or led_on:
        return helping
    index, element = _needed(state), state.flight.element if state.flight is not None else None
    known = helping.of(index) if helping.index != index else helping
    return having_failed(having_tried(known, plan.action, element), _why(event))


def _why(event: ActionJudged | ActionRejected | StateDiffered | QueryFailed) -> str:
    match event:
        case ActionJudged(verdict=verdict, reason=reason):
            return f"{verdict}: {reason}"
        case ActionRejected(reason=reason):
            return reason
        case QueryFailed(code=code):
            return code
        case StateDiffered(expected=expected, actual=actual):
            return f"it led to {actual}, not to {expected}"


def _needed(state: PlannedRun) -> int:
    """The step of the workflow that help is needed for; -1 in a free run."""
    return state.due.index if state.due is not None else -1


def question_about(
    state: PlannedRun, why: str
) -> AdviceRequested | PlanProposed | RunStopped | None:
    """The question to a model, where one may be asked about this page; else the service's way,
    which may be that it ends here."""
    way = own_way(state)
    signed_out = state.due is not None and state.due.signed_out
    shown = state.going.state not in NEVER_SHOWN and not signed_out and not state.barred
    if isinstance(way, RunStopped) or not shown:
        return way
    return ask(state, _needed(state), why) or way


def helped(state: PlannedRun, stop: RunStopped) -> AnyEvent:
    """A run that would stop here asks a model first. What cannot be undone and may have been sent
    is nothing to go on from (E7)."""
    plan, judged = state.plan, state.judged
    sent = state.failure is None or state.failure.dispatched
    # What a model took for the step and changed nothing was not it: a person is asked again.
    advised = plan is not None and plan.step == stop.step and plan.driver == "model"
    wrong = advised and judged is not None and judged.verdict == "no_effect"
    if (state.irreversible and sent and not wrong) or stop.reason != "failed":
        return stop
    return question_about(state, stop.detail) or without_a_model(state, stop)


def without_a_model(state: PlannedRun, stop: RunStopped) -> AnyEvent:
    """As it goes without one: with a person, if they have a window, where one could not help."""
    if state.asking is None or not state.helping.asks:
        return stop
    if state.due is not None:
        return for_a_person(state, state.due, stop.detail, stop.cause)
    if state.started.headed and state.by_hand[1] < BY_HAND:
        return CheckpointReached("unknown", state.step + 1, stop.detail)
    return stop


def on_advice(state: PlannedRun, advice: AdviceReceived | AdviceFailed) -> Iterable[AnyEvent]:
    """What follows from an answer: a step, another question, or going on without one."""
    asking = state.asking
    last = asking.last if asking is not None else None
    if asking is None or last is None or last.request != advice.request:
        return
    more = again(state, asking, advice)
    if isinstance(more, AdviceRequested):
        yield more
    elif more and isinstance(way := own_way(state), PlanProposed):
        yield way
    elif more:
        nobody: Failure = "lost" if asking.next is not None else "model_unavailable"
        why = f"{last.note}; {more}" if last.note else more
        yield without_a_model(state, stop_run(state, "failed", nobody, why))
    elif isinstance(advice, AdviceReceived):
        yield _as_advised(state, last, advice)


def _as_advised(state: PlannedRun, last: AdviceRequested, advice: AdviceReceived) -> AnyEvent:
    proposal = advice.proposal
    assert proposal is not None
    if state.due is None and proposal.state == "COMPLETE":
        # In a free run that is the end, if the page bears it out (D5).
        return CompletionClaimed(advice.request, "success", proposal.reasoning.text[:200])
    if state.due is None and proposal.state == "FAILED":
        return stop_run(state, "failed", "lost", "the model says that it cannot be done")
    if stop := over_limit(state):
        return stop
    if loops(state, signature(proposal.action)):
        said = "the model proposes the same on the same page"
        return stop_run(state, "no_op_loop", "", said)
    return planned(state, last, advice)


def acknowledged(state: PlannedRun, checked: CompletionChecked) -> AnyEvent:
    """An end that the page does not bear out is not acknowledged: the model looks again (D5)."""
    reason, cause = checked.reason, checked.cause or OTHER
    if checked.verified:
        return stop_run(state, "completed", "", reason, cause)
    stop, asking = stop_run(state, "completed_unverified", "", reason, cause), state.asking
    if asking is None or state.due is not None or state.helping.claims >= asking.models.asks:
        return stop
    return question_about(state, f"it is not done: {reason}") or stop
