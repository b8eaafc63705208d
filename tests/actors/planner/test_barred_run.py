"""Given a page that keeps a run out or shows nothing: what is waited for, asked, and told."""

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.events.action import Action, ByCss, Target
from rutter.events.causes import Cause
from rutter.events.critic import Barrier, PageAssessed
from rutter.events.planner import CheckpointReached, ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import PredictionMade, StepDue
from rutter.events.runtime import SessionStarted
from rutter.events.tools import ToolAnswered
from rutter.events.validator import ActionRejected, CheckpointPassed, CheckpointRefused
from rutter.events.vocabulary import AnyEvent
from tests.actors.planner.test_tool_led import Desk, call, saw
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, at, given, only
from tests.support.shop_facts import click, go_to, intent, judged, step

CAPTCHA = Barrier("captcha", ("frame",), "Cloudflare", "a frame of Cloudflare")
BESIDE = msgspec.structs.replace(CAPTCHA, beside=True)
BLOCKED, EMPTY, DRAWN = Barrier("blocked"), Barrier("empty_shell"), Barrier("drawn")
ASKS = "the site asks here for a captcha, which a person must do (Cloudflare)"
FLOW = shop_facts.workflow(step(click("#one")), step(go_to("/two")))
RUN = shop_facts.run_of(FLOW)
HEADED = msgspec.structs.replace(RUN, headed=True)
DUE = StepDue(0, 2, FLOW.steps[0])
AWAITED = ObservationRequested("barrier_awaited", 10_000)
LATER = 10_000  # ms: as long as an answer may take


def missing(number: int = 1) -> ActionRejected:
    gone = "element_not_found"
    return ActionRejected(number, "target_exists", "no", "1", "execution_error", gone)


def at_barrier(barrier: Barrier, started: SessionStarted = RUN, *more: AnyEvent) -> Story:
    """A run whose first step was proposed on a page with that barrier."""
    story = Story(Planner())
    for event in (started, saw(), PageAssessed("", barrier), *more, DUE):
        story.tell(at(0, event))
    return story


def lost_at(barrier: Barrier, started: SessionStarted = RUN) -> Story:
    story = at_barrier(barrier, started)
    story.tell(at(LATER, missing()))
    return story


@for_each("barrier", [CAPTCHA, BLOCKED])
def test_the_site_may_let_a_browser_in_and_the_step_is_tried_again_then(barrier: Barrier) -> None:
    story = at_barrier(barrier)
    assert story.tell(missing()) == (AWAITED,)
    story.tell(at(6_000, PageAssessed()))
    assert only(story.tell(DUE), PlanProposed).action == click("#one")
    # Out again, and in patience again.
    story.tell(at(20_000, PageAssessed("", barrier)))
    assert story.tell(missing(2)) == (AWAITED,)


@for_each("let_in", [True, False])
def test_going_there_is_due_once_more_behind_it(let_in: bool) -> None:
    flow = shop_facts.workflow(step(go_to("/two")))
    due, story = StepDue(0, 1, flow.steps[0]), Story(Planner())
    told = (shop_facts.run_of(flow), saw(), due, intent(go_to("/two")), shop_facts.done(), saw())
    for event in (*told, judged("failed"), PageAssessed("", BLOCKED)):
        story.tell(at(0, event))
    assert story.tell(due) == (AWAITED,)
    story.tell(at(LATER, PageAssessed("", None if let_in else BLOCKED)))
    assert only(story.tell(due), PlanProposed).action == go_to("/two")
    story.tell(judged("failed", 2))
    assert only(story.tell(due), RunStopped).failure == (
        "verification_failed" if let_in else "needs_person"
    )


def test_a_place_is_waited_for_as_long() -> None:
    story, away = at_barrier(BLOCKED), msgspec.structs.replace(DUE, unmet="elsewhere")
    assert story.tell(at(0, away)) == (ObservationRequested("place_unmet", 10_000),)
    assert only(story.tell(at(LATER, away)), RunStopped).failure == "needs_person"


@for_each("barrier", [CAPTCHA, BLOCKED])
def test_with_nobody_there_the_run_ends_as_one_that_needs_a_person(barrier: Barrier) -> None:
    stop = lost_at(barrier).decided[-1]
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.failure) == ("policy_denied", "needs_person")
    assert stop.cause == Cause("barrier", code=barrier.kind, why=barrier.detail)
    assert stop.detail.endswith(": element_not_found: no")


