"""Given two looks at a page: what of the difference the next run can be held to."""

from typing import Any

import msgspec

from rutter.actors.rules.pages.changes import PageMoment, effects, notices, notices_of_run
from rutter.events.action import Untrusted
from rutter.events.checks import AlertSaid, Downloaded, ElementState, StateIs
from rutter.events.page import Page, PageElement
from tests.support.shop_facts import click, element, fill, page

BOX = element(name="News", role="checkbox")


def looks(
    *alerts: str, state: Any = "UNKNOWN", elements: tuple[PageElement, ...] = ()
) -> PageMoment:
    return PageMoment(page("/", alerts=tuple(map(Untrusted, alerts)), elements=elements), state)


def test_a_notice_that_is_new_is_expected_without_what_varies() -> None:
    before, after = looks("Welcome"), looks("Welcome", "Order 7 for Ann Bonny saved")
    found = effects(click(), None, before, after, (), {"who": "Ann Bonny"})
    assert found == (AlertSaid("order # for * saved", whole=True),)


def test_a_notice_that_says_nothing_but_what_varies_tells_nothing() -> None:
    assert notices(Page(url=""), page("/", alerts=(Untrusted("42"), Untrusted("ok"))), {}) == ()


def test_a_state_that_the_step_led_to_is_expected() -> None:
    assert effects(click(), None, looks(), looks(state="COMPLETE"), (), {}) == (
        StateIs("COMPLETE"),
    )
    assert effects(click(), None, looks(state="COMPLETE"), looks(state="COMPLETE"), (), {}) == ()
    assert effects(click(), None, looks(state="FAILED"), looks(), (), {}) == ()


def box(*states: str) -> tuple[PageElement, ...]:
    return (PageElement("checkbox", Untrusted("News"), state=states),)


def test_how_the_element_stands_is_expected_when_the_click_changed_it() -> None:
    on, off = looks(elements=box("checked")), looks(elements=box())
    assert effects(click(), BOX, off, on, (), {}) == (ElementState("checked", "News", "checkbox"),)
    assert effects(click(), BOX, on, off, (), {}) == (
        ElementState("not checked", "News", "checkbox"),
    )
    assert effects(click(), BOX, on, on, (), {}) == ()
    assert effects(fill(), BOX, off, on, (), {}) == (), "what typing set is read back anyway"


def test_an_element_that_is_one_of_many_or_named_by_a_parameter_is_not_held_to_a_state() -> None:
    on, off = looks(elements=box("checked") * 2), looks(elements=box() * 2)
    assert effects(click(), BOX, off, on, (), {}) == ()
    numbered = element(name="News (4)", role="checkbox")
    four = PageElement("checkbox", Untrusted("News (4)"))
    ticked = msgspec.structs.replace(four, state=("checked",))
    before, after = looks(elements=(four,)), looks(elements=(ticked,))
    assert effects(click(), numbered, before, after, (), {}) == (), "it is 5 the next time"
    one_on, one_off = looks(elements=box("checked")), looks(elements=box())
    assert effects(click(), BOX, one_off, one_on, (), {"what": "news"}) == ()


def test_a_file_that_came_is_expected_again_whatever_it_is_called() -> None:
    assert effects(click(), None, looks(), looks(), ("invoice-7.pdf",), {}) == (Downloaded(),)


def test_a_run_says_what_the_recording_said_in_its_own_words() -> None:
    after = looks("Order 8 for Bart saved", "It rains").page
    recorded = AlertSaid("order # for * saved", whole=True)
    found = notices_of_run((recorded,), looks().page, after, {})
    assert found == (recorded, AlertSaid("it rains", whole=True))
