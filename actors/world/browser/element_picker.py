"""The element picker lets a person point out an element of a page that they are recorded in.

It is the browser's own (what developers have): the page hears nothing of what is pointed at or
pressed meanwhile, and what shows where the pointer is belongs to no page.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.page_session import WORLD, DocumentGone

_BLUE = {"r": 26, "g": 115, "b": 232}
_FRAMED = {"contentColor": {**_BLUE, "a": 0.18}, "borderColor": {**_BLUE, "a": 0.9}}
SHORTCUT = "rutterBar"


class ElementPicker:
    """A picker has two CDP sessions with one page: it picks by one and shows by the other what was
    picked, for the browser does one of that in each. It tells of the key that leads to the bar."""

    def __init__(
        self,
        cdp: CDPSession,
        showing: CDPSession,
        picked: Callable[[int], None],
        told: Callable[[str], None],
    ) -> None:
        self._cdp = cdp
        self._showing = showing
        self._told = told
        self._worlds: dict[str, int] = {}
        self._main = ""
        cdp.on("Overlay.inspectNodeRequested", lambda event: picked(event["backendNodeId"]))
        cdp.on("Runtime.executionContextCreated", self._on_world)
        cdp.on("Runtime.bindingCalled", self._on_told)

    async def attach(self) -> None:
        tree = await self._cdp.send("Page.getFrameTree")
        self._main = tree["frameTree"]["frame"]["id"]
        await self._cdp.send("Runtime.enable")
        await self._cdp.send(
            "Runtime.addBinding", {"name": SHORTCUT, "executionContextName": WORLD}
        )

    def _on_world(self, event: Mapping[str, Any]) -> None:
        context = event["context"]
        if context["name"] == WORLD:
            self._worlds[context["auxData"]["frameId"]] = context["id"]

    def _on_told(self, event: Mapping[str, Any]) -> None:
        if event["name"] == SHORTCUT:
            self._told(event["payload"])

    # -- picking -------------------------------------------------------------------------------

    async def begin(self, what: str) -> list[dict[str, Any]]:
        """What could be picked, in the order of the page; the mouse picks from here on."""
        found: list[dict[str, Any]] = await self._ask(f"rutter('pickables', {_json(what)})")
        for cdp in (self._cdp, self._showing):
            await cdp.send("DOM.enable")
            await cdp.send("Overlay.enable")
        asked = {"mode": "searchForNode", "highlightConfig": _FRAMED}
        await self._cdp.send("Overlay.setInspectMode", asked)
        return found

    async def show(self, index: int) -> None:
        """Where the one of that place in the list is."""
        node = f"rutterPick({int(index)})"
        asked = {"expression": node, "contextId": self._world}
        found = (await self._cdp.send("Runtime.evaluate", asked))["result"].get("objectId")
        if found is None:
            return
        with suppress(PlaywrightError):  # one that is not drawn is not framed
            await self._cdp.send("DOM.scrollIntoViewIfNeeded", {"objectId": found})
            told = await self._cdp.send("DOM.describeNode", {"objectId": found})
            await self._frame(told["node"]["backendNodeId"])

    async def _frame(self, node: int) -> None:
        framed = {"backendNodeId": node, "highlightConfig": _FRAMED}
        with suppress(PlaywrightError):
            await self._showing.send("Overlay.highlightNode", framed)

    async def from_list(self, index: int, what: str) -> dict[str, Any] | None:
        await self._stop_pointing()
        await self.show(index)
        found: dict[str, Any] | None = await self._ask(
            f"rutter('pickAt', {int(index)}, {_json(what)})"
        )
        return found

    async def from_page(self, node: int, what: str) -> dict[str, Any]:
        """What the person pressed."""
        await self._stop_pointing()
        asked = {"backendNodeId": node, "executionContextId": self._world}
        held = (await self._cdp.send("DOM.resolveNode", asked))["object"]["objectId"]
        await self._frame(node)
        call = f"function() {{ return rutter('pickThis', this, {_json(what)}) }}"
        how = {"objectId": held, "returnByValue": True, "awaitPromise": True}
        answer = await self._cdp.send(
            "Runtime.callFunctionOn", {"functionDeclaration": call, **how}
        )
        found: dict[str, Any] = _told_by(answer)
        return found

    async def end(self) -> None:
        """Nothing is framed any more, and the page has its mouse again."""
        with suppress(PlaywrightError):
            await self._stop_pointing()
            for cdp in (self._cdp, self._showing):
                await cdp.send("Overlay.hideHighlight")
                await cdp.send("Overlay.disable")
                await cdp.send("DOM.disable")

    async def _stop_pointing(self) -> None:
        asked = {"mode": "none", "highlightConfig": _FRAMED}
        await self._cdp.send("Overlay.setInspectMode", asked)

    @property
    def _world(self) -> int:
        world = self._worlds.get(self._main)
        if world is None:
            raise DocumentGone("there is no document to pick from")
        return world

    async def _ask(self, expression: str) -> Any:
        how = {"contextId": self._world, "returnByValue": True, "awaitPromise": True}
        return _told_by(await self._cdp.send("Runtime.evaluate", {"expression": expression, **how}))


def _told_by(answer: Mapping[str, Any]) -> Any:
    if "exceptionDetails" in answer:
        raise DocumentGone(str(answer["exceptionDetails"].get("text", "")))
    return msgspec.json.decode(answer["result"]["value"])


def _json(text: str) -> str:
    return msgspec.json.encode(text).decode()
