"""Given help that works: what it must not use up, leave out, or do a second time."""

from typing import Any

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.steps.retry import SENT
from rutter.actors.validator.actor import Validator
from rutter.events.action import Action, ByRole, ByText, Secret, Target
from rutter.events.advisor import AdviceReceived, Proposal
from rutter.events.critic import ActionJudged, PageAssessed
from rutter.events.observer import PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import AdviceRequested, PlanProposed, RunStopped
from rutter.events.predictor import Candidate, PredictionMade, StepDue, WorkflowLearned
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Service, ServiceScript, Sign, StateRule
from rutter.events.validator import ActionRejected, ApprovalRequested
from rutter.events.workflow import StandingApproval
from tests.support.given_when_then import Story, given, of, only
from tests.support.led_talk import FIVE, MODELS, led
from tests.support.shop_facts import (
    ORIGIN,
    click,
    css,
    done,
    element,
    found,
    free_run,
    go_to,
    judged,
    page,
    plan,
    run_of,
    saw,
    step,
    workflow,
)

BELOW = PredictionMade("markov2", 0, (Candidate("t", click("#p"), 420_000, "first_order"),))


def helped(started: SessionStarted, **more: Any) -> SessionStarted:
    return msgspec.structs.replace(started, models=MODELS, **more)


def test_steps_that_worked_do_not_use_up_the_questions_of_a_free_run() -> None:
    run = Story(Planner())
    run.tell(helped(free_run(max_steps=99)))
    asked = only(run.tell(BELOW), AdviceRequested)
    for number in range(1, 12):
        action = Action("click", target=Target((ByText(f"x{number}"),)))
        proposal = Proposal(action, 900_000)
        told = run.tell(AdviceReceived(asked.request, "anthropic", "m", proposal=proposal))
        run.tell(saw(page(digest=f"d{number}")))
        run.tell(judged("confirmed", only(told, PlanProposed).step))
        asked = only(run.tell(BELOW), AdviceRequested)
        assert asked.purpose == "plan"


def a_way_found(*judgements: tuple[Any, Action, Any, str]) -> list[WorkflowLearned]:
    story = Story(Predictor())
    story.tell(led())
    story.tell(PageObserved(page("/"), "requested"))
    for number, (driver, action, verdict, reason) in enumerate(judgements, 1):
        why = "opening" if driver == "script" else "tool_browser_click"
        story.tell(PlanProposed(number, 1, driver, action, why))
        if action.target is not None:
            story.tell(found(element(ways=action.target.strategies), number))
        story.tell(PageObserved(page(f"/p{number}"), "after_action"))
        story.tell(ActionJudged(number, 1, verdict, reason))
    told = story.tell(RunStopped("completed"))
    return [each for each in told if isinstance(each, WorkflowLearned)]


def test_an_opening_that_led_on_is_where_the_learned_way_begins() -> None:
    [learned] = a_way_found(
        ("script", go_to("/"), "wrong_target", "other_place"),
        ("model", click("#cancel"), "confirmed", "page_moved"),
    )
    assert [each.action.type for each in learned.workflow.steps] == ["navigate", "click"]


def test_what_was_sent_and_showed_nothing_is_part_of_the_learned_way() -> None:
    """As it is of a recording: the model was told that it was done."""
    [learned] = a_way_found(
        ("script", go_to("/"), "confirmed", "place_reached"),
        ("model", click("#save"), "unknown", SENT[1]),
        ("model", click("#cancel"), "confirmed", "page_moved"),
    )
    assert len(learned.workflow.steps) == 3


