"""What cannot be undone is tried again only when nothing had reached the page (E7)."""

from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.planner.actor import Planner
from rutter.actors.rules.steps.retry import TRANSIENT, may_repeat
from rutter.events.action import Action, ActionType
from rutter.events.checks import TextVisible
from rutter.events.critic import ActionJudged, Verdict
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionFailed, ErrorCode
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.predictor import StepDue
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Step
from tests.support.shop_facts import run_of

ACTIONS = st.builds(
    Action,
    type=st.sampled_from(get_args(ActionType)),
    append=st.booleans(),
    verify=st.sampled_from([(), (TextVisible("x"),)]),
)
PLANS = st.builds(
    PlanProposed,
    step=st.just(1),
    attempt=st.integers(1, 3),
    driver=st.just("workflow"),
    action=ACTIONS,
    reason=st.just("why"),
    index=st.just(0),
)
REASONS = st.sampled_from(["value_not_set", "nothing_changed", "timeout", "read_back"])
JUDGED = st.builds(
    ActionJudged, st.just(1), st.just(1), st.sampled_from(get_args(Verdict)), REASONS
)
FAILURES = st.none() | st.builds(
    ActionFailed, st.just(1), st.just(1), st.sampled_from(get_args(ErrorCode)), st.booleans()
)


@given(PLANS, JUDGED, FAILURES)
def test_what_cannot_be_undone_is_repeated_only_before_anything_was_dispatched(
    plan: PlanProposed, judged: ActionJudged, failure: ActionFailed | None
) -> None:
    if may_repeat(plan, judged, failure, irreversible=True):
        assert failure is not None
        assert not failure.dispatched
        assert failure.code in TRANSIENT


@given(PLANS, JUDGED, FAILURES, st.booleans())
def test_nothing_is_tried_a_third_time_and_no_look_a_second(
    plan: PlanProposed, judged: ActionJudged, failure: ActionFailed | None, irreversible: bool
) -> None:
    if may_repeat(plan, judged, failure, irreversible=irreversible):
        assert plan.attempt == 1
        assert not plan.action.verify


@given(JUDGED, FAILURES)
def test_the_planner_stops_after_what_was_dispatched_and_cannot_be_undone(
    judged: ActionJudged, failure: ActionFailed | None
) -> None:
    """The whole way: proposed, started, failed or not, judged; and the step is due again."""
    click = Action("click")
    plan = PlanProposed(1, 1, "workflow", click, "why", index=0)
    facts = [plan, ActionStarted(1, 1, click, irreversible=True), failure, judged]
    said = decided(*(fact for fact in facts if fact is not None), due(click))
    again = [event for event in said if isinstance(event, PlanProposed) and event.attempt > 1]
    if judged.verdict == "confirmed":
        return
    if failure is None or failure.dispatched or failure.code not in TRANSIENT:
        assert not again
        assert isinstance(said[-1], RunStopped)
    else:
        assert [event.attempt for event in again] == [2]


def due(action: Action) -> StepDue:
    return StepDue(0, 1, Step(action=action, irreversible=True), "")


def decided(*events: Any) -> list[Any]:
    """What the Planner says to the last of these."""
    planner = Planner()
    state = planner.initial()
    said: list[Any] = []
    for n, event in enumerate((run_of(None), *events), 1):
        envelope = Envelope(n, "s", n, n, "runtime", 0, event, b"")
        state = planner.evolve(state, envelope)
        said = list(planner.decide(state, envelope))
    return said
