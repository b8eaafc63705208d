"""Given a run that is lost and language models to ask: who is asked what, and what comes of it."""

from typing import Any

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.events.action import (
    Action,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Parameter,
    Strategy,
    Target,
    Text,
    Untrusted,
)
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived, Ending, Proposal
from rutter.events.checks import PageState
from rutter.events.critic import CompletionChecked, PageAssessed, StateDiffered
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    ObservationRequested,
    PlanProposed,
    PlanWithheld,
    RunStopped,
)
from rutter.events.predictor import (
    Candidate,
    PredictionMade,
    StepDue,
    TransitionLearned,
    WorkflowLearned,
)
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.events.runtime import SessionStarted, StopRequested
from rutter.events.service_pack import Service, ServiceScript
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import ActionRejected, ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Step
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, at, of, only
from tests.support.shop_facts import (
    click,
    element,
    fill,
    found,
    free_run,
    judged,
    page,
    run_of,
    saw,
    step,
    workflow,
)

FIRST, SECOND = LanguageModel("anthropic", "claude-x"), LanguageModel("openai", "gpt-x")
MODELS = ModelUse((FIRST, SECOND), ("browser_click",))
FLOW = workflow(
    step(click("#a"), leads_to="/b"),
    step(fill("#name", Parameter("who")), at="/b"),
    step(click("#c"), at="/b", leads_to="/c"),
    parameters=("who",),
)
BELOW = PredictionMade("markov2", 0, (Candidate("t", click("#p"), 420_000, "first_order"),))


def helped(started: SessionStarted, models: ModelUse = MODELS) -> SessionStarted:
    return msgspec.structs.replace(started, models=models)


RUN = helped(run_of(FLOW, values={"who": "Ann"}))
FREE = helped(free_run())


def due(index: int = 0, **more: Any) -> StepDue:
    return StepDue(index, len(FLOW.steps), FLOW.steps[index], **more)


def gone(number: int = 1, **more: Any) -> ActionRejected:
    said: dict[str, Any] = {"code": "execution_error", "error": "element_not_found", **more}
    return ActionRejected(number, "target_exists", said.pop("reason", "no"), "1", **said)


def by(*ways: Any) -> Action:
    return Action("click", target=Target(ways))


ARIA, CSS = ByRole("button", "Continue"), ByCss("#go-on")


def advice(
    request: str, action: Action | None = None, certainty: int = 900_000, **more: Any
) -> Any:
    proposal = Proposal(action or by(ARIA), certainty, **more)
    return AdviceReceived(request, "anthropic", "claude-x", proposal=proposal)


class Run(Story):
    """A Planner whose first step's element is gone."""

    def __init__(self, started: SessionStarted = RUN) -> None:
        super().__init__(Planner())
        self.tell(started)

    def lost(self) -> AdviceRequested:
        self.tell(due())
        asked = only(self.tell(gone()), AdviceRequested)
        assert isinstance(asked, AdviceRequested)
        return asked

    def fails(self, number: int, verdict: Any = "no_effect") -> tuple[AnyEvent, ...]:
        """The step was done and came to nothing; the recorded one is due again."""
        self.tell(judged(verdict, number))
        return self.tell(due())


# -- who is asked ----------------------------------------------------------------------------------


def test_without_models_a_step_whose_element_is_gone_is_lost_as_ever() -> None:
    run = Run(run_of(FLOW, values={"who": "Ann"}))
    run.tell(due())
    [stop] = run.tell(gone())
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.failure) == ("failed", "lost")


def test_a_step_whose_element_is_gone_costs_one_question() -> None:
    asked = Run().lost()
    assert (asked.request, asked.purpose, asked.index, asked.step) == ("a1", "repair", 0, 2)
    assert (asked.provider, asked.model, asked.attempt) == ("anthropic", "claude-x", 1)
    assert "no" in asked.note


def test_what_is_transient_is_asked_once_more_then_the_next_and_then_nobody() -> None:
    run = Run()
    run.lost()
    busy = [("overloaded", True), ("timeout", True), ("unauthorised", False)]
    told: list[Any] = []
    for number, (code, transient) in enumerate(busy, 1):
        provider = "anthropic" if number < 3 else "openai"
        [said] = run.tell(AdviceFailed(f"a{number}", provider, code, transient))  # type: ignore[arg-type]
        told.append(said)
    assert [(each.provider, each.attempt) for each in told[:2]] == [("anthropic", 2), ("openai", 1)]
    stop = told[2]
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.failure) == ("failed", "lost")
    assert "openai: unauthorised" in stop.detail


