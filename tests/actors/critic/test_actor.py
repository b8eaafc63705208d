"""Given what was done and the page before and after it: what it really did."""

from typing import Any

import msgspec

from rutter.actors.critic.actor import Critic
from rutter.actors.critic.verdict import VerdictCase, judge
from rutter.actors.rules.pages.barrier import FILLED_MS, IDLE_MS
from rutter.actors.rules.steps.check_results import AfterStep
from rutter.events.action import Action, ActionType, Untrusted
from rutter.events.checks import PageState
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    Evidence,
    OutcomeUnknown,
    PageAssessed,
    Verdict,
)
from rutter.events.executor import ActionDone, ActionFailed, TargetChanged
from rutter.events.observer import PageObserved
from rutter.events.page import Makeup, Page, PageMark, Resting
from rutter.events.planner import ObservationRequested, RunStopped
from rutter.events.predictor import WorkflowFinished
from rutter.events.validator import ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation
from tests.support.case_table import for_each
from tests.support.given_when_then import Told, at, given, only
from tests.support.shop_facts import (
    any_action,
    click,
    done,
    element,
    failed,
    fill,
    go_to,
    intent,
    judged,
    page,
    place,
    plan,
    run_of,
    saw,
    workflow,
)

CERTAIN, DOUBTFUL = 1_000_000, 200_000  # S2 4.2, without vision
CHALLENGE = PageMark("inline", "_cf_chl_opt")
HOME = page("/", "home")
RUN = run_of(workflow())


def said(*story: AnyEvent | Told) -> tuple[AnyEvent, ...]:
    return given(Critic(), *story)


def acted(
    action: Action,
    outcome: ActionDone | ActionFailed | None = None,
    expects: Expectation | None = None,
    before: Page = HOME,
) -> tuple[AnyEvent, ...]:
    """A step up to its outcome; only the look at the page is missing."""
    return RUN, saw(before), plan(action, expects=expects), intent(action), outcome or done()


def verdict_on(
    action: Action,
    after: Page,
    *,
    expects: Expectation | None = None,
    outcome: ActionDone | ActionFailed | None = None,
    before: Page = HOME,
) -> tuple[Verdict, str]:
    """The verdict when nothing more can come: long after the patience is used up."""
    story = acted(action, outcome, expects, before)
    decision = said(*story, at(60_000, saw(after)))[0]
    assert isinstance(decision, ActionJudged)
    return decision.verdict, decision.reason


# -- every type of action ------------------------------------------------------------------------


@for_each("kind", ["type", "select"])
def test_a_value_is_confirmed_by_the_field_that_holds_it(kind: ActionType) -> None:
    action = msgspec.structs.replace(fill(), type=kind)
    assert verdict_on(action, HOME, outcome=done(value_set=True)) == ("confirmed", "value_set")
    assert verdict_on(action, HOME, outcome=done(value_set=False)) == ("failed", "value_not_set")


@for_each("kind", ["navigate", "type", "select", "scroll"])
def test_what_failed_has_failed_whatever_the_page_looks_like(kind: ActionType) -> None:
    outcome = failed("timeout", dispatched=True)
    elsewhere = page("/elsewhere", "new")
    assert verdict_on(any_action(kind), elsewhere, outcome=outcome) == ("failed", "timeout")


@for_each("kind", ["click", "press"])
def test_input_that_was_dispatched_may_have_worked_all_the_same(kind: ActionType) -> None:
    late = failed("timeout", dispatched=True)
    expects = Expectation(moved=True, place=place("/done"))
    there = verdict_on(any_action(kind), page("/done"), outcome=late, expects=expects)
    assert there == ("confirmed", "as_recorded")
    nothing = verdict_on(any_action(kind), HOME, outcome=late, expects=expects)
    assert nothing == ("failed", "timeout")


def test_what_cannot_be_undone_and_shows_no_effect_is_unknown() -> None:
    intent = ActionStarted(1, 1, click(), irreversible=True)
    expects = Expectation(moved=True, place=place("/done"))
    late = ActionFailed(1, 1, "timeout", True, "settle did not finish")
    judgement = judge(VerdictCase(intent, late, HOME, AfterStep(HOME), expects))
    assert (judgement.verdict, judgement.may_still_come_ms) == ("unknown", 3_000)


def test_a_failure_is_judged_at_once() -> None:
    story = acted(click(), ActionFailed(1, 1, "element_obscured", False, "a banner covers it"))
    assert said(*story, saw(HOME)) == (
        ActionJudged(
            1,
            1,
            "failed",
            "element_obscured",
            (Evidence("DOM", "a banner covers it", DOUBTFUL),),
            DOUBTFUL,
        ),
        PageAssessed(),
    )


