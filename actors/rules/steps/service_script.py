"""A service script says what to do on a page in some state without a model (S1 FR-007).

It is data that comes with the service. Each of its actions is a proposal like any other.
"""

from collections.abc import Collection

import msgspec

from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.pages.page_state import has_signs
from rutter.events.action import Action, Parameter, Secret
from rutter.events.checks import PageState
from rutter.events.critic import ActionJudged, PageAssessed
from rutter.events.observer import PageObserved
from rutter.events.page import Page
from rutter.events.planner import PlanProposed
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import ServiceScript
from rutter.events.vocabulary import AnyEvent

ELSEWHERE = ("other_place", "led_elsewhere")  # of a step that led on
SIGNED_IN = "signed_in_already"


class ScriptProgress(msgspec.Struct, frozen=True):
    """A session is on a page, in a state, with so many actions `done` of its script, the `way`.
    `stuck`: the last action of it came to nothing, and the page is still what it was."""

    page: Page = Page(url="")
    phrases: tuple[str, ...] = ()
    state: PageState = "UNKNOWN"
    way: ServiceScript | None = None
    done: int = 0
    stuck: bool = False


def evolve_going(going: ScriptProgress, event: AnyEvent, started: SessionStarted) -> ScriptProgress:
    change = msgspec.structs.replace
    match event:
        case PlanProposed() as plan if is_of_way(plan):
            way = way_here(going, started)
            return going if way == going.way else change(going, way=way, done=0)
        case PageObserved(page=page, phrases=phrases):
            if page.url == going.page.url:
                return change(going, page=page, phrases=phrases)
            return change(going, page=page, phrases=phrases, way=None, stuck=False)
        case PageAssessed(state=said) if (said or "UNKNOWN") != going.state:
            return change(going, state=said or "UNKNOWN", way=None, stuck=False)
        case _:
            return going


def gone(going: ScriptProgress, judged: ActionJudged) -> ScriptProgress:
    """One action of the script is over. What shows no effect may have been so before: if more is to
    be done here, that shows what it came to."""
    if judged.verdict == "confirmed" or goes_on_behind(going, judged):
        return msgspec.structs.replace(going, done=going.done + 1)
    return msgspec.structs.replace(going, stuck=True)


def goes_on_behind(going: ScriptProgress, judged: ActionJudged) -> bool:
    more = going.way is not None and going.done + 1 < len(going.way.actions)
    return judged.verdict == "no_effect" and more


def refused(going: ScriptProgress) -> ScriptProgress:
    return msgspec.structs.replace(going, stuck=True)


def way_here(going: ScriptProgress, started: SessionStarted) -> ServiceScript | None:
    """The first of the service's scripts that fits this page."""
    service = started.settings.service
    ways = service.ways if service is not None else ()
    fitting = (way for way in ways if way.state == going.state)
    return next((way for way in fitting if has_signs(way.signs, going.page, going.phrases)), None)


def next_of_way(going: ScriptProgress, started: SessionStarted, step: int) -> PlanProposed | None:
    """The next action of the script here; nothing, where there is none, it is done and the page is
    still what it was, or what it types is not bound."""
    way = way_here(going, started)
    done = going.done if way == going.way else 0
    if way is None or going.stuck or done >= len(way.actions):
        return None
    action = way.actions[done]
    if not _is_bound(action, started):
        return None
    reason = f"way_{going.state}_{done + 1}"
    return PlanProposed(step, 1, "script", action, reason, source="service_script")


def is_helped(started: SessionStarted) -> bool:
    """Whether a run of a workflow that is lost may go on by a model, or by a service script."""
    if started.workflow is None:
        return False
    service = started.settings.service
    return started.models is not None or (service is not None and bool(service.ways))


def strayed(started: SessionStarted, plan: PlanProposed | None, judged: ActionJudged) -> bool:
    """A navigation that led elsewhere than it did when it was recorded has led somewhere: where
    there is help, it goes on from there."""
    if plan is None or not is_helped(started) or judged.code not in ELSEWHERE:
        return False
    moves = plan.action.type == "navigate" and not plan.action.verify
    return moves and judged.verdict == "wrong_target" and plan.driver == "workflow"


def is_past_sign_in(
    plan: PlanProposed | None, judged: ActionJudged, origins: Collection[str]
) -> bool:
    """A navigation that led to a sign-in when it was recorded, and on to another page now: whoever
    took a kept login along is signed in."""
    elsewhere = judged.verdict == "wrong_target" and judged.code in ELSEWHERE
    return (elsewhere or judged.code == SIGNED_IN) and goes_to_sign_in(plan, origins)


def goes_to_sign_in(plan: PlanProposed | None, origins: Collection[str]) -> bool:
    """Whether a kept login may make it needless. `origins` are those of the logins: the sign-in's,
    or that of the page which was asked for, where the site asks on a host of its own."""
    if plan is None or plan.expects is None or plan.driver != "workflow":
        return False
    asking = plan.expects.place.origin if plan.expects.place is not None else ""
    if asking not in origins and origin_of(plan.action.url or "") not in origins:
        return False
    moves = plan.action.type == "navigate" and not plan.action.verify
    return moves and plan.expects.state == "LOGIN_REQUIRED"


def is_of_way(plan: PlanProposed | None) -> bool:
    return plan is not None and plan.source == "service_script"


def _is_bound(action: Action, started: SessionStarted) -> bool:
    match action.value:
        case Secret(name):
            return name in started.secrets
        case Parameter(name):
            return name in started.values
        case _:
            return True
