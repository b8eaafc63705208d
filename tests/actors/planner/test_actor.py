"""Given what was predicted, due, judged or refused: what is proposed, and when to stop."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import msgspec
from hypothesis import given as for_all
from hypothesis import strategies as st

from rutter.actors.planner.actor import Planner
from rutter.actors.rules.steps.confidence import hundredths
from rutter.actors.rules.steps.retry import TRANSIENT
from rutter.events.action import Action, ActionType
from rutter.events.critic import ActionJudged, CompletionChecked, Verdict
from rutter.events.executor import ActionFailed, ErrorCode
from rutter.events.observer import BrowserLost, ObservationFailed
from rutter.events.page import Resting
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    ObservationRequested,
    PlanProposed,
    PlanWithheld,
    RunStopped,
)
from rutter.events.predictor import Candidate, PredictionMade, StepDue
from rutter.events.run_settings import MILLION, LanguageModel, ModelUse
from rutter.events.runtime import DeadlinePassed, SessionInterrupted, SessionStarted, StopRequested
from rutter.events.signature import token
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import (
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from rutter.events.vocabulary import AnyEvent
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, Told, at, given
from tests.support.shop_facts import (
    any_action,
    click,
    failed,
    fill,
    free_run,
    go_to,
    judged,
    page,
    recording_of,
    run_of,
    saw,
    step,
    workflow,
)

FREE = free_run()
FLOW = workflow(step(click("#one")), step(click("#two")), step(click("#three")))
NOTHING = PredictionMade("markov2", position=0)


def predicted(action: Action, probability: int) -> PredictionMade:
    candidate = Candidate(token(action), action, probability, "second_order")
    return PredictionMade("markov2", 0, (candidate,))


def due(index: int = 0, unmet: str = "") -> StepDue:
    return StepDue(index, len(FLOW.steps), FLOW.steps[index], unmet)


def refused(rule: str, code: Any, error: str = "", reason: str = "no") -> ActionRejected:
    return ActionRejected(1, rule, reason, "1", code, error)


def said(*story: AnyEvent | Told) -> AnyEvent:
    [decision] = given(Planner(), *story)
    return decision


# -- C1: nothing, too low, or do it --------------------------------------------------------------


def test_with_no_predictions_nothing_is_done_and_the_run_is_lost() -> None:
    assert given(Planner(), FREE, NOTHING) == (
        PlanWithheld("no_predictions_available"),
        RunStopped("failed", "lost", "no_predictions_available", step=0),
    )


def test_below_the_threshold_nothing_is_done() -> None:
    assert given(Planner(), FREE, predicted(click(), 420_000)) == (
        PlanWithheld("confidence_too_low_0.42"),
        RunStopped("failed", "lost", "confidence_too_low_0.42"),
    )


def test_above_the_threshold_the_most_probable_action_is_proposed() -> None:
    assert said(FREE, predicted(click("#buy"), 820_000)) == PlanProposed(
        step=1,
        attempt=1,
        driver="prediction",
        action=click("#buy"),
        reason="confidence_above_threshold_0.82",
        probability=820_000,
    )


def test_only_the_first_candidate_counts() -> None:
    first, second = click("#a"), click("#b")
    both = PredictionMade(
        "markov2",
        0,
        (
            Candidate(token(first), first, 400_000, "first_order"),
            Candidate(token(second), second, 600_000, "first_order"),
        ),
    )
    assert given(Planner(), FREE, both)[0] == PlanWithheld("confidence_too_low_0.40")


@for_all(st.integers(0, MILLION), st.integers(0, MILLION))
def test_a_probability_executes_exactly_when_it_is_not_below_the_threshold(
    probability: int, threshold: int
) -> None:
    decision = given(Planner(), free_run(threshold=threshold), predicted(click(), probability))[0]
    assert isinstance(decision, PlanProposed) is (probability >= threshold)


@for_all(st.integers(0, MILLION))
def test_equal_to_the_threshold_executes(millionths: int) -> None:
    story = free_run(threshold=millionths), predicted(click(), millionths)
    assert isinstance(said(*story), PlanProposed)


def test_where_what_is_known_ends_it_claims_that_it_is_done() -> None:
    end = PredictionMade("foresight", 1, ends=700_000)
    claim = said(free_run(threshold=700_000), end)
    assert isinstance(claim, CompletionClaimed)
    assert claim.reason == "what is known ends here (0.70)"
    less = given(Planner(), free_run(threshold=700_001), end)
    assert not any(isinstance(each, CompletionClaimed) for each in less)


def test_what_is_more_probable_than_the_end_is_done_first() -> None:
    candidate = Candidate(token(click()), click(), 300_000, "blend")
    made = PredictionMade("foresight", 1, (candidate,), ends=299_999)
    assert isinstance(said(free_run(threshold=200_000), made), PlanProposed)


@for_all(st.integers(0, MILLION))
def test_reasons_say_hundredths_rounded_half_up(millionths: int) -> None:
    exact = Decimal(millionths) / MILLION
    assert hundredths(millionths) == str(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))


@for_each(
    "millionths, text",
    [(0, "0.00"), (4_999, "0.00"), (5_000, "0.01"), (825_000, "0.83"), (MILLION, "1.00")],
)
def test_two_decimals_always(millionths: int, text: str) -> None:
    assert hundredths(millionths) == text


def test_a_free_run_goes_to_its_page_before_it_predicts() -> None:
    free = free_run(go_to("/start"))
    first = said(free, predicted(click(), MILLION))
    assert isinstance(first, PlanProposed)
    assert (first.driver, first.action) == ("script", go_to("/start"))
    second = said(free, NOTHING, judged(), predicted(click(), MILLION))
    assert isinstance(second, PlanProposed)
    assert (second.driver, second.step) == ("prediction", 2)


# -- nearly sure enough --------------------------------------------------------------------------

CAREFUL = free_run(threshold=700_000, suggest=500_000)
WITH_MODEL = msgspec.structs.replace(CAREFUL, models=ModelUse((LanguageModel("anthropic", "m"),)))


@for_each("probability", [500_000, 620_000, 699_999])
def test_what_is_nearly_sure_enough_is_suggested(probability: int) -> None:
    said_so = hundredths(probability)
    assert said(CAREFUL, predicted(click("#buy"), probability)) == PlanProposed(
        step=1,
        attempt=1,
        driver="prediction",
        action=click("#buy"),
        reason=f"confidence_to_suggest_{said_so}",
        probability=probability,
    )


def test_what_is_less_than_that_is_not_even_suggested() -> None:
    assert given(Planner(), CAREFUL, predicted(click(), 499_999))[0] == PlanWithheld(
        "confidence_too_low_0.50"
    )


def test_where_a_model_may_be_asked_it_is_asked_and_nothing_is_suggested() -> None:
    withheld, asked = given(Planner(), WITH_MODEL, predicted(click(), 620_000))
    assert withheld == PlanWithheld("confidence_too_low_0.62")
    assert isinstance(asked, AdviceRequested)


def test_a_model_that_nobody_named_cannot_be_asked() -> None:
    nobody = msgspec.structs.replace(CAREFUL, models=ModelUse())
    assert isinstance(said(nobody, predicted(click(), 620_000)), PlanProposed)


def test_the_same_suggestion_on_the_same_page_ends_the_run() -> None:
    story = Story(Planner())
    story.tell(free_run(threshold=700_000, suggest=500_000, max_steps=9))
    story.tell(saw(page()))
    for number in (1, 2, 3):
        [proposed] = story.tell(predicted(click(), 620_000))
        assert isinstance(proposed, PlanProposed)
        story.tell(judged(number=number))
    [stopped] = story.tell(predicted(click(), 620_000))
    assert isinstance(stopped, RunStopped)
    assert stopped.reason == "no_op_loop"


@for_each("error, failure", [("human_rejected", "policy_denied"), ("needs_person", "needs_person")])
def test_a_suggestion_that_was_refused_ends_the_run_with_why(error: str, failure: str) -> None:
    no = refused("suggested", "policy_denied", error, "a person said no: click 'Buy'")
    assert said(CAREFUL, predicted(click(), 620_000), no) == RunStopped(
        "policy_denied",
        failure,  # type: ignore[arg-type]
        "a person said no: click 'Buy'",
        step=1,
    )


@for_all(st.integers(0, MILLION), st.integers(0, MILLION), st.integers(0, MILLION))
def test_it_acts_suggests_or_does_nothing_by_both_limits(
    probability: int, threshold: int, suggest: int
) -> None:
    free = free_run(threshold=threshold, suggest=suggest)
    decision = given(Planner(), free, predicted(click(), probability))[0]
    suggested = isinstance(decision, PlanProposed) and "_suggest_" in decision.reason
    assert suggested is (suggest <= probability < threshold)
    assert isinstance(decision, PlanProposed) is (probability >= min(threshold, suggest))


# -- a script, step by step ----------------------------------------------------------------------

SCRIPT = recording_of(go_to("/"), click("#a"), max_steps=9)


def test_a_recording_does_what_its_script_says_whatever_is_predicted() -> None:
    assert said(SCRIPT, predicted(click("#other"), MILLION)) == PlanProposed(
        1, 1, "script", go_to("/"), "script_step_1_of_2", index=0
    )


def test_the_next_step_follows_when_the_last_was_confirmed() -> None:
    assert said(SCRIPT, NOTHING, judged(), NOTHING) == PlanProposed(
        2, 1, "script", click("#a"), "script_step_2_of_2", index=1, rest=Resting(10_000)
    )


def test_a_recording_goes_on_after_a_step_that_changed_nothing() -> None:
    decision = said(SCRIPT, NOTHING, judged("no_effect"), NOTHING)
    assert isinstance(decision, PlanProposed)
    assert decision.index == 1


def test_a_script_that_is_done_is_completed() -> None:
    done = SCRIPT, NOTHING, judged(), NOTHING, judged(number=2), NOTHING
    rest = Resting(10_000)
    assert said(*done) == ObservationRequested("rest_awaited", 10_000, rest=rest)
    assert said(*done, NOTHING) == RunStopped(
        "completed", "", "all 2 steps of the script were done", step=2
    )


def test_a_script_that_fails_half_way_says_how() -> None:
    assert said(SCRIPT, NOTHING, judged(), NOTHING, judged("failed", 2), NOTHING) == RunStopped(
        "failed", "verification_failed", "failed: seen", step=2
    )


# -- a workflow, step by step --------------------------------------------------------------------

RUN = run_of(FLOW, max_steps=6)


def test_a_due_step_is_proposed_with_what_it_is_expected_to_change() -> None:
    assert said(RUN, due(1)) == PlanProposed(
        1,
        1,
        "workflow",
        click("#two"),
        "workflow_step_2_of_3",
        index=1,
        expects=FLOW.steps[1].after,
    )


def test_a_step_that_is_not_yet_at_its_place_is_waited_for() -> None:
    assert said(RUN, due(unmet="elsewhere")) == ObservationRequested("place_unmet", 3_000)


def test_the_wait_for_a_place_is_counted_from_when_it_was_first_missed() -> None:
    waiting = RUN, at(100, due(unmet="elsewhere")), at(1_100, due(unmet="elsewhere"))
    assert said(*waiting) == ObservationRequested("place_unmet", 2_000)
    assert said(*waiting, at(3_099, due(unmet="elsewhere"))) == ObservationRequested(
        "place_unmet", 1
    )


def test_a_place_that_never_comes_means_lost() -> None:
    waiting = RUN, at(0, due(unmet="at the wrong page")), at(3_000, due(unmet="at the wrong page"))
    assert said(*waiting) == RunStopped("failed", "lost", "step 1 of 3: at the wrong page")


def test_a_place_that_came_starts_the_patience_anew() -> None:
    story = RUN, at(0, due(unmet="x")), at(2_000, due()), at(9_000, due(1, unmet="x"))
    assert said(*story) == ObservationRequested("place_unmet", 3_000)


def test_how_long_a_place_is_waited_for_is_a_setting() -> None:
    story = run_of(FLOW, place_ms=50), at(0, due(unmet="x")), at(50, due(unmet="x"))
    assert isinstance(said(*story), RunStopped)


# -- where a person goes on in the window (E3) ----------------------------------------------------

HEADED = msgspec.structs.replace(RUN, headed=True)


def missed(signed_out: bool = False) -> tuple[Told, Told]:
    never = StepDue(0, len(FLOW.steps), FLOW.steps[0], "elsewhere", signed_out)
    return at(0, never), at(3_000, never)


def test_who_has_a_window_is_asked_to_find_the_way_back() -> None:
    assert said(HEADED, *missed()) == CheckpointReached("unknown", 1, "step 1 of 3: elsewhere", 0)


def test_a_sign_in_is_for_whoever_has_a_window_and_else_ends_the_run() -> None:
    assert said(HEADED, *missed(signed_out=True)) == CheckpointReached(
        "login", 1, "step 1 of 3: elsewhere", 0
    )
    assert said(RUN, *missed(signed_out=True)) == RunStopped(
        "policy_denied", "needs_person", "the site asks to sign in: step 1 of 3: elsewhere"
    )


def test_where_the_person_left_the_page_is_looked_at_and_waited_for_anew() -> None:
    passed = CheckpointPassed("login", "1.login.1")
    assert said(HEADED, *missed(), passed) == ObservationRequested("checkpoint_passed", 3_000)
    assert said(HEADED, *missed(), passed, at(9_000, due(unmet="elsewhere"))) == (
        ObservationRequested("place_unmet", 3_000)
    )


def test_a_person_is_asked_three_times_to_put_one_step_right() -> None:
    story: list[AnyEvent | Told] = [HEADED]
    for number in range(4):
        began = number * 10_000
        story += [at(began, due(unmet="elsewhere")), at(began + 3_000, due(unmet="elsewhere"))]
        decided = said(*story)
        story.append(CheckpointPassed("unknown", str(number)))
        assert isinstance(decided, CheckpointReached if number < 3 else RunStopped)


@for_each(
    "kind, by, reason, failure",
    [
        ("login", "nobody", "policy_denied", "needs_person"),
        ("login", "terminal", "policy_denied", "policy_denied"),
        ("unknown", "terminal", "failed", "lost"),
    ],
)
def test_a_person_who_does_not_go_on_ends_it(kind: Any, by: str, reason: Any, failure: Any) -> None:
    no = CheckpointRefused(kind, "1", by, "not today")
    assert said(HEADED, *missed(), no) == RunStopped(reason, failure, "not today")


# -- retries (F2) --------------------------------------------------------------------------------

CODES: tuple[ErrorCode, ...] = (
    *("timeout", "element_obscured", "element_not_visible", "action_failed", "element_not_found"),
    *("element_disabled", "option_not_found", "value_unbound", "navigation_failed", "page_crashed"),
)
TYPES: tuple[ActionType, ...] = (*("navigate", "click", "type", "press", "select", "scroll"),)


def after_failure(
    kind: ActionType, failure: ActionFailed | None, verdict: Verdict = "failed"
) -> AnyEvent:
    script = recording_of(any_action(kind), max_steps=9)
    told = () if failure is None else (failure,)
    return said(script, NOTHING, *told, judged(verdict), NOTHING)


@for_each("kind", TYPES)
@for_each("code", CODES)
def test_before_anything_was_dispatched_a_transient_failure_is_tried_once_more(
    kind: ActionType, code: ErrorCode
) -> None:
    decision = after_failure(kind, failed(code, dispatched=False))
    if code in TRANSIENT:
        assert isinstance(decision, PlanProposed)
        assert (decision.step, decision.attempt, decision.action.type) == (1, 2, kind)
    else:
        assert isinstance(decision, RunStopped)
        assert (decision.failure, decision.detail) == ("verification_failed", code)


@for_each("kind", TYPES)
@for_each("code", CODES)
def test_after_input_was_dispatched_only_what_can_be_done_twice_is_tried_again(
    kind: ActionType, code: ErrorCode
) -> None:
    decision = after_failure(kind, failed(code, dispatched=True))
    again = kind in ("type", "select", "scroll", "navigate") and code in TRANSIENT
    assert isinstance(decision, PlanProposed if again else RunStopped)


@for_each("kind", TYPES)
@for_each("verdict", ["wrong_target", "failed", "unknown"])
def test_what_was_done_and_judged_against_is_final(kind: ActionType, verdict: Verdict) -> None:
    decision = after_failure(kind, None, verdict)
    assert isinstance(decision, RunStopped)
    assert (decision.reason, decision.failure) == ("failed", "verification_failed")


@for_each("kind", ["type", "select"])
def test_a_field_that_does_not_hold_its_value_is_filled_once_more(kind: ActionType) -> None:
    script = recording_of(any_action(kind), max_steps=9)
    unset = ActionJudged(1, 1, "failed", "value_not_set")
    assert isinstance(said(script, NOTHING, unset, NOTHING), PlanProposed)


@for_each("kind", ["type", "select", "navigate"])
def test_what_is_irreversible_is_never_repeated_once_input_was_dispatched(kind: ActionType) -> None:
    action = any_action(kind)
    begun = recording_of(action, max_steps=9), NOTHING
    intent = ActionStarted(1, 1, action, irreversible=True)
    sent = failed("timeout", dispatched=True)
    assert isinstance(said(*begun, intent, sent, judged("failed"), NOTHING), RunStopped)
    assert isinstance(said(*begun, intent, judged("failed"), NOTHING), RunStopped)
    unsent = failed("timeout", dispatched=False)
    assert isinstance(said(*begun, intent, unsent, judged("failed"), NOTHING), PlanProposed)


def test_a_retry_is_the_same_step_again() -> None:
    first = said(RUN, due())
    again = said(RUN, due(), failed("timeout", dispatched=False), judged("failed"), due())
    assert again == msgspec.structs.replace(first, attempt=2)


def test_a_second_failure_has_exhausted_the_retries() -> None:
    once = failed("timeout", dispatched=False)
    twice = failed("timeout", dispatched=False, attempt=2)
    story = RUN, due(), once, judged("failed"), due(), twice, judged("failed", 1, 2), due()
    assert said(*story) == RunStopped("failed", "retry_exhausted", "timeout", step=1)


def test_the_failure_says_what_the_page_said() -> None:
    broken = ActionFailed(1, 1, "option_not_found", False, "there is no option 'blue'")
    assert said(RUN, due(), broken, judged("failed"), due()) == RunStopped(
        "failed", "verification_failed", "option_not_found: there is no option 'blue'", step=1
    )


def test_a_site_that_does_not_answer_twice_is_unreachable() -> None:
    away = ActionFailed(1, 1, "navigation_failed", True, "net::ERR_CONNECTION_REFUSED")
    story = recording_of(go_to("/"), max_steps=9), NOTHING, away, judged("failed"), NOTHING
    assert isinstance(said(*story), PlanProposed)
    still = msgspec.structs.replace(away, attempt=2)
    assert said(*story, still, judged("failed", 1, 2), NOTHING) == RunStopped(
        "failed", "unreachable", "navigation_failed: net::ERR_CONNECTION_REFUSED", step=1
    )


def test_a_retry_that_works_goes_on() -> None:
    once = failed("timeout", dispatched=False)
    story = RUN, due(), once, judged("failed"), due(), judged("confirmed", 1, 2), due(1)
    decision = said(*story)
    assert isinstance(decision, PlanProposed)
    assert (decision.step, decision.attempt, decision.index) == (2, 1, 1)


def test_the_failure_of_one_step_does_not_excuse_the_next() -> None:
    first = RUN, due(), failed("timeout", dispatched=False), judged("failed"), due()
    second = judged("confirmed", 1, 2), due(1), judged("failed", 2), due(1)
    assert said(*first, *second) == RunStopped(
        "failed", "verification_failed", "failed: seen", step=2
    )


# -- refusals ------------------------------------------------------------------------------------


def test_typing_into_a_list_is_proposed_again_as_selecting() -> None:
    typed = fill("#priority", "urgent")
    first = said(recording_of(typed, max_steps=9), NOTHING)
    story = recording_of(typed, max_steps=9), NOTHING, refused("element_kind", "validation_error")
    again = said(*story)
    assert isinstance(first, PlanProposed)
    assert again == msgspec.structs.replace(
        first,
        action=msgspec.structs.replace(typed, type="select"),
        reason="script_step_1_of_1_as_select",
    )


@for_each(
    "rejection, stop",
    [
        (
            refused("denylist", "policy_denied", "policy_denied"),
            RunStopped("policy_denied", "policy_denied", "no", step=1),
        ),
        (
            refused("denylist", "policy_denied", "needs_person"),
            RunStopped("policy_denied", "needs_person", "no", step=1),
        ),
        (
            refused("denylist", "policy_denied", "human_rejected", "not today"),
            RunStopped("policy_denied", "policy_denied", "not today", step=1),
        ),
        (
            refused("target_exists", "execution_error", "element_not_found"),
            RunStopped("failed", "lost", "element_not_found: no", step=1),
        ),
        (
            refused("required_fields", "validation_error", "invalid_params"),
            RunStopped("failed", "verification_failed", "invalid_params: no", step=1),
        ),
        (
            refused("some_rule", "validation_error"),
            RunStopped("failed", "verification_failed", "some_rule: no", step=1),
        ),
    ],
)
def test_a_refusal_stops_the_run_and_says_why(rejection: ActionRejected, stop: RunStopped) -> None:
    assert said(RUN, due(), rejection) == stop


def test_a_dry_run_stops_at_what_was_withheld() -> None:
    withheld = ActionWithheld(1, click("#buy"), "would have done it: it sends a form (POST)")
    assert said(RUN, due(), withheld) == RunStopped(
        "completed_unverified", "", f"dry run: {withheld.reason}", step=1
    )


# -- stop conditions (E6) ------------------------------------------------------------------------


def confirmed_steps(story: Story, count: int) -> None:
    for number in range(1, count + 1):
        [plan] = story.tell(predicted(click(f"#{number}"), MILLION))
        assert isinstance(plan, PlanProposed)
        story.tell(judged(number=number))


def test_a_run_stops_after_max_steps() -> None:
    story = Story(Planner())
    story.tell(free_run(max_steps=12))
    confirmed_steps(story, 12)
    assert story.tell(predicted(click("#13"), MILLION)) == (
        RunStopped("max_steps", "", "12 steps were taken", step=12),
    )


def test_max_steps_also_ends_a_workflow() -> None:
    story = run_of(FLOW, max_steps=1), due(), judged(), due(1)
    assert said(*story) == RunStopped("max_steps", "", "1 steps were taken", step=1)


def test_failures_that_a_retry_mended_do_not_add_up() -> None:
    story = Story(Planner())
    story.tell(run_of(FLOW, max_steps=9, max_failures=2))
    for number, index in ((1, 0), (2, 1)):
        story.tell(due(index))
        story.tell(failed("timeout", dispatched=False, number=number))
        story.tell(judged("failed", number))
        story.tell(due(index))
        story.tell(judged("confirmed", number, 2))
    story.tell(due(2))
    story.tell(failed("timeout", dispatched=False, number=3))
    story.tell(judged("failed", 3))
    [again] = story.tell(due(2))
    assert isinstance(again, PlanProposed)
    assert again.attempt == 2
    story.tell(judged("failed", 3, 2))
    assert story.tell(due(2)) == (RunStopped("max_failures", "", "2 steps failed", step=3),)


def test_max_failures_comes_before_another_try() -> None:
    story = run_of(FLOW, max_failures=1), due(), failed("timeout", dispatched=False)
    decision = said(*story, judged("failed"), due())
    assert isinstance(decision, RunStopped)
    assert decision.reason == "max_failures"


def repeat(story: Story, action: Action, seen: str) -> tuple[AnyEvent, ...]:
    story.tell(saw(page("/", seen)))
    decided = story.tell(predicted(action, MILLION))
    if isinstance(decided[0], PlanProposed):
        story.tell(judged(number=decided[0].step))
    return decided


def test_the_same_action_on_the_same_page_again_and_again_is_a_loop() -> None:
    story = Story(Planner())
    story.tell(free_run(max_same=3))
    for _ in range(3):
        assert isinstance(repeat(story, click("#more"), "same")[0], PlanProposed)
    assert repeat(story, click("#more"), "same") == (
        RunStopped(
            "no_op_loop", "", f"the same action on the same page: {token(click('#more'))}", step=3
        ),
    )


def test_the_same_action_on_a_page_that_changes_is_no_loop() -> None:
    story = Story(Planner())
    story.tell(free_run(max_same=3))
    for turn in range(8):
        assert isinstance(repeat(story, click("#more"), f"page {turn}")[0], PlanProposed)


def test_another_action_in_between_is_no_loop() -> None:
    story = Story(Planner())
    story.tell(free_run(max_same=3))
    for turn in range(8):
        action = click("#other") if turn % 3 == 2 else click("#more")
        assert isinstance(repeat(story, action, "same")[0], PlanProposed)


@for_each(
    "fact, stop",
    [
        (
            DeadlinePassed("wall_time", 90_000),
            RunStopped("max_wall_time", "", "90000 ms have passed", step=1),
        ),
        (StopRequested("terminal"), RunStopped("cancelled", "", "stopped by terminal", step=1)),
        (
            StopRequested("daemon", "too slow"),
            RunStopped("cancelled", "", "stopped by daemon: too slow", step=1),
        ),
        (
            BrowserLost("it crashed"),
            RunStopped("interrupted", "browser_lost", "it crashed", step=1),
        ),
        (
            SessionInterrupted("the process died"),
            RunStopped("interrupted", "", "the process died", step=1),
        ),
        (
            ObservationFailed("timeout", "no answer"),
            RunStopped("interrupted", "browser_lost", "timeout: no answer", step=1),
        ),
        (
            CompletionChecked(True, "the recorded end is reached"),
            RunStopped("completed", "", "the recorded end is reached", step=1),
        ),
        (
            CompletionChecked(False, "no end was recorded"),
            RunStopped("completed_unverified", "", "no end was recorded", step=1),
        ),
    ],
)
def test_what_ends_a_run_wherever_it_is(fact: AnyEvent, stop: RunStopped) -> None:
    assert said(RUN, due(), fact) == stop


@for_each(
    "late",
    [
        due(),
        NOTHING,
        refused("x", "policy_denied"),
        StopRequested("again"),
        BrowserLost("late"),
        CompletionChecked(True, "late"),
    ],
)
def test_nothing_is_said_after_the_stop(late: AnyEvent) -> None:
    assert given(Planner(), RUN, due(), StopRequested("terminal"), late) == ()


@for_each("early", [due(), NOTHING, StopRequested("x"), judged()])
def test_nothing_is_said_about_a_session_that_never_started(early: AnyEvent) -> None:
    assert given(Planner(), early) == ()


def test_a_verdict_alone_proposes_nothing() -> None:
    later: list[SessionStarted | StepDue | ActionJudged] = [RUN, due(), judged()]
    assert given(Planner(), *later) == ()
