"""A person at work: what the deciders make of steps that had happened when they heard of them."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from rutter.actors.critic.actor import Critic
from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.events.action import ByCss, Parameter, Secret, Target
from rutter.events.checks import ReadBack, TextVisible
from rutter.events.critic import ActionJudged, PageAssessed, ReadBackDue, ReadBackFound
from rutter.events.executor import PersonActed
from rutter.events.observer import BrowserLost, ObservationFailed, PageObserved
from rutter.events.page import Exchange
from rutter.events.planner import ObservationRequested, PersonAwaited, PlanProposed, RunStopped
from rutter.events.predictor import PredictionMade, StepDue, TransitionLearned, WorkflowLearned
from rutter.events.runtime import (
    RecordingFinished,
    SessionInterrupted,
    SessionStarted,
    StopRequested,
)
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import StandingApproval
from tests.support.given_when_then import Story, given, only
from tests.support.shop_facts import (
    ORIGIN,
    click,
    element,
    fill,
    go_to,
    judged,
    page,
    recording_of,
    run_of,
    saw,
    step,
    workflow,
)

NOTHING = PredictionMade("markov2", position=0)


def by_hand(values: Mapping[str, str] | None = None, *, seeking: bool = False) -> SessionStarted:
    started = recording_of(go_to("/"), values=values, seeks_proof=seeking)
    return msgspec.structs.replace(started, driver="person")


# -- the Planner -------------------------------------------------------------------------------


def test_when_the_beginning_is_done_the_person_is_awaited_once() -> None:
    told = Story(Planner())
    for event in (by_hand(), saw(page("/")), NOTHING, judged()):
        told.tell(event)
    assert told.tell(NOTHING) == (PersonAwaited(step=2),)
    assert told.tell(NOTHING) == ()


def test_a_recording_by_hand_is_complete_when_the_person_is_done() -> None:
    stopped = only(given(Planner(), by_hand(), RecordingFinished("window_closed")), RunStopped)
    assert stopped.reason == "completed"


BACK = ReadBack(f"{ORIGIN}/orders/7", (TextVisible("Aurora"),))
LOOK = ReadBackDue(3, 1, BACK, trial=True)


def handed_over() -> Story:
    """A person who did five steps and pressed Ctrl-C; nothing follows from that alone."""
    told = Story(Planner())
    begun: tuple[AnyEvent, ...] = (by_hand(seeking=True), saw(page("/")), NOTHING)
    proposed = PlanProposed(1, 1, "script", go_to("/"), "it")
    for event in (*begun, proposed, judged(), NOTHING, PersonAwaited(2), judged(number=5)):
        told.tell(event)
    assert told.tell(RecordingFinished("interrupt")) == ()
    return told


def test_after_the_person_it_is_looked_once_more_with_a_number_of_its_own() -> None:
    told = handed_over()
    look = only(told.tell(LOOK), PlanProposed)
    assert (look.step, look.read_back_of, look.action.aside) == (6, 3, True)
    assert (look.action.url, look.action.verify) == (BACK.url, BACK.checks)
    assert only(told.tell(NOTHING), RunStopped).reason == "completed"


def test_whatever_comes_of_that_look_the_recording_is_complete() -> None:
    for ends in (
        ObservationFailed("timeout", "it hangs"),
        BrowserLost("it died"),
        StopRequested("person"),
        ActionRejected(6, "denylist", "no", "1", "policy_denied"),
        SessionInterrupted("the process died"),
    ):
        told = handed_over()
        told.tell(LOOK)
        assert only(told.tell(ends), RunStopped).reason == "completed"


def test_a_script_that_goes_on_in_another_tab_turns_to_it_once() -> None:
    there = msgspec.structs.replace(click("#pay"), tab=1)
    told = Story(Planner())
    for event in (recording_of(there), saw(page("/"))):
        told.tell(event)
    [request] = told.tell(NOTHING)
    assert isinstance(request, ObservationRequested)
    assert (request.why, request.tab) == ("tab_wanted", 1)
    assert only(told.tell(NOTHING), PlanProposed).action == there  # it is not there: say so


def test_a_step_in_another_tab_waits_for_that_tab() -> None:
    there = msgspec.structs.replace(click("#pay"), tab=1)
    flow = workflow(step(there))
    due = StepDue(0, 1, flow.steps[0], unmet="recorded in tab 2, in front is tab 1 of 2")
    request = only(given(Planner(), run_of(flow), saw(page("/")), due), ObservationRequested)
    assert (request.why, request.tab) == ("tab_wanted", 1)


# -- the Critic --------------------------------------------------------------------------------


def test_what_a_person_did_is_judged_by_the_page_before_and_after() -> None:
    before = (by_hand(), saw(page("/")), PersonActed(2, click("#go")))
    decided = given(Critic(), *before, saw(page("/next")))
    moved = only(decided, ActionJudged)
    assert (moved.step, moved.verdict, moved.reason) == (2, "confirmed", "page_changed")
    assert isinstance(decided[-1], PageAssessed)
    stayed = only(given(Critic(), *before, saw(page("/"))), ActionJudged)
    assert (stayed.verdict, stayed.reason) == ("no_effect", "nothing_changed")


def test_what_a_person_typed_is_confirmed_though_a_masked_field_looks_the_same() -> None:
    acted = PersonActed(2, fill("#pin", Secret("pin")))
    verdict = only(given(Critic(), by_hand(), saw(page("/")), acted, saw(page("/"))), ActionJudged)
    assert verdict.verdict == "confirmed"


def test_the_last_step_is_judged_although_the_window_was_closed_on_it() -> None:
    story = (by_hand(), saw(page("/")), PersonActed(2, click("#go")))
    verdict = only(given(Critic(), *story, RecordingFinished("window_closed")), ActionJudged)
    assert (verdict.step, verdict.verdict) == (2, "no_effect")


def test_nobody_waits_for_the_effect_of_a_persons_step() -> None:
    story = (by_hand(), saw(page("/")), PersonActed(2, click("#go")), saw(page("/")))
    assert not [e for e in given(Critic(), *story) if isinstance(e, ObservationRequested)]


SENT = Exchange(1, f"POST {ORIGIN}/orders", 1, 201)
TYPED = PersonActed(2, fill("#ship", Parameter("ship")), element("input", name="Ship"))
SAVED = PersonActed(3, click("#save"), element(name="Save"))


def after(*exchanges: Exchange, path: str = "/orders/7") -> PageObserved:
    return PageObserved(page(path), "after_action", exchanges=exchanges)


def when_done(
    *story: AnyEvent, by: Literal["interrupt", "window_closed"] = "interrupt"
) -> tuple[AnyEvent, ...]:
    start = (by_hand({"ship": "Aurora"}, seeking=True), saw(page("/")))
    return given(Critic(), *start, *story, RecordingFinished(by))


def test_what_was_typed_is_looked_for_on_the_page_that_sending_it_led_to() -> None:
    went_on = PersonActed(4, click("#all"), element("a", name="All orders"))
    sent = (TYPED, saw(page("/")), SAVED, after(SENT))
    assert when_done(*sent) == (LOOK,)
    assert when_done(*sent, went_on, after(path="/orders")) == (LOOK,)


def test_nothing_is_looked_for_where_nothing_was_sent_or_typed_or_the_window_is_gone() -> None:
    sent = (TYPED, saw(page("/")), SAVED, after(SENT))
    refused = msgspec.structs.replace(SENT, status=500)
    elsewhere = msgspec.structs.replace(SENT, to="POST https://counter.example/hit")
    picked = PersonActed(3, click("#a"), element("a", name="Aurora Shipping"))
    saved_later = PersonActed(4, click("#save"), element(name="Save"))
    assert when_done(*sent, by="window_closed") == ()
    for story in (
        (TYPED, saw(page("/")), SAVED, after()),
        (TYPED, saw(page("/")), SAVED, after(refused)),
        (TYPED, saw(page("/")), SAVED, after(elsewhere)),
        (SAVED, after(SENT)),
        (TYPED, saw(page("/")), picked, after(), saved_later, after(SENT)),  # known before
    ):
        assert when_done(*story) == (PageAssessed(""),)


# -- the Predictor -----------------------------------------------------------------------------


def recorded(*story: object, proposes: bool = False, **values: str) -> WorkflowLearned:
    told = Story(Predictor())
    start = by_hand(values)
    chosen = msgspec.structs.replace(start.settings, proposes=proposes)
    start = msgspec.structs.replace(start, settings=chosen)
    for event in (start, saw(page("/")), *story):
        told.tell(event)  # type: ignore[arg-type]
    learned: WorkflowLearned = only(
        told.tell(RunStopped("completed", "", "the person was done")), WorkflowLearned
    )
    return learned


def test_a_confirmed_step_of_a_person_is_learned_as_theirs() -> None:
    told = Story(Predictor())
    for event in (by_hand(), saw(page("/")), PersonActed(2, click("#go"), element(digest="d"))):
        told.tell(event)
    learned = only(told.tell(judged(number=2)), TransitionLearned)
    assert learned.driver == "person"


def test_doing_it_in_person_approves_it_for_later_runs() -> None:
    button = element(digest="d", ways=(ByCss("#go"),))
    flow = recorded(
        PersonActed(2, click("#go"), button), saw(page("/next")), judged(number=2)
    ).workflow
    assert flow.complete
    assert flow.steps[0].standing_approval == StandingApproval(ORIGIN, "d")


def test_where_a_result_shows_is_part_of_it_unless_that_is_proposed() -> None:
    story = (SAVED, after(SENT), judged(number=3), ReadBackFound(3, BACK))
    assert recorded(*story).workflow.steps[0].after.read_back == BACK
    assert recorded(*story, proposes=True).workflow.steps[0].after.read_back is None


def test_the_target_is_named_as_the_page_names_it() -> None:
    button = element(ways=(ByCss('[data-testid="go"]'),))
    flow = recorded(
        PersonActed(2, click("#go"), button), saw(page("/next")), judged(number=2)
    ).workflow
    target = flow.steps[0].action.target
    assert isinstance(target, Target)
    assert target.primary == ByCss('[data-testid="go"]')


def test_a_step_that_changed_nothing_is_part_of_what_the_person_did() -> None:
    acted = PersonActed(2, click("#go"), element())
    flow = recorded(acted, saw(page("/")), judged("no_effect", 2)).workflow
    assert len(flow.steps) == 1


def test_parameters_and_secrets_are_those_that_were_typed() -> None:
    story: list[object] = []
    for number, value in ((2, Parameter("customer")), (3, Secret("password"))):
        story += [PersonActed(number, fill("#f", value), element("input")), judged(number=number)]
    flow = recorded(*story, customer="Aurora").workflow
    assert (flow.parameters, flow.secrets) == (("customer",), ("password",))


def test_a_step_that_was_done_in_another_tab_is_due_there() -> None:
    there = msgspec.structs.replace(click("#pay"), tab=1)
    flow = workflow(step(there))
    due = only(given(Predictor(), run_of(flow), saw(page("/")), PageAssessed()), StepDue)
    assert due.unmet == "recorded in tab 2, in front is tab 1 of 1"
    here = saw(page("/", tab=1, tabs=2))
    assert only(given(Predictor(), run_of(flow), here, PageAssessed()), StepDue).unmet == ""
