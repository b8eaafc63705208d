"""Given a session driven by calls of tools: what each leads to, and what it is answered."""

from typing import Any, get_args

import msgspec
from hypothesis import given as for_all
from hypothesis import strategies as st

from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.actors.validator.actor import Validator
from rutter.events.action import Action, ByCss, ByRef, Target, Typed, Untrusted
from rutter.events.critic import CompletionChecked, PageAssessed
from rutter.events.executor import ErrorCode, QueryAnswered, QueryFailed
from rutter.events.faults import failed_call, fault_of
from rutter.events.observer import BrowserLost, ObservationFailed, PageObserved
from rutter.events.page import PageElement
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import TransitionLearned
from rutter.events.runtime import (
    DeadlinePassed,
    SessionInterrupted,
    SessionPaused,
    SessionStarted,
    StopRequested,
)
from rutter.events.tools import (
    ApprovalSought,
    CompletionClaimed,
    FileRead,
    ToolAnswered,
    ToolCalled,
    ToolError,
    approval_of,
)
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
)
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.sessions import session_started
from tests.support.case_table import for_each
from tests.support.example_counts import examples
from tests.support.given_when_then import Story
from tests.support.shop_facts import done, element, failed, found, go_to, intent, judged, page, plan

ASSESSED = PageAssessed()
LOOK = ObservationRequested("tool", 0)
FIVE = tuple(PageElement("button") for _ in range(5))


def call(tool: str, name: str = "c1", **arguments: Any) -> ToolCalled:
    return ToolCalled(name, tool, msgspec.json.encode(arguments).decode())


def saw(look: int = 0, **more: Any) -> PageObserved:
    return PageObserved(page(elements=FIVE, **more), "requested", look=look)


class Desk(Story):
    """A Planner in a tool session whose caller has a snapshot with five refs."""

    def __init__(self, **more: Any) -> None:
        super().__init__(Planner())
        self.tell(session_started.tool_session(**more))
        self.saw()

    def saw(self) -> tuple[AnyEvent, ...]:
        """The page was looked at, and nothing is left to judge."""
        return self.tell(saw()) + self.tell(ASSESSED)

    def with_refs(self) -> "Desk":
        assert self.tell(call("get_snapshot", "c0")) == (LOOK,)
        assert self.saw() == (ToolAnswered("c0", True),)
        return self

    def checked(self, verified: bool, said: str) -> tuple[AnyEvent, ...]:
        """What the page says to the claim, and in the same turn what it is."""
        return self.tell(CompletionChecked(verified, said), then=(ASSESSED,))

    def over(self, verdict: Any = "confirmed", number: int = 1) -> tuple[AnyEvent, ...]:
        """The step was judged so."""
        self.tell(PageObserved(page(elements=FIVE), "after_action"))
        self.tell(judged(verdict, number))
        return self.tell(ASSESSED)


def proposed(action: Action, step: int = 1, tool: str = "browser_click") -> PlanProposed:
    return PlanProposed(step, 1, "agent", action, f"tool_{tool}")


CLICK_1 = Action("click", target=Target((ByRef("@e1"),)))
CLICKED_1 = call("browser_click", ref="@e1")


def bad(error: ToolError, message: str, *, again: bool = False, name: str = "c1") -> ToolAnswered:
    return failed_call(name, error, message, retriable=again)


# -- one road ------------------------------------------------------------------------------------


def test_an_action_is_proposed_like_any_other_and_answered_when_it_was_judged() -> None:
    desk = Desk().with_refs()
    assert desk.tell(CLICKED_1) == (proposed(CLICK_1),)
    desk.tell(found(element()))
    desk.tell(intent(CLICK_1))
    desk.tell(done())
    assert desk.over() == (ToolAnswered("c1", True),)


def test_what_was_read_is_in_the_answer() -> None:
    desk = Desk().with_refs()
    desk.tell(call("extract", ref="@e0"))
    desk.tell(QueryAnswered(1, 1, 1, Untrusted("Order 1001")))
    desk.tell(PageObserved(page(elements=FIVE), "after_action"))
    assert desk.tell(ASSESSED) == (ToolAnswered("c1", True, result=Untrusted("Order 1001")),)


