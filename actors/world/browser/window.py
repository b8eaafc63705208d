"""A window holds the pages of one session, in the order in which they opened, one of them in front.

What pages do without being asked is kept here, bounded and counted, until the Observer tells it:
dialogs that were answered, pages that were opened, files that were sent.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import anyio
from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Download as BrowserDownload
from playwright.async_api import Error as PlaywrightError

from rutter.actors.rules.pages.address import reads_as
from rutter.actors.rules.text.secret_words import safe_url
from rutter.actors.world.browser.page_addresses import leads_on
from rutter.actors.world.browser.page_listener import Kind as Heard
from rutter.actors.world.browser.page_listener import PageListener, WindowListener
from rutter.actors.world.browser.page_session import (
    NavigationFailed,
    PageClosed,
    PageSession,
    PageTimeout,
)
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window_downloads import DOWNLOAD_MB, MAX_TEXT, WindowDownloads
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.browser.window_session import OPEN_MS, SOON_MS
from rutter.actors.world.egress.gate import Passage
from rutter.events.action import DialogAnswer
from rutter.events.errors import BrowserGone
from rutter.events.page import Exchange

ATTACH_MS = 3_000  # a page that does not answer in this time after it opened is closed again
POPUP_MS = 3_000  # how long a click waits for the page that it opened
CLOSE_MS = 4_000  # then the browser itself does not answer
MAX_TABS = 10
MAX_KINDS = 20  # kinds of dialogs and popups kept apart; a page can open them without end
TOO_MANY = -1
LAST = 1 << 62  # what is opened aside is behind all others, so that none of them is renumbered

Kind = tuple[str, str, bool]
Key = TypeVar("Key")


class TabOrigin(NamedTuple):
    """A tab has its number in the session and who opened it, and may go with that one: it is beside
    the session's own pages, for a moment."""

    number: int
    opener: Tab | None
    aside: bool = False


