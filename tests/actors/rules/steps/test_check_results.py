"""Given what was seen: whether a check holds, and why not."""

import msgspec
from hypothesis import given as on
from hypothesis import strategies as st

from rutter.actors.rules.steps.check_results import (
    AfterStep,
    bound,
    bound_back,
    files_in,
    result_of,
    texts_in,
)
from rutter.events.action import Untrusted
from rutter.events.checks import (
    AlertSaid,
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileExists,
    FileSize,
    ReadBack,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
    path_of,
)
from rutter.events.observer import FileSeen
from rutter.events.page import Page, PageElement
from tests.support.case_table import for_each
from tests.support.shop_facts import page

BOX = PageElement("checkbox", Untrusted("Send me  news"), state=("checked", "required"))
FIELD = PageElement("textbox", Untrusted("Quantity"), value=Untrusted("12"))
ORDER = page(
    "/orders/a%20b?q=1", alerts=(Untrusted("Order 1042 for Ann was saved."),), elements=(BOX, FIELD)
)


def held(check: Check, **seen: object) -> bool | None:
    known = {"page": ORDER, **seen}
    return result_of(check, AfterStep(**known)).held  # type: ignore[arg-type]


# -- the page --------------------------------------------------------------------------------------


def test_a_text_that_nobody_looked_for_is_neither_there_nor_gone() -> None:
    assert held(TextVisible("Saved")) is None
    assert held(TextGone("Saved")) is None


def test_a_text_is_there_or_it_is_not() -> None:
    there = {"Saved": Untrusted("it was Saved today"), "Lost": None}
    assert held(TextVisible("Saved"), shown=there) is True
    assert held(TextGone("Saved"), shown=there) is False
    assert held(TextVisible("Lost"), shown=there) is False
    assert held(TextGone("Lost"), shown=there) is True
    assert (
        result_of(TextVisible("Saved"), AfterStep(ORDER, shown=there)).sample
        == "it was Saved today"
    )


def test_nothing_is_gone_from_a_page_that_was_not_read_to_its_end() -> None:
    cut = msgspec.structs.replace(ORDER, truncated=True, dropped=7)
    assert held(TextGone("Lost"), page=cut, shown={"Lost": None}) is False
    assert held(ElementState("gone", "Delete"), page=cut) is False
    assert held(ElementState("gone", "Delete")) is True


@for_each(
    "check, holds",
    [
        (UrlHas("/orders/"), True),
        (UrlHas("a b"), True),
        (UrlHas("/invoices"), False),
        (AlertSaid("order # for * was saved"), True),
        (AlertSaid("Order 1042 for Ann was saved"), True),
        (AlertSaid("Order # for Ann was saved"), True),
        (AlertSaid("Order 7 for Ann was saved"), False),
        (AlertSaid("saved"), True),
        (AlertSaid("could not be saved"), False),
        (ValueSet("12", "Quantity"), True),
        (ValueSet("12", "quantity", "textbox"), True),
        (ValueSet("12", "Quantity", "combobox"), False),
        (ValueSet("13", "Quantity"), False),
        (ValueSet("13", "Price"), False),
        (ElementState("checked", "send me news"), True),
        (ElementState("not checked", "Send me news"), False),
        (ElementState("not disabled", "Send me news"), True),
        (ElementState("expanded", "Send me news"), False),
        (ElementState("gone", "Send me news"), False),
    ],
)
def test_what_an_observation_tells_by_itself(check: Check, holds: bool) -> None:
    assert held(check) is holds


def test_the_state_of_the_page_is_what_the_rules_say() -> None:
    assert held(StateIs("COMPLETE"), state="COMPLETE") is True
    result = result_of(StateIs("COMPLETE"), AfterStep(ORDER, "FAILED"))
    assert (result.held, result.why) == (False, "it is FAILED")


def test_a_file_came_or_it_did_not() -> None:
    assert held(Downloaded()) is False
    assert held(Downloaded(), downloads=("invoice-7.pdf",)) is True
    assert held(Downloaded("invoice"), downloads=("invoice-7.pdf",)) is True
    assert held(Downloaded(".csv"), downloads=("invoice-7.pdf",)) is False


@for_each(
    "check",
    [
        TextVisible("${c}"),
        TextGone("${c}"),
        UrlHas("${c}"),
        AlertSaid("${c}"),
        FileContains("${c}", "f"),
    ],
)
def test_an_empty_value_proves_nothing(check: Check) -> None:
    known = {"": Untrusted("anything")}
    result = result_of(bound(check, {"c": " "}), AfterStep(ORDER, shown=known))
    assert (result.held, result.why) == (False, "there is nothing to look for")


