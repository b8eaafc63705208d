"""A kept login makes the first steps of a run needless when they sign in.

Those steps were recorded on a page that asks to sign in, and the page is none: they are passed over
up to the first that the page fits. Where it fits none, nothing is passed over; nor where the login
is of another site.
"""

from collections.abc import Collection, Sequence

import msgspec

from rutter.actors.predictor.learning.teaching import broken, foresees
from rutter.actors.predictor.position.element_presence import is_there
from rutter.actors.predictor.position.preconditions import needs_no_place, unmet
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.address import stands_at
from rutter.actors.rules.pages.changes import PageMoment
from rutter.events.planner import PlanProposed
from rutter.events.workflow import Step


def past_sign_in(state: PredictorState) -> PredictorState:
    """The run is behind its sign-in if somebody is signed in and the page is where it went on."""
    to = _behind(state)
    return _at(state, to) if to > state.index else state


def led_past(state: PredictorState, plan: PlanProposed) -> PredictorState:
    """The way to the sign-in led on: it was done, and what was recorded on that page is not due."""
    state = msgspec.structs.replace(state, plan=None, reading_back=False)
    return _at(state, plan.index + 1)


def _behind(state: PredictorState) -> int:
    """The step at which it goes on; the due one where it does not."""
    workflow, look = state.workflow, state.look
    if not state.logins or workflow is None or look.state == "LOGIN_REQUIRED":
        return state.index
    to = state.index
    while to < len(workflow.steps) and _signs_in(workflow.steps[to]):
        to += 1
    if to == len(workflow.steps):
        return state.index  # signing in is all that it is for
    values = state.started.values
    passed, step = workflow.steps[state.index : to], workflow.steps[to]
    if not passed or not _knows(state.logins, passed, step) or not _fits(passed, step, look):
        return state.index
    return to if is_there(step.action, look.page, values) else state.index


def _knows(logins: Collection[str], passed: Sequence[Step], step: Step) -> bool:
    """Whether a login is of where they sign in, or of where that leads: many sites ask to sign in
    on a host of their own, of which nothing is kept."""
    return step.before.origin in logins or all(each.before.origin in logins for each in passed)


def _fits(passed: Sequence[Step], step: Step, look: PageMoment) -> bool:
    """A step that needs no place says nothing about where the run is: then the page must be where
    the sign-in led when it was recorded."""
    if unmet(step, look):
        return False
    last = passed[-1]
    led_to = last.after.place
    led_on = led_to is not None and led_to != last.before and stands_at(led_to, look.page)
    return led_on or not needs_no_place(step)


def _signs_in(step: Step) -> bool:
    """What somebody stated of a step is what a run is for: it is not passed over."""
    stated = step.after.checks or step.after.read_back is not None or step.action.verify
    return step.state == "LOGIN_REQUIRED" and not stated


def _at(state: PredictorState, index: int) -> PredictorState:
    """What comes now does not follow from what was done last."""
    state = msgspec.structs.replace(state, index=index, learned=None)
    if not foresees(state.started):
        return state
    return msgspec.structs.replace(state, history=broken(state.history), last=None)
