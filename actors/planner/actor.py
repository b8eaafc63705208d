"""The Planner says what to do next, why not, and when to stop (C1, E6).

The script drives a recording, the workflow a named run, the model's probability a free one. All
of them come out as one `PlanProposed`, and go down the same road.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from rutter.actors.planner.barred_run import (
    evolve_barred,
    let_in_awaited,
    missing_behind,
    with_barrier,
)
from rutter.actors.planner.expired_login import expired_instead
from rutter.actors.planner.ghost_reading import (
    about_ghost,
    evolve_ghost,
    left_unread,
    read_from_picture,
)
from rutter.actors.planner.lost_step import behind_the_person, evolve_lost
from rutter.actors.planner.model_help import acknowledged, evolve_advised, helped, on_advice
from rutter.actors.planner.optional_steps import any_optional, evolve_aside, uncounted
from rutter.actors.planner.provider_choice import lost, open_asking
from rutter.actors.planner.run import (
    Run,
    after_the_wheel,
    evolve_run,
    excused,
    loops,
    propose,
    remembering,
    stop_run,
    stopped_by,
)
from rutter.actors.planner.state import PlannedRun, PlannerState, over_limit, second_try
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.planner.tool_led import decide_call
from rutter.actors.planner.tool_progress import evolve_desk
from rutter.actors.planner.workflow_led import after_refusal, by_hand, follow, looking, mend
from rutter.actors.rules.policy.policy import missing_field
from rutter.actors.rules.steps.confidence import hundredths
from rutter.actors.rules.steps.ghost import reads_by_itself
from rutter.actors.rules.steps.pace import (
    StepPace,
    at_the_end,
    before_scripted,
    before_unknown,
    entered,
    rested,
)
from rutter.actors.rules.steps.retry import is_kept
from rutter.actors.rules.steps.service_script import is_past_sign_in, strayed
from rutter.events.action import READS
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.causes import OTHER, Cause
from rutter.events.critic import ActionJudged, CompletionChecked, ReadBackDue
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import LookalikesFound, QueryAnswered, QueryFailed
from rutter.events.observer import ObservationFailed
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    ObservationRequested,
    PersonAwaited,
    PlanProposed,
    PlanWithheld,
    RunStopped,
    StepSettled,
)
from rutter.events.predictor import Candidate, PredictionMade, StepDue
from rutter.events.runtime import RecordingFinished, SessionResumed, SessionStarted
from rutter.events.signature import signature
from rutter.events.tools import ApprovalSought, CompletionClaimed, ToolCalled
from rutter.events.validator import ActionRejected, CheckpointPassed, CheckpointRefused
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation

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


class Planner:
    name: ClassVar[Actor] = "planner"

    def initial(self) -> PlannerState:
        return None

    def evolve(self, state: PlannerState, envelope: Envelope) -> PlannerState:
        event = envelope.event
        if isinstance(event, SessionStarted):
            return _opened(event)
        if state is None:
            return None
        if (advice := about_ghost(event)) is not None:
            return evolve_ghost(state, advice)
        state = evolve_run(state, envelope)
        if isinstance(state, Desk):
            return evolve_desk(state, event)
        state = evolve_barred(evolve_aside(evolve_advised(state, event), event), envelope)
        return evolve_lost(_evolve_planned(state, envelope), event)

    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if state is None or state.stopped:
            return
        event = envelope.event
        yield from read_from_picture(state, event)
        if about_ghost(event) is not None:
            return
        if isinstance(state, Desk):
            decided = decide_call(state, event)
        elif state.handed_over:
            decided = _after_the_person(state, event)
        else:
            decided = _decided(state, envelope)
        if state.pause.holds:
            decided = _while_held(state, event, decided)
        for each in decided:
            if (left := left_unread(state, each)) is not None:
                yield left
            yield with_barrier(state, expired_instead(state, after_the_wheel(state, each)))
        yield from _looks_anew(state, event)


def _decided(state: PlannedRun, envelope: Envelope) -> Iterable[AnyEvent]:
    match envelope.event:
        case StepDue() | PredictionMade() as due:
            yield from _next(state, due, envelope.at_ns)
        case ActionRejected() as rejected:
            awaited = missing_behind(state, rejected, envelope.at_ns)
            yield awaited or after_refusal(state, rejected)
        case LookalikesFound() as found:
            yield from mend(state, found)
        case AdviceReceived() | AdviceFailed() as advice:
            yield from on_advice(state, advice)
        case ReadBackDue() | ActionJudged() as seen:
            yield from looking(state, seen)
        case CheckpointPassed() | CheckpointRefused() as answer:
            yield from by_hand(state, answer)
        case RecordingFinished():
            yield behind_the_person()
        case CompletionChecked() as checked:
            yield acknowledged(state, checked)
        case _ as event if (stop := stopped_by(state, event)) is not None:
            if (left := lost(state.asking)) is not None:
                yield left
            yield stop
        case _:
            return


def _opened(started: SessionStarted) -> PlannerState:
    asking = open_asking(started)
    if started.purpose == "tools":
        return Desk(started, asking, opened=not started.script)
    return PlannedRun(started, asking)


def _evolve_planned(state: PlannedRun, envelope: Envelope) -> PlannedRun:
    change = msgspec.structs.replace
    match envelope.event:
        case StepDue(unmet=unmet, index=index) as due:
            since = (state.unmet_since_ns or envelope.at_ns) if unmet else 0
            flight = state.flight
            if flight is not None and flight.plan.index != index:
                flight = change(flight, missed=None)
            return _beyond(change(state, unmet_since_ns=since, flight=flight, due=due), index)
        case PlanProposed() as plan if plan is state.plan:
            pace = rested(state.pace, plan.rest) if plan.rest is not None else state.pace
            done = change(state, pace=pace, rested=False)
            return remembering(done, signature(plan.action))
        case ActionJudged() | QueryAnswered() | QueryFailed() as outcome:
            return _after_step(state, outcome)
        case PersonAwaited():
            return change(state, person=True)
        case RecordingFinished(by=by) if not state.by_workflow:
            return change(state, handed_over=by)
        case SessionResumed():
            return change(state, unmet_since_ns=0)  # with patience anew
        case CheckpointReached(taken_to=to):
            return change(excused(state), taken_to=to, unmet_since_ns=0)
        case ObservationRequested(why="tab_wanted"):
            return change(state, turned=state.index)
        case ObservationRequested(why="rest_awaited", rest=rest):
            # What was entered may be handed on later than any reason shows: that takes care.
            hasty = state.pace.entered and (rest is None or not rest.quiet_ms)
            return change(state, pace=StepPace(entered=hasty), rested=True)
        case _:
            return state


def _after_step(
    state: PlannedRun, outcome: ActionJudged | QueryAnswered | QueryFailed
) -> PlannedRun:
    """A step is over. A person's own steps have no plan; a look at what came of one counts not."""
    change = msgspec.structs.replace
    own = state.plan is None or outcome.step == state.plan.step or state.person
    if not own or state.settling.is_of(outcome.step):
        return state
    match outcome:
        case ActionJudged() as judged:
            return _after_verdict(change(state, last=judged.step), judged)
        case QueryAnswered():
            return change(state, failures=0, index=state.index + 1)
        case QueryFailed():
            places = (state.plan.index,) if state.plan is not None else ()
            return change(state, failures=state.failures + (not any_optional(state, places)))


