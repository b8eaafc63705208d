"""A screencast shows a session's page in front while somebody watches, without its secrets.

Chromium's screencast says that something changed, and that is all it is asked for: its frames are
drawn at any time, and what a frame shows may be older than any look at the page, so nothing could
be covered in it for certain. Each picture is taken by us, between two looks (`watching.js`): it is
drawn after the first, and when the second finds anything else there is no picture. Boxes are
painted before it is made smaller and before it is a JPEG, so nothing shines through.

All of it goes by a CDP session of its own, which is thrown away. Whatever fails here is tried
again, and is no matter of the session that is watched.
"""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from io import BytesIO
from typing import Any, Literal

import anyio
import anyio.to_thread
import msgspec
from PIL import Image, ImageDraw
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.covered_picture import PictureArea, SecretBoxes, in_pixels
from rutter.actors.world.browser.page_session import DOCUMENT_GONE, EVALUATE, asked_of
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone

PERIOD_S = 0.1  # between pictures: 10 a second look alive, and a film is not what it is for
CALL_S = 5.0  # then the page is stuck: the calls that it did not answer go with their session
AGAIN_S = 0.5  # until another session is tried with a page that had none
DETACH_S = 1.0
FINE = 90  # quality of what is made smaller afterwards; at 100 it is larger than a PNG


class FrameView(SecretBoxes, frozen=True):
    """A frame has boxes to cover, and shows a part of the page from its left and top on, so
    wide."""

    shown: tuple[float, float, float]


class Screencast:
    """A window's screencast calls `show` with every picture that differs from the one before."""

    def __init__(
        self, window: Window, show: Callable[[bytes], None], *, quality: int, max_width: int
    ) -> None:
        self._window = window
        self._show = show
        self._quality = quality
        self._max_width = max_width
        self.shown = 0
        self.withheld = 0

    async def run(self) -> None:
        """Follows the page in front until the window is closed. Raises `BrowserGone` then."""
        tab: Tab | None = None
        while True:
            tab = await self._window.front_after(tab)
            gone: BrowserGone | None = None
            async with anyio.create_task_group() as group:
                group.start_soon(self._follow, tab)
                try:
                    await self._window.front_after(tab)
                except BrowserGone as error:
                    gone = error  # raised in here it would come out as a group of one
                group.cancel_scope.cancel()
            if gone is not None:
                raise gone
            tab = None

    async def _follow(self, tab: Tab) -> None:
        """A page that crashed, hangs or refuses is tried again as long as it is in front."""
        while True:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                async with _session_of(tab) as cdp:
                    await self._cast(tab, cdp)
            await anyio.sleep(AGAIN_S)

    async def _cast(self, tab: Tab, cdp: CDPSession) -> None:
        pulse = _ChangeSignal(cdp)
        with anyio.fail_after(CALL_S):
            await pulse.start(self._max_width)
        last = b""
        while True:
            await pulse.felt()
            pulse.acknowledge()
            began = anyio.current_time()
            taken = await self._take(tab, cdp)
            seen = anyio.current_time()
            # A third of the time at least is the page's own: a large one is looked at less often.
            rested = max(began + PERIOD_S, seen + (seen - began) / 2)
            if taken is None:
                self.withheld += 1
                pulse.stir()  # what could not be shown may be so again, and nothing need change
            elif (picture := await self._framed(*taken)) != last:
                last = picture
                pulse.stir()  # what changed before it was acknowledged was not told: once more
                self.shown += 1
                self._show(picture)
            await anyio.sleep_until(rested)

    async def _take(self, tab: Tab, cdp: CDPSession) -> tuple[bytes, FrameView] | None:
        """What is in view, or nothing when it cannot be told what that shows."""
        world = tab.world
        if world is None:
            return None
        secrets = self._window.secret_forms
        with anyio.fail_after(CALL_S):
            try:
                before = await _look(cdp, world, "lookBefore", secrets)
                if before is None:
                    return None
                image = await self._capture(cdp, before)
                after = await _look(cdp, world, "lookAfter", secrets)
            except PlaywrightError as error:
                if any(words in str(error) for words in DOCUMENT_GONE):
                    return None
                raise
        same = after == before and self._window.secret_forms == secrets
        return (image, before) if same else None

    async def _framed(self, image: bytes, look: FrameView) -> bytes:
        wish = self._quality, self._max_width
        return await anyio.to_thread.run_sync(framed, image, look, *wish, abandon_on_cancel=True)

    async def _capture(self, cdp: CDPSession, look: FrameView) -> bytes:
        """As large as it is: to have it made smaller, Chromium resizes the page for a moment, and
        whoever takes a picture just then, or looks at the window, sees that."""
        asked: dict[str, object] = {"format": "png", "optimizeForSpeed": True}
        if not look.boxes:
            as_it_is = look.view[0] <= self._max_width
            asked |= {"format": "jpeg", "quality": self._quality if as_it_is else FINE}
        answer = await cdp.send("Page.captureScreenshot", asked)
        return base64.b64decode(answer["data"])