# -- navigation ----------------------------------------------------------------------------------


def test_a_navigation_is_confirmed_by_the_place_that_was_recorded() -> None:
    expects = Expectation(moved=True, place=place("/orders/*"))
    assert verdict_on(go_to("/orders/7"), page("/orders/7"), expects=expects) == (
        "confirmed",
        "place_reached",
    )
    assert verdict_on(go_to("/orders/7"), page("/login"), expects=expects) == (
        "wrong_target",
        "other_place",
    )


def test_without_a_recording_a_redirect_within_the_site_is_fine() -> None:
    assert verdict_on(go_to("/a"), page("/b"))[0] == "confirmed"


def test_without_a_recording_another_site_is_not_what_was_asked() -> None:
    elsewhere = Page(url="https://login.example/sso")
    assert verdict_on(go_to("/a"), elsewhere) == ("wrong_target", "other_place")
    unreachable = Page(url="chrome-error://chromewebdata/")
    assert verdict_on(go_to("/a"), unreachable)[0] == "wrong_target"


@for_each(
    "signed_in, state, status, file, judged",
    [
        (True, "UNKNOWN", 200, False, ("confirmed", "signed_in_already", 0)),
        (True, "LOGIN_REQUIRED", 200, False, ("wrong_target", "other_place", 3_000)),  # has expired
        (True, "UNKNOWN", 403, False, ("wrong_target", "other_place", 3_000)),
        (True, "UNKNOWN", 0, False, ("wrong_target", "other_place", 3_000)),  # nobody answered
        (True, "UNKNOWN", 200, True, ("wrong_target", "other_place", 10_000)),  # a file came
        (False, "UNKNOWN", 200, False, ("wrong_target", "other_place", 3_000)),
    ],
)
def test_whoever_is_signed_in_already_is_led_past_the_sign_in(
    signed_in: bool,
    state: PageState,
    status: int,
    file: bool,
    judged: tuple[Verdict, str, int],
) -> None:
    expects = Expectation(moved=True, place=place("/login"), state="LOGIN_REQUIRED")
    judgement = judge(
        VerdictCase(
            ActionStarted(1, 1, go_to("/login")),
            msgspec.structs.replace(done(), file=file),
            HOME,
            AfterStep(page("/desk"), state=state),
            expects,
            status=status,
            signed_in=signed_in,
        )
    )
    assert (judgement.verdict, judgement.code, judgement.may_still_come_ms) == judged


def test_a_page_that_still_asks_its_server_may_lead_back_to_the_sign_in() -> None:
    expects = Expectation(moved=True, place=place("/login"), state="LOGIN_REQUIRED")
    desk = AfterStep(page("/desk"), state="UNKNOWN")
    running, ended = ActionStarted(1, 1, go_to("/login")), done()
    case = VerdictCase(running, ended, HOME, desk, expects, pending=1, status=200, signed_in=True)
    asking = judge(case)
    assert (asking.code, asking.may_still_come_ms) == ("signed_in_already", 3_000), "it waits"
    assert judge(msgspec.structs.replace(case, pending=0)).may_still_come_ms == 0


# -- click, press, scroll ------------------------------------------------------------------------

ACTING: tuple[ActionType, ...] = ("click", "press", "scroll")


@for_each("kind", ACTING)
@for_each(
    "after, reason",
    [
        (page("/next"), "page_moved"),
        (page("/", "other"), "page_changed"),
        (page("/", "home", focused="#field"), "page_changed"),
        (page("/", "home", title=Untrusted("Another")), "page_changed"),
    ],
)
def test_with_nothing_recorded_any_change_confirms(
    kind: ActionType, after: Page, reason: str
) -> None:
    assert verdict_on(any_action(kind), after) == ("confirmed", reason)


def test_a_page_that_was_scrolled_is_an_effect_of_scrolling_and_not_of_a_click() -> None:
    scrolled = page("/", "home", scroll=(0, 300))
    assert verdict_on(any_action("scroll"), scrolled)[0] == "confirmed"
    assert verdict_on(any_action("press"), scrolled)[0] == "confirmed"
    assert verdict_on(click(), scrolled)[0] == "no_effect", "it was scrolled to"


@for_each("kind", ACTING)
def test_with_nothing_recorded_no_change_is_no_effect(kind: ActionType) -> None:
    assert verdict_on(any_action(kind), HOME) == ("no_effect", "nothing_changed")