@for_each(
    "pages, unread, message",
    [
        (3, False, "page 2 of 3"),
        (3, True, "page 2 of 3; not all of it could be read"),
        (0, False, "it says nothing"),
    ],
)
def test_of_what_a_page_says_it_is_told_how_many_pages_of_text_there_are(
    pages: int, unread: bool, message: str
) -> None:
    desk = Desk().with_refs()
    read = proposed(Action("read_page", page=2), tool="read_page")
    assert desk.tell(call("read_page", page=2)) == (
        msgspec.structs.replace(read, kind="observation"),
    )
    text = Untrusted("# Terms")
    desk.tell(QueryAnswered(1, 1, 1, text, pages=pages, unread=unread))
    desk.tell(PageObserved(page(elements=FIVE), "after_action"))
    told = ToolAnswered("c1", True, message=message, result=text, pages=pages)
    assert desk.tell(ASSESSED) == (told,)


def test_what_could_not_be_read_is_an_error_and_is_not_tried_again() -> None:
    desk = Desk().with_refs()
    desk.tell(call("extract", ref="@e0"))
    desk.tell(QueryFailed(1, 1, "timeout", "it took too long"))
    desk.tell(PageObserved(page(elements=FIVE), "after_action"))
    assert desk.tell(ASSESSED) == (bad("timeout", "timeout: it took too long", again=True),)


def test_what_is_typed_is_a_number() -> None:
    desk = Desk().with_refs()
    [plan] = desk.tell(call("browser_fill", ref="@e1", value={"typed": 0}))
    assert isinstance(plan, PlanProposed)
    assert plan.action.value == Typed(0)


def test_a_click_that_changed_nothing_was_done_and_the_answer_says_so() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(done())
    assert desk.over("no_effect") == (ToolAnswered("c1", True, message="seen"),)


def test_a_click_whose_page_still_waits_was_done_unless_it_cannot_be_undone() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(intent(CLICK_1))
    desk.tell(done())
    assert desk.over("unknown") == (ToolAnswered("c1", True, message="seen"),)
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(ActionStarted(1, 1, CLICK_1, irreversible=True))
    desk.tell(done())
    [answer] = desk.over("unknown")
    assert isinstance(answer, ToolAnswered)
    assert (answer.success, answer.retriable) == (False, False)


def test_a_whole_page_is_asked_for_as_one() -> None:
    [look] = Desk().tell(call("get_snapshot", viewport_only=False))
    assert look == ObservationRequested("tool", 0, whole_page=True)


def test_a_session_begins_where_it_is_told_before_it_is_called() -> None:
    desk = Story(Planner())
    desk.tell(session_started.tool_session("https://shop.example/"))
    assert desk.tell(call("get_snapshot")) == ()
    desk.tell(PageObserved(page(), "start"))
    [opening] = desk.tell(ASSESSED)
    assert opening == PlanProposed(1, 1, "script", go_to("/"), "opening", index=0)
    desk.tell(done())
    desk.tell(PageObserved(page(), "after_action"))
    desk.tell(judged())
    assert desk.tell(ASSESSED) == (LOOK,)


@for_each("how", ["refused", "failed"])
def test_a_beginning_that_cannot_be_reached_leaves_the_session_to_its_caller(how: str) -> None:
    desk = Story(Planner())
    desk.tell(session_started.tool_session("https://shop.example/"))
    desk.tell(PageObserved(page(), "start"))
    desk.tell(ASSESSED)
    if how == "refused":
        refused = ActionRejected(1, "host", "not allowed", "1", "policy_denied", "policy_denied")
        assert desk.tell(refused) == ()
    else:
        for attempt in (1, 2):
            desk.tell(failed("navigation_failed", dispatched=True, attempt=attempt))
            desk.tell(PageObserved(page(), "after_action"))
            desk.tell(judged("failed", attempt=attempt))
            again = desk.tell(ASSESSED)
            assert [type(each) for each in again] == ([PlanProposed] if attempt == 1 else [])
    assert desk.tell(call("get_snapshot")) == (LOOK,)


# -- refs ----------------------------------------------------------------------------------------


def test_a_ref_before_the_first_snapshot_is_of_none() -> None:
    desk = Desk()
    assert desk.tell(CLICKED_1) == (LOOK,)
    said = "@e1 is of a snapshot that is no longer true"
    assert desk.saw() == (bad("ref_invalid", said, again=True),)


def test_a_ref_beyond_the_last_snapshot_is_answered_with_a_fresh_one() -> None:
    desk = Desk().with_refs()
    assert desk.tell(call("browser_click", ref="@e5")) == (LOOK,)
    assert desk.saw() == (bad("ref_invalid", "@e5 is not in the last snapshot", again=True),)
    assert desk.tell(call("browser_click", "c2", ref="@e4"))[0].action.target == Target(  # type: ignore[union-attr]
        (ByRef("@e4"),)
    )