def _beyond(state: PlannedRun, index: int) -> PlannedRun:
    """A kept login has brought the run past the step that came to nothing: that is not tried again,
    or the run would count on from a step which it is not at."""
    plan = state.plan
    if not state.logins or plan is None or plan.driver != "workflow" or index <= plan.index:
        return state
    return uncounted(state)


def _after_verdict(state: PlannedRun, judged: ActionJudged) -> PlannedRun:
    change, plan = msgspec.structs.replace, state.plan
    recording = state.started.purpose == "record"
    # A recorded click that changes nothing is still part of what the person did.
    kept = recording and is_kept(judged.verdict, judged.code, irreversible=state.irreversible)
    led_on = strayed(state.started, plan, judged) or is_past_sign_in(plan, judged, state.logins)
    if judged.verdict == "confirmed" or kept or led_on:
        pace = entered(state.pace, plan) if plan is not None else state.pace
        return change(excused(state), pace=pace, failures=0, index=state.index + 1)
    # What a model proposed is corrected so many times, and no more: it has its own count.
    advised = plan is not None and plan.driver == "model"
    return change(state, failures=state.failures + (not advised))


def _next(state: PlannedRun, due: StepDue | PredictionMade, now_ns: int) -> Iterable[AnyEvent]:
    if state.asking is not None and state.asking.waiting:
        return  # it is the model's turn
    if _is_still_asked(state, due) or state.led_by_person:
        return
    waits = _finds_nothing(state, due) or _reads_here(state, due)
    if (stop := over_limit(state)) is not None:
        yield stop
    elif waits and (awaited := let_in_awaited(state, now_ns)) is not None:
        yield awaited
    elif isinstance(due, StepDue) and due.index == state.started.by_hand_from and not due.unmet:
        yield PersonAwaited(step=state.step + 1)
    elif isinstance(due, StepDue):
        yield follow(state, due, now_ns)
    elif state.started.purpose == "record" or state.index < len(state.started.script):
        if (decided := second_try(state) or _next_of_script(state)) is not None:
            yield decided
    elif (retried := second_try(state)) is not None:
        yield helped(state, retried) if isinstance(retried, RunStopped) else retried
    else:
        yield from _where_sure(state, due)


