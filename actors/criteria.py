"""Whether a page says that a task was done, or that it failed (S3 1.7): pure lookups."""

from collections.abc import Iterable, Iterator

from events.page import Page
from events.workflow import Indicator


def first_met(indicators: Iterable[Indicator], page: Page) -> Indicator | None:
    """The first indicator that the page bears out; one is enough."""
    for indicator in indicators:
        wanted = indicator.says.casefold()
        if any(wanted in said.casefold() for said in _said(indicator, page)):
            return indicator
    return None


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