def test_a_look_that_the_caller_was_not_given_makes_its_refs_stale() -> None:
    desk = Desk().with_refs()
    desk.saw()
    assert desk.tell(CLICKED_1) == (LOOK,)


def test_a_ref_is_of_the_look_that_was_answered_with() -> None:
    desk = Desk()
    desk.tell(call("get_snapshot", "c0"))
    desk.tell(saw(7))
    desk.tell(ASSESSED)
    [plan] = desk.tell(CLICKED_1)
    assert isinstance(plan, PlanProposed)
    assert plan.action.target == Target((ByRef("@e1", 7),))


def test_what_answers_with_no_snapshot_leaves_the_refs_as_they_are() -> None:
    desk = Desk().with_refs()
    desk.tell(call("request_human_approval", action="a", reason="b"))
    desk.tell(ApprovalAnswered(approval_of("c1"), True, "scripted"))
    assert desk.tell(call("browser_click", "c2", ref="@e1")) == (proposed(CLICK_1),)


def test_an_element_that_is_gone_is_an_invalid_ref() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    gone = ActionRejected(1, "target_exists", "it is gone", "1", "execution_error", "ref_invalid")
    assert desk.tell(gone) == (LOOK,)
    assert desk.saw() == (bad("ref_invalid", "it is gone", again=True),)


# -- what fails is the answer --------------------------------------------------------------------


@for_each("code", get_args(ErrorCode))
def test_every_failure_has_its_word_its_type_and_its_hint(code: ErrorCode) -> None:
    desk = Desk().with_refs()
    desk.tell(call("press", key="Enter"))
    desk.tell(failed(code, dispatched=False))
    [answer] = desk.over("failed")
    assert isinstance(answer, ToolAnswered)
    said = fault_of(code).tool
    assert (answer.error, answer.error_code) == (said, fault_of(said).error_code)
    worth = fault_of(said).retriable or code == "navigation_failed"
    assert answer.retriable == worth
    assert desk.tell(call("get_snapshot", "c2")) == (LOOK,)


@for_each("error", [error for error in get_args(ToolError) if error])
def test_every_error_of_a_tool_has_a_type(error: ToolError) -> None:
    assert fault_of(error).error_code


def test_what_reached_the_page_is_not_said_to_be_worth_a_second_try() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(failed("timeout", dispatched=True))
    assert desk.over("failed") == (bad("timeout", "timeout"),)


def test_an_outcome_that_is_unknown_is_never_worth_a_second_try() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(failed("timeout", dispatched=True))
    assert desk.over("unknown") == (bad("timeout", "timeout; its outcome is unknown"),)


@for_each(
    "code, error, said",
    [
        ("policy_denied", "policy_denied", "policy_denied"),
        ("policy_denied", "needs_person", "policy_denied"),
        ("policy_denied", "human_rejected", "human_rejected"),
        ("validation_error", "invalid_params", "invalid_params"),
        ("execution_error", "element_not_visible", "element_not_visible"),
        ("execution_error", "element_ambiguous", "action_failed"),
        ("execution_error", "timeout", "timeout"),
    ],
)
def test_every_refusal_has_its_word(code: Any, error: str, said: ToolError) -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    assert desk.tell(ActionRejected(1, "a_rule", "because", "1", code, error)) == (LOOK,)
    assert desk.saw() == (bad(said, "because", again=fault_of(said).retriable),)


def test_what_a_person_says_goes_back_to_the_caller() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(ApprovalAnswered("1.1.1", False, "terminal", "ask me tomorrow"))
    desk.tell(ActionRejected(1, "denylist", "no", "1", "policy_denied", "human_rejected"))
    assert desk.saw() == (bad("human_rejected", "User feedback: ask me tomorrow"),)


def test_a_dry_run_does_nothing_and_says_what_it_would_have_done() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    assert desk.tell(ActionWithheld(1, CLICK_1, "would have done it")) == (LOOK,)
    assert desk.saw() == (bad("policy_denied", "would have done it"),)


def test_arguments_that_do_not_fit_touch_nothing() -> None:
    invalid = msgspec.structs.replace(call("browser_click"), invalid="ref is missing")
    assert Desk().tell(invalid) == (bad("invalid_params", "ref is missing"),)


