"""Given a session as the Predictor follows it: what comes next, and what is learned."""

from typing import Any

import msgspec
from hypothesis import given as for_all
from hypothesis import strategies as st

from rutter.actors.predictor import Predictor
from rutter.events.action import Action, ByCss, ByRole, Parameter, Target, Text
from rutter.events.critic import PageAssessed, Verdict
from rutter.events.executor import TargetChanged
from rutter.events.page import Page, Resolved
from rutter.events.planner import RunStopped
from rutter.events.predictor import (
    Candidate,
    EffectsLearned,
    PredictionMade,
    StepDue,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowFinished,
    WorkflowLearned,
)
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionEnded
from rutter.events.signature import signature, token
from rutter.events.validator import ActionApproved
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Expectation, StandingApproval, Step, Workflow
from tests.support.case_table import for_each
from tests.support.given_when_then import SESSION, Story, Told, given, of, only
from tests.support.shop_facts import (
    ORIGIN,
    click,
    element,
    fill,
    found,
    free_run,
    go_to,
    judged,
    page,
    place,
    plan,
    recording_of,
    run_of,
    saw,
    step,
    workflow,
)

ASSESSED = PageAssessed()
A, B, C = click("#a"), click("#b"), click("#c")


def learned(action: Action, *after: Action, driver: Driver = "script") -> TransitionLearned:
    before = tuple(token(each) for each in after)
    return TransitionLearned(token(action), signature(action), action, before, driver)


def said(*story: AnyEvent | Told) -> tuple[AnyEvent, ...]:
    return given(Predictor(), *story)


def did(action: Action, verdict: Verdict = "confirmed", **more: Any) -> tuple[AnyEvent, ...]:
    return plan(action, **more), judged(verdict)


# -- predicting ----------------------------------------------------------------------------------

FREE = free_run()
KNOWN = tuple(of("teacher", event) for event in (learned(B, A), learned(C, A, B)))


def predict(*story: AnyEvent | Told) -> PredictionMade:
    prediction = said(*story, saw(page("/")), ASSESSED)
    made: PredictionMade = only(prediction, PredictionMade)
    return made


def test_with_nothing_learned_nothing_is_predicted() -> None:
    assert said(FREE, saw(page("/")), ASSESSED) == (PredictionMade("markov2", position=1),)


def test_with_no_history_nothing_is_predicted() -> None:
    assert predict(*KNOWN, FREE).candidates == ()


def test_after_one_known_action_it_predicts_by_the_first_order() -> None:
    assert predict(*KNOWN, FREE, *did(A, driver="prediction")).candidates == (
        Candidate(token(B), B, MILLION, "first_order"),
    )


def test_after_two_known_actions_it_predicts_by_the_second_order() -> None:
    both = *did(A, driver="prediction"), *did(B, driver="prediction")
    assert predict(*KNOWN, FREE, *both).candidates == (
        Candidate(token(C), C, MILLION, "second_order"),
    )


def test_after_two_actions_never_seen_together_it_falls_back_to_the_first_order() -> None:
    both = *did(C, driver="prediction"), *did(A, driver="prediction")
    assert predict(*KNOWN, FREE, *both).candidates == (
        Candidate(token(B), B, MILLION, "first_order"),
    )


@for_each("order, source", [(0, None), (1, "first_order"), (2, "second_order")])
def test_how_far_back_it_looks_is_a_setting(order: int, source: str | None) -> None:
    both = *did(A, driver="prediction"), *did(B, driver="prediction")
    made = predict(*KNOWN, free_run(order=order), *both)
    assert [candidate.source for candidate in made.candidates] == ([source] if source else [])


def test_an_unconfirmed_step_breaks_the_chain() -> None:
    broken = *did(A, driver="prediction"), *did(B, "no_effect", driver="prediction")
    assert predict(*KNOWN, FREE, *broken).candidates == ()


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    actions = [click(f"#{number}") for number in range(6)]
    taught = [
        of("teacher", learned(action, A))
        for number, action in enumerate(actions)
        for _ in range(number + 1)
    ]
    top = predict(*taught, free_run(top_k=4), *did(A)).candidates
    assert [candidate.action for candidate in top] == [actions[n] for n in (5, 4, 3, 2)]
    assert [candidate.probability for candidate in top] == [285_715, 238_095, 190_476, 142_857]


