"""A run may skip optional steps: some need not be waited for, some may have come since, and behind
each the run goes on somewhere (docs/optional-steps.md)."""

import msgspec

from rutter.actors.predictor.position.preconditions import unmet
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.workflows.alignment import has_element
from rutter.events.planner import PlanWithheld, StepsRecalled
from rutter.events.workflow import Step


def looks_back(state: PredictorState) -> bool:
    return state.started.settings.looks_back


def needless(state: PredictorState) -> str:
    """Why the optional step that is due is not to be waited for; empty when it may yet come."""
    workflow, index = state.workflow, state.index
    assert workflow is not None
    step = workflow.steps[index]
    if not step.optional or not looks_back(state):
        return ""
    if _went_another_way(state, step):
        return "another way was gone"
    if not has_element(step.action) and index - 1 in state.passed:
        return f"it belongs to step {index}, which was passed over"
    if not unmet(step, state.look):
        return ""
    if _is_recalled(state):
        return "the page is elsewhere"
    later = [*enumerate(workflow.steps)][index:]
    beyond = next((each for each in later if not each[1].optional), None)
    if beyond is None or beyond[1].action.type == "navigate" or unmet(beyond[1], state.look):
        return ""
    return f"the page is where step {beyond[0] + 1} is due"


def passed_here(state: PredictorState) -> tuple[int, ...]:
    """Those that were passed over, and could have come to this page since: they were recorded where
    it is."""
    workflow = state.workflow
    assert workflow is not None
    if not looks_back(state) or _is_recalled(state):
        return ()
    found: list[int] = []
    for at in sorted(state.passed):
        step = workflow.steps[at]
        belongs = not has_element(step.action) and at - 1 in found
        if belongs or _may_come(state, step):
            found.append(at)
    return tuple(found)


def is_recalled(state: PredictorState) -> bool:
    """Whether the step that is due was passed over before."""
    return looks_back(state) and _is_recalled(state)


def led(state: PredictorState, event: PlanWithheld | StepsRecalled) -> PredictorState:
    """Where the run is when a step was passed over, or some that were are to be looked for."""
    if isinstance(event, StepsRecalled):
        first, *others = event.indexes
        return msgspec.structs.replace(
            state, index=first, recall=tuple(others), back_to=event.back_to, learned=None
        )
    return _passed_over(state, event.index) if event.index >= 0 else state


def _passed_over(state: PredictorState, index: int) -> PredictorState:
    if not looks_back(state):
        return msgspec.structs.replace(state, index=index + 1, learned=None)
    others = tuple(at for at in state.passed if at != index)
    state = msgspec.structs.replace(state, passed=(*others, index), learned=None)
    return _went_on(state, index)


def done(state: PredictorState, index: int) -> PredictorState:
    """The step that was due is confirmed, and `index` would come next."""
    workflow = state.workflow
    if workflow is None or not looks_back(state) or index != state.index + 1:
        return msgspec.structs.replace(state, index=index)
    at = state.index
    passed = tuple(each for each in state.passed if each != at)
    return _went_on(msgspec.structs.replace(state, passed=passed, gone=(*state.gone, at)), at)


def _went_on(state: PredictorState, index: int) -> PredictorState:
    """To the next that was recalled, back to where it was recalled from, or to the next."""
    change = msgspec.structs.replace
    if not _is_recalled(state):
        return change(state, index=index + 1, recall=(), back_to=-1)
    if state.recall:
        return change(state, index=state.recall[0], recall=state.recall[1:])
    return change(state, index=state.back_to, back_to=-1)


def _is_recalled(state: PredictorState) -> bool:
    """A person who had the wheel, or a model, may have led on from there."""
    return state.index < state.back_to


def _went_another_way(state: PredictorState, step: Step) -> bool:
    workflow, fork = state.workflow, step.fork
    if workflow is None or fork is None:
        return False
    gone = [workflow.steps[at].fork for at in state.gone]
    return any(each is not None and each.number == fork.number and each != fork for each in gone)


def _may_come(state: PredictorState, step: Step) -> bool:
    if not has_element(step.action) or _went_another_way(state, step):
        return False
    return not unmet(step, state.look)