def _finds_nothing(state: PlannedRun, due: StepDue | PredictionMade) -> bool:
    """Whether the last step came to nothing, or nobody knows the next."""
    if second_try(state) is not None:
        return True
    scripted = state.started.purpose == "record" or state.index < len(state.started.script)
    return isinstance(due, PredictionMade) and not scripted and not due.candidates


def _reads_here(state: PlannedRun, due: StepDue | PredictionMade) -> bool:
    """Whether what keeps programs out would be read in place of the page, though it may go."""
    reads = isinstance(due, StepDue) and due.step.action.type in READS
    shut = state.barred or reads_by_itself(state.started.settings.ghost, state.barrier)
    return reads and shut


def _next_of_script(state: PlannedRun) -> AnyEvent | None:
    script, settings = state.started.script, state.started.settings
    if state.index >= len(script) and state.started.driver == "person":
        return None if state.person else PersonAwaited(step=state.step + 1)
    if state.index >= len(script) and (not state.rested or state.pace.entered):
        rest = at_the_end(state.pace, settings, careful=True)
        return ObservationRequested("rest_awaited", rest.within_ms, rest=rest)
    if state.index >= len(script):
        return stop_run(state, "completed", "", f"all {len(script)} steps of the script were done")
    step = script[state.index]
    wanted = step.action.tab
    if wanted is not None and wanted != state.tab and state.turned != state.index:
        # Once: a page that is not there is for the Executor to miss.
        return ObservationRequested("tab_wanted", settings.place_ms, tab=wanted)
    reason = f"script_step_{state.index + 1}_of_{len(script)}"
    stated = _stated(step.after)
    plan = propose(state, "script", "script", step.action, reason, state.index, stated)
    before = before_scripted(step.action, state.pace, settings) if state.step else None
    return msgspec.structs.replace(plan, rest=before)


def _stated(expects: Expectation) -> Expectation | None:
    """What a script says itself; what its steps change is only known when they were done."""
    if not expects.checks and expects.read_back is None:
        return None
    return Expectation(checks=expects.checks, read_back=expects.read_back)


