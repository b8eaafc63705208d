"""Given what a page is made of and says: whether it keeps somebody out, or shows nothing."""

import re
from typing import Any

import msgspec

from rutter.actors.rules.pages.barrier import FILLED_MS, IDLE_MS, barrier_on, may_fill_ms
from rutter.actors.rules.pages.barrier_marks import asked_of_page, barrier_marks
from rutter.actors.rules.pages.barrier_words import barrier_in_words, barrier_told
from rutter.events.action import Untrusted
from rutter.events.critic import Barrier, BarrierKind, BarrierSign
from rutter.events.page import Makeup, Page, PageElement, PageMark
from tests.support.case_table import for_each

TURNSTILE = PageMark("frame", "//challenges\\.cloudflare\\.com/", 3)
CHALLENGE = PageMark("inline", "_cf_chl_opt")
CHECKBOX = PageMark("frame", "/recaptcha/(api2|enterprise)/anchor(?!.*size=invisible)", 4)
LETTERS = PageMark("element", 'img[src*="captcha" i]', 2)
HUMAN, REFERENCE = PageMark("text", "verify you are human"), PageMark("text", "reference #")
LIMIT = PageMark("text", "rate limit")
REJECTED = PageMark("text", "requested url was rejected. please consult with your administrator")
ROOT, LOADING = PageMark("mount", "#root"), PageMark("text", "loading")
BUTTON, FIELD = (
    PageElement("button", Untrusted("Send")),
    PageElement("textbox", Untrusted("E-mail")),
)


def page(
    title: str = "", heading: str = "", *elements: PageElement, ready: str = "complete"
) -> Page:
    headings = (Untrusted(heading),) if heading else ()
    url = "https://shop.example/"
    return Page(url, Untrusted(title), ready, headings=headings, elements=elements)


def made(*marks: PageMark, **more: Any) -> Makeup:
    return Makeup(**{"text": 400, "scripts": 2, "age_ms": 2_000, "marks": marks, **more})


@for_each(
    "seen, status, facts, expected",
    [
        (page("Just a moment..."), 403, made(CHALLENGE), ("blocked", False)),
        (page("Just a moment..."), 200, made(CHALLENGE), ("blocked", False)),
        (page("Access Denied", "Access Denied"), 403, made(REFERENCE), ("blocked", False)),
        (page("Robot Check"), 0, made(HUMAN), ("blocked", False)),
        (page("Too Many Requests"), 429, made(LIMIT), ("blocked", False)),
        (page(), 247, made(CHALLENGE, text=0), ("blocked", False)),
        (page("Acme"), 200, made(REJECTED, text=120), ("blocked", False)),
        (page("Just a moment..."), 403, made(CHALLENGE, TURNSTILE), ("captcha", False)),
        (page(), 200, made(CHECKBOX), ("captcha", False)),
        (page("", "Sign in", FIELD, BUTTON), 200, made(CHECKBOX), ("captcha", True)),
        (page("", "Tea", *[BUTTON] * 9), 200, made(CHECKBOX, text=9_000), ("captcha", True)),
        (page("", "", FIELD, BUTTON), 200, made(LETTERS), ("captcha", False)),
        (
            page("", "Tea", *[BUTTON] * 9),
            403,
            made(msgspec.structs.replace(CHECKBOX, area=90), text=9_000),
            ("captcha", False),
        ),
        (page(), 200, made(ROOT, text=0), ("empty_shell", False)),
        (page(), 200, made(LOADING, text=9), ("empty_shell", False)),
        (page(), 200, made(text=0, busy=True, age_ms=FILLED_MS), ("empty_shell", False)),
        (page(), 200, made(text=60, canvas=70), ("drawn", False)),
        (page(), 200, made(text=0, pictures=40), ("drawn", False)),
    ],
)
def test_a_page_that_keeps_somebody_out_or_shows_nothing_is_told(
    seen: Page, status: int, facts: Makeup, expected: tuple[str, bool]
) -> None:
    barrier = barrier_on(seen, status, facts)
    assert barrier is not None
    assert (barrier.kind, barrier.beside) == expected
    assert barrier.signs
    assert barrier.keeps_out == (barrier.kind in ("blocked", "captcha") and not barrier.beside)