def test_the_one_that_answered_instead_is_asked_first_from_then_on() -> None:
    run = Run()
    run.lost()
    run.tell(AdviceFailed("a1", "anthropic", "unauthorised", False))
    run.tell(advice("a2"))
    [asked] = run.tell(gone(2))
    assert isinstance(asked, AdviceRequested)
    assert asked.provider == "openai"


@for_each(
    "ending, invalid, provider, attempt",
    [
        ("called", "no JSON", "anthropic", 2),
        ("refused", "", "openai", 1),
        ("said", "", "anthropic", 2),
    ],
)
def test_an_answer_that_proposes_nothing_is_none(
    ending: Ending, invalid: str, provider: str, attempt: int
) -> None:
    run = Run()
    run.lost()
    [asked] = run.tell(AdviceReceived("a1", "anthropic", "m", ending, invalid=invalid))
    assert isinstance(asked, AdviceRequested)
    assert (asked.provider, asked.attempt, asked.purpose) == (provider, attempt, "repair")


def test_an_answer_to_a_question_that_is_not_open_leads_to_nothing() -> None:
    run = Run()
    run.lost()
    assert run.tell(advice("a7")) == ()


@for_each("state", ["LOGIN_REQUIRED", "START"])
def test_a_page_where_somebody_signs_in_is_never_shown(state: PageState) -> None:
    run = Run()
    run.tell(PageAssessed(state))
    run.tell(due())
    [stop] = run.tell(gone())
    assert isinstance(stop, RunStopped)


def test_a_run_that_stops_with_a_question_open_has_spent_it() -> None:
    run = Run()
    run.lost()
    lost, stop = run.tell(StopRequested("somebody"))
    assert lost == AdviceLost("a1")
    assert isinstance(stop, RunStopped)


# -- what is proposed ------------------------------------------------------------------------------


def test_the_repaired_step_stands_for_the_recorded_one_and_has_no_standing() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1", leads_to="ACCOUNT_ACTIVE")), PlanProposed)
    assert (plan.driver, plan.index, plan.healed, plan.certainty) == ("model", 0, True, 900_000)
    assert plan.action == by(ARIA)
    assert plan.expects is not None
    assert (plan.expects.state, plan.expects.place) == ("ACCOUNT_ACTIVE", None)


def test_what_a_repaired_step_types_is_what_was_recorded() -> None:
    run = Run()
    run.tell(due(1))
    run.tell(gone())
    typed = Action("type", target=Target((CSS,)), value=Text("4111 1111"))
    plan = only(run.tell(advice("a1", typed)), PlanProposed)
    assert plan.action.value == Parameter("who")
    assert plan.action.target == Target((CSS,))


@for_each(
    "proposed", [advice("a1", instead=False), advice("a1", Action("scroll", direction="down"))]
)
def test_what_only_leads_to_the_step_leaves_it_due(proposed: AdviceReceived) -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(proposed), PlanProposed)
    assert (plan.index, plan.healed) == (-1, False)


def test_a_place_that_is_not_met_is_waited_for_before_anybody_is_asked() -> None:
    run = Run()
    [look] = run.tell(at(0, due(unmet="recorded at /, now at /offer")))
    assert isinstance(look, ObservationRequested)
    [asked] = run.tell(at(60_000, due(unmet="recorded at /, now at /offer")))
    assert isinstance(asked, AdviceRequested)
    assert "/offer" in asked.note


def test_a_page_that_asks_to_sign_in_goes_to_a_person_and_not_to_a_model() -> None:
    run = Run()
    run.tell(at(0, due(unmet="elsewhere", signed_out=True)))
    [stop] = run.tell(at(60_000, due(unmet="elsewhere", signed_out=True)))
    assert isinstance(stop, RunStopped)
    assert stop.failure == "needs_person"


def test_less_certain_than_the_least_is_asked_again_and_then_given_up() -> None:
    run = Run()
    run.lost()
    [again] = run.tell(advice("a1", certainty=599_999))
    assert isinstance(again, AdviceRequested)
    assert "certainty 0.60 is below 0.60" in again.told
    [stop] = run.tell(advice("a2", certainty=100_000))
    assert isinstance(stop, RunStopped)
    assert "not sure" in stop.detail


