"""The Planner says what to do next, why not, and when to stop (C1, E6).

The script drives a recording, the workflow a named run, the model's probability a free one. All
of them come out as one `PlanProposed`, and go down the same road.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from rutter.actors.planner.expired_login import expired_instead
from rutter.actors.planner.model_help import acknowledged, evolve_advised, helped, on_advice
from rutter.actors.planner.optional_steps import evolve_aside, uncounted
from rutter.actors.planner.provider_choice import lost, open_asking
from rutter.actors.planner.run import (
    after_the_wheel,
    dry_run_ends,
    evolve_run,
    excused,
    loops,
    remembering,
    stop_run,
    stopped_by,
)
from rutter.actors.planner.state import (
    PlannedRun,
    PlannerState,
    over_limit,
    propose,
    second_try,
)
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.planner.tool_led import decide_call
from rutter.actors.planner.tool_progress import evolve_desk
from rutter.actors.planner.while_paused import (
    evolve_holding,
    is_still_asked,
    looks_anew,
    while_held,
)
from rutter.actors.planner.workflow_led import after_refusal, by_hand, follow, looking, mend
from rutter.actors.rules.policy.policy import missing_field
from rutter.actors.rules.steps.confidence import hundredths
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
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.causes import OTHER, Cause, PlanSource
from rutter.events.critic import ActionJudged, CompletionChecked, ReadBackDue
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import LookalikesFound, QueryAnswered, QueryFailed
from rutter.events.planner import (
    CheckpointReached,
    ObservationRequested,
    PersonAwaited,
    PlanProposed,
    PlanWithheld,
    RunStopped,
)
from rutter.events.predictor import Candidate, PredictionMade, StepDue
from rutter.events.runtime import (
    RecordingFinished,
    SessionResumed,
    SessionStarted,
)
from rutter.events.signature import signature
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import (
    ActionRejected,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation


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
        state = evolve_run(evolve_holding(state, envelope), event)
        if isinstance(state, Desk):
            return evolve_desk(state, event)
        return _evolve_planned(evolve_aside(evolve_advised(state, event), event), envelope)

    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if state is None or state.stopped:
            return
        event = envelope.event
        if isinstance(state, Desk):
            decided = decide_call(state, event)
        elif state.handed_over:
            decided = _after_the_person(state, event)
        else:
            decided = _decided(state, envelope)
        if state.pause.holds:
            decided = while_held(state, event, decided)
        for each in decided:
            yield expired_instead(state.aboard, after_the_wheel(state, each))
        yield from looks_anew(state, event)


def _decided(state: PlannedRun, envelope: Envelope) -> Iterable[AnyEvent]:
    match envelope.event:
        case StepDue() | PredictionMade() as due:
            yield from _next(state, due, envelope.at_ns)
        case ActionRejected() as rejected:
            yield after_refusal(state, rejected)
        case LookalikesFound() as found:
            yield from mend(state, found)
        case AdviceReceived() | AdviceFailed() as advice:
            yield from on_advice(state, advice)
        case ReadBackDue() | ActionJudged() as seen:
            yield from looking(state, seen)
        case CheckpointPassed() | CheckpointRefused() as answer:
            yield from by_hand(state, answer)
        case ActionWithheld(reason=reason):
            yield dry_run_ends(state, reason)
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
        case RecordingFinished(by=by):
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
            return change(state, failures=state.failures + (not _is_optional(state)))


def _is_optional(state: PlannedRun) -> bool:
    steps = state.started.workflow.steps if state.started.workflow is not None else ()
    at = state.plan.index if state.plan is not None else -1
    return 0 <= at < len(steps) and steps[at].optional


def _beyond(state: PlannedRun, index: int) -> PlannedRun:
    """A kept login has brought the run past the step that came to nothing: that is not tried again,
    or the run would count on from a step which it is not at."""
    plan = state.plan
    if not state.aboard.origins or plan is None or plan.driver != "workflow" or index <= plan.index:
        return state
    return uncounted(state)


def _after_verdict(state: PlannedRun, judged: ActionJudged) -> PlannedRun:
    change, plan = msgspec.structs.replace, state.plan
    recording = state.started.purpose == "record"
    # A recorded click that changes nothing is still part of what the person did.
    kept = recording and is_kept(judged.verdict, judged.code, irreversible=state.irreversible)
    led_on = strayed(state.started, plan, judged) or is_past_sign_in(
        plan, judged, state.aboard.origins
    )
    if judged.verdict == "confirmed" or kept or led_on:
        pace = entered(state.pace, plan) if plan is not None else state.pace
        return change(excused(state), pace=pace, failures=0, index=state.index + 1)
    # What a model proposed is corrected so many times, and no more: it has its own count.
    advised = plan is not None and plan.driver == "model"
    return change(state, failures=state.failures + (not advised))


def _next(state: PlannedRun, due: StepDue | PredictionMade, now_ns: int) -> Iterable[AnyEvent]:
    if state.asking is not None and state.asking.waiting:
        return  # it is the model's turn
    if is_still_asked(state, due):
        return
    if isinstance(due, StepDue):
        yield from follow(state, due, now_ns)
    elif state.started.purpose == "record" or state.index < len(state.started.script):
        yield from _next_of_script(state)
    else:
        yield from _where_sure(state, due)


def _next_of_script(state: PlannedRun) -> Iterable[AnyEvent]:
    if stop := over_limit(state):
        yield stop
        return
    retried = second_try(state)
    if retried is not None:
        yield retried
        return
    script = state.started.script
    if state.index >= len(script) and state.started.driver == "person":
        if not state.person:
            yield PersonAwaited(step=state.step + 1)
        return
    settings = state.started.settings
    if state.index >= len(script) and (not state.rested or state.pace.entered):
        rest = at_the_end(state.pace, settings, careful=True)
        yield ObservationRequested("rest_awaited", rest.within_ms, rest=rest)
        return
    if state.index >= len(script):
        yield stop_run(state, "completed", "", f"all {len(script)} steps of the script were done")
        return
    wanted = script[state.index].action.tab
    if wanted is not None and wanted != state.tab and state.turned != state.index:
        # Once: a page that is not there is for the Executor to miss.
        yield ObservationRequested("tab_wanted", settings.place_ms, tab=wanted)
        return
    reason = f"script_step_{state.index + 1}_of_{len(script)}"
    step = script[state.index]
    stated = _stated(step.after)
    plan = propose(state, "script", "script", step.action, reason, state.index, stated)
    before = before_scripted(step.action, state.pace, settings) if state.step else None
    yield msgspec.structs.replace(plan, rest=before)


def _stated(expects: Expectation) -> Expectation | None:
    """What a script says itself; what its steps change is only known when they were done."""
    if not expects.checks and expects.read_back is None:
        return None
    return Expectation(checks=expects.checks, read_back=expects.read_back)


def _where_sure(state: PlannedRun, prediction: PredictionMade) -> Iterable[AnyEvent]:
    """S0's rule: nothing, too low, or do it. Equal to the threshold executes (C1). What is nearly
    sure enough is put forward too, for a person to say: where a model may be asked, it is."""
    if stop := over_limit(state):
        yield stop
        return
    retried = second_try(state)
    if retried is not None:
        yield helped(state, retried) if isinstance(retried, RunStopped) else retried
        return
    settings = state.started.settings
    if _is_at_its_end(prediction, settings.threshold) and state.asking is None:
        # What was done before ended here. Whether this is done too, the page must bear out (D5).
        said = f"what is known ends here ({hundredths(prediction.ends)})"
        yield CompletionClaimed("", "success", said)
        return
    if not prediction.candidates:
        yield from _withheld(state, "no_predictions_available", Cause("no_predictions"))
        return
    top: Candidate = prediction.candidates[0]
    said = hundredths(top.probability)
    sure = top.probability >= settings.threshold
    if not sure and (top.probability < settings.suggest or state.asking is not None):
        cause = Cause("unsure", share=top.probability)
        yield from _withheld(state, f"confidence_too_low_{said}", cause)
        return
    if missing := missing_field(top.action):
        # It is sure what comes next, and not what to type there: a parameter that was not bound.
        cause = Cause("value_unknown") if missing == "value" else OTHER
        yield from _withheld(state, f"{missing}_unknown_{said}", cause)
        return
    if loops(state, signature(top.action)):
        yield stop_run(state, "no_op_loop", "", f"the same action on the same page: {top.token}")
        return
    reason = f"confidence_above_threshold_{said}" if sure else f"confidence_to_suggest_{said}"
    source: PlanSource = "prediction" if sure else "suggestion"
    yield msgspec.structs.replace(
        propose(state, source, "prediction", top.action, reason, -1, None),
        probability=top.probability,
        rest=before_unknown(top.action) if state.step else None,
    )


def _is_at_its_end(prediction: PredictionMade, threshold: int) -> bool:
    best = max((each.probability for each in prediction.candidates), default=0)
    return prediction.ends >= threshold and prediction.ends > best


def _withheld(state: PlannedRun, reason: str, cause: Cause) -> Iterable[AnyEvent]:
    yield PlanWithheld(reason=reason)
    yield helped(state, stop_run(state, "failed", "lost", reason, cause))


def _after_the_person(state: PlannedRun, event: AnyEvent) -> Iterable[AnyEvent]:
    """What they did is whole. As long as their window is there, it is looked once more where it
    shows; with whatever comes of that, and whatever comes between, it is complete."""
    looks = state.started.settings.seeks_proof and not state.pause.holds
    match event:
        case RecordingFinished(by="interrupt") if looks:
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
