"""Changes of a page become checks for the next run: pure comparison of two looks.

Only what a page says on purpose: its notices, its state, how the element stands that was acted on,
a file that came. What else changes on a page is as often chance.
"""

from collections.abc import Iterable, Mapping

import msgspec

from rutter.actors.rules.pages.address import blur, same_document
from rutter.actors.rules.pages.notices import plain
from rutter.actors.rules.steps.check_results import AfterStep, result_of
from rutter.events.action import Action, Untrusted
from rutter.events.checks import AlertSaid, Check, Downloaded, ElementState, PageState, StateIs
from rutter.events.page import Page, Resolved

# States of an element that an action on it is for.
SWITCHES = ("checked", "mixed", "selected", "pressed", "expanded", "collapsed")
ACTS = frozenset({"click", "press"})
SHORTEST = 3  # anything shorter is in every other notice
NAMELESS: tuple[PageState, ...] = ("UNKNOWN", "START")


class PageMoment(msgspec.Struct, frozen=True):
    """A moment is the page as one look saw it, and its state then."""

    page: Page
    state: PageState = "UNKNOWN"


def effects(
    action: Action,
    element: Resolved | None,
    before: PageMoment,
    after: PageMoment,
    downloads: Iterable[str],
    values: Mapping[str, str],
) -> tuple[Check, ...]:
    found: list[Check] = list(notices(before.page, after.page, values))
    if after.state != before.state and after.state not in NAMELESS:
        found.append(StateIs(after.state))
    if action.type in ACTS and element is not None:
        found += _switched(element, before.page, after.page, values)
    if any(downloads):
        found.append(Downloaded())
    return tuple(found)


def notices(before: Page, after: Page, values: Mapping[str, str]) -> tuple[AlertSaid, ...]:
    """What the page says in alerts now and did not say before."""
    known = {plain(alert.text, values.values()) for alert in before.alerts}
    said = [plain(alert.text, values.values()) for alert in after.alerts]
    new = [text for text in said if text not in known and len(text.strip("*# ")) >= SHORTEST]
    return tuple(AlertSaid(text, whole=True) for text in dict.fromkeys(new))


def notices_of_run(
    expected: Iterable[Check], before: Page, after: Page, values: Mapping[str, str]
) -> tuple[AlertSaid, ...]:
    """The notices of a run in the words of the recording, where they are the same."""
    awaited = [each for each in expected if isinstance(each, AlertSaid)]
    held = [each for each in awaited if result_of(each, AfterStep(after)).held]
    others = [each for each in notices(before, after, values) if not _is_any_of(each, held, after)]
    return (*held, *others)


def _is_any_of(said: AlertSaid, held: Iterable[AlertSaid], after: Page) -> bool:
    return any(
        _says(alert, said) and any(_says(alert, each) for each in held) for alert in after.alerts
    )


def _says(alert: Untrusted, said: AlertSaid) -> bool:
    return bool(result_of(said, AfterStep(Page(url="", alerts=(alert,)))).held)


def _switched(
    element: Resolved, before: Page, after: Page, values: Mapping[str, str]
) -> Iterable[ElementState]:
    """How the element stands now, if it is the only one of its name and stood otherwise."""
    name, role = element.name.text, element.role
    if not name or blur(name, values.values()) != " ".join(name.casefold().split()):
        return  # a name with a number or a parameter's value in it is another in the next run
    if not same_document(before.url, after.url):
        return
    was, now = _states(before, name, role), _states(after, name, role)
    if was is None or now is None:
        return
    for state in SWITCHES:
        if state in now and state not in was:
            yield ElementState(state, name, role)
            return
    for state in SWITCHES:
        if state in was and state not in now:
            yield ElementState(f"not {state}", name, role)
            return


def _states(page: Page, name: str, role: str) -> tuple[str, ...] | None:
    found = [each for each in page.elements if (each.name.text, each.role) == (name, role)]
    return found[0].state if len(found) == 1 else None
