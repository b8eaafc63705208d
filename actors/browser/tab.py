"""One page and how we reach it: a script in a world of its own, input as a person's, deadlines.

Playwright's `evaluate` has no deadline and hangs for ever on a stuck page; every call here has
one of ours. A navigation is known by what the browser announces, never by waiting a while.
"""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, Protocol, TypeVar

import anyio
import msgspec
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from actors.browser.covering import Area, covered
from actors.browser.hearing import Hearing
from events.errors import BrowserGone

WORLD = "rutter"
PARTS = (
    "asking", "reading", "snapshot", "finding", "likeness", "tables", "acting", "covering",
    "watching", "listening",
)  # fmt: skip
LEAVING_MS = 1_000  # how long a click waits for a page that is about to go
KILL_MS = 1_000
# The last call before input, and waiting for what comes of it: what the page's scripts then ask
# their server for is counted. Its answer comes when the browser counts already.
COUNTED = frozenset({"check", "ready", "focusOn", "choose", "change"})
ASKED_BY_SCRIPT = frozenset({"Fetch", "XHR"})
ONLY_READ = frozenset({"GET", "HEAD", "OPTIONS"})
# After a look another may follow at once: what is asked for in between counts too.
STILL_COUNTED_S = 1.0
STREAM = "text/event-stream"  # its end is no answer that anybody waits for
MAX_REQUESTS = 1_000  # a page can make them without end; more than this many are not told apart
NO_BODIES: Mapping[str, object] = dict.fromkeys(
    ("maxTotalBufferSize", "maxResourceBufferSize", "maxPostDataSize"), 0
)
# What Chromium answers to a call whose document goes away before or under it.
DOCUMENT_GONE = ("uniqueContextId not found", "context was destroyed", "navigated or closed")
PAGE_CLOSED = ("has been closed", "Target closed", "session closed", "Session closed")

Answer = TypeVar("Answer")


class PageTimeout(Exception):
    """The page did not answer within the deadline. A fact about the page, not a broken world."""


class DocumentGone(Exception):
    """The document went away under the call: a navigation committed."""


class NavigationFailed(Exception):
    """The browser could not get there, in its own words."""


class KeyUnknown(Exception):
    """There is no such key on any keyboard: nothing was pressed."""


class PageClosed(BrowserGone):
    """This page was closed; others of the session may still be there."""

    def __init__(self, what: str, tab: "Tab | None" = None) -> None:
        super().__init__(what)
        self.tab = tab


class Opener(Protocol):
    """Whoever keeps the pages of a session together: told of what belongs to none alone."""

    @property
    def secret_forms(self) -> tuple[str, ...]: ...

    def patient(self, ms: int) -> int: ...

    def expect_page(self, tab: "Tab", url: str, *, by_gesture: bool) -> None: ...

    def expect_download(self, url: str) -> None: ...

    def count_bytes(self, url: str, size: int) -> None: ...

    def been(self, url: str) -> None: ...

    def asked(self, url: str, how: str) -> None: ...

    async def why_not(self, url: str) -> str: ...

    def forget(self, tab: "Tab") -> None: ...

    async def close(self) -> None: ...


@cache
def library() -> str:
    """The page's side as one script: the parts of `page/`, in order, in one closure."""
    page = resources.files("actors.browser").joinpath("page")
    parts = [page.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS]
    return page.joinpath("frame.js").read_text("utf-8").replace("/* PARTS */", "\n".join(parts))