def test_a_second_call_beside_the_first_is_turned_away() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    assert desk.tell(call("get_snapshot", "c2")) == (
        ToolAnswered("c2", False, "unavailable", "tool_unavailable", True, "another call is open"),
    )
    desk.tell(done())
    assert desk.over() == (ToolAnswered("c1", True),)


# -- tried again ---------------------------------------------------------------------------------


def test_a_second_try_looks_for_the_element_and_not_for_the_ref() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(found(element(ways=(ByCss("#go"),))))
    desk.tell(intent(CLICK_1))
    desk.tell(failed("element_obscured", dispatched=False))
    [again] = desk.over("failed")
    assert isinstance(again, PlanProposed)
    assert (again.step, again.attempt) == (1, 2)
    assert again.action == Action("click", target=Target((ByCss("#go"),)))
    desk.tell(failed("element_obscured", dispatched=False, attempt=2))
    desk.tell(judged("failed", attempt=2))
    assert desk.tell(ASSESSED) == (bad("element_obscured", "element_obscured", again=True),)


def test_a_second_try_that_finds_another_element_is_refused_and_the_ref_is_invalid() -> None:
    validator = Story(Validator())
    validator.tell(session_started.tool_session(allow=["shop.example"]))
    validator.tell(proposed(CLICK_1))
    started = validator.tell(found(element(name="Find")))
    assert [type(each) for each in started] == [ActionApproved, ActionStarted]
    validator.tell(msgspec.structs.replace(proposed(CLICK_1), attempt=2))
    [refused] = validator.tell(found(element(name="Archive", digest="e2"), attempt=2))
    assert isinstance(refused, ActionRejected)
    assert (refused.rule, refused.error) == ("same_element", "ref_invalid")

    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(found(element(ways=(ByCss("#go"),))))
    desk.tell(failed("element_obscured", dispatched=False))
    assert [type(each) for each in desk.over("failed")] == [PlanProposed]
    assert desk.tell(refused) == (LOOK,)
    assert desk.saw() == (bad("ref_invalid", refused.reason, again=True),)


def test_a_second_try_that_finds_the_same_element_is_started() -> None:
    validator = Story(Validator())
    validator.tell(session_started.tool_session(allow=["shop.example"]))
    for attempt in (1, 2):
        validator.tell(msgspec.structs.replace(proposed(CLICK_1), attempt=attempt))
        started = validator.tell(found(element(name="Find"), attempt=attempt))
        assert [type(each) for each in started] == [ActionApproved, ActionStarted]


@for_each(
    "tool, arguments, code, dispatched",
    [
        ("browser_click", {"ref": "@e1"}, "timeout", True),
        ("browser_click", {"ref": "@e1"}, "element_disabled", False),
        ("press", {"key": "Enter"}, "element_obscured", False),
        ("wait", {"ms": 1}, "timeout", False),
        ("extract", {"ref": "@e1"}, "element_not_visible", False),
        ("navigate", {"url": "https://shop.example/"}, "navigation_failed", True),
        (
            "browser_fill",
            {"ref": "@e1", "value": {"typed": 0}, "clear_first": False},
            "timeout",
            True,
        ),
    ],
)
def test_a_second_try_is_not_made(
    tool: str, arguments: dict[str, Any], code: ErrorCode, dispatched: bool
) -> None:
    desk = Desk().with_refs()
    desk.tell(call(tool, **arguments))
    desk.tell(failed(code, dispatched=dispatched))
    assert [type(each) for each in desk.over("failed")] == [ToolAnswered]


def test_filling_a_field_twice_is_filling_it_once() -> None:
    desk = Desk().with_refs()
    desk.tell(call("browser_fill", ref="@e1", value={"typed": 0}))
    desk.tell(failed("timeout", dispatched=True))
    [again] = desk.over("failed")
    assert isinstance(again, PlanProposed)
    assert again.attempt == 2


# -- time ----------------------------------------------------------------------------------------


def test_time_that_is_up_is_answered_with_a_fresh_look() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    assert desk.tell(DeadlinePassed("tool", 2_000)) == (LOOK,)
    assert desk.saw() == (bad("timeout", "not done after 2000 ms", again=True),)


FILLED_1 = call("browser_fill", ref="@e1", value={"typed": 0})
ADDED_1 = call("browser_fill", ref="@e1", value={"typed": 0}, clear_first=False)


