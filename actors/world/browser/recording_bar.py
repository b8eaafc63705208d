"""The recording bar is a small window of ours beside the page that a person is recorded in.

It is in a browser context of its own, so that no page can reach, read, press or move it: all that a
page can do is to open a window over it. That is noticed, and the bar is brought to the front; what
was pressed right before counts for nothing (`page/bar.html`). It goes nowhere and keeps nothing.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from importlib import resources
from typing import Any

import anyio
import msgspec
from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.element_picker import ElementPicker
from rutter.actors.world.browser.page_session import DocumentGone, PageTimeout
from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone

WIDTH, HEIGHT = 360, 560
SETTLE_MS = 1_000  # how long a page may take to say what is being typed in it
WATCH_S = 1.0  # how long a window over the bar stays unnoticed at most
OPEN_MS = 10_000
FOCUS_MS = 1_000
CLOSE_S = 3.0

Press = Mapping[str, Any]


class BarView(msgspec.Struct, frozen=True):
    """The bar shows this: how many steps there are, what was understood of the last one, and what
    can be said of it. `varies` is the value that could get a name, `suggested` a name for it."""

    steps: int
    last: str = ""
    number: int = 0
    optional: bool = False
    varies: str = ""
    suggested: str = ""
    note: str = ""
    bad: bool = False


class RecordingBar:
    """The bar tells what is pressed in it, in the order of what the person does in the page."""

    def __init__(self, window: Window, tell: Callable[[Press], object]) -> None:
        self._window = window
        self._tell = tell
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._pickers: dict[Page, ElementPicker] = {}
        self._picking: ElementPicker | None = None
        self._what = ""
        self._found: dict[str, Any] | None = None
        self._view = BarView(0)
        self._over: frozenset[int] = frozenset()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self._closing = False

    async def open(self) -> None:
        """Where it cannot be opened, it is as one that was closed: what is done in the page is
        recorded all the same, and the key that leads to it tries again."""
        self._pages.on("page", lambda page: self._spawn(self._attend(page)))
        for tab in self._window.tabs:
            await self._attend(tab.page)
        try:
            await self._open()
            await self._give_back()
        except PlaywrightError:
            self._tell({"do": "disturbed", "by": "closed", "restored": False})
        self._spawn(self._watch())

    @property
    def _pages(self) -> BrowserContext:
        return self._window.tab.page.context

    async def _open(self) -> None:
        if self._context is None:
            browser = self._pages.browser
            assert browser is not None
            self._context = await browser.new_context(
                no_viewport=True, offline=True, service_workers="block", permissions=[]
            )
            self._context.set_default_timeout(OPEN_MS)
        opener = await self._context.new_page()
        async with self._context.expect_page() as opened:
            await opener.evaluate(f"window.open('about:blank', '', '{await self._place(opener)}')")
        self._page = page = await opened.value
        await opener.close()
        await _told_of_focus(page)
        await page.expose_binding("rutterBarSays", self._on_said)
        html = resources.files("rutter.actors.world.browser").joinpath("page", "bar.html")
        await page.set_content(html.read_text("utf-8"))
        page.on("close", self._on_closed)
        await self.show(self._view)

    async def _give_back(self) -> None:
        """The person begins in the page. A new window takes the keys when it is drawn, and lets go
        of them a moment after it was told to: until then they would go here."""
        assert self._page is not None
        for wanted in ("document.hasFocus()", "!document.hasFocus()"):
            with suppress(PlaywrightError):
                await self._page.wait_for_function(wanted, timeout=FOCUS_MS)
            await self._window.tab.page.bring_to_front()

    async def _place(self, opener: Page) -> str:
        """To the right of the page where the screen is wide enough, else at its right edge."""
        room = await opener.evaluate("[screen.availWidth, screen.availHeight]")
        bounds = await _bounds_of(self._window.tab.page)
        beside = bounds["left"] + bounds["width"] if bounds else 0
        left = max(0, min(beside, room[0] - WIDTH))
        return f"popup,width={WIDTH},height={min(HEIGHT, room[1])},left={left},top=0"

    async def show(self, view: BarView) -> None:
        self._view = view
        await self._do("show", msgspec.to_builtins(view))

    async def ask_name(self, view: BarView) -> None:
        """What the value is called that varies."""
        await self._do("name", msgspec.to_builtins(view))

    async def close(self) -> None:
        """Nothing of it is left; a page that hangs does not keep it."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        context, self._context = self._context, None
        with anyio.move_on_after(CLOSE_S, shield=True), suppress(PlaywrightError):
            if context is not None:
                await context.close()

    # -- what is said in it --------------------------------------------------------------------

    async def _on_said(self, _: object, said: str) -> None:
        self._spawn(self._answer(msgspec.json.decode(said)))

    async def _answer(self, said: dict[str, Any]) -> None:
        async with self._turn:
            try:
                await self._answered(said)
            except (PlaywrightError, DocumentGone, PageTimeout, BrowserGone):
                await self._leave()
                await self._refuse("The page has changed meanwhile. Press again.")

    async def _answered(self, said: dict[str, Any]) -> None:
        match said["do"]:
            case "pick":
                await self._pick(str(said["what"]))
            case "point" if self._picking is not None:
                await self._picking.show(int(said["index"]))
            case "take" if self._picking is not None:
                await self._offer(await self._picking.from_list(int(said["index"]), self._what))
            case "leave":
                await self._leave()
            case "page":
                await self._window.tab.page.bring_to_front()
            case "keep" if self._found is not None:
                said = {**said, "found": self._found, "tab": self._window.index}
                await self._leave()
                await self._pressed(said)
            case "undo" | "optional" | "naming" | "varies" | "done" | "discard":
                await self._pressed(said)
            case _:
                pass

    async def _pressed(self, said: Press) -> None:
        await self._settle()
        self._tell(said)

    async def _settle(self) -> None:
        """What is still being typed in the page is a step before what is pressed here."""
        for tab in self._window.tabs:
            with suppress(PageTimeout, DocumentGone, BrowserGone):
                await tab.call("settleInput", within_ms=SETTLE_MS)

    # -- picking -------------------------------------------------------------------------------

    async def _pick(self, what: str) -> None:
        await self._leave()
        if (picker := self._pickers.get(self._window.tab.page)) is None:
            raise DocumentGone("nothing can be picked in this page")
        self._picking, self._what = picker, what
        await self._do("offer", await picker.begin(what))

    def _on_picked(self, node: int) -> None:
        self._spawn(self._take(node))

    async def _take(self, node: int) -> None:
        async with self._turn:
            try:
                if self._picking is not None:
                    await self._offer(await self._picking.from_page(node, self._what))
                    await self.front()
            except (PlaywrightError, DocumentGone):
                await self._leave()
                await self._refuse("The page has changed meanwhile. Press again.")

    async def _offer(self, found: dict[str, Any] | None) -> None:
        self._found = found
        refused = found is None or found.get("refused")
        if found is None or refused:
            await self._leave()
            secret = refused == "secret"
            why = "That is a secret: it is never read." if secret else "There is nothing to read."
            await self._refuse(why)
            return
        whole = found.get("whole") or {}
        fixed = found.get("check", {}).get("type", "text_visible") != "text_visible"
        told = {"what": self._what, "text": found["text"], "suggested": found.get("suggested")}
        more = {"whole": whole.get("text"), "wholeSuggested": whole.get("suggested")}
        await self._do("picked", {**told, **more, "fixed": fixed})

    async def _leave(self) -> None:
        picking, self._picking, self._found = self._picking, None, None
        if picking is not None:
            await picking.end()

    async def _refuse(self, why: str) -> None:
        await self._do("idle")
        await self._do("note", why, True)

    async def _do(self, function: str, *given: object) -> None:
        if self._page is None or self._page.is_closed():
            return
        with suppress(PlaywrightError):
            await self._page.evaluate(f"given => {function}(...given)", list(given))

    # -- where it is ---------------------------------------------------------------------------

    async def front(self) -> None:
        """Before the person, opened anew if they closed it."""
        if self._page is None or self._page.is_closed():
            await self._open()
        if self._page is not None:
            await self._page.bring_to_front()

    async def _attend(self, page: Page) -> None:
        with suppress(PlaywrightError):
            picking, showing = [await page.context.new_cdp_session(page) for _ in range(2)]
            picker = ElementPicker(picking, showing, self._on_picked, self._on_told)
            await picker.attach()
            self._pickers[page] = picker

    def _on_told(self, said: str) -> None:
        """The key that leads here, or that the page fills the screen."""
        self._spawn(self._disturbed("full_screen") if said == "full_screen" else self._to_front())

    async def _to_front(self) -> None:
        with suppress(PlaywrightError):
            await self._settle()
            await self.front()

    async def _disturbed(self, by: str) -> None:
        with suppress(PlaywrightError):
            await self.front()
            self._tell({"do": "disturbed", "by": by, "restored": True})

    async def _watch(self) -> None:
        """Notices a window that a page put over the bar."""
        while True:
            await asyncio.sleep(WATCH_S)
            with suppress(PlaywrightError, BrowserGone):
                await self._look_over()

    async def _look_over(self) -> None:
        if self._page is None or self._page.is_closed():
            return
        own = await _bounds_of(self._page)
        bounds = [await _bounds_of(tab.page) for tab in self._window.tabs]
        first = bounds[0].get("window") if bounds else None
        others = [each for each in bounds if each and own and each["window"] != first]
        over = {each["window"] for each in others if _overlap(own, each)}
        new, self._over = over - self._over, frozenset(over)
        if new:
            await self._disturbed("window")

    def _on_closed(self, _: Page) -> None:
        if not self._closing:
            self._tell({"do": "disturbed", "by": "closed", "restored": False})

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _told_of_focus(page: Page) -> None:
    """The driver has every page believe that it has the focus; of this one the keys count only when
    it does. What is switched off must have been switched on by the same session."""
    cdp = await page.context.new_cdp_session(page)
    for on in (True, False):
        await cdp.send("Emulation.setFocusEmulationEnabled", {"enabled": on})


async def _bounds_of(page: Page) -> dict[str, Any]:
    """Where the window of this page is; nothing where that cannot be said."""
    try:
        cdp = await page.context.new_cdp_session(page)
        try:
            told = await cdp.send("Browser.getWindowForTarget")
        finally:
            await cdp.detach()
    except PlaywrightError:
        return {}
    return {**told["bounds"], "window": told["windowId"]}


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    def meet(at: str, size: str) -> bool:
        return bool(one[at] < other[at] + other[size] and other[at] < one[at] + one[size])

    return meet("left", "width") and meet("top", "height")
