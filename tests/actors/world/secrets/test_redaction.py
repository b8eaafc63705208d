"""A known secret is in no event, wherever the page puts it."""

from collections.abc import AsyncIterator
from typing import ClassVar

import msgspec
import pytest

from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.redaction import FAILED, Redactor, check_secrets
from rutter.events.action import Secret, Untrusted
from rutter.events.causes import OTHER
from rutter.events.codec import encode
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BadInput, WorldBroken
from rutter.events.executor import ActionFailed, TargetResolved
from rutter.events.log import EventLog
from rutter.events.observer import PageObserved, ScreenshotTaken
from rutter.events.page import Artifact, Page, PageElement, Resolved
from rutter.events.policy import Policy
from rutter.events.runtime import ActorFailed, SessionEnded, SessionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from tests.support.case_table import for_each
from tests.support.shop_facts import fill, go_to, recording_of

pytestmark = pytest.mark.anyio

SECRET = "sheet bend & 9 fathoms"
REDACT = Redactor({"password": SECRET, "pin": "42"})


def seen(page: Page) -> PageObserved:
    return PageObserved(page=page, why="requested")


@for_each(
    "page",
    [
        Page(url="https://shop.example/?pw=sheet+bend+%26+9+fathoms"),
        Page(url="https://shop.example/?pw=sheet%20bend%20%26%209%20fathoms"),
        Page(url="https://shop.example/", title=Untrusted(f"you typed {SECRET}!")),
        Page(
            url="https://shop.example/",
            elements=(PageElement("textbox", Untrusted("Password"), value=Untrusted(SECRET)),),
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


def test_a_password_that_is_a_word_of_ours_breaks_no_event() -> None:
    redact = Redactor({"password": "password", "title": "title", "tag": "PageObserved"})
    begun = recording_of(fill(value=Secret("password")))
    begun = msgspec.structs.replace(begun, secrets=("password",))
    assert redact(begun) == begun
    event = redact(seen(Page(url="x", title=Untrusted("title: password"))))
    assert isinstance(event, PageObserved)
    assert event.page.title.text == "<secret title>: <secret password>"


@for_each("short", ["1234", "cafe"])
def test_our_own_sums_stay_whatever_a_secret_is(short: str) -> None:
    redact = Redactor({"pin": short})
    shot = ScreenshotTaken(Artifact(f"ab{short}" + "c" * 58, 3, "image/png"), why="stopped")
    assert redact(shot) == shot
    found = TargetResolved(1, 1, Resolved("input", f"f00{short}9", exact=f"{short}1"))
    assert redact(found) == found
    begun = recording_of(values={"digest": short, "exact": f"my {short}"})
    cleaned = redact(begun)
    assert isinstance(cleaned, SessionStarted)
    assert cleaned.values == {"digest": "<secret pin>", "exact": "my <secret pin>"}


@for_each(
    "value",
    ["password", "search-box", "shop.example", "order", "click", "script", "Aurora", "textbox"],
)
def test_a_value_that_is_a_word_of_the_run_is_refused_by_its_name(value: str) -> None:
    begun = recording_of(
        go_to("https://shop.example/"),
        fill("#search-box", value=Secret("pw")),
        values={"customer": "Aurora"},
    )
    check_secrets(begun, {"pw": "sheet bend & 9 fathoms", "pin": "7135"})
    with pytest.raises(BadInput, match="the value of secret 'pw' is a word of") as refused:
        check_secrets(begun, {"pin": "7135", "pw": value})
    assert value not in str(refused.value)


async def test_nothing_is_begun_with_such_a_value(pipeline_log: EventLog) -> None:
    begun = recording_of(fill("#password", value=Secret("pw")))
    async with App.open(pipeline_log) as app:
        with pytest.raises(BadInput, match="secret 'pw'"):
            await app.run_in_browser(begun, Shut(), secrets={"pw": "password"})
        kinds = [envelope.event async for envelope in pipeline_log.read()]
    assert not any(isinstance(each, SessionStarted) for each in kinds)


class Shut:
    """A browser that nobody gets to open."""

    async def open_window(self, policy: Policy) -> Window:
        raise AssertionError(policy)


class Broken(Redactor):
    """One that fails on pages, with what it saw in its error."""

    def __call__(self, event: AnyEvent) -> AnyEvent:
        if isinstance(event, PageObserved):
            raise ValueError(f"cannot clean {event.page.url}")
        return event


def test_when_it_fails_nothing_is_told() -> None:
    actor, fact = Broken({}).fact("observer", seen(Page(url=f"https://x/{SECRET}")))
    assert (actor, fact) == ("runtime", ActorFailed("observer", "RedactionFailed", FAILED))


def test_a_session_that_cannot_be_cleaned_is_not_begun() -> None:
    class Failing(Redactor):
        def __call__(self, event: AnyEvent) -> AnyEvent:
            raise ValueError(SECRET)

    with pytest.raises(WorldBroken, match="redaction failed") as refused:
        Failing({}).fact("runtime", recording_of())
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    _, ended = Failing({}).fact("runtime", SessionEnded("failed", detail=SECRET))
    assert ended == SessionEnded("failed", "actor_failed", FAILED, OTHER)


async def test_a_run_whose_facts_cannot_be_cleaned_ends_without_them(
    pipeline_log: EventLog,
) -> None:
    page = Page(url="http://shop.example/", title=Untrusted(SECRET))
    async with App.open(pipeline_log) as app:
        ended = await app.run_session(
            recording_of(go_to()), [OnePage(seen(page))], redact=Broken({})
        )
        kinds = [envelope async for envelope in pipeline_log.read()]
    assert (ended.failure, ended.detail) == (
        "actor_failed",
        "observer: RedactionFailed: redaction failed",
    )
    assert not any(isinstance(each.event, PageObserved) for each in kinds)
    assert not any(SECRET.encode() in encode(each.event) for each in kinds)


class OnePage:
    """An Observer that has seen this page."""

    name: ClassVar[Actor] = "observer"

    def __init__(self, observed: PageObserved) -> None:
        self._observed = observed

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if isinstance(envelope.event, SessionStarted):
            yield self._observed

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None
