"""The Planner: what to do next, why not, and when to stop (C1, E6).

The script drives a recording, the workflow a named run, the model's probability a free one. All
of them come out as one `PlanProposed`, and go down the same road.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from rutter.actors.planner.expired_login import evolve_aboard, expired_instead
from rutter.actors.planner.model_help import acknowledged, evolve_advised, helped, on_advice
from rutter.actors.planner.model_question import ModelRun
from rutter.actors.planner.optional_steps import evolve_aside
from rutter.actors.planner.provider_choice import lost, open_asking
from rutter.actors.planner.state import (
    PlannerState,
    loops,
    over_limit,
    propose,
    second_try,
    stop_run,
)
from rutter.actors.planner.tool_desk import open_desk
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
from rutter.actors.rules.steps.already_done import evolve_settling
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
from rutter.events.critic import ActionJudged, CompletionChecked, ReadBackDue
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import ActionFailed, LookalikesFound, QueryAnswered, QueryFailed
from rutter.events.observer import BrowserLost, ObservationFailed, PageObserved
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
    DeadlinePassed,
    RecordingFinished,
    SessionInterrupted,
    SessionStarted,
    StopRequested,
)
from rutter.events.signature import signature
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import (
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation


class Planner:
    name: ClassVar[Actor] = "planner"

    def initial(self) -> PlannerState:
        return PlannerState()

    def evolve(self, state: PlannerState, envelope: Envelope) -> PlannerState:
        change = msgspec.structs.replace
        state = _with_logins(evolve_holding(state, envelope), envelope.event)
        if state.desk is not None:
            stopped = state.stopped or isinstance(envelope.event, RunStopped)
            desk = evolve_desk(state.desk, envelope, held=state.pause.holds)
            return change(state, desk=desk, stopped=stopped)
        if (settling := evolve_settling(state.settling, envelope.event)) is not state.settling:
            step = settling.plan.step if settling.plan is not None else state.step
            return change(state, settling=settling, step=step)
        state = evolve_aside(evolve_advised(state, envelope.event), envelope.event)
        match envelope.event:
            case SessionStarted() as started:
                return _opened(started)
            case PageObserved(page=page):
                return change(state, digest=page.digest, tab=page.tab)
            case StepDue(unmet=unmet, index=index) as due:
                since = (state.unmet_since_ns or envelope.at_ns) if unmet else 0
                same = state.plan is not None and state.plan.index == index
                missed = state.missed if same else None
                state = change(state, unmet_since_ns=since, missed=missed, due=due)
                return _beyond(state, index)
            case PlanProposed(read_back_of=of, step=step) if of:
                return change(state, step=step)  # the step that it looks for is still the plan
            case PlanProposed() as plan:
                return _with_plan(state, plan)
            case (
                ActionStarted() | ActionFailed() | ActionJudged() | QueryAnswered() | QueryFailed()
            ) as happened:
                return _of_plan(state, happened)
            case PersonAwaited() | RecordingFinished() as of_person:
                return _with_person(state, of_person)
            case CheckpointReached() | ObservationRequested() as asked:
                return _having_asked(state, asked)
            case RunStopped():
                return change(state, stopped=True)
            case _:
                return state

    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if state.stopped or state.started is None:
            return
        decided = self._decided(state, envelope)
        if state.pause.holds:
            decided = while_held(state, envelope.event, decided)
        yield from (expired_instead(state.aboard, each) for each in decided)
        yield from looks_anew(state, envelope.event)

    def _decided(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if state.desk is not None:
            yield from decide_call(state.desk, envelope, held=state.pause.holds)
            return
        if state.handed_over:
            yield from _after_the_person(state, envelope.event)
            return
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
                yield stop_run(state, "completed_unverified", "", f"dry run: {reason}")
            case CompletionChecked() as checked:
                yield acknowledged(state, checked)
            case _ as event:
                yield from _interruption(state, event)


def _opened(started: SessionStarted) -> PlannerState:
    asking = open_asking(started)
    consulting = ModelRun(asking) if asking is not None else None
    return PlannerState(started=started, desk=open_desk(started), consulting=consulting)


def _with_plan(state: PlannerState, plan: PlanProposed) -> PlannerState:
    pace = rested(state.pace, plan.rest) if plan.rest is not None else state.pace
    recent = (*state.recent, (signature(plan.action), state.digest))[-8:]
    return msgspec.structs.replace(
        state,
        pace=pace,
        rested=False,
        plan=plan,
        step=plan.step,
        irreversible=False,
        failure=None,
        judged=None,
        missed=None,
        recent=recent,
        element=None,
    )


def _with_person(state: PlannerState, event: PersonAwaited | RecordingFinished) -> PlannerState:
    if isinstance(event, RecordingFinished):
        return msgspec.structs.replace(state, handed_over=event.by)
    return msgspec.structs.replace(state, person=True)


def _having_asked(
    state: PlannerState, asked: CheckpointReached | ObservationRequested
) -> PlannerState:
    change = msgspec.structs.replace
    match asked:
        case CheckpointReached(index=index, taken_to=to):
            times = state.by_hand[1] if state.by_hand[0] == index else 0
            asked_for = change(state, by_hand=(index, times + 1), taken_to=to)
            return change(asked_for, unmet_since_ns=0, judged=None, failure=None)
        case ObservationRequested(why="tab_wanted"):
            return change(state, turned=state.index)
        case ObservationRequested(why="rest_awaited", rest=rest):
            # What was entered may be handed on later than any reason shows: that takes care.
            hasty = state.pace.entered and (rest is None or not rest.quiet_ms)
            return change(state, pace=StepPace(entered=hasty), rested=True)
        case _:
            return state


def _of_plan(
    state: PlannerState,
    event: ActionStarted | ActionFailed | ActionJudged | QueryAnswered | QueryFailed,
) -> PlannerState:
    """What came of the plan. A person's own steps are none; neither is a look at their result."""
    change = msgspec.structs.replace
    if state.plan is not None and event.step != state.plan.step and not state.person:
        return state
    if state.settling.is_of(event.step):
        return state
    match event:
        case ActionStarted(irreversible=irreversible):
            return change(state, irreversible=irreversible)
        case ActionFailed() as failure:
            return change(state, failure=failure)
        case ActionJudged() as judged:
            return _after_verdict(change(state, last=judged.step), judged)
        case QueryAnswered():
            return change(state, failures=0, index=state.index + 1)
        case QueryFailed() as missed:
            counted = 0 if _is_optional(state) else 1
            return change(state, missed=missed, failures=state.failures + counted)


