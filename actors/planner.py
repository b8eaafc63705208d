"""The Planner: what to do next, why not, and when to stop (C1, E6).

The script drives a recording, the workflow a named run, the model's probability a free one. All
of them come out as one `PlanProposed`, and go down the same road.
"""

from collections.abc import Iterable
from typing import ClassVar, Literal

import msgspec

from actors.healing import heal, look_for
from actors.repeating import is_kept, may_repeat
from actors.settling import Settling, done_by, evolve_settling, is_over, settled_by
from actors.settling import in_words as settled_in_words
from actors.settling import look_for as look_whether_done
from actors.tool_calls import Desk, decide_call, evolve_desk, open_desk
from events.action import Action, kind_of
from events.critic import ActionJudged, CompletionChecked, ReadBackDue
from events.envelope import Actor, Envelope
from events.executor import ActionFailed, LookalikesFound, QueryAnswered, QueryFailed
from events.observer import BrowserLost, ObservationFailed, PageObserved
from events.planner import (
    CheckpointReached,
    ObservationRequested,
    PersonAwaited,
    PlanProposed,
    PlanWithheld,
    RunStopped,
)
from events.predictor import Candidate, PredictionMade, StepDue
from events.runtime import (
    DeadlinePassed,
    Failure,
    RecordingFinished,
    SessionInterrupted,
    SessionStarted,
    StopReason,
    StopRequested,
)
from events.signature import signature
from events.validator import (
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from events.vocabulary import AnyEvent
from events.workflow import Driver, Expectation

# An optional step is passed over when this is why it was refused: its element is not there.
ABSENT = frozenset({"element_not_found", "element_not_visible"})
# How often a person is asked to put one step right by hand: then it is lost.
BY_HAND = 3


class PlannerState(msgspec.Struct, frozen=True):
    started: SessionStarted | None = None
    digest: str = ""
    tab: int = 0
    index: int = 0
    step: int = 0
    plan: PlanProposed | None = None
    irreversible: bool = False
    failure: ActionFailed | None = None
    judged: ActionJudged | None = None
    missed: QueryFailed | None = None
    failures: int = 0
    unmet_since_ns: int = 0
    recent: tuple[tuple[str, str], ...] = ()
    turned: int = -1
    person: bool = False
    by_hand: tuple[int, int] = (-1, 0)
    settling: Settling = Settling()
    stopped: bool = False
    desk: Desk | None = None


class Planner:
    name: ClassVar[Actor] = "planner"

    def initial(self) -> PlannerState:
        return PlannerState()

    def evolve(self, state: PlannerState, envelope: Envelope) -> PlannerState:
        change = msgspec.structs.replace
        if state.desk is not None:
            stopped = state.stopped or isinstance(envelope.event, RunStopped)
            return change(state, desk=evolve_desk(state.desk, envelope), stopped=stopped)
        if (settling := evolve_settling(state.settling, envelope.event)) is not state.settling:
            step = settling.plan.step if settling.plan is not None else state.step
            return change(state, settling=settling, step=step)
        match envelope.event:
            case SessionStarted() as started:
                return PlannerState(started=started, desk=open_desk(started))
            case PageObserved(page=page):
                return change(state, digest=page.digest, tab=page.tab)
            case StepDue(unmet=unmet, index=index):
                since = (state.unmet_since_ns or envelope.at_ns) if unmet else 0
                same = state.plan is not None and state.plan.index == index
                return change(state, unmet_since_ns=since, missed=state.missed if same else None)
            case PlanProposed(read_back_of=of, step=step) if of:
                return change(state, step=step)  # the step that it looks for is still the plan
            case PlanProposed() as plan:
                recent = (*state.recent, (signature(plan.action), state.digest))[-8:]
                return change(
                    state,
                    plan=plan,
                    step=plan.step,
                    irreversible=False,
                    failure=None,
                    judged=None,
                    missed=None,
                    recent=recent,
                )
            case ActionStarted() | ActionFailed() | ActionJudged() as happened:
                return _of_plan(state, happened)
            case QueryAnswered() | QueryFailed() as happened:
                return _of_plan(state, happened)
            case PersonAwaited() | CheckpointReached() | ObservationRequested() as asked:
                return _having_asked(state, asked)
            case RunStopped():
                return change(state, stopped=True)
            case _:
                return state

    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if state.stopped or state.started is None:
            return
        if state.desk is not None:
            yield from decide_call(state.desk, envelope)
            return
        match envelope.event:
            case StepDue() as due:
                yield from _follow(state, due, envelope.at_ns)
            case PredictionMade() as prediction:
                if state.started.purpose == "record" or state.index < len(state.started.script):
                    yield from _next_of_script(state)
                else:
                    yield from _where_sure(state, prediction)
            case ActionRejected() as rejected:
                yield _after_refusal(state, rejected)
            case LookalikesFound() as found:
                yield from _mend(state, found)
            case ReadBackDue() | ActionJudged() as looking:
                yield from _looking(state, looking)
            case CheckpointPassed() | CheckpointRefused() as answer:
                yield _by_hand(state, answer)
            case ActionWithheld(reason=reason):
                yield _stop(state, "completed_unverified", "", f"dry run: {reason}")
            case CompletionChecked(verified=verified, reason=reason):
                yield _stop(state, "completed" if verified else "completed_unverified", "", reason)
            case _ as event:
                yield from _interruption(state, event)


def _having_asked(
    state: PlannerState, asked: PersonAwaited | CheckpointReached | ObservationRequested
) -> PlannerState:
    change = msgspec.structs.replace
    match asked:
        case PersonAwaited():
            return change(state, person=True)
        case CheckpointReached(index=index):
            times = state.by_hand[1] if state.by_hand[0] == index else 0
            by_hand = (index, times + 1)
            return change(state, by_hand=by_hand, unmet_since_ns=0, judged=None, failure=None)
        case ObservationRequested(why="tab_wanted"):
            return change(state, turned=state.index)
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
            return _after_verdict(state, judged)
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


def _after_verdict(state: PlannerState, judged: ActionJudged) -> PlannerState:
    change = msgspec.structs.replace
    recording = state.started is not None and state.started.purpose == "record"
    # A recorded click that changes nothing is still part of what the person did.
    kept = recording and is_kept(judged.verdict, judged.reason, irreversible=state.irreversible)
    if judged.verdict == "confirmed" or kept:
        return change(state, judged=None, failure=None, failures=0, index=state.index + 1)
    return change(state, judged=judged, failures=state.failures + 1)


def _follow(state: PlannerState, due: StepDue, now_ns: int) -> Iterable[AnyEvent]:
    """The workflow's next step, once the page is where the recording was: a retry too, so that
    nothing is typed on a page that has moved on."""
    assert state.started is not None
    if stop := _limit(state):
        yield stop
        return
    if state.missed is not None and due.step.optional:
        yield _passed_over(due.index, due.of, state.missed.code)
        return
    retried = _again(state)
    if isinstance(retried, RunStopped) and due.signed_out and not state.irreversible:
        yield _for_a_person(state, due, retried.detail)  # what it led to is a sign-in
    elif isinstance(retried, RunStopped):
        yield retried
    elif look := look_whether_done(state.started, due, state.settling, state.step + 1):
        yield look
    elif due.unmet:
        yield _until_met(state, due, now_ns)
    elif retried is not None:
        yield retried
    else:
        reason = f"workflow_step_{due.index + 1}_of_{due.of}"
        yield _propose(state, "workflow", due.step.action, reason, due.index, due.step.after)


def _looking(state: PlannerState, event: ReadBackDue | ActionJudged) -> Iterable[AnyEvent]:
    """Going and looking, and what came of it; every other verdict speaks through the next step."""
    if isinstance(event, ReadBackDue):
        yield _read_back(state, event)
    elif state.settling.is_of(event.step):
        yield from _settled(state, event)


def _settled(state: PlannerState, judged: ActionJudged) -> Iterable[AnyEvent]:
    """The look is over. What an earlier session is seen to have done is passed over (E7)."""
    started, plan = state.started, state.settling.plan
    assert started is not None
    assert plan is not None
    settled = settled_by(plan, judged)
    yield settled
    steps = started.workflow.steps if started.workflow is not None else ()
    if settled.done and is_over(steps, settled.index):
        yield _stop(state, "completed", "", settled_in_words(started, settled))


def _until_met(state: PlannerState, due: StepDue, now_ns: int) -> AnyEvent:
    assert state.started is not None
    if done := done_by(state.started, state.settling, due.index):
        return _stop(state, "completed", "", done)
    waited_ms = (now_ns - state.unmet_since_ns) // 1_000_000
    left_ms = state.started.settings.place_ms - waited_ms
    if left_ms > 0:
        wanted = due.step.action.tab
        if wanted is not None and wanted != state.tab:
            return ObservationRequested("tab_wanted", left_ms, tab=wanted)
        return ObservationRequested("place_unmet", left_ms)
    if due.step.optional:
        return _passed_over(due.index, due.of, due.unmet)
    return _for_a_person(state, due, due.unmet)


def _for_a_person(state: PlannerState, due: StepDue, why: str) -> AnyEvent:
    """A sign-in is a person's, and so is the way back where it was lost: if they have a window."""
    assert state.started is not None
    where = f"step {due.index + 1} of {due.of}: {why}"
    before = state.settling.of(due.index - 1)
    if before is not None and before.done:
        where = f"{settled_in_words(state.started, before)}; {where}"
    index, times = state.by_hand
    if state.started.headed and (index != due.index or times < BY_HAND):
        kind: Literal["login", "unknown"] = "login" if due.signed_out else "unknown"
        return CheckpointReached(kind, state.step + 1, where, due.index)
    if due.signed_out:
        return _stop(state, "policy_denied", "needs_person", f"the site asks to sign in: {where}")
    return _stop(state, "failed", "lost", where)


def _by_hand(
    state: PlannerState, answer: CheckpointPassed | CheckpointRefused
) -> ObservationRequested | RunStopped:
    """Where the person left it is looked at; if they did not, it ends where it was."""
    assert state.started is not None
    if isinstance(answer, CheckpointPassed):
        return ObservationRequested("checkpoint_passed", state.started.settings.place_ms)
    refused, said = answer, answer.message or "a person said no"
    if refused.kind == "unknown":
        return _stop(state, "failed", "lost", said)
    needs: Failure = "needs_person" if refused.by == "nobody" else "policy_denied"
    return _stop(state, "policy_denied", needs, said)


def _passed_over(index: int, of: int, why: str) -> PlanWithheld:
    """An optional step is not done where its place or its element is not: the next one is due."""
    return PlanWithheld(reason=f"optional_step_{index + 1}_of_{of}: {why}", index=index)


def _not_needed(
    state: PlannerState, plan: PlanProposed | None, rejected: ActionRejected
) -> PlanWithheld | None:
    workflow = state.started.workflow if state.started else None
    if workflow is None or plan is None or plan.driver != "workflow":
        return None
    if rejected.error not in ABSENT or not workflow.steps[plan.index].optional:
        return None
    return _passed_over(plan.index, len(workflow.steps), rejected.reason)


def _next_of_script(state: PlannerState) -> Iterable[AnyEvent]:
    assert state.started is not None
    if stop := _limit(state):
        yield stop
        return
    retried = _again(state)
    if retried is not None:
        yield retried
        return
    script = state.started.script
    if state.index >= len(script) and state.started.driver == "person":
        if not state.person:
            yield PersonAwaited(step=state.step + 1)
        return
    if state.index >= len(script):
        yield _stop(state, "completed", "", f"all {len(script)} steps of the script were done")
        return
    wanted = script[state.index].action.tab
    if wanted is not None and wanted != state.tab and state.turned != state.index:
        # Once: a page that is not there is for the Executor to miss.
        yield ObservationRequested("tab_wanted", state.started.settings.place_ms, tab=wanted)
        return
    reason = f"script_step_{state.index + 1}_of_{len(script)}"
    step = script[state.index]
    yield _propose(state, "script", step.action, reason, state.index, _stated(step.after))


def _stated(expects: Expectation) -> Expectation | None:
    """What a script says itself; what its steps change is only known when they were done."""
    if not expects.checks and expects.read_back is None:
        return None
    return Expectation(checks=expects.checks, read_back=expects.read_back)


def _read_back(state: PlannerState, due: ReadBackDue) -> PlanProposed:
    """A look at where the result must show, in a page of its own: the run's page stays as it is."""
    plan = state.plan
    assert plan is not None
    back = due.read_back
    action = Action("navigate", url=back.url, verify=back.checks, aside=True)
    reason = f"read_back_of_step_{due.step}"
    looked = _propose(state, plan.driver, action, reason, -1, None)
    return msgspec.structs.replace(looked, read_back_of=due.step)


def _where_sure(state: PlannerState, prediction: PredictionMade) -> Iterable[AnyEvent]:
    """S0's rule: nothing, too low, or do it. Equal to the threshold executes (C1)."""
    assert state.started is not None
    if stop := _limit(state):
        yield stop
        return
    retried = _again(state)
    if retried is not None:
        yield retried
        return
    if not prediction.candidates:
        yield from _withheld(state, "no_predictions_available")
        return
    top: Candidate = prediction.candidates[0]
    said = hundredths(top.probability)
    if top.probability < state.started.settings.threshold:
        yield from _withheld(state, f"confidence_too_low_{said}")
        return
    if _loops(state, top.action):
        yield _stop(state, "no_op_loop", "", f"the same action on the same page: {top.token}")
        return
    yield msgspec.structs.replace(
        _propose(state, "prediction", top.action, f"confidence_above_threshold_{said}", -1, None),
        probability=top.probability,
    )


def _withheld(state: PlannerState, reason: str) -> Iterable[AnyEvent]:
    yield PlanWithheld(reason=reason)
    yield _stop(state, "failed", "lost", reason)


def _again(state: PlannerState) -> PlanProposed | RunStopped | None:
    """What follows from the last verdict: another try, the end, or nothing to say."""
    judged, plan, missed = state.judged, state.plan, state.missed
    if missed is not None:
        said = f"{missed.code}: {missed.message}" if missed.message else missed.code
        return _stop(state, "failed", "lost", said)
    if judged is None or plan is None:
        return None
    failure = state.failure
    if may_repeat(plan, judged, failure, irreversible=state.irreversible):
        return msgspec.structs.replace(plan, attempt=2)
    kind: Failure = "retry_exhausted" if plan.attempt > 1 else "verification_failed"
    said = f"{judged.verdict}: {judged.reason}{_wanted(plan, judged)}"
    if failure is not None:
        kind = "unreachable" if failure.code == "navigation_failed" else kind
        said = f"{failure.code}: {failure.message}" if failure.message else failure.code
    return _stop(state, "failed", kind, said)


def _wanted(plan: PlanProposed, judged: ActionJudged) -> str:
    """Where it should have led, when it led elsewhere."""
    place = plan.expects.place if plan.expects is not None else None
    placed = judged.reason in ("led_elsewhere", "other_place", "stayed_on_the_page")
    return f", not at {place.path}" if place is not None and placed else ""


def _after_refusal(state: PlannerState, rejected: ActionRejected) -> AnyEvent:
    plan = state.plan if state.plan is not None and state.plan.step == rejected.step else None
    if passed_over := _not_needed(state, plan, rejected):
        return passed_over
    values = state.started.values if state.started is not None else {}
    if request := look_for(plan, rejected, values):
        return request
    if rejected.rule == "element_kind" and plan is not None and plan.attempt == 1:
        # The Recorder writes "change" for text fields and selects alike; the element knows.
        action = msgspec.structs.replace(plan.action, type="select")
        return msgspec.structs.replace(plan, action=action, reason=f"{plan.reason}_as_select")
    if rejected.code == "policy_denied":
        needs = rejected.error == "needs_person"
        return _stop(
            state, "policy_denied", "needs_person" if needs else "policy_denied", rejected.reason
        )
    kind: Failure = "lost" if rejected.code == "execution_error" else "verification_failed"
    return _stop(state, "failed", kind, f"{rejected.error or rejected.rule}: {rejected.reason}")


def _mend(state: PlannerState, found: LookalikesFound) -> Iterable[AnyEvent]:
    """The step goes on with the element that is clearly the recorded one, or nowhere."""
    plan = state.plan
    assert state.started is not None
    if plan is None or (plan.step, plan.attempt) != (found.step, found.attempt):
        return
    healed = heal(plan, found.elements, state.started.values)
    if isinstance(healed, str):
        yield _stop(state, "failed", "lost", f"element_not_found: {healed}")
    else:
        yield from healed


def _interruption(state: PlannerState, event: AnyEvent) -> Iterable[AnyEvent]:
    match event:
        case DeadlinePassed(what="wall_time", after_ms=after_ms):
            yield _stop(state, "max_wall_time", "", f"{after_ms} ms have passed")
        case RecordingFinished(by=by):
            yield _stop(state, "completed", "", f"the person was done ({by})")
        case StopRequested(by=by, why=why):
            yield _stop(state, "cancelled", "", f"stopped by {by}{': ' if why else ''}{why}")
        case BrowserLost(why=why):
            yield _stop(state, "interrupted", "browser_lost", why)
        case SessionInterrupted(why=why):
            yield _stop(state, "interrupted", "", why)
        case ObservationFailed(code=code, message=message):
            yield _stop(state, "interrupted", "browser_lost", f"{code}: {message}")
        case _:
            return


def _limit(state: PlannerState) -> RunStopped | None:
    """E6: each iteration, whatever else is to be said."""
    assert state.started is not None
    limits = state.started.settings.limits
    if state.failures >= limits.max_failures:
        return _stop(state, "max_failures", "", f"{state.failures} steps failed")
    if state.step >= limits.max_steps:
        return _stop(state, "max_steps", "", f"{state.step} steps were taken")
    return None


def _loops(state: PlannerState, action: Action) -> bool:
    assert state.started is not None
    same = state.started.settings.limits.max_same
    latest = (signature(action), state.digest)
    return len(state.recent) >= same and all(entry == latest for entry in state.recent[-same:])


def _propose(
    state: PlannerState,
    driver: Driver,
    action: Action,
    reason: str,
    index: int,
    expects: Expectation | None,
) -> PlanProposed:
    return PlanProposed(
        step=state.step + 1,
        attempt=1,
        driver=driver,
        action=action,
        reason=reason,
        index=index,
        expects=expects,
        kind=kind_of(action),
    )


def _stop(state: PlannerState, reason: StopReason, failure: Failure, detail: str) -> RunStopped:
    return RunStopped(reason=reason, failure=failure, detail=detail, step=state.step)


def hundredths(millionths: int) -> str:
    """S0's two decimals, rounded by integers: 0.825 is 0.83 on every machine."""
    rounded = (millionths + 5_000) // 10_000
    return f"{rounded // 100}.{rounded % 100:02d}"
