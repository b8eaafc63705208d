"""Given what was learned last and what a person does next: whether that takes it back."""

from rutter.actors.predictor.learning.takebacks import Taught, taught, undone
from rutter.actors.rules.pages.changes import PageMoment
from rutter.events.action import Action
from rutter.events.page import Page, Resolved
from rutter.events.predictor import TransitionLearned
from rutter.events.signature import signature, token
from tests.support.case_table import for_each
from tests.support.shop_facts import click

LIST, ROW = "https://shop.test/orders", "https://shop.test/orders/7"


def did(action: Action, *, before: str = LIST, after: str = LIST) -> Taught:
    learned = TransitionLearned(token(action), signature(action), action, ("a",), place="/orders")
    return taught(learned, PageMoment(Page(before)), PageMoment(Page(after)))


def test_going_back_to_the_page_before_takes_back_what_led_away_from_it() -> None:
    last = did(click("#row"), after=ROW)
    back = undone(last, Action("navigate", url=LIST), None)
    assert back is not None
    assert (back.token, back.why) == (token(click("#row")), "went_back")
    assert (back.after, back.place) == (("a",), "/orders")


@for_each("url", [ROW, "https://shop.test/", "https://other.test/orders"])
def test_going_on_takes_nothing_back(url: str) -> None:
    assert undone(did(click("#row"), after=ROW), Action("navigate", url=url), None) is None


def test_loading_the_page_again_after_a_step_that_stayed_on_it_takes_nothing_back() -> None:
    assert undone(did(click("#sort")), Action("navigate", url=LIST), None) is None


def test_a_switch_that_is_turned_back_was_not_meant() -> None:
    box = Resolved("input", "d", role="checkbox")
    back = undone(did(click("#gift")), click("#gift"), box)
    assert back is not None
    assert back.why == "turned_back"
    assert undone(did(click("#gift")), click("#other"), box) is None


def test_a_button_that_is_pressed_twice_is_pressed_twice() -> None:
    assert (
        undone(did(click("#next")), click("#next"), Resolved("button", "d", role="button")) is None
    )


@for_each("key", ["Control+z", "Meta+Z", "control+Z"])
def test_the_undo_key_takes_back_what_was_written(key: str) -> None:
    wrote = Action("type", target=click("#q").target)
    back = undone(did(wrote), Action("press", key=key), None)
    assert back is not None
    assert back.why == "undo_key"
    assert undone(did(click("#row")), Action("press", key=key), None) is None


def test_with_nothing_learned_nothing_is_taken_back() -> None:
    assert undone(None, Action("press", key="Control+z"), None) is None
