"""Given a conversation that a language model leads: what it is asked, what is done of it."""

from typing import Any

from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.events.action import Action, ByRef, Parameter, Secret, Target, Text
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived, WantedCall
from rutter.events.critic import CompletionChecked, PageAssessed
from rutter.events.executor import ActionFailed
from rutter.events.observer import BrowserLost, PageObserved
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    ObservationRequested,
    PlanProposed,
    RunStopped,
)
from rutter.events.predictor import WorkflowLearned
from rutter.events.run_settings import LanguageModel, Limits, ModelUse
from rutter.events.runtime import DeadlinePassed
from rutter.events.service_pack import Service, ServiceScript, Sign
from rutter.events.tools import ApprovalSought, CompletionClaimed, ToolAnswered, ToolCalled
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from rutter.events.vocabulary import AnyEvent
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, only
from tests.support.led_talk import Talk, led
from tests.support.shop_facts import ORIGIN, css, element, found, judged, page

SIGN_IN = ServiceScript(
    "LOGIN_REQUIRED",
    (
        Action("type", target=css("#email"), value=Parameter("email")),
        Action("type", target=css("#password"), value=Secret("password")),
        Action("click", target=css("#in")),
    ),
)
CANCEL = ServiceScript("ACCOUNT_ACTIVE", (Action("click", target=css("#cancel")),))
PARTNER = ServiceScript("THIRD_PARTY_BILLING", why="it is billed by a partner: cancel there")
SERVICE = Service("film", ways=(SIGN_IN, CANCEL, PARTNER))


def asked(told: tuple[AnyEvent, ...]) -> AdviceRequested:
    request = only(told, AdviceRequested)
    assert isinstance(request, AdviceRequested)
    return request


def stop(told: tuple[AnyEvent, ...]) -> tuple[str, str]:
    stopped = only(told, RunStopped)
    return stopped.reason, stopped.failure


# -- the turns -------------------------------------------------------------------------------------


def test_the_first_page_is_followed_by_the_first_question() -> None:
    first = asked(Talk().first)
    assert (first.request, first.purpose, first.provider) == ("a1", "act", "anthropic")
    assert first.note == ""


def test_only_the_first_of_several_calls_is_made() -> None:
    called, plan = Talk().calls("a1", "browser_click", "complete_task", ref="@e2")
    assert isinstance(called, ToolCalled)
    assert (called.call, called.tool, called.by) == ("a1.0", "browser_click", "model")
    assert isinstance(plan, PlanProposed)
    assert (plan.driver, plan.step) == ("model", 2)
    assert plan.action == Action("click", target=Target((ByRef("@e2", 0),)))


def test_what_a_call_came_to_is_followed_by_the_next_question() -> None:
    talk = Talk()
    talk.calls("a1", "browser_click", ref="@e2")
    told = talk.over(path="/offer")
    assert only(told, ToolAnswered).success
    assert asked(told).request == "a2"


def test_the_refs_of_the_page_that_it_was_shown_are_good_for_its_first_call() -> None:
    told = Talk().calls("a1", "browser_click", ref="@e4")
    assert only(told, PlanProposed)


def test_a_ref_that_is_not_there_is_answered_and_the_talk_goes_on() -> None:
    talk = Talk()
    told = talk.calls("a1", "browser_click", ref="@e9")
    assert only(told, ObservationRequested).why == "tool"
    told = talk.saw()
    assert only(told, ToolAnswered).error == "ref_invalid"
    assert asked(told).request == "a2"


def test_arguments_that_do_not_fit_are_answered_as_such() -> None:
    talk = Talk()
    bad = WantedCall("a1.0", "browser_click", "{}", "ref is missing")
    told = talk.tell(AdviceReceived("a1", "anthropic", "m", calls=(bad,)))
    assert only(told, ToolAnswered).error == "invalid_params"
    assert asked(told).request == "a2"


def test_an_answer_without_a_call_is_prompted_once_and_then_it_is_a_loop() -> None:
    talk = Talk()
    again = asked(talk.calls("a1"))
    assert "complete_task" in again.note
    assert stop(talk.calls("a2")) == ("no_op_loop", "")


