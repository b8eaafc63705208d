"""A page rewrites addresses by itself between two inputs: none of them is where a step led alone,
and none is required. They are other names of the same place."""

from collections.abc import Iterable

import msgspec

from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.address import (
    is_at,
    place_of,
    same_address,
    stands_at,
    with_addresses,
)
from rutter.events.page import Page
from rutter.events.planner import PlanProposed
from rutter.events.predictor import Rewritten
from rutter.events.workflow import Step

ELSEWHERE = frozenset({"LOGIN_REQUIRED", "FAILED"})  # where no page goes as a part of a step


def departed(state: PredictorState, url: str) -> PredictorState:
    """Input was dispatched at this address. If the page was looked at under another one, it went on
    by itself since: the step before led to both, and this one is due at both."""
    plan, before = state.plan, state.before.page
    if plan is None or not url or same_address(url, before.url):
        return state
    state = _shown_at(state, plan, url)
    page = msgspec.structs.replace(before, url=url, been=(*before.been, before.url))
    left = msgspec.structs.replace(state.before, page=page)
    return msgspec.structs.replace(state, before=left, steps=_led(state, before, (url,)))


def went_on(state: PredictorState) -> PredictorState:
    """A person acts: where the page is by then is where their last step led."""
    before, now = state.late.page, state.look.page
    odd = state.look.state in ELSEWHERE and state.look.state != state.late.state
    if odd or before.tab != now.tab or before.tabs != now.tabs:
        return state
    return msgspec.structs.replace(state, steps=_led(state, before, (now.url, *now.been)))


def arrived(state: PredictorState, plan: PlanProposed) -> PredictorState:
    """A confirmed step of a run: where it led, if the page has named that more exactly."""
    step = _step(state, plan)
    place = step.after.place if step is not None else None
    if place is None or is_at(place, state.look.page.url):
        return state
    if not stands_at(place, state.look.page):
        return state
    return _told(state, plan.index + 1, state.look.page.url)


def _led(state: PredictorState, seen: Page, urls: Iterable[str]) -> tuple[Step, ...]:
    """The recorded steps, the last of which led to these addresses too, if it led to the page that
    was seen then."""
    if not state.steps:
        return state.steps
    *others, last = state.steps
    place = last.after.place
    if place is None or not stands_at(place, seen):
        return state.steps
    wider = with_addresses(place, urls, state.started.values.values())
    after = msgspec.structs.replace(last.after, place=wider)
    return (*others, msgspec.structs.replace(last, after=after))


def _shown_at(state: PredictorState, plan: PlanProposed, url: str) -> PredictorState:
    """In a run of a workflow: an address of the page of this step that no recording has."""
    step = _step(state, plan)
    if step is None or not step.before.origin or is_at(step.before, url):
        return state
    if not stands_at(step.before, state.before.page):
        return state
    return _told(state, plan.index, url)


def _told(state: PredictorState, index: int, url: str) -> PredictorState:
    values = state.started.values.values()
    place, seen = place_of(url, values), place_of(state.before.page.url)
    if place.origin != seen.origin:
        return state
    told = Rewritten(index, place.path)
    known = state.rewritten
    return msgspec.structs.replace(state, rewritten=known if told in known else (*known, told))


def _step(state: PredictorState, plan: PlanProposed) -> Step | None:
    workflow = state.workflow
    if workflow is None or plan.driver != "workflow":
        return None
    return workflow.steps[plan.index] if 0 <= plan.index < len(workflow.steps) else None