def _is_optional(state: PlannerState) -> bool:
    workflow = state.started.workflow if state.started else None
    return (
        workflow is not None
        and state.plan is not None
        and 0 <= state.plan.index < len(workflow.steps)
        and workflow.steps[state.plan.index].optional
    )


def _with_logins(state: PlannerState, event: AnyEvent) -> PlannerState:
    aboard = evolve_aboard(state.aboard, event)
    return state if aboard is state.aboard else msgspec.structs.replace(state, aboard=aboard)


def _beyond(state: PlannerState, index: int) -> PlannerState:
    """A kept login has brought the run past the step that came to nothing: that is not tried again,
    or the run would count on from a step which it is not at."""
    plan, judged = state.plan, state.judged
    if not state.aboard.origins or plan is None or plan.driver != "workflow" or index <= plan.index:
        return state
    counted = 0 if judged is None else 1
    return msgspec.structs.replace(
        state, judged=None, failure=None, failures=max(0, state.failures - counted)
    )


def _after_verdict(state: PlannerState, judged: ActionJudged) -> PlannerState:
    change = msgspec.structs.replace
    recording = state.started is not None and state.started.purpose == "record"
    # A recorded click that changes nothing is still part of what the person did.
    kept = recording and is_kept(judged.verdict, judged.reason, irreversible=state.irreversible)
    led_on = strayed(state.started, state.plan, judged) or is_past_sign_in(
        state.plan, judged, state.aboard.origins
    )
    if judged.verdict == "confirmed" or kept or led_on:
        pace = entered(state.pace, state.plan) if state.plan is not None else state.pace
        state = change(state, pace=pace)
        return change(state, judged=None, failure=None, failures=0, index=state.index + 1)
    # What a model proposed is corrected so many times, and no more: it has its own count.
    advised = state.plan is not None and state.plan.driver == "model"
    return change(state, judged=judged, failures=state.failures + (not advised))


def _next(state: PlannerState, due: StepDue | PredictionMade, now_ns: int) -> Iterable[AnyEvent]:
    assert state.started is not None
    if state.consulting is not None and state.consulting.asking.waiting:
        return  # it is the model's turn
    if is_still_asked(state, due):
        return
    if isinstance(due, StepDue):
        yield from follow(state, due, now_ns)
    elif state.started.purpose == "record" or state.index < len(state.started.script):
        yield from _next_of_script(state)
    else:
        yield from _where_sure(state, due)


def _next_of_script(state: PlannerState) -> Iterable[AnyEvent]:
    assert state.started is not None
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
    plan = propose(state, "script", step.action, reason, state.index, _stated(step.after))
    before = before_scripted(step.action, state.pace, settings) if state.step else None
    yield msgspec.structs.replace(plan, rest=before)