def test_a_call_in_between_makes_silence_the_first_again() -> None:
    talk = Talk()
    talk.calls("a1")
    talk.calls("a2", "browser_click", ref="@e2")
    talk.over()
    assert asked(talk.calls("a3")).request == "a4"


# -- the end ---------------------------------------------------------------------------------------


def test_success_is_acknowledged_when_the_page_bears_it_out() -> None:
    talk = Talk()
    told = talk.calls("a1", "complete_task", status="success", reason="done")
    assert only(told, CompletionClaimed).status == "success"
    told = talk.checked(verified=True)
    assert [type(each) for each in told] == [ToolAnswered, RunStopped]
    assert stop(told) == ("completed", "")


def test_success_that_the_page_does_not_bear_out_goes_back_to_the_model() -> None:
    talk = Talk()
    talk.calls("a1", "complete_task", status="success", reason="done")
    told = talk.checked(verified=False)
    answer = only(told, ToolAnswered)
    assert (answer.success, answer.message) == (False, "no sign")
    assert asked(told).request == "a2"


def test_giving_up_is_always_acknowledged() -> None:
    talk = Talk()
    talk.calls("a1", "complete_task", status="failed", reason="no way")
    told = talk.checked(verified=False)
    assert stop(told) == ("failed", "")


def test_it_ends_when_its_turns_are_used_up() -> None:
    talk = Talk(led(limits=Limits(max_turns=1)))
    talk.calls("a1", "browser_click", ref="@e2")
    assert stop(talk.over()) == ("max_turns_exceeded", "")


def test_when_its_steps_are_used_up_it_may_only_say_what_they_came_to() -> None:
    talk = Talk(led(limits=Limits(max_steps=2)))
    talk.calls("a1", "browser_click", ref="@e2")
    assert "complete_task" in asked(talk.over()).note
    assert stop(talk.calls("a2", "browser_click", ref="@e3")) == ("max_steps", "")
    talk = Talk(led(limits=Limits(max_steps=2)))
    talk.calls("a1", "browser_click", ref="@e2")
    talk.over()
    told = talk.calls("a2", "complete_task", status="success", reason="done")
    assert only(told, CompletionClaimed).status == "success"


def test_calls_that_fail_one_after_the_other_end_it_or_need_a_person() -> None:
    for headed in (False, True):
        talk = Talk(led(headed=headed))
        told: tuple[AnyEvent, ...] = ()
        for number in (1, 2, 3):
            talk.calls(f"a{number}", "browser_click", ref="@e9")
            told = talk.saw()
        if headed:
            assert only(told, CheckpointReached).kind == "unknown"
        else:
            assert stop(told) == ("max_failures", "")


def test_a_run_out_of_time_has_spent_the_open_question() -> None:
    told = Talk().tell(DeadlinePassed("wall_time", 90_000))
    assert [type(each) for each in told] == [AdviceLost, RunStopped]
    assert stop(told) == ("max_wall_time", "")


def test_a_browser_that_is_gone_ends_it() -> None:
    assert stop(Talk().tell(BrowserLost("killed"))) == ("interrupted", "browser_lost")


# -- the person ------------------------------------------------------------------------------------


def test_a_persons_no_goes_back_with_what_they_said() -> None:
    talk = Talk()
    talk.calls("a1", "browser_click", ref="@e2")
    no = ActionRejected(
        2, "confirm", "a person said no: pause it", "1", "policy_denied", "human_rejected"
    )
    talk.tell(no)
    told = talk.saw()
    assert only(told, ToolAnswered).error == "human_rejected"
    assert asked(told).request == "a2"


def test_where_there_is_nobody_to_ask_it_ends() -> None:
    talk = Talk()
    talk.calls("a1", "browser_click", ref="@e2")
    told = talk.tell(ActionRejected(2, "confirm", "nobody", "1", "policy_denied", "needs_person"))
    assert [type(each) for each in told] == [RunStopped, ToolAnswered]
    assert stop(told) == ("policy_denied", "needs_person")


def test_a_dry_run_ends_before_what_cannot_be_undone() -> None:
    talk = Talk()
    talk.calls("a1", "browser_click", ref="@e2")
    told = talk.tell(ActionWithheld(2, Action("click"), "would have done it"))
    assert stop(told) == ("completed_unverified", "")
    assert "dry run" in only(told, RunStopped).detail