@for_each(
    "called, again",
    [
        (CLICKED_1, False),
        (call("press", key="Enter"), False),
        (ADDED_1, False),
        (FILLED_1, True),
        (call("extract", ref="@e1"), True),
        (call("navigate", url="https://shop.example/"), True),
    ],
)
@for_each("how", ["late", "late, then started", "unseen"])
def test_what_may_have_reached_the_page_is_worth_a_second_call_only_if_it_does_no_harm(
    called: ToolCalled, again: bool, how: str
) -> None:
    desk = Desk().with_refs()
    [plan] = desk.tell(called)
    assert isinstance(plan, PlanProposed)
    late = DeadlinePassed("tool", 2_000)
    if how == "late, then started":
        desk.tell(late)
        desk.tell(intent(plan.action))
        [answer] = desk.saw()
    elif how == "late":
        desk.tell(intent(plan.action))
        desk.tell(late)
        [answer] = desk.saw()
    else:
        desk.tell(intent(plan.action))
        desk.tell(done())
        [answer] = desk.tell(ObservationFailed("timeout", "3000 ms"))
    assert isinstance(answer, ToolAnswered)
    assert (answer.error, answer.retriable) == ("timeout", again)


def test_what_is_known_not_to_have_reached_the_page_is_worth_a_second_call() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(intent(CLICK_1))
    desk.tell(failed("element_obscured", dispatched=False))
    [answer] = desk.tell(ObservationFailed("timeout", "3000 ms"))
    assert isinstance(answer, ToolAnswered)
    assert answer.retriable


def test_a_call_that_only_waited_for_another_ones_step_is_worth_a_second_call() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(intent(CLICK_1))
    desk.tell(DeadlinePassed("tool", 2_000))
    desk.saw()
    desk.tell(call("press", "c2", key="Enter"))
    desk.tell(DeadlinePassed("tool", 2_000))
    assert desk.saw() == (bad("timeout", "not done after 2000 ms", again=True, name="c2"),)


def test_nothing_is_worth_a_second_call_when_the_time_of_the_session_is_up() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    [answer, _] = desk.tell(DeadlinePassed("wall_time", 300_000))
    assert answer == bad("timeout", "300000 ms have passed")


def test_the_next_call_waits_for_a_step_that_is_still_under_way() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(DeadlinePassed("tool", 2_000))
    desk.saw()
    assert desk.tell(call("get_snapshot", "c2")) == ()
    desk.tell(done())
    assert desk.over() == (LOOK,)


def test_a_late_step_is_not_tried_again_for_a_caller_that_was_answered() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(DeadlinePassed("tool", 2_000))
    desk.saw()
    desk.tell(failed("element_obscured", dispatched=False))
    assert desk.over("failed") == ()


def test_a_tool_that_is_none_waits_its_turn_like_any_other() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(DeadlinePassed("tool", 2_000))
    desk.saw()
    unknown = msgspec.structs.replace(call("?", "c2"), invalid="there is no such tool")
    assert desk.tell(unknown) == ()
    desk.tell(failed("element_obscured", dispatched=False))
    assert desk.over("failed") == (bad("invalid_params", "there is no such tool", name="c2"),)


def test_the_look_of_the_step_itself_is_not_taken_for_the_fresh_one() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(DeadlinePassed("tool", 2_000))
    desk.tell(done())
    assert desk.over() == ()
    assert desk.saw() == (bad("timeout", "not done after 2000 ms", again=True),)


def test_a_page_that_does_not_answer_does_not_end_the_session() -> None:
    desk = Desk().with_refs()
    desk.tell(call("get_snapshot"))
    unread = ObservationFailed("timeout", "3000 ms")
    assert desk.tell(unread) == (bad("timeout", "the page could not be read: 3000 ms", again=True),)
    assert desk.tell(call("get_snapshot", "c2")) == (LOOK,)


def test_a_step_that_cannot_be_seen_is_answered_all_the_same() -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(done())
    [answer] = desk.tell(ObservationFailed("timeout", "3000 ms"))
    assert isinstance(answer, ToolAnswered)
    assert answer.error == "timeout"
    assert desk.tell(call("get_snapshot", "c2")) == (LOOK,)


