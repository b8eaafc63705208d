"""Given a page that is shut or a call for its picture: who is asked, and what is answered."""

from typing import Any

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.actors.planner.called_ghost import LOOKS
from rutter.actors.rules.steps.ghost import RULE
from rutter.events.action import Action, Untrusted
from rutter.events.advisor import AdviceError, AdviceFailed, AdviceLost, AdviceReceived
from rutter.events.causes import Cause
from rutter.events.critic import Barrier, CompletionChecked, PageAssessed
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.faults import failed_call
from rutter.events.page import Artifact
from rutter.events.planner import AdviceRequested, ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import StepDue
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.events.runtime import SessionStarted, StopRequested
from rutter.events.tools import ToolAnswered
from rutter.events.validator import ActionRejected, QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.sessions import session_started
from tests.actors.planner import test_tool_led
from tests.actors.planner.test_tool_led import LOOK, call, saw
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, at, only
from tests.support.led_talk import Talk
from tests.support.shop_facts import go_to, step

USE = GhostUse(True, True, True, PictureReader("anthropic", "m"), PictureReader("tesseract", "eng"))
DRAWN, BLOCKED = Barrier("drawn", ("canvas",)), Barrier("blocked", ("status",))
TEXT, PICTURES = Untrusted("Order No. 4711"), (Artifact("0" * 64, 9, "image/png"),)
ALL = "Extract all visible text"


def asking(started: SessionStarted, use: GhostUse = USE) -> SessionStarted:
    settings = msgspec.structs.replace(started.settings, ghost=use)
    return msgspec.structs.replace(started, settings=settings)


class Desk(test_tool_led.Desk):
    """A Planner in a tool session whose page has this barrier."""

    def __init__(self, barrier: Barrier | None = DRAWN, use: GhostUse = USE) -> None:
        Story.__init__(self, Planner())
        self.assessed = PageAssessed("", barrier)
        self.tell(asking(session_started.tool_session(), use))
        self.saw()

    def saw(self) -> tuple[AnyEvent, ...]:
        return self.tell(saw()) + self.tell(self.assessed)


def ghost_plan(tool: str, action: Action, number: int = 1, **more: Any) -> PlanProposed:
    plan = PlanProposed(number, 1, "agent", action, tool, kind="observation", render_mode="ghost")
    return msgspec.structs.replace(plan, **more)


def begun(story: Story, plan: PlanProposed) -> AdviceRequested:
    query = QueryStarted(plan.step, 1, plan.action, render_mode=plan.render_mode)
    request = only(story.tell(query), AdviceRequested)
    assert isinstance(request, AdviceRequested)
    return request


def read(story: Story, request: AdviceRequested) -> None:
    story.tell(AdviceReceived(request.request, request.provider, "m", "said", text=TEXT))
    answer = QueryAnswered(request.step, 1, 1, TEXT, render_mode="ghost", pictures=PICTURES)
    story.tell(answer)


GOOD = ToolAnswered("c1", True, result=TEXT, render_mode="ghost", pictures=PICTURES)


def test_a_call_for_a_picture_asks_the_reader_of_whoever_calls_and_is_answered_by_it() -> None:
    desk = Desk(None)
    action = Action("ghost_extract", prompt="Prices?", viewport_only=True)
    plan = ghost_plan("tool_ghost_extract", action)
    assert desk.tell(call("ghost_extract", prompt="Prices?", viewport_only=True)) == (plan,)
    request = begun(desk, plan)
    assert request == AdviceRequested("g1", "ghost", "anthropic", "m", step=1, note="Prices?")
    read(desk, request)
    assert desk.saw() == (GOOD,)