@for_each("action", [Action("read_page"), Action("extract", target=Target((ByCss("h1"),)))])
@for_each("let_in", [True, False])
def test_a_notice_is_not_read_in_place_of_the_page(action: Action, let_in: bool) -> None:
    flow = shop_facts.workflow(step(action))
    story, due = Story(Planner()), StepDue(0, 1, flow.steps[0])
    for event in (shop_facts.run_of(flow), saw(), PageAssessed("", BLOCKED)):
        story.tell(at(0, event))
    assert story.tell(at(0, due)) == (AWAITED,)
    story.tell(at(LATER, PageAssessed("", None if let_in else BLOCKED)))
    story.tell(at(LATER, due))
    match story.decided[-1]:
        case PlanProposed() as plan:
            assert let_in
            assert plan.action == action
        case RunStopped(failure="needs_person") as stop:
            assert not let_in
            assert stop.cause == Cause("barrier", code="blocked")
        case other:
            raise AssertionError(other)


def test_whoever_has_a_window_is_asked_and_the_step_is_due_again_behind_it() -> None:
    story = lost_at(CAPTCHA, HEADED)
    asked = CheckpointReached("barrier", 2, f"{ASKS}: element_not_found: no", 0)
    assert story.decided[-1] == asked
    passed = CheckpointPassed("barrier", "2.barrier.1")
    assert story.tell(passed) == (ObservationRequested("checkpoint_passed", 3_000),)
    story.tell(PageAssessed())
    assert only(story.tell(DUE), PlanProposed).action == click("#one")


def test_a_person_is_asked_three_times_and_not_without_end() -> None:
    story = lost_at(CAPTCHA, HEADED)
    for number in (2, 3, 4):
        assert isinstance(story.decided[-1], CheckpointReached)
        story.tell(CheckpointPassed("barrier", "1"))
        story.tell(PageAssessed("", CAPTCHA))
        story.tell(at(number * LATER, DUE))
        story.tell(at((number + 1) * LATER, missing(number)))
    assert only(tuple(story.decided[-1:]), RunStopped).failure == "needs_person"


@for_each("by, failure", [("nobody", "needs_person"), ("terminal", "policy_denied")])
def test_a_no_ends_it(by: str, failure: str) -> None:
    stop = only(lost_at(CAPTCHA, HEADED).tell(CheckpointRefused("barrier", "1", by)), RunStopped)
    assert (stop.reason, stop.failure) == ("policy_denied", failure)


def test_a_page_that_stayed_empty_is_where_a_run_is_lost() -> None:
    stop = lost_at(EMPTY, HEADED).decided[-1]
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.failure) == ("failed", "lost")
    assert stop.cause == Cause("barrier", code="empty_shell")
    assert stop.detail.startswith("the page stayed empty")


@for_each("barrier", [BESIDE, DRAWN])
def test_what_is_beside_or_drawn_is_no_reason_that_an_element_is_gone(barrier: Barrier) -> None:
    assert lost_at(barrier).decided[-1] == RunStopped(
        "failed", "lost", "element_not_found: no", 1, cause=Cause(code="element_not_found")
    )


def test_a_captcha_beside_is_why_nothing_was_sent() -> None:
    story, decided = at_barrier(BESIDE), tuple[AnyEvent, ...]()
    for attempt in (1, 2):
        told = intent(click("#one"), attempt=attempt), shop_facts.done(attempt=attempt)
        for event in (*told, judged("no_effect", attempt=attempt)):
            story.tell(event)
        decided = story.tell(DUE)
    stop = only(decided, RunStopped)
    assert stop.failure == "needs_person"
    assert stop.detail.startswith("a part of the page is a captcha")


def test_a_free_run_waits_as_well() -> None:
    nothing = PredictionMade("markov2", position=0)
    told = (shop_facts.free_run(), saw(), PageAssessed("", BLOCKED), nothing)
    assert given(Planner(), *(at(0, each) for each in told)) == (AWAITED,)
    stop = only(given(Planner(), *(at(0, each) for each in told), at(LATER, nothing)), RunStopped)
    assert stop.failure == "needs_person"


def test_a_caller_of_tools_is_told_with_every_answer_about_that_page() -> None:
    desk = Desk()
    desk.tell(call("get_snapshot", "c1"))
    told = desk.tell(saw()) + desk.tell(PageAssessed("", CAPTCHA))
    assert told == (ToolAnswered("c1", True, barrier=CAPTCHA),)
    desk.tell(call("get_snapshot", "c2"))
    assert desk.saw() == (ToolAnswered("c2", True),)