@for_each("kind", ACTING)
@for_each(
    "expects, after, verdict, reason",
    [
        # it led somewhere when it was recorded
        (Expectation(moved=True, place=place("/done")), page("/done"), "confirmed", "as_recorded"),
        (
            Expectation(moved=True, place=place("/done")),
            page("/error"),
            "wrong_target",
            "led_elsewhere",
        ),
        (
            Expectation(moved=True, place=place("/done")),
            page("/", "error shown"),
            "wrong_target",
            "stayed_on_the_page",
        ),
        (
            Expectation(moved=True, place=place("/done")),
            page("/", "home", focused="#it"),
            "no_effect",
            "nothing_changed",
        ),
        (
            Expectation(moved=True, place=place("/")),  # another search on the same page
            page("/", "home", focused="#it"),
            "no_effect",
            "nothing_changed",
        ),
        (
            Expectation(moved=True, place=place("/")),
            page("/?q=rope", "found"),
            "confirmed",
            "as_recorded",
        ),
        (Expectation(moved=True, place=place("/done")), HOME, "no_effect", "nothing_changed"),
        # it changed its page when it was recorded
        (Expectation(place=place("/")), page("/", "menu open"), "confirmed", "as_recorded"),
        (Expectation(place=place("/")), HOME, "no_effect", "nothing_changed"),
        (Expectation(place=place("/")), page("/away"), "wrong_target", "led_elsewhere"),
        # it changed nothing when it was recorded
        (Expectation(effect=False, place=place("/")), HOME, "confirmed", "no_change_as_recorded"),
        (
            Expectation(effect=False, place=place("/")),
            page("/", "more"),
            "confirmed",
            "page_changed",
        ),
        (
            Expectation(effect=False, place=place("/")),
            Page(url="https://elsewhere.example/"),
            "wrong_target",
            "led_elsewhere",
        ),
        # that it changed something is all that is known
        (Expectation(), page("/", "menu open"), "confirmed", "page_changed"),
        (Expectation(), HOME, "no_effect", "nothing_changed"),
    ],
)
def test_what_was_recorded_is_what_is_expected(
    kind: ActionType, expects: Expectation, after: Page, verdict: Verdict, reason: str
) -> None:
    assert verdict_on(any_action(kind), after, expects=expects) == (verdict, reason)


def test_the_page_before_is_the_one_that_the_action_started_on() -> None:
    story = RUN, saw(HOME), plan(click()), saw(page("/", "opened")), intent(click()), done()
    decision = said(*story, at(9_000, saw(page("/", "opened"))))[0]
    assert isinstance(decision, ActionJudged)
    assert decision.verdict == "no_effect"


# -- patience, by the time of the facts ----------------------------------------------------------


def effect(after_ms: int, seen: Page, expects: Expectation | None = None) -> AnyEvent:
    """What is said when the page looks like `seen` so long after the action was done."""
    *begun, outcome = acted(click(), expects=expects)
    return said(*begun, at(100, outcome), at(100 + after_ms, saw(seen)))[0]