def test_certain_enough_is_equal_to_the_least() -> None:
    run = Run()
    run.lost()
    assert only(run.tell(advice("a1", certainty=600_000)), PlanProposed)


def test_a_step_that_cannot_be_undone_and_was_sent_is_nothing_to_go_on_from() -> None:
    run = Run()
    run.tell(due())
    run.tell(ActionStarted(1, 1, click("#a"), irreversible=True))
    [stop] = run.fails(1, "failed")
    assert isinstance(stop, RunStopped)


# -- self-correction -------------------------------------------------------------------------------


def test_each_correction_is_told_what_was_tried_and_leads_with_another_kind_of_way() -> None:
    run = Run()
    run.lost()
    answers = [by(ARIA), by(CSS), by(ByText("Go on")), by(ByPoint(10, 20))]
    led = []
    asked: Any = None
    for number, action in enumerate(answers, 1):
        plan = only(run.tell(advice(f"a{number}", action)), PlanProposed)
        assert plan.action.target is not None
        led.append(type(plan.action.target.strategies[0]))
        [asked] = run.tell(gone(plan.step, reason=f"not found {number}"))
        if number < 4:
            assert isinstance(asked, AdviceRequested)
            assert (asked.purpose, asked.correction) == ("correct", number)
            assert asked.errors[-1] == f"not found {number}"
            assert len(asked.tried) == number
    assert len(set(led)) == 4
    assert isinstance(asked, RunStopped)
    assert asked.failure == "lost"


def test_after_three_corrections_a_person_with_a_window_is_asked() -> None:
    run = Run(msgspec.structs.replace(RUN, headed=True))
    run.lost()
    said: Any = None
    for number, action in enumerate((by(ARIA), by(CSS), by(ByText("x")), by(ByPoint(1, 2))), 1):
        plan = only(run.tell(advice(f"a{number}", action)), PlanProposed)
        [said] = run.tell(gone(plan.step))
    assert isinstance(said, CheckpointReached)
    assert said.kind == "unknown"


def test_the_same_strategy_again_is_no_correction_and_counts_as_one() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1", by(ARIA))), PlanProposed)
    run.tell(gone(plan.step))
    for number in (2, 3):
        [asked] = run.tell(advice(f"a{number}", by(ARIA)))
        assert isinstance(asked, AdviceRequested)
        assert asked.correction == number
        assert "no correction" in asked.note
    [stop] = run.tell(advice("a4", by(ByRole("button", "Another"))))
    assert isinstance(stop, RunStopped), "aria led before: another name is the same strategy"


def test_what_was_tried_is_left_out_of_a_correction() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1", by(ARIA))), PlanProposed)
    run.tell(gone(plan.step))
    plan = only(run.tell(advice("a2", by(ARIA, ByText("Go on")))), PlanProposed)
    assert plan.action.target == Target((ByText("Go on"),))


def test_another_name_for_the_element_that_did_nothing_is_no_other_strategy() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1", by(ARIA))), PlanProposed)
    run.tell(found(element(ways=(ARIA, CSS)), plan.step))
    [asked] = run.fails(plan.step)
    assert isinstance(asked, AdviceRequested)
    assert asked.purpose == "correct"
    [again] = run.tell(advice("a2", by(CSS)))
    assert isinstance(again, AdviceRequested)
    assert only(run.tell(advice("a3", by(ByText("Elsewhere")))), PlanProposed)


def test_a_persons_no_goes_back_to_the_model_with_what_they_said() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1")), PlanProposed)
    no = gone(
        plan.step, code="policy_denied", error="human_rejected", reason="a person said no: wait"
    )
    [asked] = run.tell(no)
    assert isinstance(asked, AdviceRequested)
    assert asked.errors == ("a person said no: wait",)


def test_where_nobody_can_be_asked_for_leave_it_ends() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1")), PlanProposed)
    [stop] = run.tell(gone(plan.step, code="policy_denied", error="needs_person"))
    assert isinstance(stop, RunStopped)
    assert stop.failure == "needs_person"


def test_failures_of_what_a_model_proposed_do_not_use_up_those_of_the_run() -> None:
    run = Run()
    run.lost()
    for number, action in enumerate((by(ARIA), by(CSS), by(ByText("x"))), 1):
        plan = only(run.tell(advice(f"a{number}", action)), PlanProposed)
        [asked] = run.fails(plan.step)
        assert isinstance(asked, AdviceRequested)


