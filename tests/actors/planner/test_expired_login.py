"""A page that asks to sign in where a kept login was used: that login has expired, and says so. And
where it holds, a workflow that signs in first goes on behind that."""

from typing import Any

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.actors.planner.expired_login import sign_in_words, signed_out
from rutter.actors.planner.run import Run
from rutter.actors.predictor import Predictor
from rutter.events.action import Untrusted
from rutter.events.causes import Cause
from rutter.events.checks import TextVisible
from rutter.events.critic import PageAssessed
from rutter.events.logins import LoginKept, LoginUsed
from rutter.events.page import Page, PageElement
from rutter.events.planner import CheckpointReached, PlanProposed, RunStopped
from rutter.events.predictor import PredictionMade, StepDue
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation, Place, Step, Workflow
from rutter.pipeline.sessions import session_started
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.given_when_then import SESSION, Story, at, given, only

SHOP, SSO = shop_facts.ORIGIN, "https://sso.example"
USED = LoginUsed(SHOP, "d" * 64, 1_700_000_000_000_000_000)
ASKS, ELSEWHERE = PageAssessed("LOGIN_REQUIRED"), PageAssessed()
EXPIRED = f"the login for {SHOP} has expired"
FLOW = shop_facts.workflow(
    shop_facts.step(shop_facts.click("#one")), shop_facts.step(shop_facts.click("#two"))
)
RUN = shop_facts.run_of(FLOW)
NOTHING = PredictionMade("markov2", position=0)


def aboard(*events: AnyEvent) -> Run:
    story = Story(Planner())
    for event in (RUN, *events):
        story.tell(event)
    state = story.actor.state(SESSION)
    assert isinstance(state, Run)
    return state


def seen(url: str) -> AnyEvent:
    return shop_facts.saw(Page(url=url, digest=url))


def test_only_where_a_login_was_used_is_it_said_to_have_expired() -> None:
    there = seen(f"{SHOP}/login")

    assert sign_in_words(signed_out(aboard(USED, there))) == EXPIRED
    assert sign_in_words(signed_out(aboard(there))) == "the site asks to sign in"
    assert not signed_out(aboard(USED, seen("https://other.example/login"))).origin
    assert not signed_out(aboard(LoginKept(SHOP, "d"), there)).origin


def test_a_site_may_ask_on_another_host() -> None:
    asked = aboard(USED, seen(f"{SSO}/authorize?for=shop"))

    assert signed_out(asked, f"{SHOP}/desk").origin == SHOP
    assert signed_out(asked, "", f"{SSO}/", "about:blank") == Cause("signed_out")


def signed_out_at(step: int = 0) -> tuple[Any, Any]:
    due = StepDue(step, 2, FLOW.steps[step], "elsewhere", signed_out=True)
    return at(0, due), at(3_000, due)


def test_a_run_that_is_asked_to_sign_in_needs_a_new_login() -> None:
    [stop] = given(Planner(), RUN, USED, seen(f"{SHOP}/login"), *signed_out_at())

    assert stop == RunStopped("policy_denied", "needs_person", f"{EXPIRED}: step 1 of 2: elsewhere")


def test_whoever_has_a_window_is_told_whose_login_it_was() -> None:
    headed = msgspec.structs.replace(RUN, headed=True)

    [asked] = given(Planner(), headed, USED, seen(f"{SHOP}/login"), *signed_out_at(1))

    assert asked == CheckpointReached("login", 1, f"{EXPIRED}: step 2 of 2: elsewhere", 1)


def test_the_page_that_a_step_was_recorded_on_tells_whose_login_it_was() -> None:
    decided = given(Planner(), RUN, USED, seen(f"{SSO}/login"), *signed_out_at())

    assert only(decided, RunStopped).detail.startswith(EXPIRED)


@for_each("used", [True, False])
def test_a_free_run_that_is_lost_on_a_sign_in_page_needs_a_login(used: bool) -> None:
    logins = (USED,) if used else ()

    story = (shop_facts.free_run(), *logins, seen(f"{SHOP}/login"), ASKS, NOTHING)
    stop = only(given(Planner(), *story), RunStopped)

    assert (stop.failure, stop.detail.startswith(EXPIRED)) == (
        ("needs_person", True) if used else ("lost", False)
    )