@for_all(st.permutations([B, B, C, C, click("#d")]))
def test_ties_are_in_one_order_however_they_were_learned(order: list[Action]) -> None:
    taught = [of("teacher", learned(action, A)) for action in order]
    found = predict(*taught, FREE, *did(A)).candidates
    assert [(each.action, each.probability) for each in found] == [
        (B, 400_000),
        (C, 400_000),
        (click("#d"), 200_000),
    ]


def test_what_one_session_taught_another_predicts() -> None:
    story = Story(Predictor())
    for event in (run_of(workflow(step(A), step(B))), *did(A), *did(B)):
        story.tell(of("first", event))
    for event in (FREE, *did(A, driver="prediction"), saw(page("/"))):
        story.tell(of("second", event))
    made = only(story.tell(of("second", ASSESSED)), PredictionMade)
    assert [candidate.action for candidate in made.candidates] == [B]


def test_what_a_turn_teaches_counts_from_the_next_turn_on() -> None:
    story = Story(Predictor())
    for event in (FREE, *did(A), plan(B), saw(page("/"))):
        story.tell(event)
    story.tell(judged())
    same_turn = only(story.tell(ASSESSED), PredictionMade)
    assert same_turn.candidates == ()
    for event in (plan(A), judged(), saw(page("/"))):
        story.tell(event)
    next_turn = only(story.tell(ASSESSED), PredictionMade)
    assert [candidate.action for candidate in next_turn.candidates] == [B]


def test_a_prediction_names_the_last_position_before_its_turn() -> None:
    story = Story(Predictor())
    story.tell(FREE)
    story.tell(of("other", learned(B, A)))
    before = story.seq
    story.tell(saw(page("/")))
    made = only(story.tell(ASSESSED), PredictionMade)
    assert made.position == before


def test_what_others_learn_during_the_turn_does_not_move_its_position() -> None:
    story = Story(Predictor())
    story.tell(FREE)
    story.tell(saw(page("/")))
    story.tell(of("other", learned(B, A)))
    assert only(story.tell(ASSESSED), PredictionMade).position == 1


# -- learning ------------------------------------------------------------------------------------


def test_a_confirmed_action_is_learned_with_what_came_before_it() -> None:
    assert said(FREE, *did(A), *did(B), *did(C, driver="workflow")) == (
        learned(C, A, B, driver="workflow"),
    )


def test_only_two_actions_of_history_are_kept() -> None:
    assert said(FREE, *did(A), *did(B), *did(C), *did(A)) == (learned(A, B, C),)


@for_each("verdict", ["no_effect", "wrong_target", "failed", "unknown"])
def test_what_was_not_confirmed_is_not_learned_and_breaks_the_chain(verdict: Verdict) -> None:
    assert said(FREE, *did(A), *did(B, verdict)) == ()
    assert said(FREE, *did(A), *did(B, verdict), *did(C)) == (learned(C),)


def test_a_verdict_on_nothing_teaches_nothing() -> None:
    assert said(FREE, judged()) == ()
    assert said(FREE, *did(A), judged()) == ()


def test_what_is_learned_names_parameters_and_holds_no_secret() -> None:
    typed = fill("#user", Parameter("user"))
    [lesson] = said(FREE, *did(typed))
    assert isinstance(lesson, TransitionLearned)
    assert lesson.token == '{"param":"user","selector":"#user","type":"type"}'


def test_a_freely_predicted_step_teaches_nothing() -> None:
    assert said(*KNOWN, FREE, *did(A), *did(B, driver="prediction")) == ()


# -- following a workflow ------------------------------------------------------------------------

FLOW = workflow(
    step(go_to("/start"), at="/nowhere", leads_to="/start"),
    step(A, at="/start", leads_to="/orders/*"),
    step(B, at="/orders/*"),
)
RUN = run_of(FLOW)


def test_the_first_step_is_due_at_once() -> None:
    assert said(RUN, saw(Page(url="about:blank")), ASSESSED) == (StepDue(0, 3, FLOW.steps[0]),)


def test_a_navigation_is_due_wherever_one_is() -> None:
    assert only(said(RUN, saw(page("/lost")), ASSESSED), StepDue).unmet == ""


def test_a_confirmed_step_makes_the_next_one_due() -> None:
    story = RUN, *did(go_to("/start")), saw(page("/start")), ASSESSED
    assert said(*story) == (StepDue(1, 3, FLOW.steps[1]),)