def test_its_own_question_to_a_person_is_put_and_approves_nothing() -> None:
    told = Talk().calls("a1", "request_human_approval", action="cancel", reason="final")
    assert only(told, ApprovalSought).action == "cancel"


# -- pages that no model is shown ------------------------------------------------------------------


def test_a_sign_in_goes_by_what_is_known_of_the_service_and_what_is_bound() -> None:
    started = led(service=SERVICE, values={"email": "a@b.example"}, secrets=("password",))
    talk = Talk(started, "LOGIN_REQUIRED")
    told = talk.first
    for number, action in enumerate(SIGN_IN.actions):
        plan = only(told, PlanProposed)
        assert (plan.driver, plan.action, plan.step) == ("script", action, number + 2)
        last = number == 2
        told = talk.over(
            path="/account" if last else "/", state="UNKNOWN" if last else "LOGIN_REQUIRED"
        )
    assert asked(told).request == "a1", "the first that the model hears of it"


def test_a_sign_in_that_nothing_is_bound_for_is_a_persons() -> None:
    talk = Talk(led(service=SERVICE, headed=True), "LOGIN_REQUIRED")
    assert only(talk.first, CheckpointReached).kind == "login"
    [look] = talk.tell(CheckpointPassed("login", "1.login.1"))
    assert isinstance(look, ObservationRequested)
    assert asked(talk.saw("/account")).request == "a1"


def test_a_person_who_does_not_sign_in_ends_it() -> None:
    talk = Talk(led(headed=True), "LOGIN_REQUIRED")
    told = talk.tell(CheckpointRefused("login", "1.login.1", "terminal", "later"))
    assert stop(told) == ("policy_denied", "policy_denied")


def test_without_a_window_a_sign_in_needs_a_person() -> None:
    assert stop(Talk(led(), "LOGIN_REQUIRED").first) == ("policy_denied", "needs_person")


# -- without a model -------------------------------------------------------------------------------


def test_when_no_provider_answers_the_services_own_way_goes_on() -> None:
    talk = Talk(led(service=SERVICE), "ACCOUNT_ACTIVE")
    assert asked(talk.first).request == "a1"
    assert asked(talk.tell(AdviceFailed("a1", "anthropic", "timeout", True))).attempt == 2
    assert asked(talk.tell(AdviceFailed("a2", "anthropic", "timeout", True))).provider == "openai"
    plan = only(talk.tell(AdviceFailed("a3", "openai", "unauthorised", False)), PlanProposed)
    assert (plan.driver, plan.action) == ("script", CANCEL.actions[0])


def test_without_a_model_and_without_a_way_it_says_why() -> None:
    talk = Talk(led(ModelUse((LanguageModel("anthropic", "claude-x"),))))
    talk.tell(AdviceFailed("a1", "anthropic", "unauthorised", False, "wrong key"))
    told = talk.tell(CompletionChecked(verified=False, reason="no sign"))
    assert stop(told) == ("failed", "model_unavailable")
    assert "wrong key" in only(told, RunStopped).detail


def test_a_way_without_actions_is_the_end_and_says_what_to_know() -> None:
    talk = Talk(led(None, SERVICE), "THIRD_PARTY_BILLING")
    assert stop(talk.first) == ("failed", "")
    assert "billed by a partner" in only(talk.first, RunStopped).detail


def test_a_way_holds_only_where_its_signs_are() -> None:
    signed = ServiceScript("ACCOUNT_ACTIVE", CANCEL.actions, (Sign("title", "Plan"),))
    talk = Talk(led(None, Service("film", ways=(signed,))), "ACCOUNT_ACTIVE")
    assert only(talk.first, CompletionClaimed).status == "success"
    told = talk.tell(CompletionChecked(verified=False, reason="no sign"))
    assert stop(told) == ("failed", "lost")


def test_without_a_model_the_page_says_whether_it_is_done() -> None:
    talk = Talk(led(None, SERVICE), "COMPLETE")
    assert only(talk.first, CompletionClaimed).reason == "the page is COMPLETE"
    told = talk.tell(CompletionChecked(verified=True, reason="the heading says so"))
    assert stop(told) == ("completed", "")


