"""A page's session carries calls to a script in a world of its own, each with a deadline.

Playwright's `evaluate` has no deadline and hangs for ever on a stuck page; every call here has
one of ours. A navigation is known by what the browser announces, never by waiting a while.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any, Literal, Protocol, TypeVar

import anyio
import msgspec
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.page_addresses import Addresses
from rutter.actors.world.browser.page_script import library, schedule
from rutter.actors.world.browser.traffic import Traffic
from rutter.events.errors import BrowserGone

WORLD = "rutter"
EVALUATE = "Runtime.evaluate"
KILL_MS = 1_000
ASKING_MS = 250
NO_BODIES: Mapping[str, object] = dict.fromkeys(
    ("maxTotalBufferSize", "maxResourceBufferSize", "maxPostDataSize"), 0
)
# What Chromium answers to a call whose document goes away before or under it.
DOCUMENT_GONE = ("uniqueContextId not found", "context was destroyed", "navigated or closed")
PAGE_CLOSED = ("has been closed", "Target closed", "session closed", "Session closed")

Answer = TypeVar("Answer")


class PageTimeout(Exception):
    """The page did not answer within the deadline. A fact about the page, not a broken world."""


class PageHangs(PageTimeout):
    """The page answers nothing and lets nobody go elsewhere."""


class DocumentGone(Exception):
    """A navigation was committed, and the document went away under the call."""


class NavigationFailed(Exception):
    """The browser could not get there, in its own words."""


class KeyUnknown(Exception):
    """No keyboard has such a key: nothing was pressed."""


class PageClosed(BrowserGone):
    """This page was closed; others of the session may still be there."""

    def __init__(self, what: str, tab: "PageSession | None" = None) -> None:
        super().__init__(what)
        self.tab = tab


class PageKeeper(Protocol):
    """A keeper hears where its page goes, and answers what is counted across pages."""

    def step_now(self) -> int: ...

    def next_number(self) -> int: ...

    def patient(self, ms: int) -> int: ...

    def been(self, url: str) -> None: ...

    def asked(self, url: str, how: str) -> None: ...

    async def why_not(self, url: str) -> str: ...


class PageSession:
    """A page has a CDP session.

    A navigation is `asked` when the browser announces it and `committed` when its document has
    begun; it is over when that document was parsed, or when the browser gave it up (a download,
    an answer without content). Only the parsed end of a committed document counts: the one before
    it may still report its own.
    """

    def __init__(self, page: Page, cdp: CDPSession, keeper: PageKeeper) -> None:
        self._page = page
        self._cdp = cdp
        self._keeper = keeper
        self._frame = ""
        self._world: str | None = None
        self._world_known = anyio.Event()
        self._navigation: Literal["none", "asked", "committed"] = "none"
        self._loading = False
        self._arrived = anyio.Event()
        self._documents = 0
        self._heard = True
        self._gone: BrowserGone | None = None
        self._scopes: set[anyio.CancelScope] = set()
        self.leaving = False  # by an address: it is not asked whether it may be left
        self.traffic = Traffic(keeper.asked, keeper.step_now, keeper.next_number)
        self.addresses = Addresses()

    async def attach(self) -> None:
        """The library into every document, this one too, and our ears to what is announced."""
        self._listen()
        script = {"source": library(), "worldName": WORLD, "runImmediately": True}
        hint = {"source": schedule(), "runImmediately": True}
        answers = await asyncio.gather(
            self._cdp.send("Page.getFrameTree"),
            self._cdp.send("Page.enable"),
            self._cdp.send("Runtime.enable"),
            self._cdp.send("Network.enable", dict(NO_BODIES)),
            self._cdp.send("Page.addScriptToEvaluateOnNewDocument", hint),
            self._cdp.send("Page.addScriptToEvaluateOnNewDocument", script),
        )
        tree: Mapping[str, Any] = answers[0]
        self._frame = tree["frameTree"]["frame"]["id"]
        if not self.addresses.now:
            self.addresses.on_document(tree["frameTree"]["frame"]["url"])

    async def read_afresh(self) -> None:
        """From now on nothing comes from the cache. Raises what a page that is gone does."""
        await self._send("Network.setCacheDisabled", {"cacheDisabled": True})

    async def kill(self) -> None:
        """Ends the page's process, which answers to nothing else when its script never ends."""
        with anyio.move_on_after(KILL_MS / 1000), contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.crash")

    @property
    def page(self) -> Page:
        return self._page

    @property
    def world(self) -> str | None:
        """Where the library is in the document that is there now; nothing between two documents.
        For whoever asks it by a CDP session of their own: what is asked by this one counts as an
        answer to our input (`settle`)."""
        return self._world

    async def navigate(self, url: str, *, within_ms: int, hung_ms: int = 0) -> bool:
        """Says if a document came; what the address sends otherwise is a file. Raises `PageHangs`
        where the document that is there answers nothing for so long, and stays."""
        self.leaving = True
        async with self._deadline(within_ms, f"navigate to {url}"):
            going = asyncio.ensure_future(self._navigated(url))
            hanging = asyncio.ensure_future(self._hangs(hung_ms or within_ms))
            try:
                await asyncio.wait({going, hanging}, return_when=asyncio.FIRST_COMPLETED)
                if not going.done():
                    raise PageHangs(f"the page does not answer: it cannot go to {url}")
                return going.result()
            finally:
                self.leaving = False
                going.cancel()
                hanging.cancel()
                await asyncio.gather(going, hanging, return_exceptions=True)

    # -- how -----------------------------------------------------------------------------------

    async def _evaluate(self, function: str, arguments: tuple[object, ...]) -> Any:
        while (world := self._world) is None:
            await self._world_known.wait()
        try:
            answer = await self._send(EVALUATE, asked_of(world, function, *arguments))
        except DocumentGone:
            if self._world == world:  # the next one may have been announced already
                self._world, self._world_known = None, anyio.Event()
            raise
        self._heard = True
        if "exceptionDetails" in answer:
            raise BrowserGone(f"{function} failed in the page: {_said(answer)}")
        return msgspec.json.decode(answer["result"]["value"])

    async def _navigated(self, url: str) -> bool:
        self._depart()
        answer = await self._send("Page.navigate", {"url": url})
        if answer.get("errorText"):
            self._arrive()
            if answer.get("isDownload"):
                return False
            why = await self._keeper.why_not(url)
            raise NavigationFailed(why or str(answer["errorText"]))
        if answer.get("loaderId") is None:
            self._arrive()  # the same document: a fragment
        await self._arrival()
        return True

    async def _hangs(self, within_ms: int) -> None:
        """Until the document that is to be left has not answered for so long. The one that comes
        in its place may take its time."""
        documents = self._documents
        while self._documents == documents:
            with anyio.move_on_after(self._keeper.patient(within_ms) / 1000) as waited:
                with contextlib.suppress(PlaywrightError):
                    await self._cdp.send(EVALUATE, {"expression": "0"})
                await anyio.sleep(ASKING_MS / 1000)
            if waited.cancelled_caught and self._documents == documents:
                return
        await anyio.sleep_forever()

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
        if self._gone is not None:
            return self._ended()
        if any(words in message for words in DOCUMENT_GONE):
            return DocumentGone(message)
        if any(words in message for words in PAGE_CLOSED):
            return PageClosed("the page was closed", self)
        if "Unknown key" in message:
            return KeyUnknown(message.splitlines()[0])
        return BrowserGone(message.splitlines()[0])

    def _ended(self) -> BrowserGone:
        """Anew each time: an exception that is raised twice keeps both tracebacks."""
        assert self._gone is not None
        if isinstance(self._gone, PageClosed):
            return PageClosed(self._gone.what, self)
        return type(self._gone)(self._gone.what)

    @contextlib.asynccontextmanager
    async def _deadline(self, within_ms: int, what: str) -> AsyncIterator[None]:
        """Our deadline on a browser call, ended at once when the page dies."""
        if self._gone is not None:
            raise self._ended()
        limit_ms = self._keeper.patient(within_ms)
        with anyio.move_on_after(limit_ms / 1000) as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)
        if scope.cancelled_caught:
            if self._gone is not None:
                raise self._ended()
            raise PageTimeout(f"{what} did not finish within {limit_ms} ms")

    # -- what the browser announces ------------------------------------------------------------

    def _listen(self) -> None:
        on = self._cdp.on
        on("Runtime.executionContextCreated", self._on_world)
        on("Page.frameRequestedNavigation", self._on_requested)
        on("Page.frameStartedNavigating", self._on_started)
        on("Page.frameStartedLoading", self._on_loading)
        on("Page.frameNavigated", self._on_committed)
        on("Page.navigatedWithinDocument", self._on_rewritten)
        on("Page.domContentEventFired", self._on_parsed)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Network.requestWillBeSent", self.traffic.on_request)
        on("Network.webSocketCreated", self._on_websocket)
        on("Network.webSocketFrameSent", self.traffic.on_said)
        on("Network.webSocketClosed", self.traffic.on_over)
        on("Network.responseReceived", self.traffic.on_response)
        on("Network.loadingFinished", self.traffic.on_finished)
        on("Network.loadingFailed", self.traffic.on_finished)
        self._page.on("crash", lambda _: self._die(BrowserGone("the page crashed")))

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
        self._keeper.asked(event["url"], "Document")
        if event["frameId"] == self._frame and event.get("navigationType") != "sameDocument":
            self._depart()

    def _on_loading(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and self._navigation == "asked":
            self._loading = True

    def _on_committed(self, event: Mapping[str, Any]) -> None:
        if event["frame"]["id"] == self._frame:
            self._depart()
            self._navigation = "committed"
            self._keeper.been(event["frame"]["url"])
            self.addresses.on_document(event["frame"]["url"])
            self._documents += 1
            self.traffic.leave(event["frame"].get("loaderId", ""))

    def _on_rewritten(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self.addresses.on_rewritten(event["url"])

    def _on_parsed(self, _: Mapping[str, Any]) -> None:
        if self._navigation == "committed":
            self._arrive()

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        # Without a new document: an answer without content, a scheme for another program, a stop.
        # With one: it stopped its own parser, and will not say that it was parsed.
        over = self._loading or self._navigation == "committed"
        if event["frameId"] == self._frame and over:
            self._arrive()

    def _on_websocket(self, event: Mapping[str, Any]) -> None:
        self._keeper.asked(event["url"], "WebSocket")
        self.traffic.on_lasting(event)

    def _depart(self) -> None:
        if self._navigation == "none":
            self._arrived = anyio.Event()
        self._navigation = "asked"
        self._loading = False  # a stop that is still to come may be of the one before

    def _arrive(self) -> None:
        self._navigation = "none"
        self._loading = False
        self._arrived.set()

    def stayed(self) -> None:
        """Asked whether to leave, we stay: nothing else announces that."""
        if self._navigation == "asked":
            self._arrive()

    def _die(self, why: BrowserGone) -> None:
        self._gone = self._gone or why
        for scope in self._scopes:
            scope.cancel()


def asked_of(world: str, function: str, *arguments: object) -> dict[str, object]:
    """What `EVALUATE` is given to have a function of the library run."""
    inside = ",".join(msgspec.json.encode(part).decode() for part in (function, *arguments))
    expression = {"expression": f"rutter({inside})", "uniqueContextId": world}
    return {**expression, "returnByValue": True, "awaitPromise": True}


def _said(answer: Mapping[str, Any]) -> str:
    details = answer["exceptionDetails"]
    described = details.get("exception", {}).get("description") or details.get("text", "")
    return str(described).splitlines()[0][:200]
