"""A covered picture shows a page without its secrets: what must not be seen is painted over.

The boxes are measured before and after the picture. If they are not the same, or cannot be had,
there is no picture.
"""

from collections.abc import Awaitable, Callable
from math import ceil, floor
from typing import NamedTuple

import anyio.to_thread
import msgspec

from rutter.actors.world.browser.painting import NotPaintable, painted, size_of
from rutter.events.errors import WorldBroken

TRIES = 3
MARGIN = 2  # CSS pixels: letters reach beyond their box
MOVING = "the page did not hold still: there is no picture of it"


class SecretBoxes(msgspec.Struct, frozen=True):
    """Boxes hold what is secret in view, in CSS pixels from the top left of that."""

    boxes: tuple[tuple[float, float, float, float], ...]
    scroll: tuple[float, float]
    view: tuple[float, float]


class PictureArea(NamedTuple):
    """A picture has its top left, from that of what is in view, and a width."""

    left: float
    top: float
    width: float


async def covered(
    measure: Callable[[], Awaitable[object]],
    capture: Callable[[bool], Awaitable[tuple[bytes, PictureArea]]],
) -> bytes:
    """The picture that `capture` takes, quickly if it is to be painted, with the boxes covered."""
    before = _boxes(await measure())
    for _ in range(TRIES):
        image, area = await capture(bool(before.boxes))
        after = _boxes(await measure())
        if after == before:
            if not before.boxes:
                return image
            return await anyio.to_thread.run_sync(
                _cover, image, area, before, abandon_on_cancel=True
            )
        before = after
    raise WorldBroken(MOVING)


def _boxes(raw: object) -> SecretBoxes:
    try:
        return msgspec.convert(raw, SecretBoxes)
    except msgspec.ValidationError as error:
        raise WorldBroken("what is to be covered cannot be told: there is no picture") from error


def _cover(image: bytes, area: PictureArea, boxes: SecretBoxes) -> bytes:
    try:
        scale = size_of(image)[0] / area.width
        return painted(image, [in_pixels(box, area, scale) for box in boxes.boxes])
    except (NotPaintable, ValueError, ZeroDivisionError) as error:
        raise WorldBroken(f"the picture cannot be covered: {error}") from error


def in_pixels(
    box: tuple[float, float, float, float], area: PictureArea, scale: float
) -> tuple[int, int, int, int]:
    x, y, width, height = box
    left, top = x - area.left - MARGIN, y - area.top - MARGIN
    right, bottom = left + width + 2 * MARGIN, top + height + 2 * MARGIN
    return floor(left * scale), floor(top * scale), ceil(right * scale), ceil(bottom * scale)