def test_a_step_that_was_helped_is_forgotten_when_the_next_one_needs_help() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1")), PlanProposed)
    run.tell(judged("confirmed", plan.step))
    run.tell(due(1))
    [asked] = run.tell(gone(plan.step + 1))
    assert isinstance(asked, AdviceRequested)
    assert (asked.purpose, asked.index, asked.errors) == ("repair", 1, ())


def test_detours_without_end_are_lost() -> None:
    run = Run(helped(run_of(FLOW, values={"who": "Ann"}, max_steps=99)))
    run.lost()
    said: Any = None
    for number in range(1, 20):
        answered = run.tell(advice(f"a{number}", by(ByText(f"x{number}")), instead=False))
        if not any(isinstance(each, PlanProposed) for each in answered):
            break
        plan = only(answered, PlanProposed)
        run.tell(saw(page(digest=f"d{number}")))
        run.tell(judged("confirmed", plan.step))
        run.tell(due())
        [said] = run.tell(gone(plan.step + 1))
    assert isinstance(said, RunStopped)


# -- a free run ------------------------------------------------------------------------------------


def test_below_the_threshold_the_model_is_asked_and_above_it_is_not() -> None:
    run = Run(FREE)
    withheld, asked = run.tell(BELOW)
    assert withheld == PlanWithheld("confidence_too_low_0.42")
    assert isinstance(asked, AdviceRequested)
    assert (asked.purpose, asked.index) == ("plan", -1)
    plan = only(run.tell(advice("a1")), PlanProposed)
    assert (plan.driver, plan.index) == ("model", -1)
    run.tell(judged("confirmed", plan.step))
    sure = PredictionMade("markov2", 0, (Candidate("t", click("#p"), 500_000, "first_order"),))
    assert only(run.tell(sure), PlanProposed).driver == "prediction"


def test_a_page_that_is_another_than_the_model_said_is_corrected() -> None:
    run = Run(FREE)
    run.tell(BELOW)
    plan = only(run.tell(advice("a1", leads_to="COMPLETE")), PlanProposed)
    run.tell(judged("confirmed", plan.step))
    run.tell(StateDiffered(plan.step, 1, "COMPLETE", "RETENTION_OFFER"))
    _, asked = run.tell(BELOW)
    assert isinstance(asked, AdviceRequested)
    assert asked.purpose == "correct"
    assert asked.errors == ("it led to RETENTION_OFFER, not to COMPLETE",)


def test_what_the_model_takes_for_done_is_done_when_the_page_says_so() -> None:
    run = Run(FREE)
    run.tell(BELOW)
    [claim] = run.tell(advice("a1", state="COMPLETE", reasoning=Untrusted("all done")))
    assert claim == CompletionClaimed("a1", "success", "all done")
    [stop] = run.tell(CompletionChecked(verified=True, reason="the heading says so"))
    assert (stop.reason, stop.detail) == ("completed", "the heading says so")  # type: ignore[union-attr]


def test_what_the_page_does_not_bear_out_is_not_acknowledged() -> None:
    run = Run(FREE)
    run.tell(BELOW)
    run.tell(advice("a1", state="COMPLETE"))
    [asked] = run.tell(CompletionChecked(verified=False, reason="no sign"))
    assert isinstance(asked, AdviceRequested)
    assert "it is not done: no sign" in asked.note
    assert run.tell(BELOW) == (), "it is the model's turn"


def test_a_free_run_ends_when_no_model_can_be_asked() -> None:
    run = Run(helped(free_run(), ModelUse((FIRST,))))
    run.tell(BELOW)
    [stop] = run.tell(AdviceFailed("a1", "anthropic", "unknown_model", False, "no claude-x"))
    assert isinstance(stop, RunStopped)
    assert (stop.failure, "no claude-x" in stop.detail) == ("model_unavailable", True)


def test_the_same_proposal_on_the_same_page_ends_as_a_loop() -> None:
    run = Run(FREE)
    said: Any = None
    for number in range(1, 5):
        _, _ = run.tell(BELOW)
        [said] = run.tell(advice(f"a{number}"))
        if isinstance(said, RunStopped):
            break
        run.tell(judged("confirmed", said.step))
    assert isinstance(said, RunStopped)
    assert said.reason == "no_op_loop"


# -- what is learned of it -------------------------------------------------------------------------


def predictor() -> Story:
    story = Story(Predictor())
    story.tell(of("another", WorkflowLearned(FLOW)))
    story.tell(RUN)
    story.tell(saw(page("/")))
    return story