class Tab:
    """A page with its CDP session, opened by a `Window`; one action at a time.

    A navigation is `asked` when the browser announces it and `committed` when its document has
    begun; it is over when that document was parsed, or when the browser gave it up (a download,
    an answer without content). Only the parsed end of a committed document counts: the one before
    it may still report its own.
    """

    def __init__(self, page: Page, cdp: CDPSession, window: Opener) -> None:
        self._page = page
        self._cdp = cdp
        self._window = window
        self._frame = ""
        self._world: str | None = None
        self._world_known = anyio.Event()
        self._navigation: Literal["none", "asked", "committed"] = "none"
        self._loading = False
        self._arrived = anyio.Event()
        self._documents = 0
        self._documents_before = 0
        self._heard = True
        self._clicked = False
        self._gone: BrowserGone | None = None
        self._downloads: dict[str, str] = {}
        self._scopes: set[anyio.CancelScope] = set()
        self._counting = False
        self._requests: set[str] = set()
        self._sent: set[str] = set()
        self._stopping: asyncio.TimerHandle | None = None
        self._afresh = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.missed = ""  # what was in the way of the last click, which then was held back

    async def attach(self) -> None:
        """The library into every document, this one too, and our ears to what is announced."""
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
        """A trusted click: move, press, release, sent together and in this order.

        Raises `DocumentGone` if the page is left before it: what comes next was not looked at.
        """
        await self._not_leaving()
        at: dict[str, object] = {"x": x, "y": y}
        button: dict[str, object] = {**at, "button": "left", "clickCount": 1}
        async with self._input("click", within_ms):
            self._clicked = True
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
        """Raises `KeyUnknown` for what is no key."""
        async with self._input(f"press {key}", within_ms):
            try:
                await self._guarded(self._page.keyboard.press(key))
            except KeyUnknown:
                await self._let_go(key)
                raise

    async def navigate(self, url: str, *, within_ms: int) -> None:
        async with self._deadline(within_ms, f"navigate to {url}"):
            self._depart()
            answer = await self._send("Page.navigate", {"url": url})
            if answer.get("errorText"):
                self._arrive()
                why = await self._window.why_not(url)
                raise NavigationFailed(why or str(answer["errorText"]))
            if answer.get("loaderId") is None:
                self._arrive()  # the same document: a fragment
            await self._arrival()

    async def settle(self, *, within_ms: int) -> bool:
        """Waits until a navigation that input asked for is over; says if a new document came."""
        async with self._deadline(within_ms, "settle"):
            if not self._heard and self._navigation == "none":
                # The answer to any call comes behind the announcement of a navigation.
                with contextlib.suppress(DocumentGone):
                    answer = await self._evaluate("sync", ())
                    self.missed = answer["missed"] if self._clicked else ""
            await self._arrival()
            return self._documents != self._documents_before

    async def give_files(self, paths: list[str], *, within_ms: int) -> None:
        """Files into the pinned input, by the browser itself: no dialog opens."""
        async with self._input("give files", within_ms):
            call: dict[str, object] = {
                "expression": "rutterPinned()",
                "uniqueContextId": self._world,
            }
            answer = await self._send("Runtime.evaluate", call)
            held = answer["result"].get("objectId")
            await self._send("DOM.setFileInputFiles", {"files": paths, "objectId": held})

    async def show(self, *, within_ms: int) -> None:
        """To the front: a page behind another paints nothing and takes no input."""
        async with self._deadline(within_ms, "bring to front"):
            await self._send("Page.bringToFront", {})

    async def change(self, within_ms: int) -> bool:
        """Waits for the page to change, at most `within_ms`; says if it did."""
        changed = False
        with anyio.move_on_after(within_ms / 1000):
            try:
                async with self._deadline(within_ms + 500, "change"):
                    changed = bool(await self._evaluate("change", (within_ms,)))
            except DocumentGone:
                changed = True
            await self._arrival()
        return changed

    async def screenshot(self, *, full_page: bool, within_ms: int) -> bytes:
        """As PNG; what is secret is covered."""

        async def capture(quick: bool) -> tuple[bytes, Area]:
            metrics = await self._send("Page.getLayoutMetrics", {})
            view, content = metrics["cssLayoutViewport"], metrics["cssContentSize"]
            left, top = (-view["pageX"], -view["pageY"]) if full_page else (0, 0)
            if not quick:
                plain = await self._guarded(self._page.screenshot(full_page=full_page))
                return plain, Area(left, top, view["clientWidth"])
            width = content["width"] if full_page else view["clientWidth"]
            height = content["height"] if full_page else view["clientHeight"]
            clip = {"x": view["pageX"] + left, "y": view["pageY"] + top, "scale": 1}
            clip |= {"width": width, "height": height}
            return await self._capture(clip, beyond=full_page), Area(left, top, width)

        async with self._deadline(within_ms, "screenshot"):
            return await covered(self._secret_boxes, capture)

    async def picture(self, *, max_width: int, within_ms: int) -> bytes:
        """What is in view as PNG, at most so many pixels wide."""
        async with self._deadline(within_ms, "picture"):
            metrics = await self._send("Page.getLayoutMetrics", {})
            view = metrics["cssVisualViewport"]
            scale = min(1.0, max_width / max(1, view["clientWidth"]))
            clip = {
                "x": view["pageX"],
                "y": view["pageY"],
                "width": view["clientWidth"],
                "height": view["clientHeight"],
                "scale": scale,
            }
            layout = metrics["cssLayoutViewport"]
            left, top = view["pageX"] - layout["pageX"], view["pageY"] - layout["pageY"]

            async def capture(quick: bool) -> tuple[bytes, Area]:
                image = await self._capture(clip, quick=quick)
                return image, Area(left, top, view["clientWidth"])

            return await covered(self._secret_boxes, capture)

    async def part(
        self, area: Area, height: float, scroll: tuple[float, float], *, within_ms: int
    ) -> bytes:
        """A part of what is in view as PNG, at half its size; what is secret is covered. Who asks
        knows how far the page is scrolled."""
        clip = {"x": scroll[0] + area.left, "y": scroll[1] + area.top, "scale": 0.5}
        clip |= {"width": area.width, "height": height}

        async def capture(quick: bool) -> tuple[bytes, Area]:
            return await self._capture(clip), area

        async with self._deadline(within_ms, "part"):
            return await covered(self._secret_boxes, capture)

    async def view(self, *, within_ms: int) -> bytes:
        """All that is in view as PNG, as it is shown: a clip would make a window flicker."""
        async with self._deadline(within_ms, "view"):
            metrics = await self._send("Page.getLayoutMetrics", {})
            width = metrics["cssVisualViewport"]["clientWidth"]

            async def capture(quick: bool) -> tuple[bytes, Area]:
                asked: dict[str, object] = {"format": "png", "optimizeForSpeed": True}
                answer = await self._send("Page.captureScreenshot", asked)
                return base64.b64decode(answer["data"]), Area(0, 0, width)

            return await covered(self._secret_boxes, capture)

    async def _capture(
        self, clip: Mapping[str, object], *, quick: bool = True, beyond: bool = False
    ) -> bytes:
        asked = {"format": "png", "clip": dict(clip), "captureBeyondViewport": beyond}
        answer = await self._send("Page.captureScreenshot", {**asked, "optimizeForSpeed": quick})
        return base64.b64decode(answer["data"])

    async def _secret_boxes(self) -> object:
        return await self._evaluate("secretBoxes", (self._window.secret_forms,))

    @property
    def pending(self) -> int:
        """Requests that scripts of the page made since the last input and have no answer to."""
        return len(self._requests)

    @property
    def sent(self) -> int:
        """Requests other than for reading that scripts of the page made since the last input."""
        return len(self._sent)

    def stop_counting(self) -> None:
        """The page was looked at: when it waits for nothing and nobody looks again soon, what it
        asks for is not listened to until the next input."""
        self._count_on()
        if self._counting and not self._requests:
            loop = asyncio.get_running_loop()
            self._stopping = loop.call_later(STILL_COUNTED_S, self._count_no_more_at_rest)

    async def read_afresh(self) -> None:
        """From now on nothing comes from the cache. Raises what a page that is gone does."""
        self._afresh = True
        await self._send("Network.enable", dict(NO_BODIES))
        await self._send("Network.setCacheDisabled", {"cacheDisabled": True})

    async def close(self) -> None:
        """Ends the session of pages that it is in."""
        await self._window.close()

    async def kill(self) -> None:
        """Ends the page's process, which answers to nothing else when its script never ends."""
        with anyio.move_on_after(KILL_MS / 1000), contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.crash")

    async def hear(self, hearing: Hearing) -> None:
        """From now on what a person does here is told."""
        await hearing.attach(self._cdp, self._frame, WORLD)

    @property
    def page(self) -> Page:
        return self._page

    @property
    def world(self) -> str | None:
        """Where the library is in the document that is there now; nothing between two documents.
        For whoever asks it by a CDP session of their own: what is asked by this one counts as an
        answer to our input (`settle`)."""
        return self._world

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
            answer = await self._evaluated(call, counted=function in COUNTED)
        except DocumentGone:
            if self._world == world:  # the next one may have been announced already
                self._world, self._world_known = None, anyio.Event()
            raise
        self._heard = True
        if "exceptionDetails" in answer:
            raise BrowserGone(f"{function} failed in the page: {_said(answer)}")
        return msgspec.json.decode(answer["result"]["value"])

    async def _evaluated(self, call: dict[str, object], *, counted: bool) -> dict[str, Any]:
        evaluating = self._send("Runtime.evaluate", call)
        if counted:
            self._count_on()
        if self._counting or not counted:
            return await evaluating
        answer: dict[str, Any]
        # Sent together and in this order.
        _, answer = await asyncio.gather(self._count(), evaluating)
        return answer

    async def _count(self) -> None:
        self._counting = True  # and not before: a call without time is given up before it begins
        await self._unheard("Network.enable", NO_BODIES)

    async def _unheard(self, method: str, parameters: Mapping[str, object] | None = None) -> None:
        """A call that nothing depends on."""
        with contextlib.suppress(PlaywrightError):
            await self._cdp.send(method, dict(parameters or {}))

    @contextlib.asynccontextmanager
    async def _input(self, what: str, within_ms: int) -> AsyncIterator[None]:
        """Input that the page may answer by going away: then it has arrived all the same."""
        self._begin_input()
        async with self._deadline(within_ms, what):
            with contextlib.suppress(DocumentGone):
                yield

    async def _let_go(self, chord: str) -> None:
        """The keys before the one that there is not, which are down by then."""
        for held in chord.split("+")[:-1]:
            with contextlib.suppress(KeyUnknown):
                await self._guarded(self._page.keyboard.up(held))

    async def _not_leaving(self) -> None:
        """A page that is about to go is waited for a moment; some never do."""
        documents = self._documents
        with anyio.move_on_after(LEAVING_MS / 1000):
            await self._arrival()
        if self._documents != documents:
            raise DocumentGone("the page was left")

    def _begin_input(self) -> None:
        self._heard = False
        self._clicked = False
        self.missed = ""
        self._requests.clear()
        self._sent.clear()
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
        limit_ms = self._window.patient(within_ms)
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
        on("Page.domContentEventFired", self._on_parsed)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Page.windowOpen", self._on_opening)
        on("Page.downloadWillBegin", self._on_download)
        on("Page.downloadProgress", self._on_progress)
        on("Network.requestWillBeSent", self._on_request)
        on("Network.webSocketCreated", self._on_websocket)
        on("Network.responseReceived", self._on_response)
        on("Network.loadingFinished", self._on_answered)
        on("Network.loadingFailed", self._on_answered)
        self._page.on("crash", lambda _: self._die(BrowserGone("the page crashed")))
        self._page.on("close", self._on_closed)

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
        self._window.asked(event["url"], "Document")
        if event["frameId"] == self._frame and event.get("navigationType") != "sameDocument":
            self._depart()

    def _on_loading(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and self._navigation == "asked":
            self._loading = True

    def _on_committed(self, event: Mapping[str, Any]) -> None:
        if event["frame"]["id"] == self._frame:
            self._depart()
            self._navigation = "committed"
            self._window.been(event["frame"]["url"])
            self._documents += 1
            self._sent.clear()

    def _on_parsed(self, _: Mapping[str, Any]) -> None:
        if self._navigation == "committed":
            self._arrive()

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        # Without a new document: an answer without content, a scheme for another program, a stop.
        # With one: it stopped its own parser, and will not say that it was parsed.
        over = self._loading or self._navigation == "committed"
        if event["frameId"] == self._frame and over:
            self._arrive()

    def _on_opening(self, event: Mapping[str, Any]) -> None:
        self._window.expect_page(self, event["url"], by_gesture=event["userGesture"])

    def _on_download(self, event: Mapping[str, Any]) -> None:
        self._downloads[event["guid"]] = event["url"]
        self._window.expect_download(event["url"])
        if event["frameId"] == self._frame and self._navigation == "asked":
            self._arrive()

    def _on_progress(self, event: Mapping[str, Any]) -> None:
        url = self._downloads.get(event["guid"])
        if url is not None:
            size = max(event["totalBytes"], event["receivedBytes"])
            self._window.count_bytes(url, int(size))
        if event["state"] != "inProgress":
            self._downloads.pop(event["guid"], None)

    def _on_websocket(self, event: Mapping[str, Any]) -> None:
        self._window.asked(event["url"], "WebSocket")

    def _on_request(self, event: Mapping[str, Any]) -> None:
        self._window.asked(event["request"]["url"], event.get("type", ""))
        if not self._counting or event.get("type") not in ASKED_BY_SCRIPT:
            return
        if len(self._requests) < MAX_REQUESTS:
            self._requests.add(event["requestId"])
        # One that is led elsewhere is told again, as a request to read perhaps, by the same id.
        if event["request"]["method"] not in ONLY_READ and len(self._sent) < MAX_REQUESTS:
            self._sent.add(event["requestId"])

    def _on_response(self, event: Mapping[str, Any]) -> None:
        if event["response"].get("mimeType") == STREAM:
            self._on_answered(event)

    def _on_answered(self, event: Mapping[str, Any]) -> None:
        self._requests.discard(event["requestId"])

    def _count_on(self) -> None:
        if self._stopping is not None:
            self._stopping.cancel()
            self._stopping = None

    def _count_no_more_at_rest(self) -> None:
        if self._counting and not self._requests:
            self._count_no_more()

    def _count_no_more(self) -> None:
        self._count_on()
        self._counting = False
        self._requests.clear()
        if self._afresh:
            return  # the cache would be used again
        task = asyncio.ensure_future(self._unheard("Network.disable"))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_closed(self, _: Page) -> None:
        self._die(PageClosed("the page was closed", self))
        self._window.forget(self)

    def _depart(self) -> None:
        if self._navigation == "none":
            self._arrived = anyio.Event()
        if self._counting:
            self._count_no_more()  # all that the next document is made of would be told
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
        self._count_on()
        for scope in self._scopes:
            scope.cancel()


def _said(answer: Mapping[str, Any]) -> str:
    details = answer["exceptionDetails"]
    described = details.get("exception", {}).get("description") or details.get("text", "")
    return str(described).splitlines()[0][:200]