def test_a_step_at_another_place_says_what_is_unmet() -> None:
    story = RUN, *did(go_to("/start")), saw(page("/login/7")), ASSESSED
    due = only(said(*story), StepDue)
    assert due.unmet == f"recorded at {ORIGIN}/start, now at {ORIGIN}/login/*"


def test_a_place_with_another_id_is_the_same_place() -> None:
    story = RUN, *did(go_to("/start")), *did(A), saw(page("/orders/99")), ASSESSED
    assert said(*story) == (StepDue(2, 3, FLOW.steps[2]),)


@for_each("verdict", ["no_effect", "wrong_target", "failed"])
def test_an_unconfirmed_step_stays_due(verdict: Verdict) -> None:
    story = RUN, *did(go_to("/start")), *did(A, verdict), saw(page("/start")), ASSESSED
    assert only(said(*story), StepDue).index == 1


def test_after_the_last_step_the_workflow_is_finished() -> None:
    story = RUN, *did(go_to("/start")), *did(A), *did(B), saw(page("/orders/1")), ASSESSED
    assert said(*story) == (WorkflowFinished(steps=3),)


def test_a_run_of_a_workflow_is_not_made_another_version_of_it() -> None:
    assert said(RUN, *did(go_to("/start")), RunStopped("completed")) == (
        EffectsLearned("order", 1),
    )


def test_a_run_does_not_change_under_a_new_recording() -> None:
    newer = WorkflowLearned(Workflow("order", 2, (step(C),)))
    story = RUN, of("recorder", newer), saw(Page(url="about:blank")), ASSESSED
    assert only(said(*story), StepDue).step == FLOW.steps[0]


def test_nothing_is_due_after_the_stop() -> None:
    assert said(RUN, RunStopped("cancelled"), saw(page("/")), ASSESSED) == ()


# -- recording a workflow ------------------------------------------------------------------------

RECORDING = recording_of(values={"user": "Ann Bonny"})
FIELD = element("input", "field", ways=(ByCss("#user"), ByRole("textbox", "User")))
SEND = element("button", "send", ways=(ByCss("#send"),), submits=True, form_method="post")


def recorded(
    action: Action,
    what: Resolved | None = None,
    before: str = "/",
    after: str = "/",
    *,
    verdict: Verdict = "confirmed",
    approval: str = "",
) -> tuple[AnyEvent, ...]:
    """One step of a recording, as the Predictor hears of it."""
    resolved = (found(what),) if what is not None else ()
    allowed = ActionApproved(1, "sends_a_form", "because", "1", approval)
    return saw(page(before)), plan(action), *resolved, allowed, saw(page(after)), judged(verdict)


def learned_workflow(*story: AnyEvent | Told) -> WorkflowLearned:
    lesson: WorkflowLearned = only(said(*story), WorkflowLearned)
    return lesson


COMPLETED = RunStopped("completed", detail="all steps were done")


def test_a_recording_becomes_a_workflow_that_can_be_run() -> None:
    typed, send = fill("#user", Parameter("user")), click("#send")
    story = (
        RECORDING,
        *recorded(go_to("/form"), None, "/", "/form"),
        *recorded(typed, FIELD, "/form", "/form#user"),
        *recorded(send, SEND, "/form", "/users/7", approval="1.1.1"),
    )
    lesson = learned_workflow(*story, COMPLETED)
    assert lesson.stopped_at == ""
    assert lesson.workflow == Workflow(
        name="order",
        version=1,
        steps=(
            Step(
                go_to("/form"),
                place("/"),
                Expectation(moved=True, place=place("/form"), state="UNKNOWN"),
                state="UNKNOWN",
            ),
            Step(
                msgspec.structs.replace(typed, target=Target(FIELD.ways, FIELD.fingerprint)),
                place("/form"),
                Expectation(place=place("/form"), state="UNKNOWN"),
                state="UNKNOWN",
            ),
            Step(
                msgspec.structs.replace(send, target=Target(SEND.ways, SEND.fingerprint)),
                place("/form"),
                Expectation(moved=True, place=place("/users/*"), state="UNKNOWN"),
                standing_approval=StandingApproval(ORIGIN, "send"),
                state="UNKNOWN",
                irreversible=True,
            ),
        ),
        end=Expectation(place=place("/users/*")),
        parameters=("user",),
        hosts=("shop.example",),
        session=SESSION,
    )


