"""Given everything that a verdict rests on: the verdict."""

from typing import Any

import msgspec

from rutter.actors.critic.verdict import Judgement, VerdictCase, judge
from rutter.actors.rules.pages.expected_changes import has_changed
from rutter.actors.rules.steps.check_results import AfterStep
from rutter.events.action import Action, Untrusted
from rutter.events.checks import AlertSaid, Downloaded, ElementState, StateIs, TextGone, TextVisible
from rutter.events.critic import Verdict
from rutter.events.page import Page, PageElement
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Expectation
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, click, done, element, fill, page, place

HOME = page("/", "home")
CHANGED = page("/", "changed")
SAVE = ActionStarted(1, 1, click("#save"), irreversible=True)
LOOK = ActionStarted(1, 1, click("#look"))


def judged(running: ActionStarted, after: Page = CHANGED, **more: Any) -> Judgement:
    seen = AfterStep(after, before=HOME, **more.pop("seen", {}))
    return judge(VerdictCase(running, more.pop("outcome", done()), HOME, seen, **more))


def verdict(running: ActionStarted, after: Page = CHANGED, **more: Any) -> Verdict:
    return judged(running, after, **more).verdict


# -- what is still under way -----------------------------------------------------------------------


def test_what_cannot_be_undone_is_not_done_while_its_request_has_no_answer() -> None:
    waiting = judged(SAVE, pending=1, sent=1)
    assert (waiting.verdict, waiting.may_still_come_ms) == ("unknown", 10_000)
    assert verdict(SAVE) == "confirmed"
    assert verdict(LOOK, pending=1, sent=1) == "confirmed"
    assert verdict(SAVE, pending=1) == "confirmed", "a page that polls has sent nothing"
    assert verdict(SAVE, page("/done"), pending=1, sent=1) == "unknown", "it went on before"
    switch = ElementState("checked", "News")
    on = msgspec.structs.replace(
        CHANGED, elements=(PageElement("switch", Untrusted("News"), state=("checked",)),)
    )
    expects = Expectation(place=place("/"), learned=(switch,))
    assert verdict(SAVE, on, pending=1, sent=1, expects=expects) == "unknown"


def test_a_page_that_says_so_itself_need_not_be_waited_for() -> None:
    said = msgspec.structs.replace(CHANGED, alerts=(Untrusted("Saved"),))
    expects = Expectation(place=place("/"), learned=(AlertSaid("saved", whole=True),))
    assert verdict(SAVE, said, pending=1, sent=1, expects=expects) == "confirmed"


def test_nothing_is_missing_for_good_while_the_page_waits() -> None:
    assert verdict(LOOK, HOME, pending=1) == "unknown"
    assert verdict(LOOK, HOME) == "no_effect"


def test_a_field_that_looks_things_up_is_filled_once_more_all_the_same() -> None:
    typed = ActionStarted(1, 1, fill())
    assert verdict(typed, pending=1, outcome=done(value_set=False)) == "failed"


def test_what_sent_something_and_shows_nothing_is_unknown() -> None:
    assert verdict(LOOK, HOME, sent=1) == "unknown"
    assert verdict(LOOK, HOME, outcome=done(navigated=True)) == "unknown", "it came anew"
    assert verdict(LOOK, CHANGED, sent=1) == "confirmed"


# -- what is shown ---------------------------------------------------------------------------------


def test_a_file_that_came_is_an_effect() -> None:
    came = {"downloads": ("invoice.pdf",)}
    assert verdict(LOOK, HOME, seen=came) == "confirmed"
    expects = Expectation(place=place("/"), learned=(Downloaded(),))
    assert verdict(LOOK, HOME, seen=came, expects=expects) == "confirmed"
    assert verdict(LOOK, CHANGED, expects=expects) == "failed"


def test_another_notice_than_the_recorded_one_is_unknown_and_none_is_a_failure() -> None:
    expects = Expectation(place=place("/"), learned=(AlertSaid("saved", whole=True),))
    other = msgspec.structs.replace(CHANGED, alerts=(Untrusted("Queued for tonight"),))
    assert verdict(SAVE, other, expects=expects) == "unknown"
    assert verdict(SAVE, other, expects=expects, seen={"state": "FAILED"}) == "failed"
    assert verdict(SAVE, CHANGED, expects=expects) == "failed"
    assert verdict(LOOK, CHANGED, expects=expects) == "confirmed", "the next steps find out"
    assert judged(SAVE, other, expects=expects).sample == "Queued for tonight"


