"""A paused session holds what is to begin, and looks at the page before it goes on.

A step that has begun comes to its end and is judged. What would begin another is held, and follows
anew from the page as it is when the session goes on; what ends the run ends it all the same.
"""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.run import AnyRun, Run
from rutter.actors.planner.state import PlannedRun
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.rules.steps.already_done import EarlierRunLooks
from rutter.actors.rules.steps.pause import RULE, evolve_pause, hands_over
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.envelope import Envelope
from rutter.events.executor import LookalikesFound, QueryAnswered, QueryFailed
from rutter.events.observer import ObservationFailed
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    ObservationRequested,
    PlanProposed,
    RunStopped,
    StepSettled,
)
from rutter.events.predictor import PredictionMade, StepDue
from rutter.events.runtime import SessionResumed
from rutter.events.tools import ApprovalSought, CompletionClaimed, ToolCalled
from rutter.events.validator import (
    ActionRejected,
    ActionStarted,
    ApprovalRequested,
    ApprovalVoided,
    CheckpointPassed,
    QueryStarted,
)
from rutter.events.vocabulary import AnyEvent

# What leads to something new. Each of them follows again, or is made good for, from the next look.
LEADS_ON = (
    StepDue,
    PredictionMade,
    LookalikesFound,
    AdviceReceived,
    AdviceFailed,
    CheckpointPassed,
    CompletionChecked,
)
# What is something new, in a session that is driven by calls.
BEGINS = (
    PlanProposed,
    ApprovalSought,
    CompletionClaimed,
    AdviceRequested,
    ToolCalled,
    CheckpointReached,
)
# With these a step is over.
OVER = (ActionJudged, QueryAnswered, QueryFailed, ActionRejected, StepSettled, ObservationFailed)


def evolve_holding(state: AnyRun, envelope: Envelope) -> AnyRun:
    """The pause, the step that has begun and is not over, and the question that is open."""
    change = msgspec.structs.replace
    pause = evolve_pause(state.pause, envelope)
    if pause is not state.pause:
        had_wheel = state.had_wheel or hands_over(state.pause, pause, state.started)
        state = change(state, pause=pause, had_wheel=had_wheel)
    match envelope.event:
        case SessionResumed():
            return change(state, resumed=True)
        case ActionStarted(step=step) | QueryStarted(step=step) if _is_own(state, step):
            return change(state, flying=step)
        case ActionRejected(rule=rule, step=step) if rule == RULE:
            return _let_go(state, step)
        case ActionJudged(step=step, verdict=verdict) if step == state.flying:
            had_wheel = state.had_wheel and verdict != "confirmed"
            return change(state, flying=0, had_wheel=had_wheel)
        case QueryAnswered(step=step) if step == state.flying:
            return change(state, flying=0, had_wheel=False)
        case QueryFailed(step=step) | ActionRejected(step=step) if step == state.flying:
            return change(state, flying=0)
        case ObservationFailed():
            return change(state, flying=0)
        case ApprovalRequested() as asked:
            return change(state, asked=asked)
        case ApprovalVoided():
            return change(state, asked=None)
        case _:
            return state


def _is_own(state: Run, step: int) -> bool:
    """Whether this is the step itself, and no look at what came of one."""
    if state.settling.is_of(step):
        return False
    return state.plan is None or state.plan.step == step


def _let_go(state: AnyRun, step: int) -> AnyRun:
    settling = state.settling
    if settling.is_of(step):
        settling = EarlierRunLooks(settled=settling.settled)
    flight = state.flight
    if flight is not None:
        flight = msgspec.structs.replace(flight, element=None)
    return msgspec.structs.replace(
        state, flying=0, settling=settling, let_go=state.let_go + 1, flight=flight
    )


def while_held(state: Run, event: AnyEvent, decided: Iterable[AnyEvent]) -> Iterable[AnyEvent]:
    """Of what follows from this event, what does not have to wait."""
    if isinstance(state, Desk):
        return [each for each in decided if not isinstance(each, BEGINS)]
    if isinstance(event, LEADS_ON):
        return ()
    if isinstance(event, ActionRejected):
        # What a person or the policy refused is over. An element that is not there may be later.
        final = event.code == "policy_denied"
        return [each for each in decided if final and isinstance(each, RunStopped)]
    return decided


def looks_anew(state: Run, event: AnyEvent) -> Iterable[ObservationRequested]:
    """Once it is resumed and nothing is under way, what the page is now is asked for."""
    pause = state.pause
    if not pause.resumed or pause.look or not isinstance(event, (SessionResumed, *OVER)):
        return
    if not state.flying and state.settling.plan is None:
        yield ObservationRequested("resumed", 0)


def is_still_asked(state: PlannedRun, due: StepDue | PredictionMade) -> bool:
    """Whether the question that was open when it was paused is about what is due now, on a page
    that is what it was: then it stands, and its answer is waited for."""
    asked, plan = state.asked, state.plan
    if not state.resumed or asked is None:
        return False
    unmet = isinstance(due, StepDue) and bool(due.unmet)
    if not asked.signature:  # what a person is to do in the window, and has not done yet
        return unmet
    if plan is None or unmet or not state.recent or state.recent[-1][1] != state.digest:
        return False
    return not isinstance(due, StepDue) or due.index == plan.index
