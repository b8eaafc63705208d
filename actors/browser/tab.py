"""One page and how we reach it: a script in a world of its own, input as a person's, deadlines.

Playwright's `evaluate` has no deadline and hangs for ever on a stuck page; every call here has
one of ours. A navigation is known by what the browser announces, never by waiting a while.
"""

import contextlib
from collections.abc import AsyncIterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

import anyio
import msgspec
from playwright.async_api import BrowserContext, CDPSession, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from events.errors import BrowserGone

WORLD = "rutter"


class PageTimeout(Exception):
    """The page did not answer within the deadline. A fact about the page, not a broken world."""


class DocumentGone(Exception):
    """The document went away under the call: a navigation committed."""


class NavigationFailed(Exception):
    """The browser could not get there, in its own words."""


@cache
def library() -> str:
    return resources.files("actors.browser").joinpath("page.js").read_text("utf-8")


class Tab:
    """A page with its CDP session. Open with `Tab.open`; one call at a time."""

    def __init__(self, page: Page, cdp: CDPSession, frame: str) -> None:
        self._page = page
        self._cdp = cdp
        self._frame = frame
        self._world: str | None = None
        self._world_changed = anyio.Event()
        self._navigating = False
        self._loading = False
        self._arrived = anyio.Event()
        self._gone = ""
        self._scope: anyio.CancelScope | None = None
        self.dialogs: list[tuple[str, str]] = []

    @classmethod
    async def open(cls, context: BrowserContext) -> "Tab":
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        tree: Mapping[str, Any] = await cdp.send("Page.getFrameTree")
        tab = cls(page, cdp, tree["frameTree"]["frame"]["id"])
        tab._listen()
        await cdp.send("Page.enable")
        await cdp.send("Runtime.enable")
        await cdp.send(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": library(), "worldName": WORLD, "runImmediately": True},
        )
        return tab

    # -- calls ---------------------------------------------------------------------------------

    async def call(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function of the library that only reads; a document that goes is waited for."""
        async with self._deadline(within_ms, function):
            while True:
                try:
                    return await self._evaluate(function, arguments)
                except DocumentGone:
                    continue

    async def act(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function that changes the page: never repeated. Raises `DocumentGone`."""
        async with self._deadline(within_ms, function):
            return await self._evaluate(function, arguments)

    async def click(self, x: float, y: float, *, within_ms: int) -> None:
        """A trusted click: move, press, release, sent together and in this order."""
        async with self._deadline(within_ms, "click"), anyio.create_task_group() as group:
            for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                event: dict[str, object] = {"type": kind, "x": x, "y": y}
                if kind != "mouseMoved":
                    event |= {"button": "left", "clickCount": 1}
                group.start_soon(self._send, "Input.dispatchMouseEvent", event)

    async def insert(self, text: str, *, within_ms: int) -> None:
        """Typed text into the focused field, as one trusted input event."""
        async with self._deadline(within_ms, "type"):
            if text:
                await self._send("Input.insertText", {"text": text})
            else:
                await self._guarded(self._page.keyboard.press("Delete"))

    async def press(self, key: str, *, within_ms: int) -> None:
        async with self._deadline(within_ms, f"press {key}"):
            await self._guarded(self._page.keyboard.press(key))

    async def navigate(self, url: str, *, within_ms: int) -> None:
        async with self._deadline(within_ms, f"navigate to {url}"):
            self._navigating = True
            self._arrived = anyio.Event()
            answer = await self._send("Page.navigate", {"url": url})
            if answer.get("errorText"):
                self._navigating = False
                raise NavigationFailed(str(answer["errorText"]))
            if answer.get("loaderId") is None:
                self._navigating = False  # the same document: a fragment
            while self._navigating:
                await self._arrived.wait()

    async def settle(self, *, within_ms: int) -> bool:
        """Waits until a navigation that was asked for has its document; says whether one was."""
        async with self._deadline(within_ms, "settle"):
            if not self._navigating:
                # The answer to any call comes behind the announcement of a navigation.
                try:
                    await self._evaluate("sync", ())
                except DocumentGone:
                    return True
            moved = self._navigating
            while self._navigating:
                await self._arrived.wait()
            return moved

    async def change(self, within_ms: int) -> None:
        """Waits for the page to change, at most `within_ms`. Not changing is no failure."""
        with anyio.move_on_after(within_ms / 1000):
            with contextlib.suppress(DocumentGone):
                async with self._deadline(within_ms + 500, "change"):
                    await self._evaluate("change", (within_ms,))
            while self._navigating:
                await self._arrived.wait()

    async def screenshot(self, *, full_page: bool, within_ms: int) -> bytes:
        async with self._deadline(within_ms, "screenshot"):
            image: bytes = await self._guarded(self._page.screenshot(full_page=full_page))
            return image

    async def close(self) -> None:
        """Never waits long for a browser that does not answer."""
        with anyio.move_on_after(5, shield=True), contextlib.suppress(PlaywrightError):
            await self._page.context.close()

    # -- how -----------------------------------------------------------------------------------

    async def _evaluate(self, function: str, arguments: tuple[object, ...]) -> Any:
        while (world := self._world) is None:
            await self._world_changed.wait()
        inside = ",".join(msgspec.json.encode(argument).decode() for argument in arguments)
        call = {
            "expression": f"rutter.{function}({inside})",
            "uniqueContextId": world,
            "returnByValue": True,
            "awaitPromise": True,
        }
        try:
            answer = await self._send("Runtime.evaluate", call)
        except DocumentGone:
            if self._world == world:
                self._on_worlds_cleared({})
            raise
        if "exceptionDetails" in answer:
            raise BrowserGone(f"{function} failed in the page: {_said(answer)}")
        return answer["result"].get("value")

    async def _send(self, method: str, parameters: dict[str, object]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await self._cdp.send(method, parameters)
        except PlaywrightError as error:
            raise self._explain(error) from error
        return answer

    async def _guarded(self, call: Any) -> Any:
        try:
            return await call
        except PlaywrightError as error:
            raise self._explain(error) from error

    def _explain(self, error: PlaywrightError) -> Exception:
        message = str(error)
        if ("ontext" in message and "not found" in message) or "context was destroyed" in message:
            return DocumentGone(message)
        if "navigated or closed" in message:
            return DocumentGone(message)
        return BrowserGone(self._gone or message.splitlines()[0])

    @contextlib.asynccontextmanager
    async def _deadline(self, within_ms: int, what: str) -> AsyncIterator[None]:
        """Our deadline on a browser call, ended at once when the page dies."""
        if self._gone:
            raise BrowserGone(self._gone)
        with anyio.move_on_after(within_ms / 1000) as scope:
            self._scope = scope
            try:
                yield
            finally:
                self._scope = None
        if scope.cancelled_caught:
            if self._gone:
                raise BrowserGone(self._gone)
            raise PageTimeout(f"{what} did not finish within {within_ms} ms")

    # -- what the browser announces ------------------------------------------------------------

    def _listen(self) -> None:
        on = self._cdp.on
        on("Runtime.executionContextCreated", self._on_world)
        on("Runtime.executionContextsCleared", self._on_worlds_cleared)
        on("Page.frameRequestedNavigation", self._on_requested)
        on("Page.frameStartedNavigating", self._on_started)
        on("Page.frameStartedLoading", self._on_loading)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Page.domContentEventFired", self._on_arrived)
        self._page.on("crash", lambda _: self._die("the page crashed"))
        self._page.on("close", lambda _: self._die("the page was closed"))
        self._page.on("dialog", self._on_dialog)

    def _on_world(self, event: Mapping[str, Any]) -> None:
        context = event["context"]
        mine = context["auxData"].get("frameId") == self._frame
        if context["name"] == WORLD and mine:
            self._world = context["uniqueId"]
            self._world_changed.set()

    def _on_worlds_cleared(self, _: Mapping[str, Any]) -> None:
        self._world = None
        self._world_changed = anyio.Event()

    def _on_requested(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event.get("disposition") == "currentTab":
            self._depart()

    def _on_started(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event.get("navigationType") != "sameDocument":
            self._depart()

    def _on_loading(self, event: Mapping[str, Any]) -> None:
        self._loading = self._loading or (self._navigating and event["frameId"] == self._frame)

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        # Without a new document: a download, a 204, a cancelled navigation.
        if event["frameId"] == self._frame and self._loading:
            self._arrive()

    def _on_arrived(self, _: Mapping[str, Any]) -> None:
        self._arrive()

    def _depart(self) -> None:
        if not self._navigating:
            self._navigating = True
            self._loading = False
            self._arrived = anyio.Event()

    def _arrive(self) -> None:
        self._navigating = self._loading = False
        self._arrived.set()

    async def _on_dialog(self, dialog: Dialog) -> None:
        # Unanswered it would block the page for ever; what it asked is told as a fact.
        self.dialogs.append((dialog.type, dialog.message))
        with contextlib.suppress(PlaywrightError):
            await dialog.dismiss()

    def _die(self, why: str) -> None:
        self._gone = self._gone or why
        if self._scope is not None:
            self._scope.cancel()


def _said(answer: Mapping[str, Any]) -> str:
    details = answer["exceptionDetails"]
    described = details.get("exception", {}).get("description") or details.get("text", "")
    return str(described).splitlines()[0][:200]
