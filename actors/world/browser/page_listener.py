"""The page listener tells what the person in front of a page does: input, addresses, dialogs.

Input comes from the page's own script (`page/listening.js`) through a binding that exists in our
isolated world alone: a page can neither call it nor see it. What the person does to the browser
itself (the address bar, back, a dialog's buttons) comes from what the browser announces.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from playwright.async_api import CDPSession

BINDING = "rutterHeard"
MADE_BY_PAGE_S = 1.0  # going back this soon after input is the page's doing: history.back()

Kind = Literal[
    "input", "typing", "went", "dialog_opened", "dialog_closed", "closed", "finished", "bar"
]


class Overheard(NamedTuple):
    """A thing happened in this tab, and was or was not the only one until then."""

    kind: Kind
    tab: int
    body: Mapping[str, Any] = {}
    alone: bool = True


class WindowListener:
    """The window listener hears all pages of a window, in the order in which things happened."""

    def __init__(self) -> None:
        self._heard: deque[Overheard] = deque()
        self._more = asyncio.Event()
        self.typing = False  # somebody has begun to, and is not done

    def tell(
        self,
        kind: Kind,
        tab: int = 0,
        body: Mapping[str, Any] | None = None,
        *,
        alone: bool = True,
    ) -> None:
        self.typing = kind == "typing" or (self.typing and kind not in ("input", "went"))
        if kind != "typing":
            self._heard.append(Overheard(kind, tab, body or {}, alone))
            self._more.set()

    @property
    def untaken(self) -> tuple[Overheard, ...]:
        return tuple(self._heard)

    async def more(self) -> None:
        """Until there is something to take."""
        await self._more.wait()

    def take(self) -> list[Overheard]:
        """Everything so far."""
        heard = list(self._heard)
        self._heard.clear()
        self._more.clear()
        return heard


class PageListener:
    """A listener hears one page, and calls `tell` in the order in which things happened."""

    def __init__(
        self, tell: Callable[[Kind, Mapping[str, Any]], None], phrases: Sequence[str] = ()
    ) -> None:
        self._tell = tell
        self._phrases = phrases
        self._frame = ""
        self._asked = False
        self._going = ""
        self._last_input_s = 0.0

    async def attach(self, cdp: CDPSession, frame: str, world: str) -> None:
        """Page and Runtime are enabled already."""
        self._frame = frame
        cdp.on("Runtime.bindingCalled", self._on_called)
        cdp.on("Page.frameRequestedNavigation", self._on_requested)
        cdp.on("Page.frameStartedNavigating", self._on_started)
        cdp.on("Page.frameNavigated", self._on_navigated)
        cdp.on("Page.javascriptDialogOpening", self._on_opening)
        cdp.on("Page.javascriptDialogClosed", self._on_closed)
        if self._phrases:
            said = f"globalThis.rutterPhrases = {msgspec.json.encode(self._phrases).decode()}"
            script = {"source": said, "worldName": world, "runImmediately": True}
            await cdp.send("Page.addScriptToEvaluateOnNewDocument", script)
        await cdp.send("Runtime.addBinding", {"name": BINDING, "executionContextName": world})

    def _on_called(self, event: Mapping[str, Any]) -> None:
        if event["name"] == BINDING:
            self._last_input_s = asyncio.get_running_loop().time()
            body = msgspec.json.decode(event["payload"])
            self._tell("typing" if body["kind"] == "typing" else "input", body)

    def _on_requested(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event.get("disposition") == "currentTab":
            self._asked = True

    def _on_started(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] != self._frame:
            return
        kind = str(event.get("navigationType", ""))
        own = self._asked or "ameDocument" in kind or (self._just_acted() and "istory" in kind)
        self._asked, self._going = False, "" if own else str(event["url"])

    def _on_navigated(self, event: Mapping[str, Any]) -> None:
        if event["frame"]["id"] == self._frame and self._going:
            self._tell("went", {"url": self._going})
            self._going = ""

    def _on_opening(self, event: Mapping[str, Any]) -> None:
        self._tell("dialog_opened", {"type": event["type"], "message": event["message"]})

    def _on_closed(self, event: Mapping[str, Any]) -> None:
        self._tell("dialog_closed", {"accepted": event["result"], "text": event.get("userInput")})

    def _just_acted(self) -> bool:
        return asyncio.get_running_loop().time() - self._last_input_s < MADE_BY_PAGE_S