def test_what_a_form_refuses_is_told() -> None:
    expects = Expectation(moved=True, place=place("/done"))
    field = PageElement("textbox", Untrusted("Quantity"), state=("invalid",))
    refused = msgspec.structs.replace(CHANGED, elements=(field,))
    assert judged(SAVE, refused, expects=expects).sample == "not accepted: Quantity"
    said = msgspec.structs.replace(CHANGED, alerts=(Untrusted("Must be a number"),))
    assert judged(SAVE, said, expects=expects).sample == "Must be a number"


def test_an_element_that_may_be_in_what_was_cut_off_decides_only_where_it_was_stated() -> None:
    expanded = ElementState("expanded", "Menu")
    cut = msgspec.structs.replace(CHANGED, dropped=9)
    assert verdict(LOOK, cut, expects=Expectation(learned=(expanded,))) == "confirmed"
    assert verdict(LOOK, cut, expects=Expectation(checks=(expanded,))) == "failed"
    assert verdict(LOOK, CHANGED, expects=Expectation(learned=(expanded,))) == "failed"


def test_nothing_seen_when_it_was_recorded_is_no_sign_for_what_cannot_be_undone() -> None:
    expects = Expectation(effect=False, place=place("/"))
    assert verdict(SAVE, HOME, expects=expects) == "unknown"
    assert verdict(SAVE, CHANGED, expects=expects) == "confirmed"
    assert verdict(LOOK, HOME, expects=expects) == "confirmed"


def test_a_notice_that_is_over_is_no_effect() -> None:
    quiet = page("/", "quiet")
    talking = msgspec.structs.replace(HOME, alerts=(Untrusted("Saved"),))
    seen = AfterStep(quiet, before=talking)
    assert judge(VerdictCase(LOOK, done(), talking, seen)).verdict == "no_effect"
    more = msgspec.structs.replace(quiet, headings=(Untrusted("More"),))
    assert (
        judge(VerdictCase(LOOK, done(), talking, AfterStep(more, before=talking))).verdict
        == "confirmed"
    )


def test_a_choice_that_was_made_already_stands() -> None:
    radio = PageElement("radio", Untrusted("Express"), state=("checked",))
    chosen = msgspec.structs.replace(HOME, elements=(radio,))
    expects = Expectation(place=place("/"), learned=(ElementState("checked", "Express"),))
    found = judge(VerdictCase(LOOK, done(), chosen, AfterStep(chosen, before=chosen), expects))
    assert (found.verdict, found.reason) == ("confirmed", "as_it_was")
    opened = Expectation(place=place("/"), learned=(ElementState("expanded", "Express"),))
    assert (
        judge(VerdictCase(LOOK, done(), chosen, AfterStep(chosen), opened)).verdict == "no_effect"
    )


def test_a_notice_that_still_stands_says_nothing_about_this_step() -> None:
    said = msgspec.structs.replace(CHANGED, alerts=(Untrusted("Added to cart"),))
    before = msgspec.structs.replace(HOME, alerts=said.alerts)
    expects = Expectation(place=place("/"), learned=(AlertSaid("added to cart", whole=True),))
    found = judge(VerdictCase(SAVE, done(), before, AfterStep(said, before=before), expects))
    assert found.verdict == "unknown"


# -- states ----------------------------------------------------------------------------------------


@for_each(
    "running, recorded, now, said",
    [
        (LOOK, "ACCOUNT_ACTIVE", "LOGIN_REQUIRED", "wrong_target"),
        (LOOK, "UNKNOWN", "LOGIN_REQUIRED", "wrong_target"),
        (LOOK, "ACCOUNT_ACTIVE", "FAILED", "confirmed"),
        (SAVE, "ACCOUNT_ACTIVE", "FAILED", "wrong_target"),
        (SAVE, "UNKNOWN", "FAILED", "wrong_target"),
        (SAVE, "COMPLETE", "UNKNOWN", "confirmed"),
        (SAVE, "COMPLETE", "COMPLETE", "confirmed"),
    ],
)
def test_the_state_after_each_step(
    running: ActionStarted, recorded: Any, now: Any, said: Verdict
) -> None:
    expects = Expectation(place=place("/"), state=recorded)
    assert verdict(running, expects=expects, seen={"state": now}) == said


def test_a_workflow_from_before_states_expects_none() -> None:
    expects = Expectation(place=place("/"))
    assert verdict(LOOK, expects=expects, seen={"state": "LOGIN_REQUIRED"}) == "confirmed"


