"""A run that a person hands back is found in its workflow by the page that they left.

They may have done the step that is due, or several: a page that is where a later one was recorded
says so. Only forward: nothing that was done is due again. Whether they did what cannot be undone,
they are asked; what was to be read nobody has read.
"""

from typing import NamedTuple

import msgspec

from rutter.actors.predictor.learning.repair import matters, may_pass_over
from rutter.actors.predictor.learning.teaching import broken, foresees
from rutter.actors.predictor.position.element_presence import is_there
from rutter.actors.predictor.position.preconditions import needs_no_place, unmet
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.changes import NAMELESS, PageMoment
from rutter.actors.rules.pages.expected_changes import at_end
from rutter.events.action import READS
from rutter.events.workflow import Step


def handed_back(state: PredictorState) -> PredictorState:
    """What comes now does not follow from what the run did last."""
    change = msgspec.structs.replace
    state = change(state, handed=True)
    if not foresees(state.started):
        return state
    return change(state, history=broken(state.history), last=None)


def taken_up(state: PredictorState) -> PredictorState:
    """The run is at the first step, from the due one on, that the page fits."""
    to = ahead(state)
    if to == state.index or _in_the_way(state, to) is not None:
        return state
    return msgspec.structs.replace(state, index=to, by_hand=True, learned=None)


def ahead(state: PredictorState) -> int:
    """The place of the step that the page fits, one behind the last at the end; the due one where
    it fits that, or none."""
    workflow, look = state.workflow, state.look
    if not state.handed or workflow is None or state.index >= len(workflow.steps):
        return state.index
    values = state.started.values
    due, *later = workflow.steps[state.index :]
    if not unmet(due, look) and is_there(due.action, look.page, values):
        return state.index
    for place, step in enumerate(later, state.index + 1):
        if _fits(step, look) and is_there(step.action, look.page, values):
            return place
    ended = workflow.end.place is not None and not at_end(workflow.end, look.page, values)
    return len(workflow.steps) if ended and unmet(due, look) else state.index


def _fits(step: Step, look: PageMoment) -> bool:
    """A step that needs no place says nothing about where the run is. A state that both pages have
    a name for is a landmark."""
    if needs_no_place(step) or unmet(step, look):
        return False
    nameless = step.state is None or step.state in NAMELESS or look.state in NAMELESS
    return nameless or step.state == look.state


class LeftPlace(NamedTuple):
    """A person left the run elsewhere than the page is, and `why`; `to` is where it is, if they say
    that they did what lies between."""

    why: str = ""
    to: int = -1


def left_open(state: PredictorState) -> LeftPlace:
    to = ahead(state)
    index = _in_the_way(state, to) if to != state.index else None
    if index is None or state.workflow is None:
        return LeftPlace()
    where = f"at step {to + 1}" if to < len(state.workflow.steps) else "at the end"
    if state.workflow.steps[index].action.type in READS:
        return LeftPlace(f"the page is {where}, and step {index + 1} was to be read before")
    return LeftPlace(
        f"the page is {where}, and who had the wheel knows if step {index + 1} is done", to
    )


def _in_the_way(state: PredictorState, to: int) -> int | None:
    """The step that cannot be passed over on the way there. A page that it may have led to does not
    show that it was done: something else may lead there too (D5)."""
    workflow = state.workflow
    assert workflow is not None
    between = [*enumerate(workflow.steps)][state.index : to]
    for index, step in between:
        if step.action.type in READS:
            return index
    weighty = [index for index, step in between if matters(step)]
    return weighty[-1] if weighty and not may_pass_over(state, to) else None
