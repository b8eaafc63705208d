"""Given one look at a page: whether what an action is done to is there. No only where certain."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.position.element_presence import is_there
from rutter.events.action import (
    Action,
    ActionType,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Fingerprint,
    Target,
    Untrusted,
)
from rutter.events.page import Page, PageElement
from tests.support.case_table import for_each

SAVE = ByCss("#save")


def element(role: str, name: str = "", *state: str, tag: str = "") -> PageElement:
    return PageElement(role, Untrusted(name), tag or role, tuple(state))


def page(*elements: PageElement, **more: object) -> Page:
    seen = Page(url="https://shop.example/", ready="complete", elements=elements)
    return msgspec.structs.replace(seen, **more)


def known(role: str, name: str, tag: str = "", type: ActionType = "click") -> Action:
    """As a recorded step knows its element."""
    return Action(type, target=Target((SAVE,), Fingerprint(tag or role, role, Untrusted(name))))


def by_role(role: str, name: str, type: ActionType = "click") -> Action:
    return Action(type, target=Target((ByRole(role, name),)))


def test_what_has_its_role_and_name_on_the_page_is_there_and_else_not() -> None:
    here = page(element("link", "Orders"), element("button", "Save"))
    for there in (known("button", "Save"), by_role("button", "Save"), known("link", "Orders")):
        assert is_there(there, here)
    for gone in (known("button", "Send"), by_role("button", "Send"), known("link", "Customers")):
        assert not is_there(gone, here)


def test_case_spaces_and_numbers_tell_nothing_apart() -> None:
    here = page(element("button", "Delete  12 Rows"))
    assert is_there(known("button", "delete 3 rows"), here)
    assert not is_there(known("button", "delete rows"), here)


def test_what_is_disabled_cannot_be_operated_unless_another_of_the_name_can() -> None:
    assert not is_there(known("button", "Save"), page(element("button", "Save", "disabled")))
    both = page(element("button", "Save", "disabled"), element("button", "Save", "offscreen"))
    assert is_there(known("button", "Save"), both)


def test_a_parameter_is_looked_for_by_its_value() -> None:
    row = by_role("link", "Open ${customer}")
    here = page(element("link", "Open Aurora Shipping"))
    assert is_there(row, here, {"customer": "aurora shipping"})
    assert not is_there(row, here, {"customer": "Juniper Tankers"})


def test_a_parameter_that_nobody_bound_may_be_anything() -> None:
    row = by_role("link", "Open ${customer} now")
    assert is_there(row, page(element("link", "Open Aurora now")))
    assert not is_there(row, page(element("link", "Open Aurora")))


@for_each(
    "more",
    [{"dropped": 1}, {"truncated": True}, {"ready": "loading"}, {"ready": "interactive"}],
)
def test_on_a_page_that_was_not_seen_in_full_anything_may_be(more: dict[str, object]) -> None:
    assert not is_there(known("button", "Save"), page())
    assert is_there(known("button", "Save"), page(**more))


def test_on_a_page_that_is_at_work_anything_may_come() -> None:
    assert is_there(known("button", "Save"), page(element("region", "Orders", "busy")))


@for_each(
    "action",
    [
        Action("navigate", url="https://shop.example/"),
        Action("press", key="Enter"),
        Action("scroll", direction="down"),
        Action("wait", ms=10),
        known("button", "Save", type="wait_for"),
        known("button", "Save", type="extract"),
        Action("click", target=Target((SAVE,))),
        Action("click", target=Target((ByPoint(1, 2),))),
        Action("click", target=Target((ByText("Save"),))),
        known("button", ""),
        known("", "Save", "span"),
        known("generic", "Save", "div"),
        known("searchbox", "Find", "input"),
        known("heading", "Orders", "h1"),
        known("button", "x" * 151),
    ],
)
def test_what_no_look_can_tell_is_there(action: Action) -> None:
    assert is_there(action, page())


def test_a_box_may_be_drawn_by_its_label_unless_it_is_none_of_the_browsers() -> None:
    assert is_there(known("checkbox", "Keep", "input"), page())
    assert is_there(by_role("radio", "By post"), page())
    assert not is_there(known("checkbox", "Keep", "div"), page())


def test_a_field_that_takes_files_may_be_drawn_by_its_button() -> None:
    assert is_there(known("button", "Your picture", "input", "type"), page())
    assert not is_there(known("button", "Your picture", "input", "click"), page())


def test_a_link_may_have_become_a_button_and_a_field_another_field() -> None:
    assert is_there(known("link", "Orders", "a"), page(element("button", "Orders")))
    assert is_there(known("textbox", "Find", "input"), page(element("searchbox", "Find")))
    assert not is_there(known("link", "Orders", "a"), page(element("heading", "Orders")))
    assert not is_there(known("textbox", "Find", "input"), page(element("button", "Find")))


def test_a_field_without_a_name_may_be_any_field_but_a_button_without_one_is_another() -> None:
    assert is_there(known("combobox", "Town", "div"), page(element("combobox")))
    assert not is_there(known("button", "Save"), page(element("button")))


def test_a_name_that_was_cut_or_redacted_may_be_any() -> None:
    assert is_there(known("button", "Save"), page(element("button", "y" * 200 + "...")))
    assert is_there(known("link", "As ann"), page(element("link", "As <secret user>")))
    signed_in = known("link", "Signed in as <secret user>")
    assert is_there(signed_in, page(element("link", "Signed in as <secret? email>")))
    assert not is_there(signed_in, page(element("link", "Sign in")))


def test_nothing_is_on_a_page_that_is_not_open() -> None:
    second = msgspec.structs.replace(known("button", "Save"), tab=1)
    typed = Action("press", key="Enter", tab=1)
    for action in (second, typed):
        assert not is_there(action, page())
        assert is_there(action, page(tabs=2)), "another page than the one that was looked at"
    assert not is_there(second, page(tabs=2, tab=1))


names = st.text(min_size=1, max_size=30).filter(str.strip)
roles = st.sampled_from(["button", "link", "textbox", "combobox", "tab", "menuitem", "slider"])


@given(roles, names, st.lists(st.tuples(roles, names), max_size=5))
def test_whatever_it_is_called_it_is_on_its_own_page(
    role: str, name: str, others: list[tuple[str, str]]
) -> None:
    here = page(*(element(*other) for other in others), element(role, name))
    assert is_there(known(role, name), here)
    assert is_there(by_role(role, name), here)
