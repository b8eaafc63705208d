"""A known secret is in no event, wherever the page puts it."""

import pytest

from actors.redaction import Redactor
from events.action import Untrusted
from events.codec import encode
from events.executor import ActionFailed
from events.observer import PageObserved
from events.page import Element, Page

SECRET = "sheet bend & 9 fathoms"
REDACT = Redactor({"password": SECRET, "pin": "42"})


def seen(page: Page) -> PageObserved:
    return PageObserved(page=page, why="requested")


@pytest.mark.parametrize(
    "page",
    [
        Page(url="https://shop.example/?pw=sheet+bend+%26+9+fathoms"),
        Page(url="https://shop.example/?pw=sheet%20bend%20%26%209%20fathoms"),
        Page(url="https://shop.example/", title=Untrusted(f"you typed {SECRET}!")),
        Page(
            url="https://shop.example/",
            elements=(Element("textbox", Untrusted("Password"), value=Untrusted(SECRET)),),
        ),
    ],
)
def test_it_is_replaced_by_its_name(page: Page) -> None:
    payload = encode(REDACT(seen(page)))
    assert b"fathoms" not in payload
    assert b"<secret password>" in payload


def test_an_error_that_repeats_it_is_redacted_too() -> None:
    failed = REDACT(ActionFailed(1, 1, "action_failed", False, f"cannot type {SECRET!r}"))
    assert isinstance(failed, ActionFailed)
    assert failed.message == "cannot type '<secret password>'"


def test_an_event_without_it_is_the_very_same() -> None:
    event = seen(Page(url="https://shop.example/", title=Untrusted("42 knots")))
    assert REDACT(event) is event


def test_the_longer_of_two_secrets_goes_whole() -> None:
    both = Redactor({"short": "hunter", "long": "hunter2hunter"})
    event = both(seen(Page(url="x", title=Untrusted("hunter2hunter"))))
    assert isinstance(event, PageObserved)
    assert event.page.title.text == "<secret long>"
