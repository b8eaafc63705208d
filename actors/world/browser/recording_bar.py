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
        self._over: frozenset[str] = frozenset()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self._closing = False

    async def open(self) -> None:
        """Raises `BrowserGone` where it cannot be opened."""
        try:
            await self._open()
            self._spawn(self._watch())
            self._pages.on("page", lambda page: self._spawn(self._attend(page)))
            for tab in self._window.tabs:
                await self._attend(tab.page)
            await self._window.tab.page.bring_to_front()
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0]) from error

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
        opener = await self._context.new_page()
        async with self._context.expect_page() as opened:
            await opener.evaluate(f"window.open('about:blank', '', '{await self._place(opener)}')")
        self._page = page = await opened.value
        await opener.close()
        await page.expose_binding("rutterBarSays", self._on_said)
        html = resources.files("rutter.actors.world.browser").joinpath("page", "bar.html")
        await page.set_content(html.read_text("utf-8"))
        page.on("close", self._on_closed)
        await self.show(self._view)

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
        page = self._window.tab.page
        await page.bring_to_front()  # it is what shows where each of them is
        self._picking, self._what = self._pickers[page], what
        offered = await self._picking.begin(what)
        await self._do("offer", offered)
        await self.front()

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

    def _on_told(self, _: str) -> None:
        """The key that leads here."""
        self._spawn(self._to_front())

    async def _to_front(self) -> None:
        with suppress(PlaywrightError):
            await self._settle()
            await self.front()

    async def _watch(self) -> None:
        """Notices a window that a page put over the bar, and a page that fills the screen."""
        while True:
            await asyncio.sleep(WATCH_S)
            with suppress(PlaywrightError, BrowserGone):
                await self._look_over()

    async def _look_over(self) -> None:
        if self._page is None or self._page.is_closed():
            return
        own = await _bounds_of(self._page)
        pages = self._window.tabs
        bounds = [await _bounds_of(tab.page) for tab in pages]
        first = bounds[0]["window"] if bounds and bounds[0] else None
        over = set[str]()
        for each in bounds:
            if each and each["windowState"] == "fullscreen":
                over.add("full_screen")
            elif each and own and each["window"] != first and _overlap(own, each):
                over.add("window")
        new, self._over = over - self._over, frozenset(over)
        for by in sorted(new):
            await self.front()
            self._tell({"do": "disturbed", "by": by, "restored": True})

    def _on_closed(self, _: Page) -> None:
        if not self._closing:
            self._tell({"do": "disturbed", "by": "closed", "restored": False})

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


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
