"""Input goes through the browser as a person's does; nothing is chosen here.

The page has settled when no navigation was asked for, or the new document is there.
"""

from contextlib import suppress
from typing import Any

import anyio

from rutter.actors.executor.held_element import ANSWER_MS, INPUT_MS, HeldElement
from rutter.actors.executor.outcome import ActionOutcome, refused_by
from rutter.actors.world.browser.keyboard import TypedField
from rutter.actors.world.browser.mouse import LEFT, ClickKind
from rutter.actors.world.browser.page_session import (
    DocumentGone,
    NavigationFailed,
    PageHangs,
    PageTimeout,
)
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Action, Secret, Typed, Value
from rutter.events.errors import BadInput, BrowserGone

NAVIGATE_MS = 10_000  # S0: the seeds' limit for a navigation
HUNG_MS = 4_000  # a page that answers nothing for so long is not waited for to be left
MEGABYTE = 1_000_000
SWITCHED = {
    **dict.fromkeys(("true", "on", "yes", "1", "checked"), True),
    **dict.fromkeys(("false", "off", "no", "0", "unchecked"), False),
}


class PageInput:
    """Input goes to the element that is held, or to its page."""

    def __init__(self, held: HeldElement, upload_mb: int) -> None:
        self._held = held
        self._upload_mb = upload_mb

    async def give(self, action: Action, digest: str) -> ActionOutcome:
        match action.type:
            case "navigate" if action.aside:
                return await self._look_aside(action.url or "")
            case "navigate":
                return await self._go(action.url or "")
            case "click":
                return await self._click(digest, _press_of(action))
            case "drag":
                return await self._drag(action, digest)
            case "hover" | "wheel":
                return await self._point(action, digest)
            case "type":
                return await self._type(action, digest)
            case "select":
                return await self._select(action, digest)
            case "press":
                return await self._press(action, digest)
            case "scroll":
                return await self._scroll(action, digest)
            case "extract" | "read_page" | "ghost_extract" | "wait_for" | "wait":
                said = f"{action.type} is an observation"
                return ActionOutcome("action_failed", said, dispatched=False)
            case "check":
                return ActionOutcome()  # whether it is so is seen in the next look

    async def _go(self, url: str) -> ActionOutcome:
        """To a page; or for a file, which is on its way when this is over. A page that hangs is not
        waited for: another one takes its place and goes there."""
        window, tab = self._held.screen.window, self._held.tab
        self._held.dispatched, begun = True, window.files_begun
        hangs = False
        try:
            arrived = await tab.navigate(url, within_ms=NAVIGATE_MS, hung_ms=HUNG_MS)
        except PageHangs:
            hangs = True
            self._held.pinned = tab = await window.open_in_place_of(tab)
            arrived = await tab.navigate(url, within_ms=NAVIGATE_MS - HUNG_MS)
        if not arrived:
            await window.download_begun(ANSWER_MS, begun)
        return ActionOutcome(navigated=arrived, file=not arrived, hung=hangs)

    async def _look_aside(self, url: str) -> ActionOutcome:
        """In a page of its own, which is there until it was looked at; of one that fails nothing
        stays. What the step before left in front is untouched."""
        window = self._held.screen.window
        try:
            aside = await window.open_aside()
            self._held.dispatched = True
            if not await aside.navigate(url, within_ms=NAVIGATE_MS):
                raise NavigationFailed("there is no page, but a file")
        except (PageTimeout, NavigationFailed):
            await window.close_asides()
            raise
        except BrowserGone as gone:  # that page alone, or all of them
            await window.close_asides()
            if not await window.browser_answers():
                raise
            return ActionOutcome("navigation_failed", str(gone))
        return ActionOutcome(navigated=True)

    async def _click(self, digest: str, press: ClickKind = LEFT) -> ActionOutcome:
        tab = self._held.tab
        checked = await self._held.checked("check", digest, True)
        if refused := refused_by(checked):
            return refused
        if refused := await self._press_button(tab, checked, press):
            return refused
        if checked["sends_file"]:
            window = self._held.screen.window
            await window.download_begun(ANSWER_MS, window.files_begun)
        return await self._settled()

    async def _press_button(
        self, tab: Tab, at: dict[str, Any], press: ClickKind
    ) -> ActionOutcome | None:
        self._held.dispatched = True
        try:
            if (end := at.get("end")) is not None:
                begin = (at["x"], at["y"])
                await tab.drag(begin, (end["x"], end["y"]), within_ms=2 * INPUT_MS)
            else:
                await tab.click(at["x"], at["y"], press, within_ms=INPUT_MS)
        except DocumentGone:
            self._held.dispatched = False
            return ActionOutcome(
                "ref_invalid", "the page was left before the click", dispatched=False
            )
        return None

    async def _drag(self, action: Action, digest: str) -> ActionOutcome:
        """What it is dragged to is found now: it may be there for what is dragged alone."""
        tab, to = self._held.tab, action.to
        locators = [
            self._held.bindings.strategy(each) for each in (to.strategies if to is not None else ())
        ]
        checked = await self._held.checked("aimDrag", digest, locators, action.drop)
        refused = refused_by(checked) or await self._press_button(tab, checked, LEFT)
        return refused or await self._settled()

    async def _point(self, action: Action, digest: str) -> ActionOutcome:
        tab = self._held.tab
        checked = await self._held.checked("pointAt", digest)
        if refused := refused_by(checked):
            return refused
        self._held.dispatched = True
        if action.type == "wheel":
            by = action.by or (0, 0)
            await tab.wheel(checked["x"], checked["y"], by, within_ms=INPUT_MS)
            with suppress(DocumentGone):
                await tab.ask("atRest", within_ms=INPUT_MS)
        else:
            await tab.point(checked["x"], checked["y"], within_ms=INPUT_MS)
        return await self._settled()

    async def _settled(self) -> ActionOutcome:
        """Waits for what the input asked for. What was in its way has kept it from the page."""
        tab = self._held.tab
        navigated = await self._held.screen.window.settle(tab, within_ms=NAVIGATE_MS)
        if tab.changed and not navigated:
            return refused_by({"changed": tab.changed}) or ActionOutcome()
        if tab.missed:
            self._held.dispatched = False
            return ActionOutcome(
                "element_obscured", f"in its place: {tab.missed}", dispatched=False
            )
        return ActionOutcome(navigated=navigated)

    async def _type(self, action: Action, digest: str) -> ActionOutcome:
        assert action.value is not None
        value = await self._bound(action.value)
        checked = await self._held.checked("ready", digest, call=self._held.tab.call_to_type)
        if refused := refused_by(checked):
            return refused
        if checked["how"] == "file":
            return await self._give_files(action, value)
        if checked["how"] == "switch":
            return await self._switch(action, value, on=checked["on"], digest=digest)
        self._held.dispatched = True
        held: bool | None = None
        strayed = ""
        with suppress(DocumentGone):
            if checked["how"] == "typed":
                secret = isinstance(action.value, Secret)
                field = TypedField(checked["lines"], checked["editor"], composes=not secret)
                held, strayed = await self._enter(action, value, field)
            else:
                checked = await self._held.tab.act("setValue", digest, value, within_ms=INPUT_MS)
                if refused := refused_by(checked):
                    return refused
                held = checked["held"]
        if isinstance(action.value, Secret) and not held:
            held = None  # a field that masks what it holds cannot be read back
        settled = await self._settled()
        if strayed:
            said = f"the focus moved to {strayed}"
            return ActionOutcome("action_failed", said, dispatched=self._held.dispatched)
        return settled._replace(value_set=held, typed=_plain(action, value))

    async def _bound(self, value: Value) -> str:
        """What is to be typed. A secret that has origins is typed on one of them or nowhere,
        whatever was judged before."""
        if isinstance(value, Secret) and self._held.bindings.belongs(value.name):
            origin = await self._held.tab.call("pinnedOrigin", within_ms=INPUT_MS)
            if self._held.bindings.misplaced(value.name, origin):
                raise BadInput(f"the secret {value.name!r} does not belong to {origin}")
        return self._held.bindings.value(value)

    async def _enter(
        self, action: Action, value: str, field: TypedField
    ) -> tuple[bool | None, str]:
        """Whether the field holds it, and which other one would have got it: none does."""
        tab, append = self._held.tab, action.append
        if not action.pasted or not await self._pasted(value, field, append=append):
            whole = action.pasted
            await tab.insert(value, field, append=append, whole=whole, within_ms=INPUT_MS)
        answer = await tab.ask("entered", value, append, within_ms=INPUT_MS)
        self._held.dispatched = answer["heard"] or not answer["strayed"]
        return answer["held"], answer["strayed"]

    async def _pasted(self, value: str, field: TypedField, *, append: bool) -> bool:
        """Whether the page took it as pasted. The clipboard is left alone: it is the person's, and
        every session's. So the page hears of a paste from us, and gets the text by input if it
        does nothing of its own with it."""
        if field.editor and not append:
            await self._held.tab.select_all(within_ms=INPUT_MS)
        return bool(await self._held.tab.act("paste", value, append, within_ms=INPUT_MS))

    async def _give_files(self, action: Action, value: str) -> ActionOutcome:
        paths = [anyio.Path(line) for line in value.splitlines()]
        missing = [str(path) for path in paths if not await path.is_file()]
        if missing or not paths:
            said = "that it names" if isinstance(action.value, Secret) else repr(", ".join(missing))
            return ActionOutcome("action_failed", f"there is no file {said}", dispatched=False)
        if sum([(await path.stat()).st_size for path in paths]) > self._upload_mb * MEGABYTE:
            said = f"more than {self._upload_mb} MB would be sent: see upload_mb of the policy"
            return ActionOutcome("action_failed", said, dispatched=False)
        self._held.dispatched = True
        whole = [str(await path.absolute()) for path in paths]
        await self._held.tab.give_files(whole, within_ms=INPUT_MS)
        held: bool | None = None
        with suppress(DocumentGone):
            names = "\n".join(path.name for path in paths)
            held = await self._held.tab.ask("holds", names, within_ms=INPUT_MS)
        settled = await self._settled()
        return settled._replace(value_set=held, typed=_plain(action, value))

    async def _switch(self, action: Action, value: str, *, on: bool, digest: str) -> ActionOutcome:
        """A box that is ticked or not, by a click as a person's."""
        wanted = SWITCHED.get(value.strip().casefold())
        if wanted is None:
            return ActionOutcome(
                "action_failed", "a box is on or off: true, false", dispatched=False
            )
        settled, held = ActionOutcome(), True
        if wanted != on:
            settled = await self._click(digest)
            if settled.code is not None or settled.changed is not None:
                return settled
            held = settled.navigated or await self._held.tab.call(
                "holds", wanted, within_ms=INPUT_MS
            )
        return settled._replace(value_set=bool(held), typed=_plain(action, value))

    async def _select(self, action: Action, digest: str) -> ActionOutcome:
        assert action.value is not None
        value = await self._bound(action.value)
        self._held.dispatched = True
        try:
            checked = await self._held.checked("choose", digest, value, call=self._held.tab.act)
        except DocumentGone:
            checked = {"set": True}  # nothing but the choice can have led away
        if refused := refused_by(checked):
            if refused.code == "option_not_found" and not isinstance(action.value, Secret):
                offers = refused.message
                return refused._replace(message=f"{value!r} is not among: {offers}", offers=offers)
            return refused
        settled = await self._settled()
        return settled._replace(value_set=bool(checked["set"]), typed=_plain(action, value))

    async def _press(self, action: Action, digest: str) -> ActionOutcome:
        checked = await self._held.checked("focusOn", digest)
        if refused := refused_by(checked):
            return refused
        self._held.dispatched = True
        await self._held.tab.press(action.key or "", within_ms=INPUT_MS)
        if refused := await self._key_strayed():
            return refused
        return await self._settled()

    async def _key_strayed(self) -> ActionOutcome | None:
        """A key that came when something else had the focus was held back. Of several keys the
        first may have been heard: then it is not known that nothing was done."""
        with suppress(DocumentGone):
            answer = await self._held.tab.ask("pressed", within_ms=INPUT_MS)
            if refused := refused_by(answer):
                self._held.dispatched = bool(answer.get("heard"))
                return refused._replace(dispatched=self._held.dispatched)
        return None

    async def _scroll(self, action: Action, digest: str) -> ActionOutcome:
        tab = self._held.tab
        if action.target is not None:
            checked = await tab.call("bringIntoView", digest, within_ms=INPUT_MS)
            return refused_by(checked) or ActionOutcome()
        amount = action.amount or 300  # S3 1.1.3: the default of browser_scroll
        await tab.call("scroll", action.direction, amount, within_ms=INPUT_MS)
        return ActionOutcome()


def _press_of(action: Action) -> ClickKind:
    return ClickKind(action.button or "left", action.count, action.modifiers, action.ms or 0)


def _plain(action: Action, value: str) -> str | None:
    """A script's literal may be told now: the Validator lets none into a secret field."""
    return value if isinstance(action.value, Typed) else None