def test_a_page_that_says_no_is_no_success_whatever_was_recorded() -> None:
    assert verdict(SAVE, seen={"state": "FAILED"}) == "failed"
    assert verdict(SAVE, seen={"state": "FAILED", "state_before": "FAILED"}) == "confirmed"
    assert verdict(LOOK, seen={"state": "FAILED"}) == "confirmed"
    stated = Expectation(checks=(StateIs("FAILED"),))
    assert verdict(SAVE, expects=stated, seen={"state": "FAILED"}) == "confirmed"


def test_without_a_recording_no_state_is_expected() -> None:
    assert verdict(SAVE, seen={"state": "COMPLETE"}) == "confirmed"
    stated = Expectation(checks=(StateIs("COMPLETE"),))
    assert verdict(LOOK, expects=stated, seen={"state": "UNKNOWN"}) == "wrong_target"


# -- read-backs ------------------------------------------------------------------------------------

BACK = Action("navigate", url=f"{ORIGIN}/records", verify=(TextVisible("Ann"),), aside=True)


@for_each(
    "after, status, said",
    [
        (page("/records"), 200, "confirmed"),
        (page("/records"), 0, "confirmed"),
        (page("/records?q=1"), 200, "confirmed"),
        (page("/records/"), 200, "confirmed"),
        (page("/records/sign_in"), 200, "wrong_target"),
        (page("/login?next=/records"), 200, "wrong_target"),
        (page("/records"), 500, "wrong_target"),
        (page("/records"), 404, "wrong_target"),
    ],
)
def test_a_result_is_looked_for_where_it_must_show(after: Page, status: int, said: Verdict) -> None:
    shown = {"shown": {"Ann": Untrusted("Ann Bonny")}}
    found = judged(ActionStarted(2, 1, BACK), after, status=status, seen=shown)
    assert found.verdict == said
    if said != "confirmed":
        assert found.failing is None, "it was not looked at: nobody knows"


@for_each("state", ["LOGIN_REQUIRED", "FAILED"])
def test_a_result_does_not_show_on_a_page_in_its_place(state: Any) -> None:
    gone = msgspec.structs.replace(BACK, verify=(TextGone("Ann"),))
    known = {"shown": {"Ann": None}, "state": state}
    assert verdict(ActionStarted(2, 1, gone), page("/records"), seen=known) == "wrong_target"


def test_a_recorded_page_that_is_broken_now_is_not_reached() -> None:
    go = ActionStarted(1, 1, Action("navigate", url=f"{ORIGIN}/orders"))
    expects = Expectation(moved=True, place=place("/orders"))
    assert verdict(go, page("/orders"), expects=expects, status=502) == "wrong_target"
    assert verdict(go, page("/orders"), expects=expects, status=404) == "confirmed"
    assert verdict(go, page("/orders"), status=500) == "confirmed", "as whoever asked will see"


def test_an_address_that_sends_a_file_is_confirmed_by_it_unless_a_page_was_recorded() -> None:
    go, sends = ActionStarted(1, 1, Action("navigate", url=f"{ORIGIN}/orders.csv")), done(file=True)
    came = {"downloads": ("orders.csv",)}
    coming = judged(go, HOME, outcome=sends)
    assert (coming.verdict, coming.may_still_come_ms) == ("wrong_target", 10_000)
    assert verdict(go, HOME, outcome=sends, seen=came) == "confirmed"
    expects = Expectation(moved=True, place=place("/orders.csv"))
    assert verdict(go, HOME, outcome=sends, seen=came, expects=expects) == "wrong_target"


# -- the focus -------------------------------------------------------------------------------------


def focused(role: str) -> Page:
    return page("/", "home", focused=role, elements=(PageElement(role, state=("focused",)),))


@for_each(
    "role, is_effect",
    [("textbox", True), ("combobox", True), ("button", False), ("checkbox", False)],
)
def test_the_focus_is_an_effect_of_a_click_only_on_what_one_types_into(
    role: str, is_effect: bool
) -> None:
    assert has_changed(HOME, focused(role), element(role="button")) is is_effect
    assert has_changed(HOME, focused(role), clicked=False) is True, "a key may be for that"


def test_a_field_that_loses_the_focus_is_no_effect() -> None:
    assert not has_changed(focused("textbox"), HOME, element(role="button"))
    assert not has_changed(focused("textbox"), HOME)


def test_a_field_that_is_not_in_the_observation_is_known_by_its_own_role() -> None:
    there = page("/", "home", focused="x")
    assert has_changed(HOME, there, element(role="textbox"))
    assert not has_changed(HOME, there, element(role="button"))
