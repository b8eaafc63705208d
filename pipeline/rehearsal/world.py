"""A scripted world has pages that exist only here, read and acted on with no browser.

Nothing in it depends on time or chance: the same session twice gives the same log.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from rutter.actors.rules.pages.address import origin_of, place_of
from rutter.events.action import (
    Action,
    Box,
    ByBeside,
    ByCss,
    ByRef,
    ByRole,
    ByText,
    Fingerprint,
    Strategy,
    Untrusted,
)
from rutter.events.executor import ErrorCode
from rutter.events.observer import Shown
from rutter.events.page import Exchange, Page, PageElement, Resolved, Rest, Try
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage, sheet_of
from rutter.pipeline.rehearsal.troubles import Raises, Trouble, Waits
from rutter.pipeline.tools.snapshot import Snapshot

ORIGIN = "https://shop.example"
VIEWPORT = (1_280, 720)
MAX_LOOKALIKES = 12  # as many as the script in a real page tells
AROUND = 200
_KIND = re.compile(r"""(\w*)\[type=["']?(password|checkbox|radio)["']?\]""")
SWITCHES = frozenset({"checkbox", "radio", "switch"})


class ScriptedWorld:
    """A scripted world has one page at a time, as a tab does. `done` is what really reached it,
    `calls` every event by which it was asked for anything, in order."""

    def __init__(self, sheets: Mapping[str, ScriptedPage], *, origin: str = ORIGIN) -> None:
        self.origin = origin
        self._sheets: dict[str, dict[str, ScriptedElement]] = {}
        self._pages: dict[str, ScriptedPage] = {}
        self._shows: dict[str, list[str]] = {}
        for path, sheet in sheets.items():
            self.becomes(path, sheet)
        self._back: list[str] = []
        self._says: list[str] = []
        self.pending = 0
        self.step = 0  # the last that began
        self._sent = 0
        self._untold: list[Exchange] = []
        self._troubles: dict[str, list[Trouble]] = {}
        self._changes = 0
        self._refs: tuple[int, tuple[str, ...]] = (0, ())
        self._held: dict[str, str] = {}
        self._on: dict[str, bool] = {}
        self.url = "about:blank"
        self.fields: dict[str, str] = {}
        self.focused = ""
        self.done: list[Action] = []
        self.calls: list[AnyEvent] = []
        self.looks = 0
        self.closed = False

    @classmethod
    def of_snapshots(
        cls,
        snapshots: Mapping[str, Snapshot],
        leads: Mapping[tuple[str, str], str] | None = None,
        *,
        says: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Self:
        """A world of pages that were seen. `leads` says where an element of a page leads:
        `{("/account", "Cancel membership"): "/cancel/offer"}`; `says` what a page shows beside
        its elements: a snapshot does not hold that."""
        by_page: dict[str, dict[str, str]] = {path: {} for path in snapshots}
        for (path, name), to in (leads or {}).items():
            if path not in by_page:
                raise ValueError(f"there is no page {path!r}")
            by_page[path][name] = to
        first = next(iter(snapshots.values()), None)
        origin = origin_of(first.page.url) if first is not None else ORIGIN
        says = says or {}
        sheets = {
            path: sheet_of(seen, by_page[path], says.get(path, ()))
            for path, seen in snapshots.items()
        }
        return cls(sheets, origin=origin)

    def becomes(self, path: str, sheet: ScriptedPage) -> None:
        """From now on this page is another one."""
        self._sheets[path] = dict(sheet.things)
        self._pages[path] = sheet
        self._shows[path] = list(sheet.shows)

    def trouble(self, where: str, *troubles: Trouble) -> Self:
        """At this selector or URL, or at `look`, one of these each time, then none."""
        self._troubles.setdefault(where, []).extend(troubles)
        return self

    async def meet(self, where: str) -> Trouble | None:
        waiting = self._troubles.get(where)
        trouble = waiting.pop(0) if waiting else None
        if isinstance(trouble, Raises):
            raise trouble.error
        if isinstance(trouble, Waits):
            trouble.reached.set()
            await trouble.answer.wait()
        return trouble

    # -- reading -------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """Of the page that is open; one that has a query is known without it too."""
        path = self.url.removeprefix(self.origin)
        bare = path.partition("?")[0].partition("#")[0]
        return bare if path not in self._pages and bare in self._pages else path

    def look(self) -> Page:
        self.looks += 1
        sheet = self._pages.get(self.path, ScriptedPage(""))
        elements = self._elements(sheet)
        listed = tuple(self._here())
        self._refs = (self.looks, ("",) * (len(elements) - len(listed)) + listed)
        heading = (Untrusted(sheet.heading),) if sheet.heading else ()
        page = sheet.page or Page(url="", title=Untrusted(sheet.heading), headings=heading)
        return msgspec.structs.replace(
            page,
            url=self.url,
            viewport=VIEWPORT if page.viewport == (0, 0) else page.viewport,
            alerts=tuple(map(Untrusted, (*sheet.alerts, *self._says))),
            elements=elements,
            focused=self.resolved(self.focused).digest if self.focused in self._here() else "",
            digest=f"{self.url} {sorted(self.fields.items())} {self._changes}",
        )

    def things(self) -> dict[str, ScriptedElement]:
        """What is on the page that is open, by selector."""
        return dict(self._here())

    def words(self) -> str:
        """All that the page says to a reader."""
        sheet = self._pages.get(self.path, ScriptedPage(""))
        said = [sheet.heading, *self._shows.get(self.path, ()), *sheet.alerts, *self._says]
        return " ".join([*said, *(thing.name for thing in self._here().values())])

    def shown(self, texts: Sequence[str]) -> tuple[Shown, ...]:
        """Which of these texts the page shows, and where."""
        whole = self.words()
        found = [text.casefold() in whole.casefold() for text in texts]
        return tuple(
            Shown(text, Untrusted(whole[:AROUND]) if there else None)
            for text, there in zip(texts, found, strict=True)
        )

    def phrases(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Which of the phrases of state rules and criteria the page says."""
        whole = self.words().casefold()
        return tuple(phrase for phrase in wanted if phrase in whole)

    def rest(self) -> Rest:
        """Nothing is put off here: only a request without an answer keeps a page from it."""
        waits = ("request",) if self.pending else ()
        return Rest(0, waits, waits)

    def tell(self) -> tuple[Exchange, ...]:
        """What was sent since this was asked for last."""
        told, self._untold = tuple(self._untold), []
        return told

    def come_back(self) -> None:
        """From a page that was opened aside."""
        if self._back:
            self._go(self._back.pop(0))
            self._back.clear()

    def find(self, strategies: Sequence[Strategy]) -> tuple[str, tuple[Try, ...]]:
        """The selector of the first that matches exactly one element."""
        tries: list[Try] = []
        for place, strategy in enumerate(strategies):
            matching = [each for each in self._here() if self._matches(strategy, each)]
            result = "taken" if len(matching) == 1 else "ambiguous" if matching else "none"
            tries.append(Try(place, len(matching), result))  # type: ignore[arg-type]
            if len(matching) == 1:
                return matching[0], tuple(tries)
        return "", tuple(tries)

    def resolved(self, selector: str) -> Resolved:
        thing = self._here()[selector]
        locators: tuple[Strategy, ...] = (ByCss(selector),)
        if thing.name:
            locators = (*locators, ByRole(thing.role, thing.name))
        return Resolved(
            tag=thing.tag,
            digest=f"{place_of(self.url).path} {selector} {thing.name} {thing.method}",
            role=thing.role,
            name=Untrusted(thing.name),
            href=self.origin + thing.leads_to if thing.tag == "a" and thing.leads_to else "",
            form_method=thing.method,
            submits=thing.submits,
            secret=thing.secret,
            origin=place_of(self.url).origin,
            ways=locators,
            fingerprint=self._fingerprint(selector, thing),
        )

    def lookalikes(self, wanted: Fingerprint) -> tuple[Resolved, ...]:
        """What on this page may be that element: all of its kind, in the order of the page."""
        here = self._here().items()
        alike = [at for at, thing in here if wanted.tag == thing.tag or wanted.role == thing.role]
        return tuple(map(self.resolved, alike[:MAX_LOOKALIKES]))

    def read(self, selector: str) -> str:
        """What an element says: what it holds, or its name."""
        thing = self._here()[selector]
        return self._value(selector, thing) or thing.name

    def refuses(self, selector: str, action: Action, typed: str) -> ErrorCode | None:
        """Why the element cannot be used so, if it cannot."""
        thing = self._here().get(selector)
        if thing is None:
            return None
        if thing.disabled and action.type in ("click", "type", "select"):
            return "element_disabled"
        if action.type == "select" and thing.options and typed not in thing.options:
            return "option_not_found"
        return None

    def _here(self) -> dict[str, ScriptedElement]:
        return self._sheets.get(self.path, {})

    def _matches(self, strategy: Strategy, selector: str) -> bool:
        thing = self._here()[selector]
        match strategy:
            case ByCss(wanted):
                return selector == wanted or _is_kind(wanted, thing)
            case ByRole(role, name):
                return (thing.role, thing.name) == (role, name)
            case ByText(text) | ByBeside(text):
                return text.casefold() in thing.name.casefold()
            case ByRef(ref, look):
                return self._referred(ref, look) == selector
            case _:
                return False

    def _referred(self, ref: str, look: int) -> str:
        """Refs are of one look: those of any other name nothing."""
        last, selectors = self._refs
        number = ref.removeprefix("@e")
        if look != last or not number.isdecimal() or int(number) >= len(selectors):
            return ""
        return selectors[int(number)]

    def _elements(self, sheet: ScriptedPage) -> tuple[PageElement, ...]:
        things = self._here()
        if sheet.page is not None and len(sheet.page.elements) == len(things):
            drawn = sheet.page.elements
        else:
            drawn = tuple(_drawn(place, thing) for place, thing in enumerate(things.values(), 1))
        listed = tuple(
            self._as_it_is(element, selector, thing)
            for element, (selector, thing) in zip(drawn, things.items(), strict=True)
        )
        if sheet.page is not None or not sheet.heading:
            return listed
        heading = PageElement("heading", Untrusted(sheet.heading), "h1", level=1, box=_box(0))
        return (heading, *listed)

    def _as_it_is(self, element: PageElement, selector: str, thing: ScriptedElement) -> PageElement:
        value = self._value(selector, thing)
        on = self._on.get(selector, "checked" in element.state)
        state = [each for each in element.state if each not in ("checked", "disabled", "focused")]
        state += ["checked"] * on + ["disabled"] * thing.disabled
        state += ["focused"] * (selector == self.focused)
        return msgspec.structs.replace(
            element,
            role=thing.role,
            name=Untrusted(thing.name),
            state=tuple(state),
            value=Untrusted(value) if value else element.value,
        )

    def _value(self, selector: str, thing: ScriptedElement) -> str:
        first = thing.options[0] if thing.options else ""  # what a list shows untouched
        value = self._held.get(selector, thing.value or first)
        return "(secret)" if value and thing.secret else value

    def _fingerprint(self, selector: str, thing: ScriptedElement) -> Fingerprint:
        traits: list[tuple[str, str]] = []
        if selector.startswith("#"):
            traits.append(("id", selector[1:]))
        if thing.role == "link" and thing.leads_to:
            traits.append(("href", place_of(self.origin + thing.leads_to).path))
        if thing.submits:
            traits += [("form", f"{thing.method} {place_of(self.url).path}"), ("sends", "alone")]
        place = list(self._here()).index(selector) + 1
        name = Untrusted(thing.name)
        return Fingerprint(thing.tag, thing.role, name, name, tuple(traits), box=_box(place))

    # -- acting --------------------------------------------------------------------------------

    def replace(self, selector: str, thing: ScriptedElement) -> None:
        self._here()[selector] = thing

    def replace_at(self, path: str, selector: str, thing: ScriptedElement) -> None:
        self._sheets[path][selector] = thing

    def act(self, action: Action, selector: str, typed: str) -> bool:
        """Whether it navigated."""
        self.done.append(action)
        if action.type == "navigate":
            if action.aside:
                self._back.append(self.url)
            else:
                self._says.clear()
            self._go(action.url or "")
            return True
        if action.type in ("type", "select"):
            held = self._held.get(selector, "") if action.append else ""
            self.fields[selector] = self._held[selector] = held + typed
            return False
        if action.type not in ("click", "press"):
            return False
        thing = self._here()[selector]
        if thing.answered:
            self._send(thing)
        return self._set_off(selector)

    def _send(self, thing: ScriptedElement) -> None:
        to = f"POST {place_of(self.url).origin}{place_of(self.url).path}"
        self._sent += 1
        document = bool(thing.leads_to)
        self._untold.append(Exchange(self._sent, to, self.step, thing.answered, document=document))

    def _set_off(self, selector: str) -> bool:
        thing = self._here()[selector]
        self.focused = selector
        self.pending = int(thing.waits)
        path, text = thing.stores
        if text:
            self._shows.setdefault(path, []).append(text)
        self._says = [thing.says] if thing.says else []
        if thing.role in SWITCHES:
            self._switch(selector, thing)
        if thing.leads_to:
            self._go(self.origin + thing.leads_to)
        elif not thing.inert:
            self._changes += 1
        return bool(thing.leads_to)

    def _switch(self, selector: str, thing: ScriptedElement) -> None:
        """One of several radio buttons, or a box by itself."""
        if thing.role == "radio":
            others = [at for at, other in self._here().items() if other.role == "radio"]
            self._on |= dict.fromkeys(others, False)
        self._on[selector] = not self._on.get(selector, False)

    def _go(self, url: str) -> None:
        """Another document: of what was typed and numbered in the one before nothing is left."""
        self.url = url
        self._held.clear()
        self._on.clear()
        self._refs = (0, ())


def _is_kind(css: str, thing: ScriptedElement) -> bool:
    """Of all CSS, what names a kind of field: `input[type=password]`, `[type=radio]`."""
    found = _KIND.fullmatch(css)
    if found is None or (found[1] and found[1] != thing.tag):
        return False
    return thing.secret if found[2] == "password" else found[2] == thing.role


def _drawn(place: int, thing: ScriptedElement) -> PageElement:
    return PageElement(thing.role, Untrusted(thing.name), thing.tag, box=_box(place))


def _box(place: int) -> Box:
    """One below the other."""
    return Box(16, 16 + 40 * place, 240, 32)
