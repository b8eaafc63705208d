"""An action's element is on the page or not, as far as one look at the page can tell.

No only where that is certain. A look leaves out what it has no room for, boxes that are drawn by
their label, and what has a role that nobody operates; a name may count something, or hold what was
typed; a page may still be loading. Whatever is in doubt is there: finding it is the Executor's.
Two things no look tells: whether it was one at the part in view alone, as callers of tools have it
(there nobody may be asked), and what a page hides from whoever listens to it (`aria-hidden`) but
not from whoever sees it: that is taken for absent.

Names are compared as looks and recordings both have them (one function in the page makes them),
in any case, with `#` for numbers, `*` for what is not known of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from rutter.actors.rules.pages.address import blur, fits
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import CLICKS, Action, ByRole, Target
from rutter.events.page import Page, PageElement

# What is done to an element that must be there now. What waits for one or reads it may be early.
OPERATES = frozenset({"click", "type", "select", "press", "drag"})

# Roles that no look leaves out (S3 1.3.2), whether or not the keyboard gets there.
PRESSED = frozenset({"button", "link", "menuitem", "tab"})
FILLED = frozenset({"textbox", "combobox", "listbox", "slider"})
SWITCHED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
LISTED = PRESSED | FILLED | SWITCHED
# What was the one when it was recorded may be the other now, and do the same.
ALIKE = {
    **dict.fromkeys(sorted(PRESSED | SWITCHED), PRESSED | SWITCHED),
    **dict.fromkeys(sorted(FILLED), FILLED | {"searchbox", "spinbutton"}),
}
LOADING = frozenset({"loading", "interactive"})
LONG = 150  # letters of a name that may have been cut, by us or by what its parameters hold
_REDACTED = re.compile(r"<secret[^<>]*>")


def is_there(action: Action, page: Page, values: Mapping[str, str] = {}) -> bool:
    """False only where what the action is done to is certainly not on this page, or is disabled."""
    if action.tab is not None and action.tab >= page.tabs:
        return False
    if action.target is None or action.type not in OPERATES:
        return True
    elsewhere = action.tab is not None and action.tab != page.tab
    if elsewhere or not _is_seen_in_full(page):
        return True
    known = list(_known_as(action.target))
    if not known or any(not _is_listed(action, role, name) for role, name in known):
        return True
    wanted = dict.fromkeys((role, _pattern(name, values)) for role, name in known)
    return any(_is_among(page.elements, *each) for each in wanted)


def _is_seen_in_full(page: Page) -> bool:
    busy = any("busy" in element.state for element in page.elements)
    return not (page.dropped or page.truncated or busy or page.ready in LOADING)


def _known_as(target: Target) -> Iterator[tuple[str, str]]:
    """The roles and names that the element is known by."""
    recorded = target.fingerprint
    if recorded is not None:
        yield recorded.role, recorded.name.text
    for locator in target.strategies:
        if isinstance(locator, ByRole):
            yield locator.role, locator.name


def _is_listed(action: Action, role: str, name: str) -> bool:
    """Whether a look at its page would have listed an element of that kind. A box may be drawn by
    its label, a field that takes files by its button."""
    if role not in LISTED or not name.strip() or len(name) > LONG:
        return False
    recorded = action.target.fingerprint if action.target is not None else None
    if role in SWITCHED:
        return recorded is not None and recorded.tag != "input"
    return role != "button" or action.type in CLICKS


def _is_among(elements: Iterable[PageElement], role: str, pattern: str) -> bool:
    """Whether one of these may be it, and can be operated."""
    alike = ALIKE[role]
    return any(
        element.role in alike and "disabled" not in element.state and _may_be(element, pattern)
        for element in elements
    )


def _may_be(element: PageElement, pattern: str) -> bool:
    name = element.name.text
    if len(name) > LONG or _REDACTED.search(name):
        return True
    # What is not named by what is in it may have been recorded by the name of what is.
    return fits(pattern, _said(name)) or (not name.strip() and element.role in FILLED)


@lru_cache(maxsize=1024)
def _said(name: str) -> str:
    """Every candidate is compared with every name of a page: each is worked out once."""
    return blur(name)


def _pattern(name: str, values: Mapping[str, str]) -> str:
    plain = _REDACTED.sub("*", name)
    return blur(PLACEHOLDER.sub(lambda found: values.get(found[1], "*"), plain))