def test_a_run_in_which_nobody_helped_teaches_no_other_way() -> None:
    """Who is signed in skips the sign-in; a way learned of that fits neither the next who is, nor
    the next who is not."""
    in_form: dict[str, Any] = {"at": "/login", "state": "LOGIN_REQUIRED"}
    flow = workflow(
        step(go_to("/login"), at="/start", leads_to="/login"),
        step(Action("type", target=css("#p"), value=Secret("password")), **in_form),
        step(click("#in"), leads_to="/account", **in_form),
        step(click("#plans"), at="/account", leads_to="/plans", state="ACCOUNT_ACTIVE"),
    )
    known = Service("film", states=(StateRule("ACCOUNT_ACTIVE", (Sign("heading", "Mine"),), 9),))
    story = Story(Predictor())
    story.tell(of("another", WorkflowLearned(flow)))
    story.tell(helped(run_of(flow, service=known)))
    story.tell(saw(page("/start")))
    story.tell(PlanProposed(1, 1, "workflow", flow.steps[0].action, "because", 0))
    story.tell(saw(page("/account", heading="Mine")))
    story.tell(ActionJudged(1, 1, "wrong_target", "other_place"))
    assert only(story.tell(PageAssessed("ACCOUNT_ACTIVE")), StepDue).index == 3
    story.tell(PlanProposed(2, 1, "workflow", click("#plans"), "because", 3))
    story.tell(found(element(), 2))
    story.tell(saw(page("/plans")))
    story.tell(judged("confirmed", 2))
    told = story.tell(RunStopped("completed"))
    assert not any(isinstance(each, WorkflowLearned) for each in told)


def test_what_was_done_on_the_way_is_asked_about_also_where_its_button_lost_its_form() -> None:
    plain = element(digest="order", name="Go on")
    send = element(digest="other", name="Place order", submits=True, form_method="post")
    recorded = step(
        click("#order"), irreversible=True, standing_approval=StandingApproval(ORIGIN, "order")
    )
    story = Story(Validator())
    story.tell(helped(run_of(workflow(recorded))))
    detour = Action("click", target=Target((ByRole("button", "Order"),)))
    story.tell(PlanProposed(1, 1, "model", detour, "advice_repair_a1"))
    [asked] = story.tell(found(send))
    assert isinstance(asked, ApprovalRequested)
    story.tell(ApprovalAnswered(asked.approval, True, "terminal"))
    story.tell(plan(click("#order"), "workflow", number=2, index=0))
    assert [type(each) for each in story.tell(found(plain, 2))] == [ApprovalRequested]


def test_a_bound_secret_is_typed_into_a_field_that_says_account() -> None:
    """The service's own way is no model's: what a denylist asks about, it does not deny."""
    typed = Action("type", target=css("#password"), value=Secret("password"))
    home = msgspec.structs.replace(
        DEFAULT_POLICY, secret_origins=(("password", ORIGIN),), public_hosts=True
    )
    started = msgspec.structs.replace(
        led(None, Service("film", ways=(ServiceScript("LOGIN_REQUIRED", (typed,)),))),
        secrets=("password",),
        policy=home,
    )
    way = msgspec.structs.replace(plan(typed, "script"), reason="way_LOGIN_REQUIRED_1")
    field = element("input", name="Account password", secret=True, kind="password")
    told = given(Validator(), started, PageAssessed("LOGIN_REQUIRED"), way, found(field))
    assert not any(isinstance(each, ActionRejected) for each in told)


def test_a_way_goes_on_behind_a_choice_that_the_model_had_made_already() -> None:
    """A radio that is chosen shows no effect when it is chosen again: the model did it before it
    could not be asked any more."""
    radio, go_on = click("#expensive"), click("#continue")
    service = Service("film", ways=(ServiceScript("EXIT_SURVEY", (radio, go_on)),))
    talk = Story(Planner())
    talk.tell(led(None, service))
    talk.tell(PageObserved(page("/", elements=FIVE), "requested"))
    talk.tell(PageAssessed())
    told: tuple[Any, ...] = ()
    for number, verdict in ((1, "confirmed"), (2, "no_effect")):
        talk.tell(done(number))
        talk.tell(PageObserved(page("/", elements=FIVE), "after_action"))
        told = talk.tell(judged(verdict, number))  # type: ignore[arg-type]
        told += talk.tell(PageAssessed("EXIT_SURVEY"))
    assert only(told, PlanProposed).action == go_on
