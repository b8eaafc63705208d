"""How like a recorded element another is: what counts, what does not, and when it is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.rules.steps.likeness import (
    MARGIN,
    MINIMUM,
    choose,
    filled,
    found_by_data,
    grounds,
    resemblance,
    score,
)
from rutter.events.action import ByCss, ByRole, ByText, Fingerprint, Target, Untrusted
from rutter.events.run_settings import MILLION
from tests.support.case_table import for_each
from tests.support.page_elements import recorded, thing

ELSEWHERE = ("Cookies", "Imprint", "Footer", "")
SAVE = thing("Save order", id="save", data_testid="save-order")
LINK = thing("New order", tag="a", role="link", id="new", href="/orders/new?customer=@2")
SEND = thing("Place order", id="place", form="post /drafts/@2/place ", sends="alone")
FIELD = thing("Berth", tag="input", role="textbox", id="berth", name="berth", type="text",
              form="post /orders berth note")  # fmt: skip
ROW = thing("Edit", tag="a", role="link", href="/things/*/edit", near=("", "Remove", "Aurora", ""))


# -- what it says ----------------------------------------------------------------------------------


@for_each(
    "text, other", [("Sign in", "sign  IN"), ("E-mail", "Email"), ("Save!", "Save"), ("+", "+")]
)
def test_the_same_words_are_the_same_however_they_are_written(text: str, other: str) -> None:
    assert resemblance(text, other) == MILLION


@for_each("text, other", [("Save", "Delete"), ("Save", ""), ("+", "-")])
def test_other_words_are_not_like_it_at_all(text: str, other: str) -> None:
    assert resemblance(text, other) < 250_000


def test_one_more_word_is_less_like_it_than_none() -> None:
    near, far = resemblance("Review order", "Review order later"), resemblance("Review order", "Go")
    assert MILLION > near > far


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_of_words_goes_both_ways_and_stays_in_its_bounds(text: str, other: str) -> None:
    assert 0 <= resemblance(text, other) == resemblance(other, text) <= MILLION


@given(st.text(max_size=40))
def test_every_text_is_like_itself(text: str) -> None:
    assert resemblance(text, text) == MILLION


# -- grounds ---------------------------------------------------------------------------------------


def test_an_element_is_surely_itself() -> None:
    for element in (SAVE, LINK, SEND, FIELD):
        assert grounds(recorded(element), element) == "sure"
        assert score(recorded(element), element) == MILLION


def test_another_role_is_another_element_whatever_it_says() -> None:
    link = thing("Save order", tag="a", role="link", id="save", data_testid="save-order")
    assert grounds(recorded(SAVE), link) == "none"
    assert score(recorded(SAVE), link) == 0


def test_a_label_that_was_the_only_one_is_enough_when_all_marks_are_new() -> None:
    now = thing("Save order", id="x1", data_testid="x2", near=ELSEWHERE)
    assert grounds(recorded(SAVE), now) == "sure"


def test_a_label_that_several_had_needs_its_surroundings() -> None:
    several = recorded(ROW, telling=False)
    assert grounds(several, ROW) == "sure"
    other = thing("Edit", tag="a", role="link", href="/things/*/edit", near=("", "Remove", "Tern"))
    assert grounds(several, other) != "sure"


def test_a_link_that_leads_to_the_same_address_is_the_same_whatever_it_says() -> None:
    now = thing("Start", tag="a", role="link", href="/orders/new?customer=@2", near=ELSEWHERE)
    assert grounds(recorded(LINK), now) == "sure"


def test_a_link_to_one_of_many_is_not_known_by_its_address() -> None:
    row = thing("Open", tag="a", role="link", href="/things/*")
    other = thing("Show", tag="a", role="link", href="/things/*", near=ELSEWHERE)
    assert grounds(recorded(row), other) == "none"


def test_a_button_that_sends_the_same_request_is_the_same_whatever_it_says() -> None:
    now = thing("Submit purchase", form="post /drafts/@2/place ", sends="alone", near=ELSEWHERE)
    assert grounds(recorded(SEND), now) == "sure"


@pytest.mark.parametrize(
    "form",
    ["post /drafts/@2/hold ", "get /drafts/@2/place ", "post /drafts/@2/place op=hold"],
    ids=["another address", "another method", "another hidden field"],
)
def test_a_button_that_sends_another_request_is_not(form: str) -> None:
    now = thing("Go", form=form, sends="alone", id="place")
    assert grounds(recorded(SEND), now) == "none"


@for_each("form", ["post /rows/*/drop ", "post /drop row=*"])
def test_a_button_that_sends_one_of_many_is_not_known_by_what_it_sends(form: str) -> None:
    row = thing("Drop", form=form, sends="alone", near=("Aurora",))
    other = thing("Discard", form=form, sends="alone", near=("Tern",))
    assert grounds(recorded(row), other) == "none"
    assert grounds(recorded(row, telling=False), thing("Drop", form=form, sends="alone")) == "none"


def test_of_two_buttons_that_send_the_same_neither_is_known_by_it() -> None:
    now = thing("Delete", form="post /drafts/@2/place ", sends="with others")
    assert grounds(recorded(SEND), now) == "none"


def test_a_field_is_known_by_its_name_in_its_form() -> None:
    now = thing("Quay", tag="input", role="textbox", name="berth", type="text",
                form="post /orders berth note", near=ELSEWHERE)  # fmt: skip
    assert grounds(recorded(FIELD), now) == "sure"


def test_a_field_of_another_name_is_another_field() -> None:
    now = thing("Quay", tag="input", role="textbox", name="note", type="text", id="berth",
                form="post /orders berth note")  # fmt: skip
    assert grounds(recorded(FIELD), now) == "none"


def test_an_id_on_something_that_says_something_else_is_not_enough() -> None:
    now = thing("Delete everything", id="save", data_testid="save-order")
    assert grounds(recorded(SAVE), now) == "none"


def test_marks_and_half_the_words_are_worth_a_question() -> None:
    now = thing("Save order now", id="save", data_testid="save-order")
    assert grounds(recorded(SAVE), now) == "unsure"


def test_the_same_words_that_lead_elsewhere_are_worth_a_question_at_most() -> None:
    now = thing("New order", tag="a", role="link", id="new", href="/v2/orders")
    assert grounds(recorded(LINK), now) == "unsure"
    unmarked = thing("New order", tag="a", role="link", href="/v2/orders", near=ELSEWHERE)
    assert grounds(recorded(LINK), unmarked) == "none"


def test_a_mark_that_every_row_has_tells_no_row_from_another() -> None:
    first = thing("Edit", data_testid="edit", near=("Aurora", "", "", "Rows"))
    target = Target((ByCss("tr:nth-of-type(1) > button"),), first.fingerprint)
    second = thing("Edit", data_testid="edit", near=("Tern", "", "", "Rows"))
    assert grounds(target, second) != "sure"


def test_numbers_count_where_something_is_done() -> None:
    page_1 = thing("Page 1", near=())
    assert grounds(recorded(page_1), thing("Page 2", near=())) == "none"


def test_a_password_field_is_never_taken_for_a_plain_one_nor_the_other_way_round() -> None:
    plain = thing("Code", tag="input", role="textbox", type="text", id="code")
    secret = thing("Code", tag="input", role="textbox", type="password", id="code", secret=True)
    assert grounds(recorded(secret), plain) == grounds(recorded(plain), secret) == "none"


def test_a_search_field_may_become_a_text_field() -> None:
    search = thing("Find", tag="input", role="searchbox", type="search")
    assert grounds(recorded(search), thing("Find", tag="input", role="textbox")) == "sure"


def test_a_date_field_is_no_text_field() -> None:
    day = thing("When", tag="input", role="textbox", type="date")
    assert grounds(recorded(day), thing("When", tag="input", role="textbox", type="text")) == "none"


def test_an_icon_without_a_label_is_known_by_its_marks() -> None:
    icon = thing(id="burger")
    assert grounds(recorded(icon), thing(id="burger", near=ELSEWHERE)) == "sure"
    assert grounds(recorded(icon), thing("Log out", id="burger")) == "unsure"
    assert grounds(recorded(icon), thing(id="other", near=ELSEWHERE)) == "none"


# -- reading ---------------------------------------------------------------------------------------

NUMBER = thing("", text="1007", tag="strong", role="", id="number",
               near=("Order number", "Status", "", "Details"))  # fmt: skip


def test_what_is_read_is_known_by_the_label_before_it() -> None:
    now = thing("", text="2044", tag="strong", role="", near=("Order number", "", "", "Details"))
    assert grounds(recorded(NUMBER), now, reading=True) == "sure"


def test_what_is_read_under_another_label_is_something_else_even_with_its_id() -> None:
    status = thing("", text="Placed", tag="span", role="", id="number",
                   near=("Status", "Customer", "", "Details"))  # fmt: skip
    assert grounds(recorded(NUMBER), status, reading=True) == "none"


def test_what_is_read_may_say_anything() -> None:
    now = thing("", text="none yet", tag="strong", role="", id="number", near=ELSEWHERE)
    assert grounds(recorded(NUMBER), now, reading=True) == "sure"


# -- choosing --------------------------------------------------------------------------------------


def test_the_one_that_is_clearly_ahead_is_taken() -> None:
    right = thing("Submit purchase", form="post /drafts/@2/place ", sends="alone")
    other = thing("Place on hold", form="post /drafts/@2/hold ", sends="alone")
    choice = choose(recorded(SEND), [other, right])
    assert (choice.element, choice.second, choice.clear) == (right, other, True)
    assert choice.score - choice.runner_up >= MARGIN
    assert choice.score >= MINIMUM


def test_of_two_that_are_equally_like_it_none_is_taken() -> None:
    twins = [thing("Save order", near=ELSEWHERE), thing("Save order", near=ELSEWHERE)]
    choice = choose(recorded(SAVE), twins)
    assert not choice.clear
    assert choice.score == choice.runner_up


def test_the_best_of_those_that_are_not_it_is_not_taken() -> None:
    others = [thing("Save order later"), thing("Delete order"), thing("Help", near=ELSEWHERE)]
    choice = choose(recorded(SAVE), others)
    assert not choice.clear
    assert choice.score < MINIMUM


def test_of_nothing_nothing_is_chosen() -> None:
    choice = choose(recorded(SAVE), [])
    assert (choice.element, choice.score, choice.clear) == (None, 0, False)


@given(st.permutations([SAVE, SEND, thing("Save order later"), thing("Help"), ROW]))
def test_the_order_on_the_page_does_not_decide(elements: list[object]) -> None:
    assert choose(recorded(SAVE), elements).element == SAVE  # type: ignore[arg-type]


# -- parameters ------------------------------------------------------------------------------------


def test_a_fingerprint_is_filled_with_this_runs_values() -> None:
    kept = Fingerprint("a", "link", Untrusted("Open ${customer}"), near=(Untrusted("${berth}"),))
    now = filled(kept, {"customer": "Tern"})
    assert (now.name.text, now.near[0].text) == ("Open Tern", "${berth}")


@for_each(
    "ways, expected",
    [
        ((ByRole("link", "${customer}"), ByText("${customer}")), True),
        ((ByCss("#new"), ByRole("link", "New")), False),
        ((), False),
    ],
)
def test_what_is_chosen_by_a_parameter_alone_is_known(
    ways: tuple[ByCss, ...], expected: bool
) -> None:
    assert found_by_data(Target(ways)) is expected
