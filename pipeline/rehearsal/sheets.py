"""A scripted page is made of a heading and its elements, drawn by hand or from a snapshot."""

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from rutter.actors.rules.text.secret_words import asks_for_a_secret
from rutter.events.action import Box, Untrusted
from rutter.events.page import Page, PageElement
from rutter.pipeline.tools.snapshot import UNOPERATED, Element, Snapshot

# A snapshot does not say what an element is made of. Where it matters, it is made of this.
TAGS = {
    "button": "button",
    "link": "a",
    "textbox": "input",
    "searchbox": "input",
    "spinbutton": "input",
    "checkbox": "input",
    "radio": "input",
    "combobox": "select",
    "listbox": "select",
    "dialog": "dialog",
    "region": "section",
}
TYPED = frozenset({"textbox", "searchbox", "spinbutton"})
UNSAID = frozenset({"visible", "enabled"})
ALERTS = frozenset({"alert", "alertdialog", "status"})
DIALOGS = frozenset({"dialog", "alertdialog"})


class ScriptedElement(msgspec.Struct, frozen=True):
    """An element leads somewhere when acted on, or else changes its page.

    `says` is a notice that the page shows then; `stores` is what another page shows from then on.
    `waits`: a request of its page stays without an answer. `answered`: the page posts to its own
    address, and that is the status of the answer. `options` are those of a list; a list
    without takes anything.
    """

    tag: str = "button"
    role: str = "button"
    name: str = ""
    leads_to: str = ""
    inert: bool = False
    submits: bool = False
    method: str = ""
    secret: bool = False
    says: str = ""
    stores: tuple[str, str] = ("", "")
    waits: bool = False
    answered: int = 0
    disabled: bool = False
    options: tuple[str, ...] = ()
    value: str = ""


class ScriptedPage(msgspec.Struct, frozen=True):
    """A page has a heading, elements by selector in the order of the page, and other texts that it
    shows; `alerts` are those that it says as one.

    `page` is what an observation of it holds, where it was drawn from one: its elements are then
    those of `things`, in the same order.
    """

    heading: str
    things: Mapping[str, ScriptedElement] = {}
    shows: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    page: Page | None = None


def sheet_of(
    snapshot: Snapshot, leads: Mapping[str, str] | None = None, shows: tuple[str, ...] = ()
) -> ScriptedPage:
    """The page that a snapshot shows. `leads` says where acting on an element leads, by its name;
    all others change nothing but their page. `shows` are texts that are in no snapshot.

    An element is called by its role and name, as a model reads it: `button "Sign in"`; the second
    of that kind `button "Sign in" (2)`.
    """
    page = page_of(snapshot)
    leads = leads or {}
    operable = [element for element in snapshot.elements if element.role not in UNOPERATED]
    missing = sorted(set(leads) - {element.name for element in operable})
    if missing:
        raise ValueError(f"{snapshot.page.url} shows no {', '.join(map(repr, missing))}")
    things: dict[str, ScriptedElement] = {}
    for element in snapshot.elements:
        to = leads.get(element.name, "") if element.role not in UNOPERATED else ""
        things[_called(element, things)] = _thing(element, to)
    heading = page.headings[0].text if page.headings else snapshot.page.title
    alerts = tuple(alert.text for alert in page.alerts)
    return ScriptedPage(heading, things, shows, alerts, page)


def page_of(snapshot: Snapshot) -> Page:
    """The observation that a snapshot was made of, as far as it tells."""
    view = snapshot.viewport
    named = [(element.role, Untrusted(element.name)) for element in snapshot.elements]
    return Page(
        url=snapshot.page.url,
        title=Untrusted(snapshot.page.title),
        ready="complete",
        viewport=(view.width, view.height),
        scroll=(view.scroll_x, view.scroll_y),
        headings=tuple(name for role, name in named if role == "heading"),
        alerts=tuple(name for role, name in named if role in ALERTS and name.text),
        elements=tuple(map(_seen, snapshot.elements)),
        modal=any(role in DIALOGS for role, _ in named),
        dropped=snapshot.dropped,
        truncated=snapshot.truncated,
    )


def _seen(element: Element) -> PageElement:
    level = None if element.level is UNSET else element.level
    box = element.bbox
    return PageElement(
        role=element.role,
        name=Untrusted(element.name),
        tag=_tag(element.role, level),
        state=tuple(state for state in element.state if state not in UNSAID),
        value=None if element.value is UNSET else Untrusted(element.value),
        level=level,
        box=Box(box.x, box.y, box.width, box.height),
        children=()
        if element.children is UNSET
        else tuple(int(ref.removeprefix("@e")) for ref in element.children),
    )


def _thing(element: Element, leads_to: str) -> ScriptedElement:
    level = None if element.level is UNSET else element.level
    return ScriptedElement(
        tag=_tag(element.role, level),
        role=element.role,
        name=element.name,
        leads_to=leads_to,
        disabled="disabled" in element.state,
        secret=element.role in TYPED and asks_for_a_secret(element.name),
        value="" if element.value is UNSET else element.value,
    )


def _called(element: Element, taken: Mapping[str, ScriptedElement]) -> str:
    name = f'{element.role} "{element.name}"'
    count = 1
    while (called := name if count == 1 else f"{name} ({count})") in taken:
        count += 1
    return called


def _tag(role: str, level: int | None) -> str:
    return f"h{level}" if level is not None else TAGS.get(role, "div")
