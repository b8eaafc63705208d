"""A test reads JPEGs for their size, quality and colours."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import BytesIO

import anyio
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from rutter.actors.world.browser.screencast import Screencast
from rutter.actors.world.browser.window import Window

WITHIN_S = 60  # a picture that is not there by then does not come


def size_of(jpeg: bytes) -> tuple[int, int]:
    with Image.open(BytesIO(jpeg), formats=("JPEG",)) as picture:
        return picture.size


def quality_of(jpeg: bytes) -> int:
    """By the first number of its first table, which is 16 at a quality of 50."""
    with Image.open(BytesIO(jpeg), formats=("JPEG",)) as picture:
        assert isinstance(picture, JpegImageFile)
        first: int = picture.quantization[0][0]
    return round(5000 / (first * 100 / 16)) if first >= 16 else round(100 - first * 50 / 16)


def count(jpeg: bytes, is_it: Callable[[int, int, int], bool]) -> int:
    """How many of its pixels are of such a colour."""
    with Image.open(BytesIO(jpeg)) as picture:
        colours = picture.convert("RGB").getcolors(1 << 24) or []
    return sum(
        number
        for number, colour in colours
        if isinstance(colour, tuple) and is_it(colour[0], colour[1], colour[2])
    )


def reds(jpeg: bytes) -> int:
    return count(jpeg, lambda r, g, b: r > 150 and g < 110 and b < 110)


def greens(jpeg: bytes) -> int:
    return count(jpeg, lambda r, g, b: g > 100 and r < 90 and b < 90)


def blacks(jpeg: bytes) -> int:
    return count(jpeg, lambda r, g, b: max(r, g, b) < 40)


class Gallery:
    """A gallery keeps what was shown so far, and waits for more of it."""

    def __init__(self) -> None:
        self.pictures: list[bytes] = []
        self._more = anyio.Event()

    def show(self, picture: bytes) -> None:
        self.pictures.append(picture)
        more, self._more = self._more, anyio.Event()
        more.set()

    async def one_that(self, is_it: Callable[[bytes], object]) -> bytes:
        """The first from now on, or the one that is there."""
        at = max(0, len(self.pictures) - 1)
        with anyio.fail_after(WITHIN_S):
            while True:
                for picture in self.pictures[at:]:
                    if is_it(picture):
                        return picture
                at = len(self.pictures)
                await self._more.wait()

    async def more(self, number: int) -> list[bytes]:
        """So many that come from now on."""
        at = len(self.pictures)
        with anyio.fail_after(WITHIN_S):
            while len(self.pictures) < at + number:
                await self._more.wait()
        return self.pictures[at:]


@asynccontextmanager
async def watching(
    window: Window, *, quality: int = 60, max_width: int = 854
) -> AsyncIterator[tuple[Gallery, Screencast]]:
    """Pictures of that window, until left."""
    gallery = Gallery()
    cast = Screencast(window, gallery.show, quality=quality, max_width=max_width)
    async with anyio.create_task_group() as group:
        group.start_soon(cast.run)
        yield gallery, cast
        group.cancel_scope.cancel()
