"""The Planner waits for no optional step where what comes behind it is there. It looks once more
for those it passed over where the next step is covered, or not there.

A banner may come a moment later than the page. See docs/optional-steps.md.
"""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.run import excused
from rutter.actors.planner.state import PlannedRun
from rutter.actors.rules.steps.retry import so_long
from rutter.events.causes import Cause
from rutter.events.critic import ActionJudged
from rutter.events.executor import ActionFailed
from rutter.events.planner import PlanProposed, PlanWithheld, RunStopped, StepsRecalled
from rutter.events.predictor import StepDue
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent

# What was passed over and is in the way is there now: it is not waited for a second time.
RECALL_MS = 300
COVERED = "element_obscured"


def passed_over(index: int, of: int, why: str) -> PlanWithheld:
    """An optional step is not done where its place or its element is not: the next one is due."""
    return PlanWithheld(reason=f"optional_step_{index + 1}_of_{of}: {why}", index=index)


def unneeded(state: PlannedRun, due: StepDue) -> PlanWithheld | None:
    """An optional step that is passed over without being proposed, or behind another in the way."""
    if _reached_the_page(state, due):
        return None
    if due.needless:
        return passed_over(due.index, due.of, due.needless)
    if not due.step.optional or not _is_covered(state, due):
        return None
    if due.recalled or any_optional(state, (*_beside(state, due), *due.passed)):
        return passed_over(due.index, due.of, "something else covers it")
    return None


def recall(state: PlannedRun, due: StepDue) -> StepsRecalled | None:
    """Before a step that is covered is tried again, or its place is waited for: what was passed
    over and could be what is in the way."""
    if due.signed_out or due.taken_to >= 0 or _reached_the_page(state, due):
        return None
    if due.unmet:
        return _recalled(state, due, due.unmet)
    return _recalled(state, due, "it is covered") if _is_covered(state, due) else None


def recall_missing(state: PlannedRun, rejected: ActionRejected) -> StepsRecalled | None:
    """The same for one whose element is not there, before another is taken for it."""
    due, plan = state.due, state.plan
    if due is None or plan is None or plan.driver != "workflow" or plan.index != due.index:
        return None
    return _recalled(state, due, rejected.error)


def _recalled(state: PlannedRun, due: StepDue, why: str) -> StepsRecalled | None:
    """Each once, until one of them was done: then others may have come."""
    wanted = _unrecalled(state, due)
    return StepsRecalled(wanted, due.index, why) if wanted else None


def _unrecalled(state: PlannedRun, due: StepDue) -> tuple[int, ...]:
    return tuple(index for index in due.passed if index not in state.recalled)


def waiting(state: PlannedRun, due: StepDue, plan: PlanProposed) -> PlanProposed:
    """How long the step is waited for, and what ends that. One that must be there has all its time,
    whatever else is there."""
    if due.recalled:
        return msgspec.structs.replace(plan, within_ms=RECALL_MS)
    unless = _beside(state, due) if due.step.optional else ()
    others = (*unless, *_unrecalled(state, due))
    if state.started.settings.looks_back and any_optional(state, others):
        plan = msgspec.structs.replace(plan, cover_ms=RECALL_MS)  # one of them may be what it is
    return msgspec.structs.replace(plan, unless=unless) if unless else plan


def _beside(state: PlannedRun, due: StepDue) -> tuple[int, ...]:
    """The places of the steps behind an optional one, up to the first that must be there, as far as
    they were recorded on the same page and have an element to be seen by."""
    workflow = state.started.workflow
    if workflow is None or not state.started.settings.looks_back:
        return ()
    found: list[int] = []
    for index in range(due.index + 1, len(workflow.steps)):
        step = workflow.steps[index]
        same = step.before == due.step.before and step.action.tab == due.step.action.tab
        if same and step.action.target is not None:
            found.append(index)
        if not step.optional:
            break
    return tuple(found)


def named(state: PlannedRun, stop: RunStopped) -> RunStopped:
    """A run that ends because something that no recording met is in the way says what it is."""
    failure = _covered(state)
    if failure is None:
        return stop
    cover = f'the dialog "{failure.dialog}"' if failure.dialog else failure.message or "something"
    long = so_long(failure.waited_ms)
    said = f"{COVERED}: covered by {cover}{long}, which is in none of the recordings"
    return msgspec.structs.replace(stop, detail=said, cause=Cause("unrecorded", code=COVERED))


def evolve_aside(state: PlannedRun, event: AnyEvent) -> PlannedRun:
    """What was in the way of a step is no failure of it, nor is what covered one that is passed
    over. A step that was done is another beginning: what is in the way then came later."""
    match event:
        case StepsRecalled(indexes=indexes):
            state = msgspec.structs.replace(
                state, recalled=(*state.recalled, *indexes), unmet_since_ns=0
            )
        case PlanWithheld(index=index) if index >= 0:
            pass
        case ActionJudged(verdict="confirmed") if state.recalled:
            return msgspec.structs.replace(state, recalled=())
        case _:
            return state
    return uncounted(state)


def uncounted(state: PlannedRun) -> PlannedRun:
    """What came of the last step is no failure of the run."""
    failures = max(0, state.failures - (state.judged is not None))
    return msgspec.structs.replace(excused(state), failures=failures)


def _reached_the_page(state: PlannedRun, due: StepDue) -> bool:
    """It was tried, and not held back: what came of that is not made good by doing another step,
    nor is it begun anew (E7)."""
    plan, failure = state.plan, state.failure
    if plan is None or plan.index != due.index or state.judged is None:
        return False
    return failure is None or failure.dispatched


def _is_covered(state: PlannedRun, due: StepDue) -> bool:
    return _covered(state) is not None and state.plan is not None and state.plan.index == due.index


def _covered(state: PlannedRun) -> ActionFailed | None:
    """The failure of a recorded step that something is in the way of."""
    failure, recorded = state.failure, state.plan is not None and state.plan.driver == "workflow"
    if failure is None or not recorded or not state.started.settings.looks_back:
        return None
    return failure if failure.code == COVERED and not failure.dispatched else None


def any_optional(state: PlannedRun, places: Iterable[int]) -> bool:
    steps = state.started.steps
    return any(steps[place].optional for place in places if 0 <= place < len(steps))
