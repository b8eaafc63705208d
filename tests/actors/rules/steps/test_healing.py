"""Given a recorded element that is not there, or another in its place: healed, asked or refused."""

from typing import Any

import msgspec
import pytest

from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.actors.validator.actor import Validator
from rutter.events.action import Action, ByRole, Parameter, Secret, Target, Untrusted, Value
from rutter.events.executor import ErrorCode, LookalikesFound, TargetChanged, TargetMissing
from rutter.events.page import Resolved
from rutter.events.planner import LookalikesRequested, PlanProposed, RunStopped, TargetHealed
from rutter.events.predictor import (
    EffectsLearned,
    StepDue,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.runtime import SessionStarted
from rutter.events.signature import token
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ApprovalRequested,
    PlanAdmitted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import StandingApproval, Workflow
from tests.support.case_table import for_each
from tests.support.given_when_then import SESSION, Story, Told, given, only
from tests.support.page_elements import click_on, recorded, thing
from tests.support.shop_facts import (
    ORIGIN,
    found,
    judged,
    page,
    plan,
    recording_of,
    run_of,
    saw,
    step,
    workflow,
)

OLD = thing("Place order", id="place", form="post /drafts/@2/place ", sends="alone",
            submits=True, form_method="post")  # fmt: skip
NEW = thing("Submit purchase", id="x7", form="post /drafts/@2/place ", sends="alone",
            submits=True, form_method="post")  # fmt: skip
HOLD = thing("Place on hold", id="hold", form="post /drafts/@2/hold ", sends="alone",
             submits=True, form_method="post")  # fmt: skip
LINK = thing("Orders", tag="a", role="link", id="orders", href="/orders")
MOVED = thing("All orders", tag="a", role="link", id="x9", href="/orders", near=())
PLACE = click_on(OLD)
RECORDED = StandingApproval(ORIGIN, OLD.digest)
FLOW = workflow(step(PLACE, standing_approval=RECORDED), step(click_on(LINK)))
RUN = run_of(FLOW)


def due(flow: Workflow = FLOW, index: int = 0) -> StepDue:
    return StepDue(index, len(flow.steps), flow.steps[index])


def refused(error: ErrorCode = "element_not_found", rule: str = "target_exists") -> ActionRejected:
    return ActionRejected(1, rule, "no", "1", "execution_error", error)


def saw_these(*elements: Resolved, step: int = 1, attempt: int = 1) -> LookalikesFound:
    return LookalikesFound(step, attempt, elements)


def lost(*story: AnyEvent | Told) -> str:
    [stopped] = given(Planner(), *story)
    assert isinstance(stopped, RunStopped)
    assert (stopped.reason, stopped.failure) == ("failed", "lost")
    return stopped.detail


# -- the Planner asks what is like it --------------------------------------------------------------


@for_each("code", ["element_not_found", "element_ambiguous", "element_not_visible"])
def test_what_is_like_a_recorded_element_is_asked_when_it_is_not_there(code: ErrorCode) -> None:
    [asked] = given(Planner(), RUN, due(), refused(code))
    assert asked == LookalikesRequested(1, 1, OLD.fingerprint)


def test_it_is_asked_too_when_another_element_is_in_its_place() -> None:
    [asked] = given(Planner(), RUN, due(), refused(rule="likeness"))
    assert isinstance(asked, LookalikesRequested)


@for_each("code", ["timeout", "page_crashed"])
def test_a_page_that_did_not_answer_is_asked_nothing_more(code: ErrorCode) -> None:
    assert code in lost(RUN, due(), refused(code))


def test_a_target_without_a_fingerprint_is_lost_as_ever() -> None:
    bare = workflow(step(Action("click", target=Target(OLD.ways))))
    assert "element_not_found" in lost(run_of(bare), due(bare), refused())


def test_what_is_chosen_by_a_parameter_is_never_healed() -> None:
    row = thing("Aurora", tag="a", role="link", href="/customers/*")
    by_data = Target((ByRole("link", "${customer}"),), row.fingerprint)
    flow = workflow(step(Action("click", target=by_data)))
    assert "element_not_found" in lost(
        run_of(flow, values={"customer": "Tern"}), due(flow), refused()
    )


def test_a_scripts_step_is_never_healed() -> None:
    recording = recording_of(PLACE)
    assert "element_not_found" in lost(recording, plan(PLACE), refused())


def test_the_page_is_asked_for_this_runs_values() -> None:
    open_it = thing("Open ${customer}", id="open")
    flow = workflow(step(Action("click", target=recorded(open_it, telling=False))))
    started = run_of(flow, values={"customer": "Tern"})
    [asked] = given(Planner(), started, due(flow), refused())
    assert isinstance(asked, LookalikesRequested)
    assert asked.fingerprint.name == Untrusted("Open Tern")


# -- the Planner takes one, or none ----------------------------------------------------------------

LOOKING = RUN, due(), refused()


def test_the_one_that_is_clearly_it_is_taken_and_the_step_goes_on() -> None:
    healed, again = given(Planner(), *LOOKING, saw_these(HOLD, NEW))
    assert isinstance(healed, TargetHealed)
    assert (healed.step, healed.attempt, healed.element) == (1, 1, NEW)
    assert healed.score > healed.runner_up
    assert again == PlanProposed(
        step=1,
        attempt=1,
        driver="workflow",
        action=Action("click", target=Target(NEW.ways, NEW.fingerprint)),
        reason="workflow_step_1_of_2_healed",
        index=0,
        expects=FLOW.steps[0].after,
        healed=True,
    )


def test_nothing_that_is_clearly_it_ends_the_run_with_the_best_two_named() -> None:
    detail = lost(*LOOKING, saw_these(HOLD, thing("Help")))
    assert detail.startswith(
        "element_not_found: nothing here is clearly the recorded 'Place order'"
    )
    assert "most like it is 'Place on hold' (" in detail
    assert "then 'Help' (" in detail


def test_two_that_are_alike_end_the_run() -> None:
    twin = thing("Submit purchase", form="post /drafts/@2/place ", sends="alone")
    assert "'Submit purchase'" in lost(*LOOKING, saw_these(NEW, twin))


def test_a_page_with_nothing_like_it_ends_the_run() -> None:
    assert lost(*LOOKING, saw_these()).endswith("nothing is like it")


def test_a_step_is_healed_once() -> None:
    detail = lost(*LOOKING, saw_these(NEW), refused())
    assert detail == "element_not_found: no"


def test_an_answer_that_comes_too_late_is_for_another_step() -> None:
    assert given(Planner(), *LOOKING, saw_these(NEW, step=7)) == ()


def test_after_the_run_stopped_nothing_is_healed() -> None:
    assert given(Planner(), *LOOKING, RunStopped("cancelled"), saw_these(NEW)) == ()


PIN = thing("Password", tag="input", role="textbox", type="password", id="pin", secret=True)
PLAIN_PIN = thing("Password", tag="input", role="textbox", type="text", id="x")
USER = thing("User", tag="input", role="textbox", type="text", id="user")


@pytest.mark.parametrize(
    ("value", "was", "now"),
    [
        (Secret("password"), PIN, PLAIN_PIN),
        (Parameter("user"), USER, thing("User", tag="input", role="textbox", secret=True)),
        (Secret("code"), USER, thing("User", tag="input", role="textbox", id="x")),
    ],
    ids=[
        "a secret into a plain field",
        "a plain value into a secret one",
        "a secret anywhere else",
    ],
)
def test_a_secret_field_is_healed_to_no_other(value: Value, was: Resolved, now: Resolved) -> None:
    flow = workflow(step(Action("type", target=recorded(was), value=value)))
    lost(run_of(flow), due(flow), refused(), saw_these(now))


def test_a_secret_field_that_moved_is_healed() -> None:
    flow = workflow(step(Action("type", target=recorded(PIN), value=Secret("password"))))
    moved = thing("Password", tag="input", role="textbox", type="password", secret=True)
    healed, _ = given(Planner(), run_of(flow), due(flow), refused(), saw_these(moved))
    assert isinstance(healed, TargetHealed)


# -- the Validator looks whether it is the one -----------------------------------------------------

ON_THE_PLAN = PlanProposed(1, 1, "workflow", PLACE, "because", index=0)


def healed_plan(element: Resolved, index: int = 0) -> PlanProposed:
    action = Action("click", target=Target(element.ways, element.fingerprint))
    return PlanProposed(1, 1, "workflow", action, "because", index=index, healed=True)


def verdict(*story: AnyEvent | Told) -> AnyEvent:
    return given(Validator(), *story)[0]


def test_the_recorded_element_passes() -> None:
    assert isinstance(verdict(RUN, ON_THE_PLAN, found(OLD)), ActionApproved)


def test_an_id_that_another_element_has_now_is_refused() -> None:
    thief = thing("Place on hold", id="place", form="post /drafts/@2/hold ", sends="alone",
                  submits=True, form_method="post")  # fmt: skip
    assert verdict(RUN, ON_THE_PLAN, found(thief)) == ActionRejected(
        1,
        "likeness",
        "'Place on hold' is in the place of the recorded 'Place order'",
        "1",
        "execution_error",
        "element_not_found",
    )


def test_an_element_that_changes_into_another_before_it_is_clicked_is_refused() -> None:
    story = RUN, ON_THE_PLAN, found(OLD), TargetChanged(1, 1, HOLD)
    assert isinstance(verdict(*story), ActionRejected)


def test_a_new_label_on_a_button_that_sends_the_same_is_a_question_to_a_person() -> None:
    relabelled = thing("Order now", id="place", form="post /drafts/@2/place ",
                       sends="alone", submits=True, form_method="post")  # fmt: skip
    asked = verdict(RUN, ON_THE_PLAN, found(relabelled))
    assert isinstance(asked, ApprovalRequested)
    assert asked.rule == "sends_a_form"


def test_a_name_that_holds_this_runs_value_is_no_alarm() -> None:
    open_it = thing("Open ${customer}", id="open")
    flow = workflow(step(Action("click", target=recorded(open_it, telling=False))))
    proposed = PlanProposed(1, 1, "workflow", flow.steps[0].action, "because", index=0)
    started = run_of(flow, values={"customer": "Tern"})
    assert isinstance(verdict(started, proposed, found(thing("Open Tern", id="open"))),
                      ActionApproved)  # fmt: skip
    assert isinstance(verdict(started, proposed, found(thing("Delete Tern", id="open"))),
                      ActionRejected)  # fmt: skip


def cell(said: str, *row: str, **more: Any) -> Resolved:
    return thing(said, tag="td", role="gridcell", near=row, **more)


def icon(of: str, *near: str, **more: Any) -> Resolved:
    return thing(tag="a", role="link", near=near, **({"icon": of} if of else {}), **more)


def pages(said: str, numbered: str) -> Resolved:
    return thing(said, tag="a", role="link", near=(), href="/pages/*/", numbered=numbered)


def node(said: str, *near: str) -> Resolved:
    return thing("", text=said, tag="g", role="", near=near)


@for_each(
    "was, now, same",
    [
        (cell("20", "Tern"), cell("65", "Tern"), True),  # what a cell says is data
        (cell("20", "Tern"), cell("65", "Aurora"), False),  # in the row of somebody else
        (cell("20", "Shackle"), cell("65", "Rope"), True),  # which this run is not about
        (cell("20", "Tern"), cell("Pay", "Tern", submits=True), False),
        (cell("20", "Tern"), cell("Pay", "Tern", href="/pay"), False),
        (cell("20", "Tern"), thing("65", near=("Tern",)), False),
        (icon("plus", "Sheet 1"), icon("plus", "Canal 7"), True),  # what is around it is data
        (icon("plus", "Sheet 1"), icon("trash", "Canal 7"), False),
        (icon("plus", "Sheet 1"), icon("", "Canal 7"), False),
        (icon("plus", "Sheet 1"), icon("plus", "Canal 7", href="/x"), False),
        (pages("1 Page in harbour", "3"), pages("2 Pages in harbour", "3"), True),
        (pages("1 Page in harbour", "3"), pages("2 Pages in quay", "4"), False),
        (node("timestamp"), node("timestamp"), True),  # nothing else was there to tell it by
        (node("timestamp"), node("debug"), False),
        (node(""), node(""), True),
        (node(""), node("debug"), False),
        (node("", "inject"), node("", "switch"), False),
        (node("timestamp", "inject"), node("timestamp", "switch"), False),
    ],
)
def test_what_is_found_where_it_was_is_compared_by_what_can_tell(
    was: Resolved, now: Resolved, same: bool
) -> None:
    flow = workflow(step(Action("click", target=recorded(was, telling=False))))
    proposed = PlanProposed(1, 1, "workflow", flow.steps[0].action, "because", index=0)
    said = verdict(run_of(flow, values={"customer": "Tern"}), proposed, found(now))
    refused_for = said.rule if isinstance(said, ActionRejected) else ""
    assert (refused_for != "likeness") == same


def test_what_is_found_by_a_parameter_alone_is_not_compared() -> None:
    row = thing("Aurora", tag="a", role="link", href="/customers/*")
    by_data = Action("click", target=Target((ByRole("link", "${customer}"),), row.fingerprint))
    flow = workflow(step(by_data))
    proposed = PlanProposed(1, 1, "workflow", by_data, "because", index=0)
    other = thing("Tern", tag="a", role="link", href="/customers/*", near=("elsewhere",))
    started = run_of(flow, values={"customer": "Tern"})
    assert isinstance(verdict(started, proposed, found(other)), ActionApproved)


@for_each("driver", ["script", "model", "agent"])
def test_only_what_was_recorded_is_compared(driver: Any) -> None:
    proposed = plan(click_on(LINK), driver, index=-1)
    other = thing("Something else", tag="a", role="link")
    assert not isinstance(verdict(RUN, proposed, found(other)), ActionRejected)


def test_plain_text_never_goes_into_a_field_that_became_secret() -> None:
    typed = Action("type", target=recorded(USER), value=Parameter("user"))
    proposed = PlanProposed(1, 1, "workflow", typed, "because", index=0)
    now = msgspec.structs.replace(USER, secret=True)
    flow = workflow(step(typed))
    assert isinstance(verdict(run_of(flow, values={"user": "ann"}), proposed, found(now)),
                      ActionRejected)  # fmt: skip


# -- the Validator on what was healed --------------------------------------------------------------


def test_a_healed_step_has_no_standing_approval() -> None:
    approved = workflow(step(PLACE, standing_approval=StandingApproval(ORIGIN, NEW.digest)))
    asked = verdict(run_of(approved), healed_plan(NEW), found(NEW))
    assert isinstance(asked, ApprovalRequested)


def test_a_healed_step_that_can_be_undone_goes_on_when_it_is_surely_the_one() -> None:
    flow = workflow(step(click_on(LINK)))
    assert isinstance(verdict(run_of(flow), healed_plan(MOVED), found(MOVED)), ActionApproved)


def test_a_healed_step_that_may_be_another_one_is_a_question_to_a_person() -> None:
    flow = workflow(step(click_on(LINK)))
    perhaps = thing("Orders", tag="a", role="link", id="orders", href="/v2/orders")
    asked = verdict(run_of(flow), healed_plan(perhaps), found(perhaps))
    assert isinstance(asked, ApprovalRequested)
    assert asked.rule == "healed"
    assert (
        asked.question == "order: Click the link \"Orders\"? It may not be the recorded 'Orders'."
    )


def test_what_was_healed_must_be_found_again_as_it_was_chosen() -> None:
    flow = workflow(step(click_on(LINK)))
    changed = thing("All orders", tag="a", role="link", id="x9", href="/logout", near=())
    refusal = verdict(run_of(flow), healed_plan(MOVED), found(changed))
    assert isinstance(refusal, ActionRejected)
    assert refusal.rule == "likeness"


def test_a_healed_step_is_looked_for_by_its_new_locators() -> None:
    admitted = verdict(RUN, healed_plan(NEW))
    assert isinstance(admitted, PlanAdmitted)
    assert admitted.action.target is not None
    assert admitted.action.target.strategies == NEW.ways


def test_what_is_missing_again_is_refused() -> None:
    missing = TargetMissing(1, 1, "element_not_found")
    refusal = verdict(RUN, healed_plan(NEW), missing)
    assert isinstance(refusal, ActionRejected)
    assert refusal.rule == "target_exists"


# -- the Predictor learns it when the end was verified ---------------------------------------------


def sailed(*, approval: str = "", started: SessionStarted = RUN) -> list[AnyEvent]:
    """Step 1 healed and confirmed, step 2 as recorded."""
    second = PlanProposed(2, 1, "workflow", FLOW.steps[1].action, "because", index=1)
    return [
        started,
        saw(page("/")),
        healed_plan(NEW),
        found(NEW),
        ActionApproved(1, "sends_a_form", "because", "1", approval),
        ActionStarted(1, 1, PLACE),
        judged("confirmed", 1),
        second,
        found(LINK, 2),
        ActionApproved(2, "nothing_matched", "because", "1"),
        judged("confirmed", 2),
    ]


KNOWN = WorkflowLearned(FLOW)


def told(*events: AnyEvent) -> tuple[AnyEvent, ...]:
    """What the Predictor says to the last of them, but for what the run itself showed."""
    decided = given(Predictor(), *events)
    return tuple(each for each in decided if not isinstance(each, EffectsLearned))


def test_a_healed_step_is_learned_as_the_page_names_it() -> None:
    first = told(*sailed()[:7])
    lesson = only(first, TransitionLearned)
    assert lesson.token == token(healed_plan(NEW).action)


def test_a_verified_run_makes_the_next_version_with_the_healed_step() -> None:
    ended = RunStopped("completed")
    [lesson] = told(KNOWN, *sailed(approval="1.1.1"), ended)
    assert isinstance(lesson, WorkflowLearned)
    assert lesson.workflow == msgspec.structs.replace(
        FLOW,
        version=2,
        session=SESSION,
        steps=(
            msgspec.structs.replace(
                FLOW.steps[0],
                action=healed_plan(NEW).action,
                standing_approval=StandingApproval(ORIGIN, NEW.digest),
            ),
            FLOW.steps[1],
        ),
    )


def test_without_a_persons_approval_the_healed_step_has_no_standing() -> None:
    [lesson] = told(KNOWN, *sailed(), RunStopped("completed"))
    assert isinstance(lesson, WorkflowLearned)
    assert lesson.workflow.steps[0].standing_approval is None


@for_each("reason", ["completed_unverified", "failed", "cancelled", "interrupted"])
def test_nothing_is_learned_from_a_run_whose_end_was_not_verified(reason: Any) -> None:
    assert told(KNOWN, *sailed(), RunStopped(reason)) == ()


def test_a_run_in_which_nothing_was_healed_makes_no_version() -> None:
    plain = [event for event in sailed() if event != healed_plan(NEW)]
    assert told(KNOWN, *plain, RunStopped("completed")) == ()


def test_a_healed_step_that_was_not_confirmed_is_not_learned() -> None:
    story: list[AnyEvent] = [*sailed()[:6], judged("no_effect", 1)]
    assert told(KNOWN, *story, RunStopped("completed")) == ()


@pytest.mark.parametrize(
    "since",
    [
        WorkflowLearned(msgspec.structs.replace(FLOW, version=2)),
        WorkflowDeleted("order"),
        WorkflowRenamed("order", "orders"),
    ],
    ids=["recorded anew", "deleted", "renamed"],
)
def test_a_workflow_that_changed_meanwhile_is_left_alone(since: AnyEvent) -> None:
    assert told(KNOWN, *sailed(), since, RunStopped("completed")) == ()


def test_two_runs_that_healed_the_same_make_one_version() -> None:
    story = Story(Predictor())
    story.tell(KNOWN)
    versions = []
    for session in ("first", "second"):
        for event in (*sailed(), RunStopped("completed")):
            versions += [
                each.workflow.version
                for each in story.tell(Told(event, session=session))
                if isinstance(each, WorkflowLearned)
            ]
    assert versions == [2]


def test_a_healed_target_holds_parameters_not_their_values() -> None:
    now = thing("Order for Tern", tag="a", role="link", id="x", href="/orders", near=("Tern",))
    flow = workflow(step(click_on(LINK)), parameters=("customer",))
    started = run_of(flow, values={"customer": "Tern"})
    story: list[AnyEvent] = [
        started,
        saw(page("/")),
        healed_plan(now),
        found(now),
        judged("confirmed", 1),
    ]
    [lesson] = told(WorkflowLearned(flow), *story, RunStopped("completed"))
    assert isinstance(lesson, WorkflowLearned)
    target = lesson.workflow.steps[0].action.target
    assert target is not None
    assert target.fingerprint is not None
    assert target.fingerprint.name.text == "Order for ${customer}"
    assert target.fingerprint.near == (Untrusted("${customer}"),)