class Window(WindowDownloads):
    """A window is a browser context, its tabs and their gate. Open with `Window.open`."""

    def __init__(
        self,
        context: BrowserContext,
        on_stuck: Callable[[], None],
        passage: Passage,
        download_mb: int,
        on_closed: Callable[[], None],
        crowd: WindowLoad,
    ) -> None:
        super().__init__(context, passage, crowd, download_mb)
        self._on_stuck = on_stuck
        self._on_closed = on_closed
        self._tabs: list[Tab] = []
        self._front: Tab | None = None
        self._origins: dict[Tab, TabOrigin] = {}
        self._pages = 0
        self._opening: deque[Tab] = deque(maxlen=MAX_TABS)
        self._adopting = 0
        self._answers: deque[DialogAnswer] = deque()
        self._opening_aside: list[Page] | None = None
        self._aside = False
        self._listener: WindowListener | None = None
        self._phrases: Sequence[str] = ()
        self.misplaced: Callable[[str, str], bool] = lambda secret, address: False
        self.dialogs: Counter[Kind] = Counter()
        self.popups: Counter[tuple[str, int]] = Counter()

    @classmethod
    async def open(
        cls,
        context: BrowserContext,
        on_stuck: Callable[[], None] = lambda: None,
        *,
        passage: Passage,
        download_mb: int = DOWNLOAD_MB,
        on_closed: Callable[[], None] = lambda: None,
        crowd: WindowLoad | None = None,
    ) -> "Window":
        """Takes the context over: it is closed with the window, also when no page comes of it; and
        so is its passage."""
        window = cls(context, on_stuck, passage, download_mb, on_closed, crowd or WindowLoad())
        passage.when_lost(window._on_lost)
        opened = False
        limit_ms = window.patient(OPEN_MS)
        try:
            with anyio.fail_after(limit_ms / 1000):
                context.on("dialog", window._on_dialog)
                context.on("close", window._on_ended)
                await window._attach(await context.new_page(), TabOrigin(0, None))
                context.on("page", window._on_page)
                opened = True
        except TimeoutError as error:
            raise BrowserGone(f"no page was open within {limit_ms} ms") from error
        finally:
            if not opened:
                await window.close()
        return window

    # -- its pages -----------------------------------------------------------------------------

    @property
    def tab(self) -> Tab:
        """The one in front."""
        if self._front is None:
            raise BrowserGone("the page was closed")
        return self._front

    @property
    def tabs(self) -> tuple[Tab, ...]:
        return tuple(self._tabs)

    @property
    def index(self) -> int:
        """Which of them is in front."""
        return self._tabs.index(self.tab)

    async def show(self, index: int, *, within_ms: int) -> None:
        """Brings that page to the front, once it is open."""
        with anyio.move_on_after(within_ms / 1000):
            while not 0 <= index < len(self._tabs):
                await self._changed.wait()
        if not 0 <= index < len(self._tabs):
            raise PageTimeout(f"page {index} was not open within {within_ms} ms")
        await self.bring(self._tabs[index], within_ms=within_ms)

    async def bring(self, tab: Tab, *, within_ms: int) -> None:
        if tab is not self._front:
            await tab.show(within_ms=within_ms)
            self._front = tab
            self._tell()

    async def front_after(self, tab: Tab | None) -> Tab:
        """Waits until another page than this one is in front. Raises `BrowserGone` when the window
        is closed, or its browser gone."""
        while self._closing or (front := self._front) is None or front is tab:
            if self._closing:
                raise BrowserGone("the window was closed")
            if self._died:
                raise BrowserGone("the browser is gone")
            await self._changed.wait()
        return front

    # -- pages that are opened aside -----------------------------------------------------------

    async def open_aside(self) -> Tab:
        """A page of ours with what the session knows (its cookies), in front until it is closed.

        Raises `NavigationFailed` or `PageTimeout` when there is none to be had.
        """
        tab = await self._opened(TabOrigin(LAST, self._front, aside=True))
        self._aside = True
        self._tell()
        return tab

    async def open_in_place_of(self, tab: Tab) -> Tab:
        """A page of ours where that one was, which hangs and is ended. The cookies are there; what
        the other one kept for itself alone is not. Raises what `open_aside` does."""
        opened = await self._opened(self._origins[tab])
        self.forget(tab)
        self._spawn(_ended(tab))
        return opened

    async def _opened(self, origin: TabOrigin) -> Tab:
        page: Page | None = None
        try:
            with anyio.fail_after(self.patient(OPEN_MS) / 1000):
                page = await self._page_of_ours()
                tab = await self._attach(page, origin)
                if tab is not None and origin.aside:
                    await tab.read_afresh()  # what is looked up must be what is so now
        except TimeoutError as error:
            self._drop(page)
            raise PageTimeout(f"no page of ours was open within {OPEN_MS} ms") from error
        except (PlaywrightError, BrowserGone) as error:
            self._drop(page)
            raise NavigationFailed(str(error).splitlines()[0]) from error
        if tab is None:
            raise NavigationFailed("the page of ours was closed")
        return tab

    @property
    def lost_aside(self) -> bool:
        """What was opened aside is not there any more, though nobody said that it is over."""
        return self._aside and not any(origin.aside for origin in self._origins.values())

    def is_aside(self, tab: Tab) -> bool:
        return tab in self._origins and self._origins[tab].aside

    async def close_asides(self) -> None:
        """What was opened aside goes, with all that it opened: the page from before is in front."""
        self._aside = False
        asides = [tab for tab in self._tabs if self._origins[tab].aside]
        for tab in reversed(asides):  # those that were opened last give way to their openers
            self.forget(tab)
            self._spawn(_ended(tab))
        if asides and self._front is not None:
            await _shown(self._front)

    async def _page_of_ours(self) -> Page:
        """The browser tells of all new pages alike: which one is ours shows when it is there."""
        page: Page | None = None
        self._opening_aside = []
        try:
            page = await self._context.new_page()
        finally:
            others, self._opening_aside = self._opening_aside, None
            for other in others:
                if other is not page:
                    self._on_page(other)
        return page

    def _drop(self, page: Page | None) -> None:
        if page is not None:
            self._spawn(_page_closed(page))

    # -- waiting for them ----------------------------------------------------------------------

    async def settle(self, tab: Tab, *, within_ms: int) -> bool:
        """Waits until what input on `tab` asked for is there; says if a new document is."""
        navigated = await tab.settle(within_ms=within_ms)
        with anyio.move_on_after(POPUP_MS / 1000):
            while self._opening or self._adopting:
                await self._changed.wait()
        self._opening.clear()
        # It may have come to the front while we waited for the page that opened it.
        while (opened := self._front) is not None and opened is not tab:
            try:
                await opened.call("parsed", within_ms=within_ms)
            except PageClosed:  # as one does that closes itself
                if not await self.survives(opened):
                    raise
            else:
                return True
        return navigated

    async def change(self, within_ms: int) -> None:
        """Waits for the page in front to change, for another to come to the front, or for a
        file that nobody was told of."""
        tab = self.tab
        gone: BrowserGone | PageTimeout | None = None
        async with anyio.create_task_group() as group:

            async def other_in_front_or_file() -> None:
                while self._front is tab and not self._files:
                    await self._changed.wait()
                group.cancel_scope.cancel()

            group.start_soon(other_in_front_or_file)
            try:
                await tab.change(within_ms)
            except (BrowserGone, PageTimeout) as error:
                gone = error  # raised in here it would come out as a group of one
            group.cancel_scope.cancel()
        if gone is not None:
            raise gone

    def exchanges(self) -> tuple[Exchange, ...]:
        """What its pages sent or had answered since this was asked for last."""
        return tuple(each for tab in self._tabs for each in tab.traffic.tell())

    async def sent_off(self, within_ms: int) -> None:
        """Waits until nothing is on its way from a page that was to change something."""
        with anyio.move_on_after(within_ms / 1000):
            for tab in self._tabs:
                await tab.sent_off()

    async def survives(self, tab: PageSession) -> bool:
        """Whether others are open, now that this one was closed."""
        with anyio.move_on_after(SOON_MS / 1000):
            while tab in self._tabs:
                await self._changed.wait()
        return bool(self._tabs) and tab not in self._tabs and self._connected

    async def close(self) -> None:
        """Never waits long for a page or a browser that does not answer."""
        self._closing = True
        self._tell()
        for task in (*self._tasks, *self._sending):
            task.cancel()
        with anyio.CancelScope(shield=True):
            closing = asyncio.ensure_future(self._close_context())
            done, _ = await asyncio.wait({closing}, timeout=SOON_MS / 1000)
            if not done:
                await asyncio.gather(*(tab.kill() for tab in self._tabs))
                done, _ = await asyncio.wait({closing}, timeout=CLOSE_MS / 1000)
            if not done:
                closing.cancel()
                self._on_stuck()
        if not self._closed:
            self._closed = True
            self._on_closed()

    # -- a person in front of it ---------------------------------------------------------------

    async def listen(self, phrases: Sequence[str] = ()) -> WindowListener:
        """From now on a person acts here: what they do is told, dialogs are theirs to answer.
        The page before each step says which of the phrases it shows."""
        if self._lost:
            raise BrowserGone("the browser has no way out any more")
        if self._listener is None:
            self._listener = WindowListener()
            self._phrases = phrases
            for tab in self._tabs:
                await self._overhear(tab, self._listener)
        return self._listener

    def _on_lost(self) -> None:
        """A person would go on in pages that reach nobody, and be recorded doing so."""
        self._lost = True
        if self._listener is not None:
            self._listener.tell("closed")
        self._tell()

    def finish(self) -> bool:
        """The person said elsewhere that they are done."""
        if self._listener is not None:
            self._listener.tell("finished")
        return self._listener is not None

    async def _overhear(self, tab: Tab, listener: WindowListener) -> None:
        def tell(kind: Heard, body: Mapping[str, Any]) -> None:
            if tab in self._tabs and tab is not self._front:
                self._front = tab  # where the person is
                self._tell()
            if kind == "input":
                role = (body.get("element") or {}).get("role", "")
                tab.addresses.arm(leads=leads_on(body.get("kind", ""), role))
                tab.addresses.on_input()
            at = self._tabs.index(tab) if tab in self._tabs else 0
            listener.tell(kind, at, body, alone=self._pages == 0)

        await tab.hear(PageListener(tell, self._phrases))

    # -- pages that pages open -----------------------------------------------------------------

    def expect_page(self, tab: Tab, url: str, *, by_gesture: bool) -> None:
        """The browser opens one page for each click; what asks for more is refused."""
        if by_gesture:
            self._opening.append(tab)
        else:
            self._refuse(url)

    def forget(self, tab: Tab) -> None:
        """It was closed: the one that had opened it is in front again."""
        if tab not in self._tabs:
            return
        self._tabs.remove(tab)
        if self._front is tab:
            opener = self._origins[tab].opener
            self._front = opener if opener in self._tabs else next(reversed(self._tabs), None)
            if self._front is not None:
                self._spawn(_shown(self._front))
        del self._origins[tab]
        self._tell()
        if self._listener is not None and not self._tabs:
            self._listener.tell("closed")

    def _on_page(self, page: Page) -> None:
        if self._opening_aside is not None:
            self._opening_aside.append(page)
            return
        self._pages += 1
        opener = self._opening.popleft() if self._opening else self._front
        aside = opener is not None and self.is_aside(opener)
        origin = TabOrigin(LAST if aside else self._pages, opener, aside)
        if len(self._tabs) + self._adopting >= MAX_TABS:
            self._refuse(page.url)
            self._spawn(_page_closed(page))
            self._tell()
        else:
            self._adopting += 1
            self._spawn(self._adopt(page, origin))

    def _refuse(self, url: str) -> None:
        place = url.partition("#")[0].partition("?")[0][:MAX_TEXT]
        _count(self.popups, (place, TOO_MANY), ("", TOO_MANY))

    async def _adopt(self, page: Page, origin: TabOrigin) -> None:
        try:
            with anyio.fail_after(ATTACH_MS / 1000):
                tab = await self._attach(page, origin)
            if tab is not None:
                key = (safe_url(page.url)[:MAX_TEXT], self._tabs.index(tab))
                _count(self.popups, key, ("", TOO_MANY))
        except (TimeoutError, BrowserGone):
            self._refuse(page.url)
            self._spawn(_page_closed(page))
        finally:
            self._adopting -= 1
            self._tell()

    async def _attach(self, page: Page, origin: TabOrigin) -> Tab | None:
        """The page as a tab in front; nothing if it is gone already, as one for a file is."""
        page.on("download", self._on_download)
        try:
            tab = Tab(page, await self._context.new_cdp_session(page), self)
            await tab.attach()
        except PlaywrightError:
            if page.is_closed():
                return None
            raise
        if page.is_closed():
            return None
        if origin.aside and origin.opener not in self._tabs:
            self._drop(page)  # what it goes with is gone
            return None
        if self._listener is not None:
            await self._overhear(tab, self._listener)
        self._origins[tab] = origin
        self._tabs = sorted(self._origins, key=lambda each: self._origins[each].number)
        self._front = tab
        self._tell()
        return tab

    # -- dialogs -------------------------------------------------------------------------------

    def answer_with(self, answers: Iterable[DialogAnswer]) -> None:
        """What to say to the next dialogs; all others are dismissed."""
        self._answers = deque(answers)

    def _answer_to(self, dialog: Dialog) -> DialogAnswer:
        """What was to be said to this very question; to any other the answer is no. Whoever goes to
        an address leaves, unless it was to be said otherwise."""
        leaves = any(tab.leaving and tab.page is dialog.page for tab in self._tabs)
        otherwise = DialogAnswer(accept=leaves and dialog.type == "beforeunload")
        if not self._answers:
            return otherwise
        answer = self._answers[0]
        meant = answer.kind in ("", dialog.type)
        if meant and (not answer.message or reads_as(answer.message, dialog.message)):
            self._answers.popleft()
            asking = dialog.page.url if dialog.page is not None else ""
            if not (answer.secret and self.misplaced(answer.secret, asking)):
                return answer
        return otherwise

    async def _on_dialog(self, dialog: Dialog) -> None:
        if self._listener is not None:
            return  # a person is there to answer it
        # Unanswered it would block the page for ever; what it asked is told as a fact.
        answer = self._answer_to(dialog)
        kind = (dialog.type, dialog.message[:MAX_TEXT], answer.accept)
        _count(self.dialogs, kind, (dialog.type, "", answer.accept))
        with contextlib.suppress(PlaywrightError):
            if answer.accept:
                await dialog.accept(answer.text)
            else:
                await dialog.dismiss()
        if dialog.type == "beforeunload" and not answer.accept:
            for tab in self._tabs:
                if tab.page is dialog.page:
                    tab.stayed()

    def _on_download(self, download: BrowserDownload) -> None:
        self._opening.clear()  # a page that was opened for a file does not stay
        self._take_download(download, self.step_now())


def _count(counted: Counter[Key], key: Key, others: Key) -> None:
    """Counts equal ones together; behind so many kinds, all the rest together."""
    counted[key if key in counted or len(counted) < MAX_KINDS else others] += 1


async def _page_closed(page: Page) -> None:
    with contextlib.suppress(PlaywrightError):
        await page.close()


async def _ended(tab: Tab) -> None:
    """Closed, or ended with its process when it does not answer."""
    with anyio.move_on_after(SOON_MS / 1000) as scope:
        await _page_closed(tab.page)
    if scope.cancelled_caught:
        await tab.kill()


async def _shown(tab: Tab) -> None:
    with contextlib.suppress(BrowserGone, PageTimeout):
        await tab.show(within_ms=SOON_MS)
