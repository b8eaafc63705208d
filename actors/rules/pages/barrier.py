"""The rules of barriers tell by its facts a page that keeps somebody out, or was never filled.

Pure: what the site answered, what the page says in a few words, what it has of a known service, and
what it looks like. A page that says much, or lets one do much, is none of these.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rutter.actors.rules.pages.barrier_marks import barrier_marks
from rutter.actors.rules.pages.page_state import BUTTONS, FIELDS, NOT_LOADED, words_of
from rutter.events.critic import Barrier, BarrierKind, BarrierSign
from rutter.events.page import Makeup, Page, PageMark

# Who keeps somebody out says so in few words. The longest of the usual pages have 1,500 characters.
THIN_TEXT = 2_500
# An article about captchas has all their words: alone, they are taken from a notice at most.
NOTICE_TEXT = 600
# And lets them do little: two links to who guards the site, a button, a captcha.
MOST_CONTROLS = 8
# What speaks for it is added up: a service's mark of that page alone, with anything beside it.
ENOUGH = 7
SERVICE = 5
SAID_OF_BOTS = 4
SAID_OF_REFUSAL = 3
TEXT_OF_BOTS = 4
TEXT_ALONE = ENOUGH
NO_TEXT = 2  # beside a mark of a service
TEXT_OF_REFUSAL = 2
SAID_AGAIN = 2  # a heading often says what the title does
COUNTED = 2  # texts of a list: one that says the same thrice is no surer
# What a site answers with to whom it keeps out: 202 and 405 one of the services, where the browser
# is to work something out first. 503 is a site that is not there, too.
STATUSES = {403: 3, 429: 4, 405: 3, 406: 3, 503: 2, 202: 2}
# A captcha that takes half of the view is all that there is, whatever lies under it.
COVERS = 50
# A page that was not filled says nothing, or that it loads. Letters, in any case.
EMPTY_TEXT = 80
# What a thin page says beside its canvas or its picture: the name of the firm, who drew it.
DRAWN_TEXT = 200
DRAWN_CONTROLS = 3
DRAWN = 25
SHOWN = 5
# How long a shell may be empty with nothing left to do, and how long one that goes on: what is due
# in more than two seconds nobody is told of, and most servers have answered by then.
IDLE_MS = 1_500
FILLED_MS = 6_000


class Signal(NamedTuple):
    """A signal speaks for a barrier, with so many points; `detail` is in words of the table."""

    sign: BarrierSign
    points: int
    detail: str
    service: str = ""
    of_bots: bool = True  # and not of just anything that went wrong


COVERED = Signal("covers", 3, "it covers the view", of_bots=False)


def barrier_on(page: Page, status: int, made: Makeup | None) -> Barrier | None:
    """The barrier that the page is, as far as can be told. Nothing of logs that do not say what
    their pages are made of."""
    if made is None or not page.url or page.url.startswith(NOT_LOADED):
        return None
    kept_out = _kept_out(page, status, made)
    if (captcha := _captcha(page, made, kept_out)) is not None:
        return captcha
    if kept_out:
        return _told("blocked", kept_out)
    return _drawn(page, made) or _empty(page, made)


def may_fill_ms(page: Page, made: Makeup | None, barrier: Barrier | None) -> int:
    """How long a page that looks empty may still be filled; 0 where it does not look so, has had
    the time, or is a barrier of another kind."""
    if made is None or barrier is not None or page.url.startswith(NOT_LOADED):
        return 0
    return max(0, _patience_ms(page, made) - made.age_ms) if _looks_empty(page, made) else 0


# -- who is kept out -------------------------------------------------------------------------------


def _kept_out(page: Page, status: int, made: Makeup) -> tuple[Signal, ...]:
    """What speaks for a page that keeps programs out, where it is enough."""
    if made.text > THIN_TEXT or _controls(page) > MOST_CONTROLS:
        return ()
    services = tuple(_of_services(made))
    if services and made.text <= EMPTY_TEXT:
        services = (*services, Signal("no_text", NO_TEXT, _characters(made), of_bots=False))
    found = (*services, *_said(page), *_texts(made))
    if status in STATUSES:
        found = (*found, Signal("status", STATUSES[status], f"status {status}", of_bots=False))
    enough = sum(each.points for each in found) >= ENOUGH
    # What is said of a refusal is said of many: with its status it is one.
    refused = status in STATUSES and bool(_texts_in(made, "refusal"))
    if not enough or not (refused or any(each.of_bots for each in found)):
        return ()
    only_said = all(each.sign in ("title", "heading", "text") for each in found)
    return () if only_said and made.text > NOTICE_TEXT else found


def _of_services(made: Makeup) -> Iterator[Signal]:
    """What a service has in this page alone; two marks of one are one."""
    services = barrier_marks().services
    told: set[str] = set()
    for mark in made.marks:
        for service, means in services.get((mark.what, mark.name), ()):
            if means == "page" and service not in told:
                told.add(service)
                yield _of_service(mark, service, SERVICE)
                if mark.area >= COVERS:
                    yield COVERED


def _of_service(mark: PageMark, service: str, points: int = 0) -> Signal:
    sign = _sign_of(mark)
    said = f"{'an' if sign == 'element' else 'a'} {sign} of {service}"
    return Signal(sign, points, said if service else "a picture of letters", service)


def _sign_of(mark: PageMark) -> BarrierSign:
    if mark.what in ("script", "inline"):
        return "script"
    return "frame" if mark.what == "frame" else "element"


def _said(page: Page) -> Iterator[Signal]:
    """In the title, and in one of the headings."""
    marks = barrier_marks()
    titles = (words_of(page.title.text),)
    headings = (
        *(words_of(each.text) for each in page.headings),
        *(words_of(each.name.text) for each in page.elements if each.role == "heading"),
    )
    places: tuple[tuple[BarrierSign, tuple[str, ...]], ...] = (
        ("title", titles),
        ("heading", headings),
    )
    again = False
    for sign, texts in places:
        if said := _first(marks.bots, texts):
            points = SAID_AGAIN if again else SAID_OF_BOTS
            yield Signal(sign, points, f"{sign} {said!r}")
        elif said := _first(marks.refusals, texts):
            points = SAID_AGAIN if again else SAID_OF_REFUSAL
            yield Signal(sign, points, f"{sign} {said!r}", of_bots=False)
        again = again or bool(said)


def _first(phrases: tuple[str, ...], texts: tuple[str, ...]) -> str:
    return next((each.strip() for each in phrases if any(each in text for text in texts)), "")


def _texts(made: Makeup) -> Iterator[Signal]:
    lists = (
        ("alone", TEXT_ALONE, True),
        ("bots", TEXT_OF_BOTS, True),
        ("refusal", TEXT_OF_REFUSAL, False),
    )
    for name, points, of_bots in lists:
        for said in _texts_in(made, name)[:COUNTED]:
            yield Signal("text", points, f"text {said!r}", of_bots=of_bots)


def _texts_in(made: Makeup, name: str) -> list[str]:
    texts = barrier_marks().texts
    said = (each.name.replace("\u2019", "'") for each in made.marks if each.what == "text")
    return [each for each in dict.fromkeys(said) if texts.get(each) == name]


# -- what a person is asked for --------------------------------------------------------------------


def _captcha(page: Page, made: Makeup, kept_out: tuple[Signal, ...]) -> Barrier | None:
    """A captcha that is shown and not answered. It is the whole page where it covers that, or where
    the page has nothing else to do or to read."""
    services = barrier_marks().services
    shown = [
        (mark, service)
        for mark in made.marks
        if mark.area and mark.what in ("frame", "element")
        for service, means in services.get((mark.what, mark.name), ())
        if means == "captcha"
    ]
    # A picture of letters is one where there is a field for them.
    fields = sum(each.role in FIELDS for each in page.elements)
    shown = [(mark, service) for mark, service in shown if service or fields]
    if not shown or made.answered:
        return None
    of_pictures = not any(service for _, service in shown)
    covers = max(mark.area for mark, _ in shown) >= COVERS
    bare = made.text <= THIN_TEXT and fields <= of_pictures and _controls(page) <= MOST_CONTROLS
    found = (
        *(COVERED for _ in range(covers)),
        *(_of_service(mark, service) for mark, service in shown),
    )
    beside = not (covers or bare or kept_out)
    return _told("captcha", (*found, *kept_out), beside=beside)


# -- what is not there -----------------------------------------------------------------------------


def _looks_empty(page: Page, made: Makeup) -> bool:
    """Its scripts were to fill it: it says nothing, or that it loads, and nothing can be done."""
    if made.text > EMPTY_TEXT or page.elements or page.headings or made.frames:
        return False
    if max(made.canvas, made.pictures, made.named) >= SHOWN:
        return False
    if not made.text:
        return made.scripts > 0
    return made.scripts > 0 and bool(_mounts(made) or _texts_in(made, "waiting"))


def _empty(page: Page, made: Makeup) -> Barrier | None:
    if not _looks_empty(page, made) or page.ready == "loading":
        return None
    if made.age_ms < _patience_ms(page, made):
        return None
    waits = _texts_in(made, "waiting")
    return _told(
        "empty_shell",
        (
            *(Signal("no_text", 0, _characters(made)) for _ in range(not waits)),
            *(Signal("waits", 0, f"text {each!r}") for each in waits[:1]),
            *(Signal("mount", 0, f"element {each}") for each in _mounts(made)[:1]),
            Signal("script", 0, f"{made.scripts} scripts"),
        ),
    )


def _characters(made: Makeup) -> str:
    return f"{made.text} characters of text"


def _patience_ms(page: Page, made: Makeup) -> int:
    return IDLE_MS if page.ready == "complete" and not made.busy else FILLED_MS


def _mounts(made: Makeup) -> list[str]:
    return [each.name for each in made.marks if each.what == "mount"]


def _drawn(page: Page, made: Makeup) -> Barrier | None:
    """What it says is in pictures without words. One that is named says what it shows."""
    drawn = made.canvas + made.pictures
    if drawn < DRAWN or made.text > DRAWN_TEXT or _controls(page) > DRAWN_CONTROLS:
        return None
    if made.named >= drawn:
        return None
    sign: BarrierSign = "canvas" if made.canvas >= made.pictures else "picture"
    return _told("drawn", (Signal(sign, 0, f"{drawn} % of the view"),))


# -- how it is told --------------------------------------------------------------------------------


def _controls(page: Page) -> int:
    return sum(each.role in BUTTONS or each.role in FIELDS for each in page.elements)


def _told(kind: BarrierKind, found: tuple[Signal, ...], *, beside: bool = False) -> Barrier:
    service = next((each.service for each in found if each.service), "")
    signs = tuple(dict.fromkeys(each.sign for each in found))
    details = "; ".join(dict.fromkeys(each.detail for each in found))
    return Barrier(kind, signs, service, details, beside)