def test_a_free_run_that_is_lost_elsewhere_is_lost() -> None:
    story = (
        shop_facts.free_run(),
        USED,
        seen(f"{SHOP}/login"),
        ASKS,
        seen(f"{SHOP}/desk"),
        ELSEWHERE,
    )

    assert only(given(Planner(), *story, NOTHING), RunStopped).failure == "lost"


def test_a_run_to_a_goal_needs_a_login_as_well() -> None:
    started = session_started.tool_session(f"{SHOP}/", goal="cancel it")
    led = msgspec.structs.replace(started, driver="model", name="cancel")
    told = Story(Planner())
    before: list[AnyEvent] = [led, USED, shop_facts.saw(shop_facts.page())]
    opening: list[AnyEvent] = [
        shop_facts.done(),
        shop_facts.saw(shop_facts.page("/login")),
        shop_facts.judged(),
    ]
    for event in before:
        told.tell(event)
    told.tell(ELSEWHERE, then=[NOTHING])
    for event in opening:
        told.tell(event)
    stop = only(told.tell(ASKS, then=[NOTHING]), RunStopped)

    assert (stop.failure, stop.detail) == ("needs_person", EXPIRED)


# -- what the login has done already ---------------------------------------------------------------

TO_SIGN_IN = Expectation(moved=True, place=shop_facts.place("/login"), state="LOGIN_REQUIRED")
SIGNING_IN = (
    Step(shop_facts.go_to("/login"), after=TO_SIGN_IN),
    shop_facts.step(shop_facts.fill("#user"), "/login", state="LOGIN_REQUIRED"),
    shop_facts.step(
        shop_facts.click("#in"), "/login", "/desk", state="LOGIN_REQUIRED", irreversible=True
    ),
)
ON = shop_facts.step(shop_facts.click("#orders"), "/desk", "/orders")
DESK = shop_facts.saw(
    shop_facts.page("/desk", elements=(PageElement("link", Untrusted("Orders")),))
)


def due_after(flow: Workflow, *story: AnyEvent) -> StepDue:
    """What is due when the way to the sign-in has led to the desk."""
    way = shop_facts.plan(flow.steps[0].action, "workflow", index=0, expects=flow.steps[0].after)
    led_on = msgspec.structs.replace(shop_facts.judged("wrong_target"), reason="other_place")
    told = Story(Predictor())
    for event in (
        shop_facts.run_of(flow),
        *story,
        shop_facts.saw(shop_facts.page()),
        ELSEWHERE,
        way,
        DESK,
        led_on,
    ):
        told.tell(event)
    found: StepDue = only(told.tell(ELSEWHERE), StepDue)
    return found


def test_steps_that_sign_in_are_passed_over_when_the_page_is_beyond_them() -> None:
    due = due_after(shop_facts.workflow(*SIGNING_IN, ON), USED)

    assert (due.index, due.unmet) == (3, "")


def test_without_a_kept_login_the_way_led_elsewhere() -> None:
    assert due_after(shop_facts.workflow(*SIGNING_IN, ON)).index == 0


def test_the_login_of_another_site_passes_nothing_over() -> None:
    other = msgspec.structs.replace(USED, origin="https://other.example")
    flow = shop_facts.workflow(*SIGNING_IN, ON)

    assert due_after(flow, other).index == 0  # the way to the sign-in was not taken for done
    assert due_at_sign_in(flow, other).index == 1
    assert due_at_sign_in(flow, USED).index == 3


def test_a_site_that_asks_on_a_host_of_its_own_knows_its_login_all_the_same() -> None:
    sso = Place(SSO, "/login")
    to_sso = msgspec.structs.replace(TO_SIGN_IN, place=sso)
    way = Step(shop_facts.go_to("/desk"), after=to_sso)
    there = [msgspec.structs.replace(each, before=sso) for each in SIGNING_IN[1:]]

    assert due_after(shop_facts.workflow(way, *there, ON), USED).index == 3


@for_each("led_to, index", [("/desk", 3), ("/elsewhere", 1), ("/login", 1)])
def test_a_navigation_behind_the_sign_in_fits_only_where_that_led(led_to: str, index: int) -> None:
    """It can be done from any page: that says nothing of the sign-in being over."""
    *first, last = SIGNING_IN
    expects = msgspec.structs.replace(last.after, place=shop_facts.place(led_to))
    on = shop_facts.step(shop_facts.go_to("/orders"), "/desk", "/orders")
    flow = shop_facts.workflow(*first, msgspec.structs.replace(last, after=expects), on)

    assert due_after(flow, USED).index == index


