"""A repair says where a run is after a model helped it, and what the workflow's next version is."""

import msgspec

from rutter.actors.predictor.learning.recording import (
    ModelRepair,
    PerformedStep,
    healed_step,
    named_value,
    recorded_step,
)
from rutter.actors.predictor.learning.teaching import broken, is_final
from rutter.actors.predictor.position.skippable_steps import done
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.changes import NAMELESS, notices_of_run
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.events.action import OBSERVATIONS, Action
from rutter.events.planner import PlanProposed
from rutter.events.predictor import Notices
from rutter.events.signature import token
from rutter.events.workflow import Step

# What a model does on the way and no later run needs to: elements are scrolled to by themselves.
PASSING = OBSERVATIONS | {"scroll"}


def index_after(state: PredictorState, plan: PlanProposed, action: Action) -> int:
    """The step that is due after a confirmed one. What only led to a step leaves it due, unless it
    was a later step of the workflow itself: then that is where the run is."""
    workflow = state.workflow
    if workflow is None or not _is_help(plan) or plan.index >= 0:
        return state.index + 1
    if state.started.purpose == "record":  # from here on it is done by a person
        return state.index
    done = token(action)
    for index in range(state.index, len(workflow.steps)):
        if token(workflow.steps[index].action) == done:
            return index + 1 if may_pass_over(state, index) else state.index
    return state.index


def may_pass_over(state: PredictorState, to: int) -> bool:
    """Whether the steps up to there may be left out. What cannot be undone is what a run is for:
    without it only signs of the service can say that the end was reached (D5)."""
    workflow, criteria = state.workflow, state.started.settings.criteria
    assert workflow is not None
    told = criteria is not None and bool(criteria.success)
    return told or not any(matters(step) for step in workflow.steps[state.index : to])


def matters(step: Step) -> bool:
    """Whether the step is what a run is for: it cannot be undone, or somebody stated what it is to
    come to."""
    stated = step.after.checks or step.after.read_back is not None or step.action.verify
    return step.irreversible or bool(stated)


def _is_help(plan: PlanProposed) -> bool:
    """Whether a step in a run of a workflow is no step of it: a model's, one that a person chose or
    did, or the service's own."""
    return plan.driver in ("model", "person") or is_of_way(plan)


def mends(state: PredictorState, plan: PlanProposed, index: int) -> tuple[ModelRepair, ...]:
    """What helped in a run of a workflow, as a step of its next version."""
    if state.workflow is None or not _is_help(plan) or plan.action.type in PASSING:
        return state.mends
    if state.started.purpose == "record":
        return state.mends
    step = step_of(state, plan)
    if index == state.index and not is_of_way(plan):  # it may not be needed every time
        step = msgspec.structs.replace(step, optional=True)
    if plan.index >= 0 and state.workflow.steps[plan.index].irreversible:
        step = msgspec.structs.replace(step, irreversible=True)
    return (*state.mends, ModelRepair(state.index, step, index, helped=True))


def done_by_person(state: PredictorState) -> PredictorState:
    """A person is done with the step that was due: the last thing that they did is it, and what
    they did before led there. Where nothing was done, it is due as before."""
    workflow, own = state.workflow, state.mends[state.mends_before :]
    if workflow is None or state.mends_before < 0 or not own or own[-1].step is None:
        return msgspec.structs.replace(state, mends_before=-1)
    due, last = workflow.steps[state.index], own[-1]
    assert last.step is not None
    step = msgspec.structs.replace(
        last.step,
        optional=due.optional,
        irreversible=due.irreversible or last.step.irreversible,
    )
    mend = msgspec.structs.replace(last, step=step, to=state.index + 1)
    state = msgspec.structs.replace(state, mends=(*state.mends[:-1], mend), mends_before=-1)
    return done(state, state.index + 1)


def strayed_from(state: PredictorState, plan: PlanProposed) -> PredictorState:
    """A navigation that led elsewhere: it was done, and from there help is needed."""
    mend = ModelRepair(state.index, step_of(state, plan), state.index + 1)
    return msgspec.structs.replace(
        state,
        plan=None,
        learned=None,
        history=broken(state.history),
        index=state.index + 1,
        mends=(*state.mends, mend),
        reading_back=False,
    )


def rejoined(state: PredictorState) -> PredictorState:
    """A run that left its workflow is back in it where a page is what it was at a later step, or
    at the end: states are the landmarks. What lies between was not needed this time."""
    workflow, now = state.workflow, state.look.state
    if workflow is None or not state.mends or now in NAMELESS or state.index >= len(workflow.steps):
        return state
    due = workflow.steps[state.index :]
    if due[0].state == now:
        return state
    ahead = next((place for place, step in enumerate(due) if step.state == now), None)
    if ahead is None and due[-1].after.state == now:
        ahead = len(due)
    if ahead is None:
        return state
    to = state.index + ahead
    if not may_pass_over(state, to):
        return state
    mends = (*state.mends, ModelRepair(state.index, None, to))
    return msgspec.structs.replace(state, index=to, mends=mends)


def step_of(state: PredictorState, plan: PlanProposed) -> Step:
    values = state.started.values
    performed = PerformedStep(
        action=named_value(plan.action, values) if plan.driver == "model" else plan.action,
        element=state.element,
        before=state.before,
        after=state.look,
        approved=state.approved,
        downloads=state.downloads,
        stated=plan.expects,
        irreversible=is_final(state, plan),
        picture=state.picture,
    )
    return recorded_step(performed, values)


def healed(
    state: PredictorState, plan: PlanProposed, action: Action
) -> tuple[tuple[int, Step], ...]:
    workflow = state.started.workflow
    if workflow is None or not plan.healed or plan.driver == "model":
        return state.healed
    recorded = workflow.steps[plan.index]
    step = healed_step(recorded, action, state.element, approved=state.approved)
    return (*state.healed, (plan.index, step))


def noticed(state: PredictorState, plan: PlanProposed) -> tuple[Notices, ...]:
    workflow = state.workflow
    if workflow is None or not 0 <= plan.index < len(workflow.steps):
        return state.notices
    expected = workflow.steps[plan.index].after.learned
    values = state.started.values
    said = notices_of_run(expected, state.before.page, state.look.page, values)
    return (*state.notices, Notices(plan.index, said)) if said else state.notices