@for_each(
    "expects, seen, patience_ms",
    [
        (None, HOME, 1_000),
        (Expectation(place=place("/")), HOME, 1_000),
        (Expectation(moved=True, place=place("/done")), HOME, 3_000),
        (Expectation(moved=True, place=place("/done")), page("/wait"), 3_000),
    ],
)
def test_an_effect_is_waited_for_until_the_patience_is_used_up(
    expects: Expectation | None, seen: Page, patience_ms: int
) -> None:
    for waited_ms in (0, 1, patience_ms // 2, patience_ms - 1):
        left_ms = patience_ms - waited_ms
        assert effect(waited_ms, seen, expects) == ObservationRequested("effect_awaited", left_ms)
    assert isinstance(effect(patience_ms, seen, expects), ActionJudged)


def test_an_effect_that_came_is_not_waited_for() -> None:
    assert isinstance(effect(0, page("/next")), ActionJudged)


def test_an_effect_that_comes_while_waiting_is_seen() -> None:
    story = (*acted(click()), at(10, saw(HOME)), at(400, saw(page("/next"))))
    assert said(*story) == (
        ActionJudged(
            1, 1, "confirmed", "page_moved", (Evidence("DOM", page("/next").url, CERTAIN),), CERTAIN
        ),
        PageAssessed(),
    )


def test_a_wrong_place_may_be_on_its_way_to_the_right_one() -> None:
    to_done = Expectation(moved=True, place=place("/done"))
    story = (*acted(go_to("/done"), expects=to_done), at(5, saw(page("/redirecting"))))
    assert said(*story) == (ObservationRequested("effect_awaited", 2_995),)
    assert isinstance(said(*story, at(900, saw(page("/done"))))[0], ActionJudged)


def test_how_long_is_a_setting() -> None:
    patient = run_of(workflow(), settle_ms=5, place_ms=7)
    begun = patient, saw(HOME), plan(click()), intent(click()), done()
    assert said(*begun, at(4, saw(HOME))) == (ObservationRequested("effect_awaited", 1),)
    assert isinstance(said(*begun, at(5, saw(HOME)))[0], ActionJudged)


def test_a_verdict_is_given_once() -> None:
    assert said(*acted(click()), saw(page("/next")), saw(page("/next"))) == (PageAssessed(),)


# -- looking, with nothing to judge --------------------------------------------------------------


def test_a_page_with_nothing_to_judge_is_assessed() -> None:
    assert said(RUN, saw(HOME)) == (PageAssessed(),)


def test_a_look_while_the_action_is_still_under_way_judges_nothing() -> None:
    [assessed] = said(RUN, saw(HOME), plan(click()), intent(click()), saw(page("/next")))
    assert assessed == PageAssessed()


def test_what_was_not_done_is_not_judged() -> None:
    story = RUN, saw(HOME), plan(click()), intent(click()), TargetChanged(1, 1, element())
    assert said(*story, saw(page("/next"))) == (PageAssessed(),)


# -- what keeps a page from being read -----------------------------------------------------------


def seen_made(at_path: str = "/", heading: str = "", **made: Any) -> PageObserved:
    seen = page(at_path, heading=heading, ready="complete")
    return msgspec.structs.replace(saw(seen), made=Makeup(**{"text": 400, "scripts": 1, **made}))


def test_what_keeps_somebody_out_is_said_with_the_page_and_asks_nobody_to_sign_in() -> None:
    told = said(RUN, seen_made(heading="Verify your identity", marks=(CHALLENGE,), text=90))
    assert told == (PageAssessed("LOGIN_REQUIRED"),)  # one mark alone says nothing
    answered = msgspec.structs.replace(
        seen_made(heading="Verify your identity", marks=(CHALLENGE,), text=90), status=403
    )
    assessed = only(said(RUN, answered), PageAssessed)
    assert (assessed.state, assessed.barrier.kind) == ("", "blocked")


def test_a_page_that_looks_empty_is_looked_at_again_until_it_is_filled_or_its_time_is_up() -> None:
    empty, filled = seen_made(text=0, age_ms=300), seen_made(heading="Berths", age_ms=900)
    awaited = ObservationRequested("filling_awaited", IDLE_MS - 300)
    story = (RUN, at(0, empty))
    assert said(*story) == (awaited,)
    assert said(*story, at(600, filled)) == (PageAssessed(),)
    assessed = only(said(*story, at(1_300, seen_made(text=0, age_ms=1_600))), PageAssessed)
    assert assessed.barrier.kind == "empty_shell"
    # One that leads from one empty document to the next is not waited for without end.
    again = at(FILLED_MS - 100, seen_made(text=0, age_ms=5))
    assert said(*story, again) == (ObservationRequested("filling_awaited", 100),)
    over = at(FILLED_MS, seen_made(text=0, age_ms=5))
    assert said(*story, again, over) == (PageAssessed(),)


def test_a_person_waits_for_an_empty_page_as_they_like() -> None:
    recording = msgspec.structs.replace(RUN, purpose="record", driver="person")
    assert said(recording, seen_made(text=0, age_ms=300)) == (PageAssessed(),)


# -- evidence (F4) -------------------------------------------------------------------------------


@for_each(
    "after, confidence", [(page("/next", title=Untrusted("Next")), CERTAIN), (HOME, DOUBTFUL)]
)
def test_every_verdict_has_evidence_from_the_page(after: Page, confidence: int) -> None:
    decision = said(*acted(click()), at(60_000, saw(after)))[0]
    assert isinstance(decision, ActionJudged)
    [evidence] = decision.evidence
    assert (evidence.source, evidence.confidence, evidence.checked) == (
        "DOM",
        confidence,
        after.url,
    )
    assert evidence.sample == (after.title if after.title.text else None)


def test_a_sample_is_at_most_200_characters() -> None:
    long = page("/" + "x" * 500, title=Untrusted("t" * 500))
    decision = said(*acted(click()), saw(long))[0]
    assert isinstance(decision, ActionJudged)
    [evidence] = decision.evidence
    assert evidence.sample == Untrusted("t" * 200)
    assert len(evidence.checked) == 200


def test_judging_needs_no_critic() -> None:
    judgement = judge(VerdictCase(intent(click()), done(), HOME, AfterStep(page("/next"))))
    assert (judgement.verdict, judgement.may_still_come_ms) == ("confirmed", 0)


# -- completion (D5) -----------------------------------------------------------------------------

END = Expectation(place=place("/orders/*"), headings=("order # for *",))
FLOW = workflow(end=END, parameters=("customer",))
FINISHED = WorkflowFinished(steps=3)
AT_REST = ObservationRequested("rest_awaited", 10_000, rest=Resting(10_000))
REACHED = page("/orders/9", heading="Order 9 for Aurora")


def finishing(**more: Any) -> AnyEvent:
    return run_of(FLOW, values={"customer": "Aurora"}, **more)


def test_a_finished_workflow_is_verified_at_the_end_that_was_recorded() -> None:
    story = finishing(), saw(REACHED), FINISHED
    assert said(*story) == (AT_REST,)
    assert said(*story, saw(REACHED)) == (
        CompletionChecked(
            True,
            "the recorded end is reached",
            (Evidence("DOM", REACHED.url, CERTAIN, Untrusted("Order 9 for Aurora")),),
        ),
    )


def test_an_end_that_is_slow_to_come_is_waited_for() -> None:
    story = finishing(), saw(HOME), at(100, FINISHED), at(100, saw(HOME))
    assert said(*story) == (ObservationRequested("end_awaited", 3_000),)
    assert said(*story, at(1_100, saw(HOME))) == (ObservationRequested("end_awaited", 2_000),)
    checked = said(*story, at(1_100, saw(HOME)), at(1_200, saw(REACHED)))[0]
    assert isinstance(checked, CompletionChecked)
    assert checked.verified


def test_an_end_that_does_not_come_is_not_verified() -> None:
    assert said(finishing(), saw(HOME), at(0, FINISHED), at(3_000, saw(HOME))) == (
        CompletionChecked(
            False,
            "the recording ended at /orders/*, this is /",
            (Evidence("DOM", HOME.url, DOUBTFUL),),
        ),
    )


def test_the_right_place_with_another_heading_is_not_verified() -> None:
    other = page("/orders/9", heading="Something went wrong")
    [checked] = said(finishing(), saw(other), at(0, FINISHED), at(3_000, saw(other)))
    assert isinstance(checked, CompletionChecked)
    assert checked.reason == "the heading 'order # for *' of the recording is not on the page"
    assert checked.evidence[0].sample == Untrusted("Something went wrong")


def test_without_a_recorded_end_nothing_can_be_verified() -> None:
    story = run_of(None), saw(HOME), at(0, FINISHED), at(3_000, saw(HOME))
    [checked] = said(*story)
    assert isinstance(checked, CompletionChecked)
    assert (checked.verified, checked.reason) == (False, "no end was recorded")


def test_how_long_the_end_is_waited_for_is_a_setting() -> None:
    story = finishing(place_ms=1), saw(HOME), at(0, FINISHED), at(1, saw(HOME))
    assert isinstance(said(*story)[0], CompletionChecked)


# -- stopped in the middle (E7) ------------------------------------------------------------------

STOP = RunStopped("cancelled", detail="stopped by terminal")


def test_stopped_with_an_action_under_way_its_outcome_is_unknown() -> None:
    story = RUN, saw(HOME), plan(click(), number=4), intent(click(), 4, 2)
    assert said(*story, STOP) == (OutcomeUnknown(4, 2, "cancelled before its outcome was judged"),)


def test_stopped_before_the_outcome_was_judged_it_is_unknown_too() -> None:
    [unknown] = said(*acted(click()), RunStopped("interrupted"))
    assert unknown == OutcomeUnknown(1, 1, "interrupted before its outcome was judged")


@for_each(
    "story",
    [
        (RUN, saw(HOME)),
        (RUN, saw(HOME), plan(click())),
        (*acted(click()), saw(page("/next"))),
        (*acted(click()), judged()),
    ],
)
def test_stopped_with_nothing_under_way_nothing_is_unknown(story: tuple[AnyEvent, ...]) -> None:
    assert said(*story, STOP) == ()


def test_an_action_that_was_not_done_has_no_unknown_outcome() -> None:
    story = RUN, saw(HOME), plan(click()), intent(click()), TargetChanged(1, 1, element())
    assert said(*story, STOP) == ()


def test_after_the_stop_nothing_is_judged() -> None:
    assert said(*acted(click()), STOP, saw(page("/next"))) == ()
    assert said(finishing(), STOP, saw(REACHED)) == ()
