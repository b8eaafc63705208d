"""Given the pages before and after a step: what it changed, and whether an end is reached."""

from rutter.actors.rules.pages.expected_changes import at_end, ending, expectation
from rutter.events.action import Untrusted
from rutter.events.workflow import Expectation
from tests.support.shop_facts import page, place


def test_a_step_that_led_elsewhere_is_expected_to_lead_there() -> None:
    changed = expectation(page("/"), page("/orders/17"), {})
    assert changed == Expectation(effect=True, moved=True, place=place("/orders/*"))


def test_a_step_that_changed_its_page_is_expected_to_change_it() -> None:
    changed = expectation(page("/", "one"), page("/", "two"), {})
    assert changed == Expectation(effect=True, moved=False, place=place("/"))


def test_a_step_that_only_moved_the_focus_had_an_effect() -> None:
    assert expectation(page("/", focused="#a"), page("/", focused="#b"), {}).effect


def test_a_step_that_changed_nothing_is_expected_to_change_nothing() -> None:
    assert expectation(page("/"), page("/"), {}) == Expectation(effect=False, place=place("/"))


def test_another_fragment_is_no_move() -> None:
    assert not expectation(page("/#a", "same"), page("/#b", "same"), {}).moved


def test_where_a_step_led_does_not_hold_the_value_it_was_led_by() -> None:
    values = {"customer": "Aurora"}
    assert expectation(page("/"), page("/customers/aurora"), values).place == place("/customers/*")


def test_an_end_is_known_by_its_place_and_its_first_heading_without_what_varies() -> None:
    last = page("/orders/9", headings=(Untrusted("Order 9 for Aurora"), Untrusted("Lines")))
    end = ending(last, {"customer": "Aurora"})
    assert end == Expectation(place=place("/orders/*"), headings=("order # for *",))


def test_an_end_without_a_heading_is_known_by_its_place() -> None:
    assert ending(page("/done"), {}) == Expectation(place=place("/done"))


def test_the_end_is_reached_with_other_values() -> None:
    end = ending(page("/orders/9", heading="Order 9 for Aurora"), {"customer": "Aurora"})
    here = page("/orders/10", heading="Order 10 for Fairlead")
    assert at_end(end, here, {"customer": "Fairlead"}) == ""


def test_the_end_may_have_more_headings_than_were_recorded() -> None:
    end = Expectation(place=place("/done"), headings=("thanks",))
    here = page("/done", headings=(Untrusted("Welcome"), Untrusted("Thanks")))
    assert at_end(end, here, {}) == ""


def test_what_is_missing_for_the_end_is_said() -> None:
    end = Expectation(place=place("/done"), headings=("thanks",))
    assert at_end(end, page("/cart"), {}) == "the recording ended at /done, this is /cart"
    assert at_end(end, page("/done", heading="Sorry"), {}) == (
        "the heading 'thanks' of the recording is not on the page"
    )


def test_an_end_of_which_nothing_is_known_is_everywhere() -> None:
    assert at_end(Expectation(), page("/anywhere"), {}) == ""
