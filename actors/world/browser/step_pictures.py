"""Step pictures show the element of a step being recorded, marked, in its surroundings.

Nothing depends on one. What cannot be had in a moment is simply missing, and after a few in vain no
more are tried in that session.
"""

from collections.abc import Callable
from math import ceil, floor
from typing import NamedTuple

import anyio.to_thread
import msgspec

from rutter.actors.world.browser.covered_picture import PictureArea
from rutter.actors.world.browser.page_session import DocumentGone, PageTimeout
from rutter.actors.world.browser.painting import NotPaintable, cut, outlined, size_of
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Box
from rutter.events.artifacts import ArtifactStore
from rutter.events.errors import WorldBroken
from rutter.events.page import Artifact, Page

WIDE, HIGH = 640, 360  # of the page, in CSS pixels; the picture has half of that
MOST_BYTES = 120_000  # some three times what a busy page needs; what is larger is left out
TAKE_MS = 600  # a page that takes longer is not waited for
IN_VAIN = 3
MARK = (214, 51, 132)  # no colour that pages use for their own frames

NOT_HAD = (PageTimeout, DocumentGone, WorldBroken, NotPaintable, ValueError)


class _ElementInView(msgspec.Struct, frozen=True):
    """An element is in view at left, top, right and bottom; the view is so large, and at this place
    on the page."""

    box: tuple[float, float, float, float]
    view: tuple[float, float]
    scroll: tuple[float, float]


class StepPicture(NamedTuple):
    """A step's picture knows where on it the element is."""

    image: bytes
    box: tuple[int, int, int, int]


class _KeptPicture(NamedTuple):
    image: bytes
    page: Page


class StepPictures:
    """A session has step pictures. `taking` is off where nobody wants them."""

    def __init__(self, artifacts: ArtifactStore | None, *, taking: bool) -> None:
        self._artifacts = artifacts
        self._left = IN_VAIN if taking and artifacts is not None else 0
        self._last: _KeptPicture | None = None

    @property
    def taking(self) -> bool:
        return self._left > 0

    async def take(self, tab: Tab) -> StepPicture | None:
        """The element that is about to be acted on. Keeping it may go on beside that."""
        if not self._left:
            return None
        try:
            raw = await tab.call("closeUp", within_ms=TAKE_MS)
            if raw is None:
                return None
            seen = msgspec.convert(raw, _ElementInView)
            left, top, right, bottom = _around(seen.box, seen.view)
            area = PictureArea(left, top, right - left)
            image = await tab.part(area, bottom - top, seen.scroll, within_ms=TAKE_MS)
        except NOT_HAD:
            self._left -= 1
            return None
        return StepPicture(image, _within(seen.box, left, top, 0.5))

    async def keep(self, taken: StepPicture) -> Artifact | None:
        try:
            return await self._put(_marked, *taken)
        except NOT_HAD:
            return None

    async def remember(self, tab: Tab, page: Page) -> None:
        """The page as a person has it before them: what they do next is somewhere on it."""
        self._last = None
        if not self._left:
            return
        try:
            self._last = _KeptPicture(await tab.view(within_ms=TAKE_MS), page)
        except NOT_HAD:
            self._left -= 1

    def forget(self) -> None:
        """Something has come of what they do meanwhile."""
        self._last = None

    async def of_box(self, page: Page, box: Box | None) -> Artifact | None:
        """What a person has acted on, cut out of what they had before them then."""
        last = self._last
        if not self._left or last is None or box is None or page.url != last.page.url:
            return None
        x = box.x + page.scroll[0] - last.page.scroll[0]  # they may have scrolled since
        y = box.y + page.scroll[1] - last.page.scroll[1]
        edges = (x, y, x + box.width, y + box.height)
        try:
            return await self._put(_cut_out, last.image, edges, last.page)
        except NOT_HAD:
            return None

    async def _put(self, make: Callable[..., bytes], *given: object) -> Artifact | None:
        assert self._artifacts is not None
        image = await anyio.to_thread.run_sync(make, *given, abandon_on_cancel=True)
        if len(image) > MOST_BYTES:
            return None
        store = self._artifacts.put
        kept = await anyio.to_thread.run_sync(store, image, "image/png", abandon_on_cancel=True)
        self._left = IN_VAIN
        return kept


def _around(
    box: tuple[float, float, float, float], view: tuple[float, float]
) -> tuple[int, int, int, int]:
    """The part of the view that has the box in its middle, as far as there is any."""
    wide, high = min(WIDE, int(view[0])), min(HIGH, int(view[1]))
    left = min(max(0, int((box[0] + box[2]) / 2) - wide // 2), int(view[0]) - wide)
    top = min(max(0, int((box[1] + box[3]) / 2) - high // 2), int(view[1]) - high)
    return left, top, left + wide, top + high


def _within(
    box: tuple[float, float, float, float], left: float, top: float, scale: float
) -> tuple[int, int, int, int]:
    """The box in the pixels of a picture that begins there."""
    x, right = (box[0] - left) * scale, (box[2] - left) * scale
    y, bottom = (box[1] - top) * scale, (box[3] - top) * scale
    return floor(x), floor(y), ceil(right), ceil(bottom)


def _marked(image: bytes, box: tuple[int, int, int, int]) -> bytes:
    return outlined(image, box, MARK)


def _cut_out(image: bytes, box: tuple[float, float, float, float], page: Page) -> bytes:
    """Of a picture in the pixels of the screen, which may be more than those of the page."""
    width, height = page.viewport
    x, y, right, bottom = box
    if right <= 0 or bottom <= 0 or x >= width or y >= height:
        raise NotPaintable("it was not in view")
    scale = size_of(image)[0] / width
    part = _around(box, (width, height))
    left, top, wide, high = (round(each * scale) for each in part)
    every = max(1, round(2 * scale))
    small = cut(image, (left, top, wide, high), every)
    return _marked(small, _within(box, part[0], part[1], scale / every))
