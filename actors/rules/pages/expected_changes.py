"""Expected changes are what a step changed when recorded; here they are held against a run."""

from collections.abc import Mapping

from rutter.actors.rules.pages.address import (
    blur,
    place_of,
    place_of_page,
    reads_as,
    same_address,
    same_document,
    stands_at,
)
from rutter.events.page import Page, Resolved
from rutter.events.workflow import Expectation

# What one clicks to type into. Everything else takes the focus, or takes it away from where it
# was, whatever else it does: that is no effect of a click.
ENTERED = frozenset({"textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider"})


def has_changed(
    before: Page, after: Page, element: Resolved | None = None, *, clicked: bool = True
) -> bool:
    """Whether anything on the page is otherwise than before an action on this element."""
    if not same_document(before.url, after.url) or before.tab != after.tab:
        return True
    if before.digest != after.digest and not _only_went_quiet(before, after):
        return True
    if before.title != after.title or (before.scroll != after.scroll and not clicked):
        return True  # a click scrolls to its element by itself
    if before.focused == after.focused:
        return False
    return not clicked or _is_entered(after, element)


def _only_went_quiet(before: Page, after: Page) -> bool:
    """A notice of an earlier step that is over now, and nothing else: no effect of this one."""
    gone = [alert for alert in before.alerts if alert not in after.alerts]
    new = [alert for alert in after.alerts if alert not in before.alerts]
    if not gone or new or before.headings != after.headings:
        return False
    return _stand(before) == _stand(after)


def _stand(page: Page) -> list[tuple[object, ...]]:
    return [
        (each.role, each.name, each.value, [s for s in each.state if s != "focused"])
        for each in page.elements
        if each.role not in ("alert", "alertdialog", "status")
    ]


def _is_entered(after: Page, element: Resolved | None) -> bool:
    focused = [each.role for each in after.elements if "focused" in each.state]
    if focused:
        return focused[0] in ENTERED
    return bool(after.focused) and (element is None or element.role in ENTERED)


def expectation(
    before: Page,
    after: Page,
    values: Mapping[str, str],
    element: Resolved | None = None,
    *,
    clicked: bool = True,
) -> Expectation:
    """What a step changed: where it led, or at least that something changed."""
    moved = not same_address(before.url, after.url)
    effect = has_changed(before, after, element, clicked=clicked)
    place = place_of_page(after, values.values())
    return Expectation(effect=effect, moved=moved, place=place)


def ending(page: Page, values: Mapping[str, str]) -> Expectation:
    """How the end of the workflow is known again: its place and its first heading, unless that was
    made of what was typed (`# Tides` is shown as `Tides`)."""
    typed = [" ".join(value.casefold().split()) for value in values.values()]
    said = [blur(heading.text, values.values()) for heading in page.headings[:1]]
    headings = tuple(each for each in said if not any(each in value for value in typed))
    return Expectation(place=place_of_page(page, values.values()), headings=headings)


def at_end(end: Expectation, page: Page, values: Mapping[str, str]) -> str:
    """What is missing for the end to be reached; empty when it is."""
    if end.place is not None and not stands_at(end.place, page):
        return f"the recording ended at {end.place.path}, this is {place_of(page.url).path}"
    for heading in end.headings:
        if not any(reads_as(heading, seen.text) for seen in page.headings):
            return f"the heading {heading!r} of the recording is not on the page"
    return ""