@for_each("unseen", ["before the step is done", "when it is done"])
def test_a_call_whose_time_is_up_and_whose_look_fails_holds_up_no_later_call(unseen: str) -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    desk.tell(intent(CLICK_1))
    unread = ObservationFailed("timeout", "3000 ms")
    assert desk.tell(DeadlinePassed("tool", 2_000)) == (LOOK,)
    if unseen == "when it is done":
        desk.tell(done())
    assert desk.tell(unread) == (bad("timeout", "not done after 2000 ms"),)
    if unseen != "when it is done":
        desk.tell(done())
    assert desk.over() == ()  # the step's own look is of no call
    assert desk.tell(call("get_snapshot", "c2")) == (LOOK,)
    assert desk.saw() == (ToolAnswered("c2", True),)


def test_time_that_is_up_before_there_is_a_page_is_answered_without_one() -> None:
    desk = Story(Planner())
    desk.tell(session_started.tool_session())
    desk.tell(call("get_snapshot"))
    assert desk.tell(DeadlinePassed("tool", 10)) == (
        bad("timeout", "not done after 10 ms", again=True),
    )


def test_a_deadline_that_comes_after_the_answer_says_nothing() -> None:
    assert Desk().with_refs().tell(DeadlinePassed("tool", 10)) == ()


CALLS = (
    CLICKED_1,
    FILLED_1,
    call("extract", ref="@e1"),
    call("get_snapshot"),
    call("request_human_approval", action="a", reason="b"),
    call("read_file", path="a.txt"),
    call("complete_task", status="success", reason="done"),
)
OFTEN = ("done", "late", "unread", "seen") * 4  # what faults were made of


def about(step: int, name: str) -> dict[str, tuple[AnyEvent, ...]]:
    """What may happen to this step and to this call: the facts of one turn."""
    return {
        "intent": (intent(CLICK_1, step),),
        "done": (done(step),),
        "failed": (failed("timeout", dispatched=False, number=step),),
        "read": (QueryAnswered(step, 1, 1, Untrusted("it")),),
        "missed": (QueryFailed(step, 1, "timeout"),),
        "refused": (ActionRejected(step, "host", "no", "1", "policy_denied", "policy_denied"),),
        "withheld": (ActionWithheld(step, CLICK_1, "dry run"),),
        "confirmed": (judged("confirmed", step), ASSESSED),
        "in vain": (judged("failed", step), ASSESSED),
        "answered": (ApprovalAnswered(approval_of(name), True, "terminal"),),
        "file": (FileRead(name, Untrusted("it")),),
        "checked": (CompletionChecked(False, "no sign"), ASSESSED),
        "seen": (saw(), ASSESSED),
        "after": (PageObserved(page(elements=FIVE), "after_action"), ASSESSED),
        "unread": (ObservationFailed("timeout", "3000 ms"),),
        "late": (DeadlinePassed("tool", 2_000),),
        "paused": (SessionPaused("ann"),),
    }


class AnyOrder(Desk):
    """Such a session in which anything happens, but for what cannot: the time of a call is up once,
    and what was looked at was asked for."""

    def __init__(self) -> None:
        super().__init__(max_turns=99)
        self.with_refs()
        self.told: list[AnyEvent] = []
        self.names: list[str] = []
        self.tool = ""
        self.late: set[str] = set()
        self.looks = 0

    def answers(self, name: str) -> int:
        return sum(isinstance(each, ToolAnswered) and each.call == name for each in self.told)

    def happens(self, what: ToolCalled | str) -> None:
        if isinstance(what, ToolCalled):
            self.names.append(f"n{len(self.names)}")
            self._heard(msgspec.structs.replace(what, call=self.names[-1]))
            self.tool = self.tool if self.answers(self.names[-1]) else what.tool
            return
        name = next((each for each in self.names if not self.answers(each)), "")
        answers = {"answered": "request_human_approval", "file": "read_file"}
        if (what == "late" and name in self.late) or (what == "seen" and not self.looks):
            return
        if answers.get(what, self.tool) != self.tool:
            return
        if what == "late":
            self.late.add(name)
        if what in ("seen", "unread"):
            self.looks = max(0, self.looks - 1)
        step = max((each.step for each in self.told if isinstance(each, PlanProposed)), default=1)
        self._heard(*about(step, name)[what])

    def _heard(self, fact: AnyEvent, *then: AnyEvent) -> None:
        decided = self.tell(fact, then=then)
        self.looks += decided.count(LOOK)
        self.told += decided


