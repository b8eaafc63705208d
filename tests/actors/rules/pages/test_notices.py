"""What a page says, told from what it says differently."""

import re

from hypothesis import given as on
from hypothesis import strategies as st

from rutter.actors.rules.pages.address import fits
from rutter.actors.rules.pages.notices import plain, says
from tests.support.case_table import for_each


@for_each(
    "recorded, now",
    [
        ("Saved", "saved"),
        ("Order 1042 saved", "Order 7 saved"),
        ("Delivered on Monday, 999 EUR", "Delivered on Tuesday, 1,000 EUR"),
        ("Saved at 14:03", "Saved at 9:58:01"),
        ("Valid until 3 March 2026", "Valid until 11 December 2027"),
        ("Booking X7K2PQ confirmed", "Booking M4TT9Z confirmed"),
        ("Am Montag, 3. M\u00e4rz", "Am Freitag, 11. Dezember"),
        ("**** 4242 was charged", "**** 1111 was charged"),
    ],
)
def test_numbers_and_days_do_not_tell_two_notices_apart(recorded: str, now: str) -> None:
    assert says(plain(recorded), now, whole=True)


@for_each(
    "recorded, now",
    [
        ("Saved", "Not saved: the disk is full"),
        ("Order placed", "No order placed: card declined"),
        ("Saved", ""),
        ("Order for Ann saved", "Order saved"),
    ],
)
def test_what_was_learned_is_the_whole_notice(recorded: str, now: str) -> None:
    assert not says(plain(recorded), now, whole=True)


def test_a_value_of_the_run_stands_for_any_other() -> None:
    learned = plain("Order for Ann Bonny saved", ["Ann Bonny"])
    assert learned == "order for * saved"
    assert says(learned, "Order for Bart saved", whole=True)
    assert not says(learned, "Order for saved", whole=True)


@for_each(
    "stated, notice, holds",
    [
        ("saved", "The record was saved.", True),
        ("Order 1042", "Order 1042 was placed", True),
        ("Order 7", "Order 1042 was placed", False),
        ("Order # was", "Order 1042 was placed", True),
        ("on Monday", "Delivered on Tuesday", False),
        ("order * placed", "Order 1042 was placed", True),
        ("save", "The record was saved.", False),
        ("saved", "unsaved changes", False),
    ],
)
def test_what_was_stated_is_somewhere_in_it_in_whole_words(
    stated: str, notice: str, holds: bool
) -> None:
    assert says(stated, notice, whole=False) is holds


def test_a_star_of_the_pages_own_is_no_wildcard() -> None:
    assert "*" not in plain("**** **** **** 4242 was charged")


def test_no_notice_holds_it_up() -> None:
    """As a regular expression this one does not return."""
    assert not fits("* " * 30 + "was charged", "your card was declined, please use another " * 50)
    assert not says("* " * 30 + "x", "a " * 5_000, whole=False)


@on(st.lists(st.text("ab", max_size=3), min_size=1, max_size=4), st.text("ab", max_size=12))
def test_a_pattern_fits_as_a_regular_expression_would(parts: list[str], text: str) -> None:
    as_regex = ".+".join(re.escape(part) for part in parts)
    assert fits("*".join(parts), text) == (re.fullmatch(as_regex, text, re.DOTALL) is not None)