def _stated(expects: Expectation) -> Expectation | None:
    """What a script says itself; what its steps change is only known when they were done."""
    if not expects.checks and expects.read_back is None:
        return None
    return Expectation(checks=expects.checks, read_back=expects.read_back)


def _where_sure(state: PlannerState, prediction: PredictionMade) -> Iterable[AnyEvent]:
    """S0's rule: nothing, too low, or do it. Equal to the threshold executes (C1). What is nearly
    sure enough is put forward too, for a person to say: where a model may be asked, it is."""
    assert state.started is not None
    if stop := over_limit(state):
        yield stop
        return
    retried = second_try(state)
    if retried is not None:
        yield helped(state, retried) if isinstance(retried, RunStopped) else retried
        return
    settings = state.started.settings
    if _is_at_its_end(prediction, settings.threshold) and state.consulting is None:
        # What was done before ended here. Whether this is done too, the page must bear out (D5).
        said = f"what is known ends here ({hundredths(prediction.ends)})"
        yield CompletionClaimed("", "success", said)
        return
    if not prediction.candidates:
        yield from _withheld(state, "no_predictions_available")
        return
    top: Candidate = prediction.candidates[0]
    said = hundredths(top.probability)
    sure = top.probability >= settings.threshold
    if not sure and (top.probability < settings.suggest or state.consulting is not None):
        yield from _withheld(state, f"confidence_too_low_{said}")
        return
    if missing := missing_field(top.action):
        # It is sure what comes next, and not what to type there: a parameter that was not bound.
        yield from _withheld(state, f"{missing}_unknown_{said}")
        return
    if loops(state, top.action):
        yield stop_run(state, "no_op_loop", "", f"the same action on the same page: {top.token}")
        return
    reason = f"confidence_above_threshold_{said}" if sure else f"confidence_to_suggest_{said}"
    yield msgspec.structs.replace(
        propose(state, "prediction", top.action, reason, -1, None),
        probability=top.probability,
        rest=before_unknown(top.action) if state.step else None,
    )


def _is_at_its_end(prediction: PredictionMade, threshold: int) -> bool:
    best = max((each.probability for each in prediction.candidates), default=0)
    return prediction.ends >= threshold and prediction.ends > best


def _withheld(state: PlannerState, reason: str) -> Iterable[AnyEvent]:
    yield PlanWithheld(reason=reason)
    yield helped(state, stop_run(state, "failed", "lost", reason))


def _after_the_person(state: PlannerState, event: AnyEvent) -> Iterable[AnyEvent]:
    """What they did is whole. As long as their window is there, it is looked once more where it
    shows; with whatever comes of that, and whatever comes between, it is complete."""
    assert state.started is not None
    looks = state.started.settings.seeks_proof and not state.pause.holds
    match event:
        case RecordingFinished(by="interrupt") if looks:
            return
        case ReadBackDue() as due:
            # Their steps have numbers too, and this one comes after all of them.
            yield from looking(msgspec.structs.replace(state, step=state.last), due)
        case RecordingFinished() | PredictionMade() | ActionRejected():
            yield _whole(state)
        case _ if any(_stopped_by(state, event)):
            yield _whole(state)
        case _:
            return


def _whole(state: PlannerState) -> RunStopped:
    return stop_run(state, "completed", "", f"the person was done ({state.handed_over})")


def _interruption(state: PlannerState, event: AnyEvent) -> Iterable[AnyEvent]:
    """What ends a run from outside; a question that is open then was asked for nothing."""
    stops = tuple(_stopped_by(state, event))
    open_question = lost(state.consulting.asking) if state.consulting and stops else None
    if open_question is not None:
        yield open_question
    yield from stops


def _stopped_by(state: PlannerState, event: AnyEvent) -> Iterable[AnyEvent]:
    match event:
        case DeadlinePassed(what="wall_time", after_ms=after_ms):
            yield stop_run(state, "max_wall_time", "", f"{after_ms} ms have passed")
        case StopRequested(by=by, why=why):
            yield stop_run(state, "cancelled", "", f"stopped by {by}{': ' if why else ''}{why}")
        case BrowserLost(why=why):
            yield stop_run(state, "interrupted", "browser_lost", why)
        case SessionInterrupted(why=why):
            yield stop_run(state, "interrupted", "", why)
        case ObservationFailed(code=code, message=message):
            yield stop_run(state, "interrupted", "browser_lost", f"{code}: {message}")
        case _:
            return
