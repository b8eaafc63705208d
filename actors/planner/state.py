"""A run as the Planner follows it: its state, and what every part of it decides by."""

from typing import Literal

import msgspec

from rutter.actors.planner.expired_login import SIGNED_OUT, LoginsInUse, signed_out
from rutter.actors.planner.model_question import ModelRun
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.rules.steps.already_done import EarlierRunLooks
from rutter.actors.rules.steps.already_done import in_words as settled_in_words
from rutter.actors.rules.steps.pace import StepPace
from rutter.actors.rules.steps.pause import HAD_THE_WHEEL, Pause
from rutter.actors.rules.steps.retry import may_repeat, so_long
from rutter.actors.rules.steps.service_script import ScriptProgress, is_of_way
from rutter.events.action import Action, kind_of
from rutter.events.critic import ActionJudged
from rutter.events.executor import ActionFailed, QueryFailed
from rutter.events.page import Resolved
from rutter.events.planner import CheckpointReached, PlanProposed, RunStopped
from rutter.events.predictor import StepDue
from rutter.events.runtime import Failure, SessionStarted, StopReason
from rutter.events.signature import signature
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Expectation

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
    last: int = 0  # the number of the step that was judged last, a person's too
    handed_over: str = ""  # how the person said that they are done
    by_hand: tuple[int, int] = (-1, 0)
    taken_to: int = -1
    settling: EarlierRunLooks = EarlierRunLooks()
    stopped: bool = False
    desk: Desk | None = None
    consulting: ModelRun | None = None
    due: StepDue | None = None
    element: Resolved | None = None
    going: ScriptProgress = ScriptProgress()
    pause: Pause = Pause()
    flying: int = 0  # the step that has begun and is not over
    asked: ApprovalRequested | None = None  # the question that is open
    resumed: bool = False  # once at least
    let_go: int = 0  # steps that a pause came before
    had_wheel: bool = False
    aboard: LoginsInUse = LoginsInUse()
    recalled: tuple[int, ...] = ()  # optional steps that were looked for once more, in vain so far
    pace: StepPace = StepPace()
    rested: bool = False  # since the last step of a script


def for_a_person(state: PlannerState, due: StepDue, why: str) -> AnyEvent:
    """A sign-in is a person's, and so is the way back where it was lost: if they have a window."""
    assert state.started is not None
    where = f"step {due.index + 1} of {due.of}: {why}"
    before = state.settling.of(due.index - 1)
    if before is not None and before.done:
        where = f"{settled_in_words(state.started, before)}; {where}"
    if state.had_wheel:
        where = f"{HAD_THE_WHEEL}; {where}"
    why_asked = signed_out(state.aboard, due.step.before.origin, _gone_to(state))
    index, times = state.by_hand
    if state.started.headed and (index != due.index or times < BY_HAND):
        kind: Literal["login", "unknown"] = "login" if due.signed_out else "unknown"
        if due.signed_out and why_asked != SIGNED_OUT:  # which the question says itself
            where = f"{why_asked}: {where}"
        return CheckpointReached(kind, state.step + 1, where, due.index, due.taken_to)
    if due.signed_out:
        return stop_run(state, "policy_denied", "needs_person", f"{why_asked}: {where}")
    return stop_run(state, "failed", "lost", where)


def _gone_to(state: PlannerState) -> str:
    """The address that the last step was to go to; where it led may be another host."""
    return (state.plan.action.url or "") if state.plan is not None else ""


def second_try(state: PlannerState) -> PlanProposed | RunStopped | None:
    """What follows from the last verdict: another try, the end, or nothing to say."""
    judged, plan, missed = state.judged, state.plan, state.missed
    if missed is not None:
        said = f"{missed.code}: {missed.message}" if missed.message else missed.code
        return stop_run(state, "failed", "lost", said)
    if judged is None or plan is None:
        return None
    failure = state.failure
    if (plan.driver == "model" or is_of_way(plan)) and failure is None:
        # What it proposed was done and came to nothing: the same again is no correction (C5).
        return stop_run(
            state, "failed", "verification_failed", f"{judged.verdict}: {judged.reason}"
        )
    if may_repeat(plan, judged, failure, irreversible=state.irreversible):
        return msgspec.structs.replace(plan, attempt=2)
    kind: Failure = "retry_exhausted" if plan.attempt > 1 else "verification_failed"
    said = f"{judged.verdict}: {judged.reason}{_wanted(plan, judged)}"
    if failure is not None:
        kind = "unreachable" if failure.code == "navigation_failed" else kind
        kind = "retry_exhausted" if failure.waited_ms else kind  # looked at again and again
        said = f"{failure.code}: {failure.message}" if failure.message else failure.code
        said += so_long(failure.waited_ms)
    return stop_run(state, "failed", kind, said)


def _wanted(plan: PlanProposed, judged: ActionJudged) -> str:
    """Where it should have led, when it led elsewhere."""
    place = plan.expects.place if plan.expects is not None else None
    placed = judged.reason in ("led_elsewhere", "other_place", "stayed_on_the_page")
    return f", not at {place.path}" if place is not None and placed else ""


def over_limit(state: PlannerState) -> RunStopped | None:
    """E6: each iteration, whatever else is to be said."""
    assert state.started is not None
    limits = state.started.settings.limits
    if state.failures >= limits.max_failures:
        return stop_run(state, "max_failures", "", f"{state.failures} steps failed")
    taken = state.step - state.let_go
    if taken >= limits.max_steps:
        return stop_run(state, "max_steps", "", f"{taken} steps were taken")
    return None


def loops(state: PlannerState, action: Action) -> bool:
    assert state.started is not None
    same = state.started.settings.limits.max_same
    latest = (signature(action), state.digest)
    return len(state.recent) >= same and all(entry == latest for entry in state.recent[-same:])


def propose(
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


def stop_run(state: PlannerState, reason: StopReason, failure: Failure, detail: str) -> RunStopped:
    if failure == "lost" and state.had_wheel and HAD_THE_WHEEL not in detail:
        detail = f"{HAD_THE_WHEEL}; {detail}"
    return RunStopped(reason=reason, failure=failure, detail=detail, step=state.step)
