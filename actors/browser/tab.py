"""One page and how we reach it: a script in a world of its own, input as a person's, deadlines.

Playwright's `evaluate` has no deadline and hangs for ever on a stuck page; every call here has
one of ours. A navigation is known by what the browser announces, never by waiting a while.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeVar

import anyio
import msgspec
from playwright.async_api import BrowserContext, CDPSession, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from events.errors import BrowserGone

WORLD = "rutter"
PARTS = ("reading", "snapshot", "finding", "acting")
OPEN_MS = 10_000  # a browser that opens no page in this time is not going to
CLOSE_MS = 5_000  # then it is left to die with the browser
MAX_DIALOGS = 100  # kinds of dialogs kept apart; a page can open them without end
MAX_MESSAGE = 200
# What Chromium answers to a call whose document goes away before or under it.
DOCUMENT_GONE = ("uniqueContextId not found", "context was destroyed", "navigated or closed")

Answer = TypeVar("Answer")


class PageTimeout(Exception):
    """The page did not answer within the deadline. A fact about the page, not a broken world."""


class DocumentGone(Exception):
    """The document went away under the call: a navigation committed."""


class NavigationFailed(Exception):
    """The browser could not get there, in its own words."""


@cache
def library() -> str:
    """The page's side as one script: the parts of `page/`, in order, in one closure."""
    page = resources.files("actors.browser").joinpath("page")
    parts = [page.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS]
    return page.joinpath("frame.js").read_text("utf-8").replace("/* PARTS */", "\n".join(parts))