def test_another_way_on_the_same_page_begins_at_its_beginning() -> None:
    shut = Action("click", target=css("#close"))
    close = ServiceScript("ACCOUNT_ACTIVE", (shut,), (Sign("title", "Wait"),))
    talk = Talk(led(None, Service("film", ways=(close, CANCEL, SIGN_IN))), "LOGIN_REQUIRED")
    assert stop(talk.first) == ("policy_denied", "needs_person")  # nothing is bound
    talk = Talk(led(None, Service("film", ways=(close, CANCEL))), "ACCOUNT_ACTIVE", title="Wait")
    assert only(talk.first, PlanProposed).action == shut
    told = talk.over(state="ACCOUNT_ACTIVE")
    assert only(told, PlanProposed).action == CANCEL.actions[0]


def test_a_way_that_changes_nothing_is_not_gone_twice() -> None:
    talk = Talk(led(None, SERVICE), "ACCOUNT_ACTIVE")
    told = talk.over("no_effect", state="ACCOUNT_ACTIVE")
    assert stop(told) == ("failed", "verification_failed")


def test_a_way_whose_element_is_gone_is_lost() -> None:
    talk = Talk(led(None, SERVICE), "ACCOUNT_ACTIVE")
    told = talk.tell(
        ActionRejected(2, "target_exists", "no", "1", "execution_error", "element_not_found")
    )
    assert stop(told) == ("failed", "lost")


def test_a_page_that_cannot_be_reached_ends_it() -> None:
    talk = Story(Planner())
    talk.tell(led())
    talk.tell(PageObserved(page("/"), "requested"))
    talk.tell(PageAssessed())
    talk.tell(ActionFailed(1, 1, "navigation_failed", False))
    talk.tell(judged("failed", 1))
    assert only(talk.tell(PageAssessed()), PlanProposed).attempt == 2
    talk.tell(ActionFailed(1, 2, "navigation_failed", False))
    assert stop(talk.tell(judged("failed", 1), then=(PageAssessed(),))) == ("failed", "unreachable")


# -- what is learned -------------------------------------------------------------------------------


def found_a_way(ended: RunStopped) -> list[Any]:
    story = Story(Predictor())
    story.tell(led(values={"who": "Aurora"}))
    story.tell(PageObserved(page("/"), "requested"))
    acts = [
        ("script", Action("navigate", url=f"{ORIGIN}/account"), "confirmed", "/account"),
        ("model", Action("scroll", direction="down"), "confirmed", "/account"),
        ("model", Action("click", target=css("#nothing")), "no_effect", "/account"),
        ("model", Action("type", target=css("#q"), value=Text("Aurora")), "confirmed", "/account"),
        ("model", Action("click", target=Target((ByRef("@e3", 2),))), "confirmed", "/done"),
    ]
    for number, (driver, action, verdict, leads_to) in enumerate(acts, 1):
        story.tell(PlanProposed(number, 1, driver, action, "because"))  # type: ignore[arg-type]
        if action.target is not None:
            story.tell(found(element(ways=css("#named").strategies), number))
        if number == 5:
            story.tell(ActionApproved(number, "confirm", "approved by a person", "1", "5.1.1"))
        story.tell(PageObserved(page(leads_to, digest=str(number)), "after_action"))
        story.tell(judged(verdict, number))  # type: ignore[arg-type]
    return [each for each in story.tell(ended) if isinstance(each, WorkflowLearned)]


def test_a_way_whose_end_was_verified_is_learned_without_what_did_not_matter() -> None:
    [learned] = found_a_way(RunStopped("completed"))
    flow = learned.workflow
    assert (flow.name, flow.goal, flow.version) == ("film", "cancel it", 1)
    assert [step.action.type for step in flow.steps] == ["navigate", "type", "click"]
    assert flow.steps[1].action.value == Parameter("who")
    assert flow.steps[2].action.target is not None
    assert flow.steps[2].action.target.strategies == css("#named").strategies, "no ref is kept"
    assert [step.standing_approval is not None for step in flow.steps] == [False, False, True]


@for_each("reason", ["completed_unverified", "failed", "max_turns_exceeded"])
def test_a_way_whose_end_was_not_verified_is_not_learned(reason: Any) -> None:
    assert found_a_way(RunStopped(reason)) == []