@for_each(
    "seen, status, facts",
    [
        (page("Just a moment..."), 403, None),  # a log that does not say what it is made of
        (Page("about:blank", ready="complete"), 0, made(text=0)),
        (page("Access denied", "Access denied"), 403, made()),  # an account without permission
        (page("404 Not Found", "Not found"), 404, made(text=60)),
        (page("Back soon", "Back soon"), 503, made(text=90)),
        (page("Too many requests", "Too many requests"), 200, made(LIMIT, text=80)),  # of an API
        (page("Why a site says so"), 200, made(REJECTED, text=1_400)),
        (page("Are you a robot?", "Are you a robot?"), 200, made(HUMAN, text=1_400)),  # an article
        (page("Security check", "Security check"), 200, made(text=2_000)),
        (page("Robot Check", "", *[BUTTON] * 9), 200, made(HUMAN)),
        (page("", "Sign in", FIELD, BUTTON), 200, made()),
        (page("", "Sign in", FIELD, BUTTON), 200, made(CHECKBOX, answered=True)),
        (page("", "News", FIELD, BUTTON), 200, made(msgspec.structs.replace(CHECKBOX, area=0))),
        (page("What is a captcha?"), 200, made(LETTERS, text=2_000)),  # its picture, and no field
        (page("Thank you"), 200, made(text=30)),
        (page("", "Thank you"), 200, made(ROOT, text=9)),
        (page("", "", BUTTON), 200, made(LOADING, text=9)),
        (page(), 200, made(text=0, scripts=0)),  # blank
        (page(), 200, made(text=0, frames=("maps.example",))),  # all that it shows is in a frame
        (page(), 200, made(text=0, named=60)),  # a picture that says what it shows
        (page(), 200, made(text=0, pictures=30, named=60)),
        (page("", "Tides", *[BUTTON] * 4), 200, made(text=90, canvas=70)),
        (page(), 200, made(ROOT, text=0, age_ms=IDLE_MS - 1)),
        (page(), 200, made(ROOT, text=0, busy=True)),
        (page(ready="interactive"), 200, made(ROOT, text=0)),
    ],
)
def test_an_honest_page_is_none_of_these(seen: Page, status: int, facts: Makeup | None) -> None:
    assert barrier_on(seen, status, facts) is None


@for_each(
    "seen, facts, left_ms",
    [
        (page(), made(ROOT, text=0, age_ms=400), IDLE_MS - 400),
        (page(), made(ROOT, text=0, age_ms=400, busy=True), FILLED_MS - 400),
        (page(ready="interactive"), made(LOADING, text=9, age_ms=400), FILLED_MS - 400),
        (page(), made(ROOT, text=0, age_ms=FILLED_MS + 1, busy=True), 0),
        (page("", "Berths"), made(text=9, age_ms=400), 0),
        (page(), made(text=0, scripts=0, age_ms=400), 0),
        (page(), None, 0),
        (Page("about:blank"), made(text=0, age_ms=400), 0),
    ],
)
def test_only_a_page_that_looks_empty_may_still_be_filled(
    seen: Page, facts: Makeup | None, left_ms: int
) -> None:
    assert may_fill_ms(seen, facts, barrier_on(seen, 200, facts)) == left_ms


def test_what_it_is_known_by_is_told_in_words_of_the_table() -> None:
    facts = made(CHALLENGE, TURNSTILE, HUMAN)
    barrier = barrier_on(page("Just a moment, 'evil'"), 403, facts)
    assert barrier == Barrier(
        "captcha",
        ("frame", "script", "title", "text", "status"),
        "Cloudflare",
        "a frame of Cloudflare; a script of Cloudflare; title 'just a moment'; "
        "text 'verify you are human'; status 403",
    )
    said = "the site asks here for a captcha, which a person must do (Cloudflare)"
    assert barrier_in_words(barrier) == said
    assert barrier_told(barrier)["says"] == said


def test_each_kind_and_each_sign_can_be_said() -> None:
    kinds, signs = BarrierKind.__args__, BarrierSign.__args__  # type: ignore[attr-defined]
    assert all(barrier_in_words(Barrier(kind)) for kind in kinds)
    assert len(set(signs)) == len(signs)


def test_the_page_can_look_for_every_mark_of_the_table() -> None:
    asked = asked_of_page()
    for pattern in (*asked["script"], *asked["frame"]):
        re.compile(pattern)
    assert all(text == text.casefold() for text in barrier_marks().texts)
    spelled = {text.replace("\u2019", "'") for text in asked["text"]}
    assert spelled == set(barrier_marks().texts)
    assert {kind for kind, _ in barrier_marks().services} <= set(asked)