def test_a_recorded_action_is_learned_as_the_page_names_it() -> None:
    scripted = Action("click", target=Target((ByRole("button", "Send"),)))
    lesson = only(said(RECORDING, *recorded(scripted, SEND)), TransitionLearned)
    assert lesson.token == '{"selector":"#send","type":"click"}'


def test_a_recorded_step_that_changed_nothing_is_kept_but_not_learned() -> None:
    story = RECORDING, *recorded(A, verdict="no_effect")
    assert said(*story) == ()
    assert len(learned_workflow(*story, COMPLETED).workflow.steps) == 1


@for_each("verdict", ["failed", "wrong_target"])
def test_a_recorded_step_that_failed_is_not_kept(verdict: Verdict) -> None:
    story = RECORDING, *recorded(A), *recorded(B, verdict=verdict)
    assert [each.action for each in learned_workflow(*story, COMPLETED).workflow.steps] == [A]


def test_a_recording_that_fails_half_way_keeps_what_happened_and_says_where() -> None:
    stopped = RunStopped("failed", "lost", "element_not_found: #b")
    lesson = learned_workflow(RECORDING, *recorded(A), stopped)
    assert (lesson.workflow.complete, lesson.stopped_at) == (False, "element_not_found: #b")
    assert len(lesson.workflow.steps) == 1


def test_a_recording_in_which_nothing_happened_is_no_workflow() -> None:
    assert said(RECORDING, saw(page("/")), RunStopped("failed", "lost")) == ()


def test_every_recording_of_a_name_is_a_new_version() -> None:
    story = Story(Predictor())
    for number in range(1, 4):
        session = f"recording-{number}"
        for event in (RECORDING, *recorded(A)):
            story.tell(of(session, event))
        lesson = only(story.tell(of(session, COMPLETED)), WorkflowLearned)
        assert (lesson.workflow.version, lesson.workflow.session) == (number, session)
        story.tell(of(session, SessionEnded("completed")))


def test_a_deleted_name_does_not_count_from_one_again() -> None:
    story = Story(Predictor())
    for event in (RECORDING, *recorded(A), COMPLETED, WorkflowDeleted("order")):
        story.tell(of("first", event))
    for event in (RECORDING, *recorded(A)):
        story.tell(of("second", event))
    lesson = only(story.tell(of("second", COMPLETED)), WorkflowLearned)
    assert lesson.workflow.version == 2


def test_an_incomplete_recording_counts_as_a_version() -> None:
    story = Story(Predictor())
    for event in (RECORDING, *recorded(A), RunStopped("failed")):
        story.tell(of("first", event))
    for event in (RECORDING, *recorded(A)):
        story.tell(of("second", event))
    lesson = only(story.tell(of("second", COMPLETED)), WorkflowLearned)
    assert (lesson.workflow.version, lesson.workflow.complete) == (2, True)


def test_the_element_that_was_acted_on_is_the_one_that_is_recorded() -> None:
    changed = element("button", "later", ways=(ByCss("#later"),))
    found_it = RECORDING, saw(page("/")), plan(A), found(SEND), TargetChanged(1, 1, changed)
    did_it = ActionApproved(1, "sends_a_form", "because", "1", "1.1.1"), judged()
    [only_step] = learned_workflow(*found_it, *did_it, COMPLETED).workflow.steps
    assert only_step.standing_approval == StandingApproval(ORIGIN, "later")


def test_a_retried_step_is_recorded_once() -> None:
    again = plan(A, attempt=2), judged("confirmed", 1, 2)
    story = RECORDING, *recorded(A, verdict="failed"), *again
    assert len(learned_workflow(*story, COMPLETED).workflow.steps) == 1


def test_one_steps_approval_is_not_the_next_ones() -> None:
    story = RECORDING, *recorded(A, SEND, approval="1.1.1"), *recorded(B, FIELD)
    first, second = learned_workflow(*story, COMPLETED).workflow.steps
    assert first.standing_approval is not None
    assert second.standing_approval is None


def test_a_literal_stays_a_literal() -> None:
    story = RECORDING, *recorded(fill("#note", "call first"), FIELD)
    [only_step] = learned_workflow(*story, COMPLETED).workflow.steps
    assert only_step.action.value == Text("call first")


def test_a_session_never_started_is_not_recorded() -> None:
    assert said(*did(A), COMPLETED) == ()