class Tab:
    """A page with its CDP session. Open with `Tab.open`; one action at a time.

    A navigation is `asked` when the browser announces it and `committed` when its document has
    begun; it is over when that document was parsed, or when the browser gave it up (a download,
    an answer without content). Only the parsed end of a committed document counts: the one before
    it may still report its own.
    """

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self._page = page
        self._cdp = cdp
        self._frame = ""
        self._world: str | None = None
        self._world_known = anyio.Event()
        self._navigation: Literal["none", "asked", "committed"] = "none"
        self._loading = False
        self._arrived = anyio.Event()
        self._documents = 0
        self._documents_before = 0
        self._heard = True
        self._gone = ""
        self._scopes: set[anyio.CancelScope] = set()
        self.dialogs: Counter[tuple[str, str]] = Counter()

    @classmethod
    async def open(cls, context: BrowserContext) -> "Tab":
        """Takes the context over: it is closed with the tab, also when no tab comes of it."""
        tab: Tab | None = None
        try:
            with anyio.fail_after(OPEN_MS / 1000):
                page = await context.new_page()
                opening = cls(page, await context.new_cdp_session(page))
                await opening._attach()
                tab = opening
        except TimeoutError as error:
            raise BrowserGone(f"no page was open within {OPEN_MS} ms") from error
        finally:
            if tab is None:
                await _close(context)
        return tab

    async def _attach(self) -> None:
        self._listen()
        script = {"source": library(), "worldName": WORLD, "runImmediately": True}
        answers = await asyncio.gather(
            self._cdp.send("Page.getFrameTree"),
            self._cdp.send("Page.enable"),
            self._cdp.send("Runtime.enable"),
            self._cdp.send("Page.addScriptToEvaluateOnNewDocument", script),
        )
        tree: Mapping[str, Any] = answers[0]
        self._frame = tree["frameTree"]["frame"]["id"]

    # -- calls ---------------------------------------------------------------------------------

    async def call(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function of the library that only reads; a document that goes is waited for."""
        async with self._deadline(within_ms, function):
            while True:
                try:
                    return await self._evaluate(function, arguments)
                except DocumentGone:
                    await self._arrival()

    async def ask(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function in this document or in none. Raises `DocumentGone`."""
        async with self._deadline(within_ms, function):
            return await self._evaluate(function, arguments)

    async def act(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function that is input itself: never repeated. Raises `DocumentGone`."""
        self._begin_input()
        return await self.ask(function, *arguments, within_ms=within_ms)

    async def click(self, x: float, y: float, *, within_ms: int) -> None:
        """A trusted click: move, press, release, sent together and in this order."""
        at: dict[str, object] = {"x": x, "y": y}
        button: dict[str, object] = {**at, "button": "left", "clickCount": 1}
        async with self._input("click", within_ms):
            await asyncio.gather(
                self._send("Input.dispatchMouseEvent", {"type": "mouseMoved", **at}),
                self._send("Input.dispatchMouseEvent", {"type": "mousePressed", **button}),
                self._send("Input.dispatchMouseEvent", {"type": "mouseReleased", **button}),
            )

    async def insert(self, text: str, *, within_ms: int) -> None:
        """Typed text into the focused field, as one trusted input event."""
        async with self._input("type", within_ms):
            if text:
                await self._send("Input.insertText", {"text": text})
            else:
                await self._guarded(self._page.keyboard.press("Delete"))

    async def press(self, key: str, *, within_ms: int) -> None:
        async with self._input(f"press {key}", within_ms):
            await self._guarded(self._page.keyboard.press(key))

    async def navigate(self, url: str, *, within_ms: int) -> None:
        async with self._deadline(within_ms, f"navigate to {url}"):
            self._depart()
            answer = await self._send("Page.navigate", {"url": url})
            if answer.get("errorText"):
                self._arrive()
                raise NavigationFailed(str(answer["errorText"]))
            if answer.get("loaderId") is None:
                self._arrive()  # the same document: a fragment
            await self._arrival()

    async def settle(self, *, within_ms: int) -> bool:
        """Waits until a navigation that input asked for is over; says if a new document came."""
        async with self._deadline(within_ms, "settle"):
            if not self._heard and self._navigation == "none":
                # The answer to any call comes behind the announcement of a navigation.
                with contextlib.suppress(DocumentGone):
                    await self._evaluate("sync", ())
            await self._arrival()
            return self._documents != self._documents_before

    async def change(self, within_ms: int) -> None:
        """Waits for the page to change, at most `within_ms`. Not changing is no failure."""
        with anyio.move_on_after(within_ms / 1000):
            with contextlib.suppress(DocumentGone):
                async with self._deadline(within_ms + 500, "change"):
                    await self._evaluate("change", (within_ms,))
            await self._arrival()

    async def screenshot(self, *, full_page: bool, within_ms: int) -> bytes:
        async with self._deadline(within_ms, "screenshot"):
            image: bytes = await self._guarded(self._page.screenshot(full_page=full_page))
            return image

    async def close(self) -> None:
        await _close(self._page.context)

    # -- how -----------------------------------------------------------------------------------

    async def _evaluate(self, function: str, arguments: tuple[object, ...]) -> Any:
        while (world := self._world) is None:
            await self._world_known.wait()
        inside = ",".join(msgspec.json.encode(part).decode() for part in (function, *arguments))
        call = {
            "expression": f"rutter({inside})",
            "uniqueContextId": world,
            "returnByValue": True,
            "awaitPromise": True,
        }
        try:
            answer = await self._send("Runtime.evaluate", call)
        except DocumentGone:
            if self._world == world:  # the next one may have been announced already
                self._world, self._world_known = None, anyio.Event()
            raise
        self._heard = True
        if "exceptionDetails" in answer:
            raise BrowserGone(f"{function} failed in the page: {_said(answer)}")
        return msgspec.json.decode(answer["result"]["value"])

    @contextlib.asynccontextmanager
    async def _input(self, what: str, within_ms: int) -> AsyncIterator[None]:
        """Input that the page may answer by going away: then it has arrived all the same."""
        self._begin_input()
        async with self._deadline(within_ms, what):
            with contextlib.suppress(DocumentGone):
                yield

    def _begin_input(self) -> None:
        self._heard = False
        self._documents_before = self._documents

    async def _arrival(self) -> None:
        while self._navigation != "none":
            await self._arrived.wait()

    async def _send(self, method: str, parameters: dict[str, object]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await self._cdp.send(method, parameters)
        except PlaywrightError as error:
            raise self._explain(error) from error
        return answer

    async def _guarded(self, call: Awaitable[Answer]) -> Answer:
        try:
            return await call
        except PlaywrightError as error:
            raise self._explain(error) from error

    def _explain(self, error: PlaywrightError) -> Exception:
        message = str(error)
        if not self._gone and any(words in message for words in DOCUMENT_GONE):
            return DocumentGone(message)
        return BrowserGone(self._gone or message.splitlines()[0])

    @contextlib.asynccontextmanager
    async def _deadline(self, within_ms: int, what: str) -> AsyncIterator[None]:
        """Our deadline on a browser call, ended at once when the page dies."""
        if self._gone:
            raise BrowserGone(self._gone)
        with anyio.move_on_after(within_ms / 1000) as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)
        if scope.cancelled_caught:
            if self._gone:
                raise BrowserGone(self._gone)
            raise PageTimeout(f"{what} did not finish within {within_ms} ms")

    # -- what the browser announces ------------------------------------------------------------

    def _listen(self) -> None:
        on = self._cdp.on
        on("Runtime.executionContextCreated", self._on_world)
        on("Page.frameRequestedNavigation", self._on_requested)
        on("Page.frameStartedNavigating", self._on_started)
        on("Page.frameStartedLoading", self._on_loading)
        on("Page.frameNavigated", self._on_committed)
        on("Page.domContentEventFired", self._on_parsed)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Page.downloadWillBegin", self._on_download)
        self._page.on("crash", lambda _: self._die("the page crashed"))
        self._page.on("close", lambda _: self._die("the page was closed"))
        self._page.on("dialog", self._on_dialog)

    def _on_world(self, event: Mapping[str, Any]) -> None:
        context = event["context"]
        # While the page is being opened it has one frame, and its id is still on its way.
        mine = self._frame in ("", context["auxData"].get("frameId"))
        if context["name"] == WORLD and mine:
            self._world = context["uniqueId"]
            self._world_known.set()

    def _on_requested(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event.get("disposition") == "currentTab":
            self._depart()

    def _on_started(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event.get("navigationType") != "sameDocument":
            self._depart()

    def _on_loading(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and self._navigation == "asked":
            self._loading = True

    def _on_committed(self, event: Mapping[str, Any]) -> None:
        if event["frame"]["id"] == self._frame:
            self._depart()
            self._navigation = "committed"
            self._documents += 1

    def _on_parsed(self, _: Mapping[str, Any]) -> None:
        if self._navigation == "committed":
            self._arrive()

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        # Without a new document: an answer without content, a scheme for another program, a stop.
        # With one: it stopped its own parser, and will not say that it was parsed.
        over = self._loading or self._navigation == "committed"
        if event["frameId"] == self._frame and over:
            self._arrive()

    def _on_download(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and self._navigation == "asked":
            self._arrive()

    def _depart(self) -> None:
        if self._navigation == "none":
            self._arrived = anyio.Event()
        self._navigation = "asked"
        self._loading = False  # a stop that is still to come may be of the one before

    def _arrive(self) -> None:
        self._navigation = "none"
        self._loading = False
        self._arrived.set()

    async def _on_dialog(self, dialog: Dialog) -> None:
        # Unanswered it would block the page for ever; what it asked is told as a fact.
        asked = (dialog.type, dialog.message[:MAX_MESSAGE])
        if asked in self.dialogs or len(self.dialogs) < MAX_DIALOGS:
            self.dialogs[asked] += 1
        with contextlib.suppress(PlaywrightError):
            await dialog.dismiss()
        if dialog.type == "beforeunload" and self._navigation == "asked":
            self._arrive()  # asked whether to leave, we stay: nothing else announces that

    def _die(self, why: str) -> None:
        self._gone = self._gone or why
        for scope in self._scopes:
            scope.cancel()


async def _close(context: BrowserContext) -> None:
    """Never waits long for a browser that does not answer."""
    with anyio.move_on_after(CLOSE_MS / 1000, shield=True), contextlib.suppress(PlaywrightError):
        await context.close()


def _said(answer: Mapping[str, Any]) -> str:
    details = answer["exceptionDetails"]
    described = details.get("exception", {}).get("description") or details.get("text", "")
    return str(described).splitlines()[0][:200]