@for_all(
    st.lists(st.sampled_from((*CALLS, *about(1, ""), *OFTEN)), max_size=16),
    st.sampled_from(["seen", "unread"]),
)
@examples(1_000)
def test_whatever_comes_in_whatever_order_every_call_is_answered_once(
    order: list[ToolCalled | str], last_look: str
) -> None:
    desk = AnyOrder()
    for what in (CLICKED_1, *order, "late", last_look, call("get_snapshot"), "late", last_look):
        desk.happens(what)
    assert [desk.answers(name) for name in desk.names] == [1] * len(desk.names)


# -- people, files, the end ----------------------------------------------------------------------


def test_a_person_is_asked_through_the_validator() -> None:
    desk = Desk()
    sought = desk.tell(call("request_human_approval", action="Cancel it", reason="no way back"))
    assert sought == (ApprovalSought("c1", "Cancel it", "no way back"),)
    yes = ApprovalAnswered(approval_of("c1"), True, "terminal")
    assert desk.tell(yes) == (ToolAnswered("c1", True),)


@for_each("by, error", [("terminal", "human_rejected"), ("nobody", "policy_denied")])
def test_a_no_comes_with_what_was_said(by: Any, error: ToolError) -> None:
    desk = Desk()
    desk.tell(call("request_human_approval", action="a", reason="b"))
    no = ApprovalAnswered(approval_of("c1"), False, by, "not now")
    assert desk.tell(no) == (bad(error, "not now"),)


def test_an_answer_to_another_question_is_not_taken_for_it() -> None:
    desk = Desk()
    desk.tell(call("request_human_approval", action="a", reason="b"))
    assert desk.tell(ApprovalAnswered("1.1.1", True, "terminal")) == ()


def test_a_file_that_was_read_is_an_answer_and_needs_no_look() -> None:
    desk = Desk()
    assert desk.tell(call("read_file", path="a.txt")) == ()
    assert desk.tell(FileRead("c1", Untrusted("hello"))) == (ToolAnswered("c1", True),)


def test_a_file_that_may_not_be_read_is_policy() -> None:
    desk = Desk()
    desk.tell(call("read_file", path="../a.txt"))
    outside = FileRead("c1", error="policy_denied", message="outside")
    assert desk.tell(outside) == (bad("policy_denied", "outside"),)


def test_a_file_that_was_read_before_the_page_is_there_waits_for_it() -> None:
    desk = Story(Planner())
    desk.tell(session_started.tool_session())
    desk.tell(call("read_file", path="a.txt"))
    assert desk.tell(FileRead("c1", Untrusted("hello"))) == ()
    desk.tell(PageObserved(page(), "start"))
    assert desk.tell(ASSESSED) == (ToolAnswered("c1", True),)


def test_a_success_that_the_page_shows_ends_the_session() -> None:
    desk = Desk()
    claim = call("complete_task", status="success", reason="it is cancelled")
    assert desk.tell(claim) == (CompletionClaimed("c1", "success", "it is cancelled"),)
    assert desk.checked(True, "the title says 'cancelled'") == (
        ToolAnswered("c1", True),
        RunStopped("completed", detail="it is cancelled"),
    )


def test_a_success_that_nothing_shows_is_not_acknowledged_and_the_session_goes_on() -> None:
    desk = Desk()
    desk.tell(call("complete_task", status="success", reason="it is cancelled"))
    assert desk.checked(False, "no sign of it") == (
        ToolAnswered("c1", False, message="no sign of it"),
    )
    assert desk.tell(call("get_snapshot", "c2")) == (LOOK,)


@for_each("verified", [True, False])
def test_giving_up_is_always_acknowledged(verified: bool) -> None:
    desk = Desk()
    desk.tell(call("complete_task", status="failed", reason="no such order"))
    said = desk.checked(verified, "what the page says")
    assert said == (
        ToolAnswered("c1", True, message="what the page says" if verified else ""),
        RunStopped("failed", detail="no such order"),
    )


def test_giving_up_on_a_page_that_does_not_answer_is_acknowledged_too() -> None:
    desk = Desk()
    desk.tell(call("complete_task", status="failed", reason="it hangs"))
    answer, stop = desk.tell(ObservationFailed("timeout", "3000 ms"))
    assert isinstance(answer, ToolAnswered)
    assert answer.success
    assert stop == RunStopped("failed", detail="it hangs")


# -- limits --------------------------------------------------------------------------------------