def test_it_goes_to_an_address_first_where_the_picture_may_be_taken_then() -> None:
    desk = Desk(None)
    [went] = desk.tell(call("ghost_extract", url="https://shop.example/two"))
    assert isinstance(went, PlanProposed)
    assert (went.action, went.render_mode) == (go_to("/two"), "dom")
    desk.tell(shop_facts.intent(go_to("/two")))
    desk.tell(shop_facts.done())
    [look] = desk.over()
    assert look == ghost_plan("tool_ghost_extract", Action("ghost_extract", prompt=ALL), 2)
    read(desk, begun(desk, look))
    assert desk.saw() == (GOOD,)

    refused = Desk(None, GhostUse(enabled=True))
    [look] = refused.tell(call("ghost_extract", url="https://shop.example/two"))
    assert isinstance(look, PlanProposed)
    assert look.action.type == "ghost_extract"
    refused.tell(ActionRejected(1, RULE, "allow_ghost", "1", "policy_denied", "ghost_refused"))
    answer = failed_call("c1", "ghost_refused", "allow_ghost")
    assert refused.saw() == (answer,)
    assert (answer.error_code, answer.retriable) == ("policy_denied", False)


@for_each("code, again", [("overloaded", True), ("refused", False)])
def test_who_may_answer_a_moment_later_is_asked_once_more_and_no_more(
    code: AdviceError, again: bool
) -> None:
    desk = Desk(None)
    [plan] = desk.tell(call("ghost_extract"))
    assert isinstance(plan, PlanProposed)
    first = begun(desk, plan)
    failed = AdviceFailed(first.request, "anthropic", code, again)
    second = msgspec.structs.replace(first, request="g1.2", attempt=2)
    assert desk.tell(failed) == ((second,) if again else ())
    if again:
        assert desk.tell(msgspec.structs.replace(failed, request="g1.2")) == ()
    desk.tell(QueryFailed(1, 1, "reader_failed", "anthropic"))
    assert desk.saw() == (failed_call("c1", "reader_failed", "anthropic"),)


@for_each("tool", ["read_page", *sorted(LOOKS - {"navigate"})])
def test_a_look_at_a_page_that_is_shut_goes_on_with_its_picture_by_who_reads_alone(
    tool: str,
) -> None:
    desk = Desk()
    told = desk.tell(call(tool))
    if tool == "get_snapshot":
        assert told == (LOOK,)
        told = desk.saw()
    [plan] = told
    assert isinstance(plan, PlanProposed)
    assert (plan.action.type, plan.render_mode) == ("read_page", "ghost")
    request = begun(desk, plan)
    assert (request.provider, request.note) == ("tesseract", ALL)
    read(desk, request)
    assert desk.saw() == (msgspec.structs.replace(GOOD, barrier=DRAWN),)
    desk.tell(call("get_snapshot", "c2"))
    assert desk.saw() == (ToolAnswered("c2", True, barrier=DRAWN),), "one page is read once"


def test_a_look_is_good_without_its_picture_and_says_why_there_is_none() -> None:
    for refused in (True, False):
        desk = Desk()
        desk.tell(call("get_snapshot"))
        [plan] = desk.saw()
        assert isinstance(plan, PlanProposed)
        if refused:
            no = ActionRejected(1, RULE, "no", "1", "policy_denied", "ghost_refused")
            assert desk.tell(no) == (LOOK,)
            said = "ghost_refused: no"
        else:
            begun(desk, plan)
            desk.tell(QueryFailed(1, 1, "nothing_read", "nothing"))
            said = "nothing_read: nothing"
        assert desk.saw() == (ToolAnswered("c1", True, message=said, barrier=DRAWN),)


@for_each(
    "barrier, use",
    [
        (None, USE),
        (Barrier("captcha"), USE),
        (Barrier("drawn", beside=True), USE),
        (DRAWN, GhostUse()),
        (DRAWN, msgspec.structs.replace(USE, auto=False)),
    ],
)
def test_other_pages_are_looked_at_as_ever(barrier: Barrier | None, use: GhostUse) -> None:
    desk = Desk(barrier, use)
    desk.tell(call("get_snapshot"))
    assert desk.saw() == (ToolAnswered("c1", True, barrier=barrier),)
    [plan] = desk.tell(call("read_page", "c2"))
    assert isinstance(plan, PlanProposed)
    assert plan.render_mode == "dom"


