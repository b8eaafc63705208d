"""A planned run has this beside any run's state; it follows a script, a workflow or a prediction,
and every part of the Planner decides by it."""

from typing import Literal

import msgspec

from rutter.actors.planner.correction import ModelHelp
from rutter.actors.planner.expired_login import sign_in_words, signed_out
from rutter.actors.planner.run import Run, out_of_steps, stop_run
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.rules.steps.already_done import in_words as settled_in_words
from rutter.actors.rules.steps.pace import StepPace
from rutter.actors.rules.steps.pause import HAD_THE_WHEEL
from rutter.actors.rules.steps.retry import may_repeat, so_long
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.events.causes import OTHER, Cause
from rutter.events.critic import ActionJudged
from rutter.events.executor import LookalikesFound
from rutter.events.page import Lookalike
from rutter.events.planner import CheckpointReached, PlanProposed, RunStopped, StepLost
from rutter.events.predictor import StepDue
from rutter.events.runtime import Failure
from rutter.events.vocabulary import AnyEvent

# How often a person is asked to put one step right by hand: then it is lost.
BY_HAND = 3


class LostStep(msgspec.Struct, frozen=True):
    """A lost step has what was found in its place, the question about it, and what was chosen.
    `asked`: at which place of the workflow a person was asked last, and how often. `by_hand`: they
    are doing it themselves."""

    found: LookalikesFound | None = None
    question: StepLost | None = None
    asked: tuple[int, int] = (-1, 0)
    chosen: Lookalike | None = None
    by_hand: bool = False


class PlannedRun(Run, frozen=True):
    """A planned run knows its next step, or predicts it. `index` is the place of the next step of a
    script, `due` the step of a workflow that is due, `last` the number of the step that was judged
    last, a person's too; `recalled` are optional steps that were looked for once more, in vain so
    far, and `handed_over` says how the person told that they are done."""

    index: int = 0
    due: StepDue | None = None
    unmet_since_ns: int = 0
    turned: int = -1
    person: bool = False
    last: int = 0
    handed_over: str = ""
    taken_to: int = -1
    helping: ModelHelp = ModelHelp()
    recalled: tuple[int, ...] = ()
    pace: StepPace = StepPace()
    rested: bool = False  # since the last step of a script
    barred_since_ns: int = 0  # since when the page keeps programs out
    lost: LostStep = LostStep()

    @property
    def by_workflow(self) -> bool:
        """Whether a workflow is run, and not recorded again."""
        return self.started.driver == "workflow" and self.started.purpose == "run"

    @property
    def led_by_person(self) -> bool:
        """Whether a person does in the window whatever is done now."""
        return self.lost.by_hand or (self.person and self.started.by_hand_from >= 0)


PlannerState = PlannedRun | Desk | None  # nothing before its session has started


def for_a_person(state: PlannedRun, due: StepDue, why: str, cause: Cause | None = None) -> AnyEvent:
    """A sign-in is a person's, and so is the way back where it was lost: if they have a window."""
    where = f"step {due.index + 1} of {due.of}: {why}"
    before = state.settling.of(due.index - 1)
    if before is not None and before.done:
        where = f"{settled_in_words(state.started, before)}; {where}"
    told = f"{HAD_THE_WHEEL}; {where}" if state.had_wheel else where
    # The address that the last step was to go to; where it led may be another host.
    gone_to = (state.plan.action.url or "") if state.plan is not None else ""
    asks = signed_out(state, due.step.before.origin, gone_to)
    index, times = state.by_hand
    if state.started.headed and (index != due.index or times < BY_HAND):
        kind: Literal["login", "unknown"] = "login" if due.signed_out else "unknown"
        if due.signed_out and asks.origin:  # that a site asks, the question says itself
            told = f"{sign_in_words(asks)}: {told}"
        return CheckpointReached(kind, state.step + 1, told, due.index, due.taken_to)
    cause = asks if due.signed_out else cause or OTHER
    cause = msgspec.structs.replace(cause, index=due.index, code="")
    if due.signed_out:
        said = f"{sign_in_words(asks)}: {told}"
        return stop_run(state, "policy_denied", "needs_person", said, cause)
    return stop_run(state, "failed", "lost", where, cause)


def second_try(state: PlannedRun) -> PlanProposed | RunStopped | None:
    """What follows from the last verdict: another try, the end, or nothing to say."""
    flight = state.flight
    if flight is None:
        return None
    if (missed := flight.missed) is not None:
        said = f"{missed.code}: {missed.message}" if missed.message else missed.code
        return stop_run(state, "failed", "lost", said, Cause(code=missed.code))
    plan, judged, failure = flight.plan, flight.judged, flight.failure
    if judged is None:
        return None
    if (plan.driver == "model" or is_of_way(plan)) and failure is None:
        # What it proposed was done and came to nothing: the same again is no correction (C5).
        said = f"{judged.verdict}: {judged.reason}"
        return stop_run(state, "failed", "verification_failed", said, Cause(code=judged.code))
    if may_repeat(plan, judged, failure, irreversible=flight.irreversible):
        return msgspec.structs.replace(plan, attempt=2)
    kind: Failure = "retry_exhausted" if plan.attempt > 1 else "verification_failed"
    said = f"{judged.verdict}: {judged.reason}{_wanted(plan, judged)}"
    if failure is not None:
        kind = "unreachable" if failure.code == "navigation_failed" else kind
        kind = "retry_exhausted" if failure.waited_ms else kind  # looked at again and again
        said = f"{failure.code}: {failure.message}" if failure.message else failure.code
        said += so_long(failure.waited_ms)
    code = judged.code if failure is None else failure.code
    return stop_run(state, "failed", kind, said, Cause(code=code))


def _wanted(plan: PlanProposed, judged: ActionJudged) -> str:
    """Where it should have led, when it led elsewhere."""
    place = plan.expects.place if plan.expects is not None else None
    placed = judged.code in ("led_elsewhere", "other_place", "stayed_on_the_page")
    return f", not at {place.path}" if place is not None and placed else ""


def over_limit(state: PlannedRun) -> RunStopped | None:
    """E6: each iteration, whatever else is to be said."""
    limits = state.started.settings.limits
    if state.failures >= limits.max_failures:
        return stop_run(state, "max_failures", "", f"{state.failures} steps failed")
    return out_of_steps(state) if state.taken >= limits.max_steps else None