def _where_sure(state: PlannedRun, prediction: PredictionMade) -> tuple[AnyEvent, ...]:
    """S0's rule: nothing, too low, or do it. Equal to the threshold executes (C1). What is nearly
    sure enough is put forward too, for a person to say: where a model may be asked, it is."""
    settings = state.started.settings
    if _is_at_its_end(prediction, settings.threshold) and state.asking is None:
        # What was done before ended here. Whether this is done too, the page must bear out (D5).
        said = f"what is known ends here ({hundredths(prediction.ends)})"
        return (CompletionClaimed("", "success", said),)
    if not prediction.candidates:
        return _withheld(state, "no_predictions_available", Cause("no_predictions"))
    top: Candidate = prediction.candidates[0]
    said = hundredths(top.probability)
    sure = top.probability >= settings.threshold
    if not sure and (top.probability < settings.suggest or state.asking is not None):
        cause = Cause("unsure", share=top.probability)
        return _withheld(state, f"confidence_too_low_{said}", cause)
    if missing := missing_field(top.action):
        # It is sure what comes next, and not what to type there: a parameter that was not bound.
        cause = Cause("value_unknown") if missing == "value" else OTHER
        return _withheld(state, f"{missing}_unknown_{said}", cause)
    if loops(state, signature(top.action)):
        why = f"the same action on the same page: {top.token}"
        return (stop_run(state, "no_op_loop", "", why),)
    reason = f"confidence_above_threshold_{said}" if sure else f"confidence_to_suggest_{said}"
    plan = propose(state, "prediction" if sure else "suggestion", "prediction", top.action, reason)
    rest = before_unknown(top.action) if state.step else None
    more = {"probability": top.probability, "rest": rest, "recorded": top.recorded}
    return (msgspec.structs.replace(plan, **more),)


def _is_at_its_end(prediction: PredictionMade, threshold: int) -> bool:
    best = max((each.probability for each in prediction.candidates), default=0)
    return prediction.ends >= threshold and prediction.ends > best


def _withheld(state: PlannedRun, reason: str, cause: Cause) -> tuple[AnyEvent, ...]:
    stop = stop_run(state, "failed", "lost", reason, cause)
    return PlanWithheld(reason=reason), helped(state, stop)


def _after_the_person(state: PlannedRun, event: AnyEvent) -> Iterable[AnyEvent]:
    """What they did is whole. As long as their window is there, it is looked once more where it
    shows; with whatever comes of that, and whatever comes between, it is complete."""
    looks = state.started.settings.seeks_proof and not state.pause.holds
    match event:
        case RecordingFinished(by="discarded"):
            why = "the person discarded the recording"
            yield stop_run(state, "cancelled", "", why, Cause("discarded"))
        case RecordingFinished(by="interrupt" | "bar") if looks:
            return
        case ReadBackDue() as due:
            # Their steps have numbers too, and this one comes after all of them.
            yield from looking(msgspec.structs.replace(state, step=state.last), due)
        case RecordingFinished() | PredictionMade() | ActionRejected():
            yield _whole(state)
        case _ if stopped_by(state, event) is not None:
            yield _whole(state)
        case _:
            return


def _whole(state: PlannedRun) -> RunStopped:
    by = state.handed_over
    cause = Cause("person_done", by=by)
    return stop_run(state, "completed", "", f"the person was done ({by})", cause)


# -- while its session is paused -------------------------------------------------------------------


def _while_held(state: Run, event: AnyEvent, decided: Iterable[AnyEvent]) -> Iterable[AnyEvent]:
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


def _looks_anew(state: Run, event: AnyEvent) -> Iterable[ObservationRequested]:
    """Once it is resumed and nothing is under way, what the page is now is asked for."""
    pause = state.pause
    if not pause.resumed or pause.look or not isinstance(event, (SessionResumed, *OVER)):
        return
    if not state.flying and state.settling.plan is None:
        yield ObservationRequested("resumed", 0)


def _is_still_asked(state: PlannedRun, due: StepDue | PredictionMade) -> bool:
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