def due_at_sign_in(flow: Workflow, *story: AnyEvent) -> StepDue:
    """What is due when the sign-in was there, and is the desk by itself."""
    way = shop_facts.plan(flow.steps[0].action, "workflow", index=0, expects=flow.steps[0].after)
    told = Story(Predictor())
    there = shop_facts.saw(shop_facts.page("/login"))
    for event in (
        shop_facts.run_of(flow),
        *story,
        shop_facts.saw(shop_facts.page()),
        ELSEWHERE,
        way,
        there,
    ):
        told.tell(event)
    for event in (shop_facts.judged(), DESK):
        told.tell(event)
    found: StepDue = only(told.tell(ELSEWHERE), StepDue)
    return found


def test_where_no_later_step_fits_the_page_nothing_is_passed_over() -> None:
    elsewhere = shop_facts.step(shop_facts.click("#orders"), "/reports", "/orders")

    due = due_after(shop_facts.workflow(*SIGNING_IN, elsewhere), USED)

    assert (due.index, due.unmet) == (1, f"recorded at {SHOP}/login, now at {SHOP}/desk")


def test_what_somebody_stated_of_a_sign_in_is_not_passed_over() -> None:
    *first, last = SIGNING_IN
    stated = msgspec.structs.replace(last.after, checks=(TextVisible("Welcome"),))
    checked = msgspec.structs.replace(last, after=stated)

    assert due_after(shop_facts.workflow(*first, checked, ON), USED).index == 1


def test_a_workflow_that_does_nothing_but_sign_in_is_not_over_without() -> None:
    assert due_after(shop_facts.workflow(*SIGNING_IN), USED).index == 1


def test_the_planner_takes_it_for_done_as_well() -> None:
    flow = shop_facts.workflow(*SIGNING_IN, ON)
    way = StepDue(0, 4, flow.steps[0])
    led_on = msgspec.structs.replace(shop_facts.judged("wrong_target"), reason="other_place")
    told = Story(Planner())
    before: list[AnyEvent] = [shop_facts.run_of(flow), USED, shop_facts.saw(shop_facts.page()), way]
    went: list[AnyEvent] = [
        shop_facts.intent(flow.steps[0].action),
        shop_facts.done(),
        DESK,
        led_on,
    ]
    for event in before:
        told.tell(event)
    assert [told.tell(event) for event in went] == [()] * 4

    plan = only(told.tell(StepDue(3, 4, ON)), PlanProposed)

    assert (plan.index, plan.step, plan.attempt) == (3, 2, 1)


@for_each("used", [True, False])
def test_what_a_login_has_brought_the_run_past_is_not_tried_again(used: bool) -> None:
    """Else the run would end with a step of it undone: the Predictor counts from where it is."""
    flow = shop_facts.workflow(*SIGNING_IN, ON)
    first = [
        StepDue(1, 4, flow.steps[1]),
        shop_facts.intent(flow.steps[1].action),
        shop_facts.done(),
    ]
    told = Story(Planner())
    for event in (shop_facts.run_of(flow, max_failures=1), *((USED,) if used else ()), *first):
        told.tell(event)
    for event in (DESK, shop_facts.judged("no_effect")):
        told.tell(event)

    [next_] = told.tell(StepDue(3, 4, ON))

    if used:
        assert isinstance(next_, PlanProposed)
        assert (next_.index, next_.step, next_.attempt) == (3, 2, 1)
    else:  # as it always was
        assert isinstance(next_, RunStopped)


def test_a_sign_in_without_a_name_is_known_by_none() -> None:
    nameless = msgspec.structs.replace(shop_facts.recording_of(shop_facts.click("#in")), name="")
    told = Story(Predictor())
    for event in (
        nameless,
        shop_facts.saw(shop_facts.page()),
        shop_facts.plan(shop_facts.click("#in")),
        DESK,
    ):
        told.tell(event)
    told.tell(shop_facts.judged())

    assert told.tell(RunStopped("completed")) == ()