def ways_of(step: Step) -> tuple[Strategy, ...]:
    return step.action.target.strategies if step.action.target is not None else ()


def advised(action: Action, number: int, index: int) -> PlanProposed:
    return PlanProposed(number, 1, "model", action, "advice_repair_a1", index, healed=index >= 0)


def sailed(story: Story, plan: PlanProposed, leads_to: str) -> tuple[AnyEvent, ...]:
    story.tell(plan)
    ways = plan.action.target.strategies if plan.action.target else ()
    story.tell(found(element(ways=ways, digest=str(ways)), plan.step))
    story.tell(saw(page(leads_to)))
    story.tell(judged("confirmed", plan.step))
    return story.tell(PageAssessed("UNKNOWN"))


def test_a_repaired_step_is_learned_when_the_end_was_verified() -> None:
    story = predictor()
    [then] = sailed(story, advised(by(CSS), 1, 0), "/offer")
    assert isinstance(then, StepDue)
    assert then.index == 1
    [learned] = [
        each for each in story.tell(RunStopped("completed")) if isinstance(each, WorkflowLearned)
    ]
    first, *others = learned.workflow.steps
    assert ways_of(first) == (CSS,)
    assert first.after.place is not None
    assert first.after.place.path == "/offer"
    assert tuple(others) == FLOW.steps[1:]


def test_nothing_is_learned_of_a_repair_whose_end_was_not_verified() -> None:
    story = predictor()
    sailed(story, advised(by(CSS), 1, 0), "/offer")
    told = story.tell(RunStopped("completed_unverified"))
    assert not any(isinstance(each, WorkflowLearned) for each in told)


def test_what_led_to_a_step_is_put_before_it_and_need_not_be_there_every_time() -> None:
    story = predictor()
    [then] = sailed(story, advised(by(ByCss("#close")), 1, -1), "/")
    assert isinstance(then, StepDue)
    assert then.index == 0, "the recorded step is still due"
    [learned] = [
        each for each in story.tell(RunStopped("completed")) if isinstance(each, WorkflowLearned)
    ]
    assert [each.optional for each in learned.workflow.steps] == [True, False, False, False]


def test_a_later_step_that_the_model_did_is_where_the_run_goes_on() -> None:
    story = predictor()
    [then] = sailed(story, advised(click("#c"), 1, -1), "/c")
    assert type(then).__name__ == "WorkflowFinished"
    [learned] = [
        each for each in story.tell(RunStopped("completed")) if isinstance(each, WorkflowLearned)
    ]
    assert [ways_of(each) for each in learned.workflow.steps] == [(ByCss("#c"),)]
    assert learned.workflow.parameters == ()


def test_what_a_model_did_teaches_like_what_anybody_did() -> None:
    story = predictor()
    story.tell(advised(by(CSS), 1, 0))
    story.tell(found(element(ways=(CSS,)), 1))
    story.tell(saw(page("/b")))
    [learned] = story.tell(judged("confirmed", 1))
    assert isinstance(learned, TransitionLearned)
    assert learned.driver == "model"


# -- wrong, and wrong again ------------------------------------------------------------------------


def test_another_element_is_another_approach_where_the_first_was_found_and_wrong() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1", by(ARIA))), PlanProposed)
    run.tell(found(element(ways=(ARIA, CSS)), plan.step))
    run.fails(plan.step)
    other = by(ByRole("button", "Go on"))
    assert only(run.tell(advice("a2", other)), PlanProposed).action == other


def test_what_a_model_took_for_the_last_step_and_changed_nothing_was_not_it() -> None:
    run = Run()
    run.lost()
    plan = only(run.tell(advice("a1", by(ARIA))), PlanProposed)
    run.tell(ActionStarted(plan.step, 1, plan.action, irreversible=True))
    [asked] = run.fails(plan.step)
    assert isinstance(asked, AdviceRequested)
    assert asked.purpose == "correct"


def test_where_the_service_says_that_it_ends_nobody_is_asked() -> None:
    partner = ServiceScript("THIRD_PARTY_BILLING", why="a partner bills it")
    run = Run(helped(run_of(FLOW, service=Service("film", ways=(partner,)))))
    run.tell(saw(page("/")))
    run.tell(PageAssessed("THIRD_PARTY_BILLING"))
    run.tell(due())
    [stop] = run.tell(gone())
    assert isinstance(stop, RunStopped)
    assert (stop.reason, stop.detail) == ("failed", "a partner bills it")
