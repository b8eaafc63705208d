"""End signs tell from a page that a task was done, or that it failed (S3 1.7): pure lookups."""

from collections.abc import Collection, Iterable, Iterator

from rutter.actors.rules.pages.page_state import words_of
from rutter.events.checks import PageState
from rutter.events.page import Page
from rutter.events.workflow import Indicator

ALERTS = frozenset(("alert", "alertdialog", "status"))


def first_met(
    indicators: Iterable[Indicator],
    page: Page,
    phrases: Collection[str] = (),
    state: PageState = "UNKNOWN",
) -> Indicator | None:
    """The first indicator that the page bears out; one is enough.

    `phrases` are those of the standing list that the page says, `state` is what it is in by the
    rules: a text that was never on the list, or a state that nobody knows, is not borne out.
    """
    return next((each for each in indicators if _is_met(each, page, phrases, state)), None)


def _is_met(indicator: Indicator, page: Page, phrases: Collection[str], state: PageState) -> bool:
    wanted = " ".join(indicator.says.casefold().split())
    match indicator.where:
        case "state":
            return wanted == state.casefold() != "unknown"
        case "text":
            return any(words_of(wanted) == words_of(phrase) for phrase in phrases)
        case _:
            said = (" ".join(text.casefold().split()) for text in _said(indicator, page))
            return bool(wanted) and any(wanted in text for text in said)


def _said(indicator: Indicator, page: Page) -> Iterator[str]:
    match indicator.where:
        case "url":
            yield page.url
        case "title":
            yield page.title.text
        case "heading":
            yield from (heading.text for heading in page.headings)
            yield from (each.name.text for each in page.elements if each.role == "heading")
        case "name":
            yield from (each.name.text for each in page.elements)
        case "alert":
            yield from (alert.text for alert in page.alerts)
            yield from (each.name.text for each in page.elements if each.role in ALERTS)
        case "text" | "state":
            return
