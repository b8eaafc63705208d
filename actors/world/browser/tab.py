"""A tab reaches one page: it reads by our script, gives input as a person does, takes pictures."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Mapping
from time import monotonic_ns
from typing import Any, Protocol

import anyio
from playwright.async_api import CDPSession, Page

from rutter.actors.world.browser.covered_picture import PictureArea, covered
from rutter.actors.world.browser.keyboard import (
    CONTROL,
    FEW_KEYS,
    PLAIN,
    SIGNS,
    TypedField,
    chord,
    typing,
)
from rutter.actors.world.browser.mouse import LEFT, MOUSE, ClickKind, clicking
from rutter.actors.world.browser.page_listener import PageListener
from rutter.actors.world.browser.page_script import listened
from rutter.actors.world.browser.page_session import (
    WORLD,
    DocumentGone,
    KeyUnknown,
    PageClosed,
    PageKeeper,
    PageSession,
    PageTimeout,
)
from rutter.events.page import Rest, Resting

LEAVING_MS = 1_000  # how long a click waits for a page that is about to go
DRAG_STEPS = 6
KEY_MS = 20  # on top for each key: a page may work that long on one
# What follows from an answer begins a moment behind it.
ANSWERED_MS = 30
TELLING_MS = 200
BEGUN_MS = 3_000  # how long a request that came before is waited for, when the page rests


class Opener(PageKeeper, Protocol):
    """An opener keeps the pages of a session together, and hears of what belongs to none alone."""

    @property
    def secret_forms(self) -> tuple[str, ...]: ...

    def expect_page(self, tab: "Tab", url: str, *, by_gesture: bool) -> None: ...

    def expect_download(self, url: str) -> None: ...

    def count_bytes(self, url: str, size: int) -> None: ...

    def forget(self, tab: "Tab") -> None: ...

    async def close(self) -> None: ...


class Tab(PageSession):
    """A tab is a page of a `Window`; it does one action at a time."""

    def __init__(self, page: Page, cdp: CDPSession, window: Opener) -> None:
        super().__init__(page, cdp, window)
        self._window = window
        self._documents_before = 0
        self._clicked = False
        self._keys: bool | None = None  # whether they are listened to, where that is known
        self._downloads: dict[str, str] = {}
        self.missed = ""  # what was in the way of the last click, which then was held back
        self.changed: dict[str, Any] = {}  # or what became of its element under the press

    # -- calls ---------------------------------------------------------------------------------

    async def call(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function of the library that only reads; a document that goes is waited for."""
        async with self._deadline(within_ms, function):
            while True:
                try:
                    return await self._evaluate(function, arguments)
                except DocumentGone:
                    await self._arrival()

    async def call_to_type(self, function: str, *arguments: object, within_ms: int) -> Any:
        """The same for one that gives a field the focus. Whether the page listens to its keys is
        asked right behind it: the page answers in that order, and one after the other would take
        twice as long."""
        async with self._deadline(within_ms, function):
            while True:
                asked = (self._evaluate(function, arguments), self._keys_heard())
                try:
                    answer, self._keys = await asyncio.gather(*asked)
                except DocumentGone:
                    await self._arrival()
                else:
                    return answer

    async def ask(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function in this document or in none. Raises `DocumentGone`."""
        async with self._deadline(within_ms, function):
            return await self._evaluate(function, arguments)

    async def act(self, function: str, *arguments: object, within_ms: int) -> Any:
        """Runs a function that is input itself: never repeated. Raises `DocumentGone`."""
        self._begin_input()
        return await self.ask(function, *arguments, within_ms=within_ms)

    async def click(self, x: float, y: float, press: ClickKind = LEFT, *, within_ms: int) -> None:
        """A trusted click: move, press, release, sent together and in this order.

        Raises `DocumentGone` if the page is left before it: what comes next was not looked at.
        """
        await self._not_leaving()
        async with self._input("click", within_ms + press.hold_ms):
            self._clicked = True
            for number, calls in enumerate(clicking(x, y, press)):
                if number:
                    await anyio.sleep(press.hold_ms / 1000)
                await asyncio.gather(*(self._send(method, given) for method, given in calls))

    async def drag(
        self, begin: tuple[float, float], end: tuple[float, float], *, within_ms: int
    ) -> None:
        """By the mouse, with a few stops: a drag of the browser's own has to be let begin. Raises
        what a click does."""
        await self._not_leaving()
        mouse = self._page.mouse
        async with self._input("drag", within_ms):
            self._clicked = True
            await self._guarded(mouse.move(*begin))
            await self._guarded(mouse.down())
            try:
                await self._guarded(mouse.move(*end, steps=DRAG_STEPS))
                await self._guarded(mouse.move(*end))  # what lies there is told that it lies there
            finally:
                await self._guarded(mouse.up())

    async def point(self, x: float, y: float, *, within_ms: int) -> None:
        """Where the mouse is, and nothing else."""
        async with self._input("hover", within_ms):
            await self._send(MOUSE, {"type": "mouseMoved", "x": x, "y": y})

    async def wheel(self, x: float, y: float, by: tuple[int, int], *, within_ms: int) -> None:
        async with self._input("wheel", within_ms):
            turned: dict[str, object] = {"deltaX": by[0], "deltaY": by[1]}
            await self._send(MOUSE, {"type": "mouseWheel", "x": x, "y": y, **turned})

    async def insert(
        self,
        text: str,
        field: TypedField = PLAIN,
        *,
        append: bool = False,
        whole: bool = False,
        within_ms: int,
    ) -> None:
        """Text into the focused field: by its keys, all sent together and in this order, or in one
        call where nobody listens to keys."""
        heard = self._keys
        async with self._input("type", within_ms + KEY_MS * len(text)):
            few = field.editor or len(text) <= FEW_KEYS
            keys = not whole and (few or (heard if heard is not None else await self._keys_heard()))
            for number, calls in enumerate(typing(text, field, append=append, keys=keys)):
                if number and not await self._evaluate("typedInto", ()):
                    return  # a composition cannot be held back: it is not begun elsewhere
                await asyncio.gather(*(self._send(method, given) for method, given in calls))

    async def select_all(self, *, within_ms: int) -> None:
        """As an editor is told to, which may keep a selection of its own."""
        async with self._input("select all", within_ms):
            calls = chord(SIGNS["a"], CONTROL, commands=["selectAll"])
            await asyncio.gather(*(self._send(method, given) for method, given in calls))

    async def _keys_heard(self) -> bool:
        """Whether the page listens to the keys of what has the focus. In doubt it does."""
        asked = {"expression": listened(), "includeCommandLineAPI": True, "returnByValue": True}
        answer = await self._send("Runtime.evaluate", asked)
        return answer["result"].get("value") is not False

    async def press(self, key: str, *, within_ms: int) -> None:
        """Raises `KeyUnknown` for what is no key."""
        async with self._input(f"press {key}", within_ms):
            try:
                await self._guarded(self._page.keyboard.press(key))
            except KeyUnknown:
                await self._let_go(key)
                raise

    async def settle(self, *, within_ms: int) -> bool:
        """Waits until a navigation that input asked for is over; says if a new document came."""
        async with self._deadline(within_ms, "settle"):
            if not self._heard and self._navigation == "none":
                # The answer to any call comes behind the announcement of a navigation.
                with contextlib.suppress(DocumentGone):
                    answer = await self._evaluate("sync", ())
                    if self._clicked:
                        self.missed, self.changed = answer["missed"], answer.get("changed") or {}
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

        async def capture(quick: bool) -> tuple[bytes, PictureArea]:
            metrics = await self._send("Page.getLayoutMetrics", {})
            view, content = metrics["cssLayoutViewport"], metrics["cssContentSize"]
            left, top = (-view["pageX"], -view["pageY"]) if full_page else (0, 0)
            if not quick:
                plain = await self._guarded(self._page.screenshot(full_page=full_page))
                return plain, PictureArea(left, top, view["clientWidth"])
            width = content["width"] if full_page else view["clientWidth"]
            height = content["height"] if full_page else view["clientHeight"]
            clip = {"x": view["pageX"] + left, "y": view["pageY"] + top, "scale": 1}
            clip |= {"width": width, "height": height}
            return await self._capture(clip, beyond=full_page), PictureArea(left, top, width)

        async with self._deadline(within_ms, "screenshot"):
            return await covered(self._secret_boxes, capture)

    async def picture(self, *, max_width: int, within_ms: int, max_height: int = 0) -> bytes:
        """What is in view as PNG, at most so many pixels wide; with a height, the whole page as far
        as that."""
        async with self._deadline(within_ms, "picture"):
            metrics = await self._send("Page.getLayoutMetrics", {})
            view, layout = metrics["cssVisualViewport"], metrics["cssLayoutViewport"]
            x, y = view["pageX"], view["pageY"]
            width, height = view["clientWidth"], view["clientHeight"]
            if max_height:
                x, y, content = 0, 0, metrics["cssContentSize"]
                width, height = content["width"], content["height"]
            scale = min(1.0, max_width / max(1, width))
            height = min(height, max_height / scale) if max_height else height
            clip = {"x": x, "y": y, "width": width, "height": height, "scale": scale}
            area = PictureArea(x - layout["pageX"], y - layout["pageY"], width)

            async def capture(quick: bool) -> tuple[bytes, PictureArea]:
                return await self._capture(clip, quick=quick, beyond=bool(max_height)), area

            return await covered(self._secret_boxes, capture)

    async def part(
        self, area: PictureArea, height: float, scroll: tuple[float, float], *, within_ms: int
    ) -> bytes:
        """A part of what is in view as PNG, at half its size; what is secret is covered. Who asks
        knows how far the page is scrolled."""
        clip = {"x": scroll[0] + area.left, "y": scroll[1] + area.top, "scale": 0.5}
        clip |= {"width": area.width, "height": height}

        async def capture(quick: bool) -> tuple[bytes, PictureArea]:
            return await self._capture(clip), area

        async with self._deadline(within_ms, "part"):
            return await covered(self._secret_boxes, capture)

    async def view(self, *, within_ms: int) -> bytes:
        """All that is in view as PNG, as it is shown: a clip would make a window flicker."""
        async with self._deadline(within_ms, "view"):
            metrics = await self._send("Page.getLayoutMetrics", {})
            width = metrics["cssVisualViewport"]["clientWidth"]

            async def capture(quick: bool) -> tuple[bytes, PictureArea]:
                asked: dict[str, object] = {"format": "png", "optimizeForSpeed": True}
                answer = await self._send("Page.captureScreenshot", asked)
                return base64.b64decode(answer["data"]), PictureArea(0, 0, width)

            return await covered(self._secret_boxes, capture)

    async def _capture(
        self, clip: Mapping[str, object], *, quick: bool = True, beyond: bool = False
    ) -> bytes:
        asked = {"format": "png", "clip": dict(clip), "captureBeyondViewport": beyond}
        answer = await self._send("Page.captureScreenshot", {**asked, "optimizeForSpeed": quick})
        return base64.b64decode(answer["data"])

    async def _secret_boxes(self) -> object:
        return await self._evaluate("secretBoxes", (self._window.secret_forms,))

    async def rest(self, wanted: Resting) -> Rest:
        """Waits until the page has nothing left to do: no navigation, no request that a script
        waits for, nothing that was put off and is due. Time that is up is no error."""
        rest, _ = await self.rest_and_find(wanted, ())
        return rest

    async def rest_and_find(
        self, wanted: Resting, sought: tuple[object, ...]
    ) -> tuple[Rest, dict[str, Any] | None]:
        """The same, and what `resolve` says of `sought` right then; nothing where the page was not
        at rest by then, or nothing was sought."""
        began = monotonic_ns()
        found: dict[str, Any] | None = None
        waited: dict[str, None] = {}
        restless = ["page"]
        with contextlib.suppress(PageTimeout):
            async with self._deadline(wanted.within_ms, "rest"):
                while restless:
                    if await self._request_over(waited, restless):
                        continue
                    left_ms = wanted.within_ms - (monotonic_ns() - began) // 1_000_000
                    left_ms = max(0, left_ms - TELLING_MS)  # to say what it was that is not over
                    times = (left_ms, wanted.quiet_ms)
                    found = await self._put_off_over(times, sought, waited, restless)
                    if not restless and (unseen := self.traffic.unseen(wanted.awaits)):
                        waited[unseen] = None
                        restless = [unseen]
                        await self._begun(unseen)
        self.traffic.seen.clear()
        rest = Rest((monotonic_ns() - began) // 1_000, tuple(waited), tuple(restless))
        return rest, None if restless else found

    async def _begun(self, kinds: str) -> None:
        """Waits a while for a request that came here before."""
        with anyio.move_on_after(BEGUN_MS / 1000):
            while self.traffic.unseen((kinds,)):
                await self.traffic.changed.wait()
            return
        raise PageTimeout("rest")

    async def _request_over(self, waited: dict[str, None], restless: list[str]) -> bool:
        """Waits for a document or one more answer, where one is due; whether it had to."""
        if self._navigation != "none":
            waited["navigation"] = None
            restless[:] = ["navigation"]
            await self._arrival()
            return True
        if not self.traffic.awaited:
            return False
        waited["request"] = None
        restless[:] = ["request"]
        await self.traffic.changed.wait()
        await anyio.sleep(ANSWERED_MS / 1000)
        return True

    async def _put_off_over(
        self,
        times: tuple[int, int],
        sought: tuple[object, ...],
        waited: dict[str, None],
        restless: list[str],
    ) -> dict[str, Any] | None:
        """Waits for what the page's scripts put off; what they ask for then is another round's."""
        begun = self.traffic.begun
        with contextlib.suppress(DocumentGone):
            function = "restAndFind" if sought else "rest"
            answer = await self._evaluate(function, (*times, *sought))
            waited.update(dict.fromkeys(answer["waited"]))
            over = self.traffic.begun == begun and self._navigation == "none"
            if over or answer["restless"]:
                restless[:] = answer["restless"]
                if restless:
                    raise PageTimeout("rest")
                found: dict[str, Any] | None = answer.get("found")
                return found
        return None

    @property
    def busy(self) -> bool:
        """Whether the page waits for its server: for an answer, or for more of its scripts."""
        return self._navigation != "none" or self.traffic.busy

    async def sent_off(self) -> None:
        """Waits until nothing is on its way that was to change something."""
        while self.traffic.carrying and self._gone is None:
            await self.traffic.changed.wait()

    async def close(self) -> None:
        """Ends the session of pages that it is in."""
        await self._window.close()

    async def hear(self, hearing: PageListener) -> None:
        """From now on what a person does here is told."""
        await hearing.attach(self._cdp, self._frame, WORLD)

    # -- how -----------------------------------------------------------------------------------

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
        self._keys = None
        self.missed, self.changed = "", {}
        self.traffic.begin_input()
        self._documents_before = self._documents
        self.addresses.on_input()

    # -- what the browser announces ------------------------------------------------------------

    def _listen(self) -> None:
        super()._listen()
        self._cdp.on("Page.windowOpen", self._on_opening)
        self._cdp.on("Page.downloadWillBegin", self._on_download)
        self._cdp.on("Page.downloadProgress", self._on_progress)
        self._page.on("close", self._on_closed)

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

    def _on_closed(self, _: Page) -> None:
        self._die(PageClosed("the page was closed", self))
        self._window.forget(self)