def test_where_one_is_sent_next_is_not_where_one_is() -> None:
    sign_in = page("/login?next=/orders/7#/orders")
    assert held(UrlHas("/orders"), page=sign_in) is False
    assert held(UrlHas("next=/orders"), page=sign_in) is True
    assert held(UrlHas("shop.example/login"), page=sign_in) is True


def test_a_part_that_could_not_be_read_may_hold_the_text() -> None:
    assert held(TextGone("Lost"), shown={"Lost": None}, unread=True) is False


def test_a_learned_notice_that_stood_there_already_says_nothing() -> None:
    learned = AlertSaid("order # for ann was saved.", whole=True)
    assert held(learned) is True
    assert held(learned, before=ORDER) is False
    assert held(AlertSaid("saved"), before=ORDER) is True, "what was stated need not be new"


def test_of_several_with_one_name_all_must_stand_so() -> None:
    other = msgspec.structs.replace(BOX, state=())
    two = msgspec.structs.replace(ORDER, elements=(BOX, other))
    assert held(ElementState("checked", "Send me news"), page=two) is False
    assert held(ElementState("not disabled", "Send me news"), page=two) is True


# -- files -----------------------------------------------------------------------------------------

THERE = FileSeen("a.txt", exists=True, size=40, holds=True)


@for_each(
    "check, seen, holds",
    [
        (FileExists("a.txt"), THERE, True),
        (FileExists("a.txt"), FileSeen("a.txt"), False),
        (FileContains("x", "a.txt"), THERE, True),
        (FileContains("x", "a.txt"), FileSeen("a.txt", exists=True, holds=False), False),
        (FileSize("a.txt"), THERE, True),
        (FileSize("a.txt", at_least=41), THERE, False),
        (FileSize("a.txt", at_least=1, at_most=39), THERE, False),
        (FileSize("a.txt", at_least=40, at_most=40), THERE, True),
        (FileExists("a.txt"), FileSeen("a.txt", exists=True, error="policy_denied"), False),
        (FileContains("x", "a.txt"), FileSeen("a.txt", True, 9, None, "too_large"), False),
    ],
)
def test_what_is_known_of_a_file(check: Check, seen: FileSeen, holds: bool) -> None:
    assert held(check, files={check: seen}) is holds
    assert held(check) is None
    assert result_of(check, AfterStep(ORDER, files={check: seen})).source == "FILE"  # type: ignore[dict-item]


def test_evidence_of_a_file_has_no_sample_of_it() -> None:
    check = FileContains("secret plans", "a.txt")
    assert result_of(check, AfterStep(ORDER, files={check: THERE})).sample == ""
    assert (path_of(check), path_of(FileSize("b"))) == ("a.txt", "b")


# -- what must be asked for ------------------------------------------------------------------------


def test_texts_and_files_are_asked_for_once() -> None:
    checks = (TextVisible("A"), TextGone("A"), TextVisible("B"), FileExists("f"), FileExists("f"))
    assert texts_in(checks) == ("A", "B")
    assert files_in(checks) == (FileExists("f"),)


# -- parameters ------------------------------------------------------------------------------------


def test_parameters_are_those_of_the_run() -> None:
    values = {"who": "Ann", "where": "a.txt"}
    assert bound(TextVisible("for ${who}"), values) == TextVisible("for Ann")
    assert bound(FileContains("${who}", "${where}"), values) == FileContains("Ann", "a.txt")
    assert bound(TextVisible("${other}"), values) == TextVisible("${other}")


@on(st.text(min_size=1))
def test_a_value_in_an_address_stays_one_part_of_it(value: str) -> None:
    url = bound_back(ReadBack("https://a.example/x?q=${v}&r=1", ()), {"v": value}).url
    assert url.startswith("https://a.example/x?q=")
    assert url.endswith("&r=1")
    inside = url.removeprefix("https://a.example/x?q=").removesuffix("&r=1")
    assert not set(inside) & set('&#?/ \n<>"')


@on(
    st.builds(TextVisible, st.text())
    | st.builds(UrlHas, st.text())
    | st.builds(AlertSaid, st.text())
)
def test_a_check_never_breaks_on_what_somebody_wrote(check: Check) -> None:
    result_of(bound(check, {"a": "b"}), AfterStep(Page(url="x", alerts=(Untrusted("*(["),))))