def framed(image: bytes, look: FrameView, quality: int, max_width: int) -> bytes:
    """The picture as a JPEG of that quality, at most that wide, with what is secret in black."""
    with Image.open(BytesIO(image), formats=("PNG", "JPEG")) as opened:
        if not look.boxes and opened.format == "JPEG" and opened.width <= max_width:
            return image
        picture = opened.convert("RGB")
    area = PictureArea(*look.shown)
    painter = ImageDraw.Draw(picture)
    for box in look.boxes:
        left, top, right, bottom = in_pixels(box, area, picture.width / area.width)
        if right > 0 and bottom > 0 and left < picture.width and top < picture.height:
            painter.rectangle((left, top, right - 1, bottom - 1), fill=0)
    if picture.width > max_width:
        height = max(1, round(picture.height * max_width / picture.width))
        picture = picture.resize((max_width, height), Image.Resampling.BILINEAR)
    made = BytesIO()
    picture.save(made, "JPEG", quality=quality)
    return made.getvalue()


class _ChangeSignal:
    """Chromium's screencast signals that the page does not look as it did, which is all we need.

    It goes on when a frame is acknowledged, and leaves out what comes meanwhile. So that it does
    not draw sixty a second for us, one that differs is acknowledged when we look ourselves.
    """

    def __init__(self, cdp: CDPSession) -> None:
        self._cdp = cdp
        self._felt = anyio.Event()
        self._felt.set()  # the first picture needs no change
        self._last = 0
        self._held: list[int] = []
        self._acks: set[asyncio.Task[None]] = set()

    async def start(self, max_width: int) -> None:
        self._cdp.on("Page.screencastFrame", self._on_frame)
        wish: dict[str, object] = {"format": "jpeg", "quality": FINE, "maxWidth": max_width}
        await self._cdp.send("Page.startScreencast", wish)

    async def felt(self) -> None:
        await self._felt.wait()
        self._felt = anyio.Event()

    def stir(self) -> None:
        self._felt.set()

    def acknowledge(self) -> None:
        """Sent before anything else that is asked of the page from here on."""
        held, self._held = self._held, []
        for number in held:
            ack = asyncio.ensure_future(self._acknowledged(number))
            self._acks.add(ack)
            ack.add_done_callback(self._acks.discard)

    def _on_frame(self, event: Mapping[str, Any]) -> None:
        self._held.append(event["sessionId"])
        looks = hash(event["data"])
        if looks != self._last:
            self._last = looks
            self._felt.set()
        elif not self._felt.is_set():
            self.acknowledge()  # our own picture made the page draw once more, the same as before

    async def _acknowledged(self, number: int) -> None:
        with contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.screencastFrameAck", {"sessionId": number})


@contextlib.asynccontextmanager
async def _session_of(tab: Tab) -> AsyncIterator[CDPSession]:
    with anyio.CancelScope(shield=True), anyio.fail_after(CALL_S):  # else it would stay
        cdp = await tab.page.context.new_cdp_session(tab.page)
    try:
        yield cdp
    finally:  # what it began ends with it
        with anyio.move_on_after(DETACH_S, shield=True), contextlib.suppress(PlaywrightError):
            await cdp.detach()


async def _look(
    cdp: CDPSession,
    world: str,
    function: Literal["lookBefore", "lookAfter"],
    secrets: tuple[str, ...],
) -> FrameView | None:
    answer = await cdp.send(EVALUATE, asked_of(world, function, secrets))
    try:
        return msgspec.json.decode(answer["result"]["value"], type=FrameView | None)
    except (KeyError, TypeError, msgspec.DecodeError):  # it failed in the page: nothing is known
        return None