def test_a_call_too_many_ends_the_session() -> None:
    desk = Desk(max_turns=2)
    for name in ("a", "b"):
        desk.tell(call("get_snapshot", name))
        desk.saw()
    answer, stop = desk.tell(call("get_snapshot", "c"))
    assert isinstance(answer, ToolAnswered)
    assert (answer.call, answer.error_code) == ("c", "tool_unavailable")
    assert isinstance(stop, RunStopped)
    assert stop.reason == "max_turns_exceeded"
    assert desk.tell(call("get_snapshot", "d")) == ()


def test_another_try_of_the_network_is_no_turn() -> None:
    desk = Desk(max_turns=1)
    for attempt in (1, 2, 3):
        again = msgspec.structs.replace(
            call("navigate", url="https://shop.example/"), attempt=attempt
        )
        [plan] = desk.tell(again)
        assert isinstance(plan, PlanProposed)
        desk.tell(failed("navigation_failed", dispatched=True, number=attempt))
        [answer] = desk.over("failed", attempt)
        assert isinstance(answer, ToolAnswered)
        assert answer.retriable


def test_failures_and_steps_are_not_counted() -> None:
    desk = Desk(max_turns=40).with_refs()
    for number in range(1, 31):
        desk.tell(call("press", f"p{number}", key="Enter"))
        desk.tell(failed("element_disabled", dispatched=False, number=number))
        assert [type(each) for each in desk.over("failed", number)] == [ToolAnswered]


@for_each(
    "event, error, reason",
    [
        (DeadlinePassed("wall_time", 300_000), "timeout", "max_wall_time"),
        (StopRequested("a person"), "unavailable", "cancelled"),
        (BrowserLost("it died"), "browser_gone", "interrupted"),
        (SessionInterrupted("the process died"), "unavailable", "interrupted"),
        (ObservationFailed("page_crashed"), "browser_gone", "interrupted"),
    ],
)
def test_what_ends_the_session_answers_the_open_call_first(
    event: AnyEvent, error: ToolError, reason: str
) -> None:
    desk = Desk().with_refs()
    desk.tell(CLICKED_1)
    answer, stop = desk.tell(event)
    assert isinstance(answer, ToolAnswered)
    assert (answer.call, answer.error) == ("c1", error)
    assert answer.error_code == fault_of(error).error_code
    assert isinstance(stop, RunStopped)
    assert stop.reason == reason


def test_a_browser_that_never_showed_a_page_ends_the_session() -> None:
    desk = Story(Planner())
    desk.tell(session_started.tool_session())
    [stop] = desk.tell(ObservationFailed("timeout", "10 s"))
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.failure) == ("interrupted", "browser_lost")


def test_other_sessions_are_not_driven_by_calls() -> None:
    story = Story(Planner())
    story.tell(session_started.free_run("https://shop.example/", {}, (), threshold=1))
    assert story.tell(call("get_snapshot")) == ()
    started = session_started.tool_session()
    assert isinstance(started, SessionStarted)
    assert (started.purpose, started.driver) == ("tools", "agent")


# -- what the Validator, the Predictor and the clock have to do with it -------------------------


def test_the_validator_puts_the_question_and_approves_no_step_by_it() -> None:
    story = Story(Validator())
    story.tell(session_started.tool_session())
    [asked] = story.tell(ApprovalSought("c1", "Cancel it", "no way back"))
    assert isinstance(asked, ApprovalRequested)
    assert (asked.kind, asked.question) == ("requested", "Cancel it (no way back). Approve?")
    assert asked.approval == approval_of("c1")
    yes = ApprovalAnswered(asked.approval, True, "terminal")
    assert story.tell(yes) == (ApprovalVoided(asked.approval, "used"),)


def test_a_question_of_a_caller_dies_with_the_run() -> None:
    story = Story(Validator())
    story.tell(session_started.tool_session())
    story.tell(ApprovalSought("c1", "a", "b"))
    [voided] = story.tell(RunStopped("cancelled"))
    assert isinstance(voided, ApprovalVoided)
    assert story.tell(ApprovalSought("c2", "a", "b")) == ()


def test_what_an_agent_did_is_learned_as_the_page_names_it() -> None:
    story = Story(Predictor())
    story.tell(session_started.tool_session())
    story.tell(saw())
    story.tell(plan(CLICK_1, "agent"))
    story.tell(found(element(ways=(ByCss("#go"),))))
    story.tell(done())
    [learned] = story.tell(judged())
    assert isinstance(learned, TransitionLearned)
    assert learned.driver == "agent"
    assert learned.action.target is not None
    assert learned.action.target.strategies == (ByCss("#go"),)
    assert "@e" not in learned.token