def test_a_part_of_a_page_that_is_shut_is_read_as_it_is() -> None:
    for arguments in ({"ref": "@e0"}, {"page": 2}):
        desk = Desk()
        desk.tell(call("get_snapshot", "c0"))
        [look] = desk.saw()
        assert isinstance(look, PlanProposed)
        read(desk, begun(desk, look))
        desk.saw()
        [plan] = desk.tell(call("read_page", **arguments))
        assert isinstance(plan, PlanProposed)
        assert plan.render_mode == "dom"


def test_a_run_that_stops_leaves_its_question_as_spent() -> None:
    desk = Desk(None)
    [plan] = desk.tell(call("ghost_extract"))
    assert isinstance(plan, PlanProposed)
    begun(desk, plan)
    told = desk.tell(StopRequested("ann"))
    assert AdviceLost("g1") in told
    assert isinstance(told[-1], RunStopped)


def test_what_a_picture_says_is_no_answer_of_the_model_that_leads() -> None:
    talk = Talk()
    talk.calls("a1", "ghost_extract")
    query = QueryStarted(2, 1, Action("ghost_extract", prompt=ALL), render_mode="ghost")
    assert only(talk.tell(query), AdviceRequested).purpose == "ghost"
    assert talk.tell(AdviceReceived("g2", "tesseract", "eng", "said", text=TEXT)) == ()


# -- in a workflow ---------------------------------------------------------------------------------

FLOW = shop_facts.workflow(step(Action("read_page", name="order")))
DUE = StepDue(0, 1, FLOW.steps[0])


def run(barrier: Barrier, use: GhostUse = USE) -> Story:
    story = Story(Planner())
    for event in (asking(shop_facts.run_of(FLOW), use), saw(), PageAssessed("", barrier)):
        story.tell(at(0, event))
    return story


def test_a_recorded_reading_of_a_page_that_is_shut_reads_its_picture() -> None:
    story = run(DRAWN)
    plan = only(story.tell(DUE), PlanProposed)
    assert (plan.action, plan.render_mode) == (FLOW.steps[0].action, "ghost")
    assert begun(story, plan).provider == "tesseract"


def test_a_site_that_may_let_the_run_in_is_waited_for_before() -> None:
    story = run(BLOCKED)
    assert story.tell(DUE) == (ObservationRequested("barrier_awaited", 10_000),)
    story.tell(at(10_000, PageAssessed("", BLOCKED)))
    plan = only(story.tell(DUE), PlanProposed)
    assert plan.render_mode == "ghost"
    # What it says there is told, and is not what was recorded to be read.
    read(story, begun(story, plan))
    story.tell(at(10_001, PageAssessed("", BLOCKED)))
    story.tell(at(10_001, CompletionChecked(True, "the recorded end is reached")))
    stop = story.decided[-1]
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.failure) == ("policy_denied", "needs_person")
    assert stop.cause == Cause("barrier", code="blocked")


@for_each(
    "rejected, reason, failure",
    [
        (("policy_denied", "ghost_refused"), "policy_denied", "policy_denied"),
        (("tool_unavailable", "no_reader"), "failed", "lost"),
    ],
)
def test_a_picture_that_may_not_be_read_ends_the_run_with_its_cause(
    rejected: tuple[Any, str], reason: str, failure: str
) -> None:
    story = run(DRAWN)
    story.tell(DUE)
    stop = only(story.tell(ActionRejected(1, RULE, "no", "1", *rejected)), RunStopped)
    assert isinstance(story.decided[-1], RunStopped)
    assert (stop.reason, stop.failure) == (reason, failure)
    assert story.decided[-1].cause == Cause(code=rejected[1])
