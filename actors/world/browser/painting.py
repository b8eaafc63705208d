"""Pictures of pages are painted over, framed and cut with Pillow, which knows what a PNG is."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO

from PIL import Image, ImageChops, ImageDraw, ImageFont

BLACK = (0, 0, 0)
Box = tuple[int, int, int, int]  # left, top, right, bottom


class NotPaintable(Exception):
    """A picture is no PNG, is damaged, or nothing of it is left."""


def size_of(image: bytes) -> tuple[int, int]:
    """Reads its width and height in pixels."""
    with _opened(image) as picture:
        return picture.size


def painted(image: bytes, boxes: Iterable[Box], colour: tuple[int, int, int] = BLACK) -> bytes:
    """Fills these boxes with one colour. Nothing of what was there is kept."""
    with _opened(image) as opened:
        picture = opened.convert("RGB")
    for left, top, right, bottom in boxes:
        if right > left and bottom > top:
            picture.paste(colour, (left, top, right, bottom))
    return _written(picture)


def outlined(image: bytes, box: Box, colour: tuple[int, int, int], thick: int = 2) -> bytes:
    """Draws a frame around a box."""
    left, top, right, bottom = box
    edges = (
        (left - thick, top - thick, right + thick, top),
        (left - thick, bottom, right + thick, bottom + thick),
        (left - thick, top, left, bottom),
        (right, top, right + thick, bottom),
    )
    return painted(image, edges, colour)


FRAMES = ((214, 51, 132), (0, 98, 204), (180, 95, 6), (0, 128, 96), (122, 62, 184))


def framed(image: bytes, boxes: Mapping[str, Box]) -> bytes:
    """Draws a frame around each box, in a colour of its own, with its number beside it."""
    with _opened(image) as opened:
        picture = opened.convert("RGB")
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(size=18)
    for place, (number, box) in enumerate(boxes.items()):
        colour = FRAMES[place % len(FRAMES)]
        left, top, right, bottom = (box[0] - 4, box[1] - 4, box[2] + 4, box[3] + 4)
        draw.rectangle((left, top, max(left, right), max(top, bottom)), outline=colour, width=3)
        if number:
            wide = int(draw.textlength(number, font=font)) + 10
            x, y = left - wide if left >= wide else right, max(0, top)  # what it says is to be read
            draw.rectangle((x, y, x + wide, y + 24), fill=colour)
            draw.text((x + 5, y + 1), number, fill=(255, 255, 255), font=font)
    return _written(picture)


def cut(image: bytes, box: Box, every: int = 1) -> bytes:
    """Cuts out what lies in the box, and keeps of it one pixel of so many across and down."""
    with _opened(image) as picture:
        left, top = max(0, box[0]), max(0, box[1])
        right, bottom = min(picture.width, box[2]), min(picture.height, box[3])
        if right <= left or bottom <= top:
            raise NotPaintable("nothing of it is left")
        part = picture.crop((left, top, right, bottom)).convert("RGB")
    size = len(range(0, part.width, every)), len(range(0, part.height, every))
    return _written(part.resize(size, Image.Resampling.NEAREST))


def sliced(image: bytes, max_width: int, tall: int) -> list[bytes]:
    """Makes of a picture some that lie one below the other, none wider or taller than this. They
    are parted where least stands."""
    with _opened(image) as opened:
        picture = opened.convert("RGB")
    if picture.width > max_width:
        height = max(1, picture.height * max_width // picture.width)
        picture = picture.resize((max_width, height), Image.Resampling.LANCZOS)
    slices, top = [], 0
    while top < picture.height:
        bottom = min(picture.height, top + tall)
        if bottom < picture.height:
            bottom = _quietest(picture, bottom - tall // 4, bottom)
        slices.append(_written(picture.crop((0, top, picture.width, bottom))))
        top = bottom
    return slices


def _quietest(picture: Image.Image, top: int, bottom: int) -> int:
    """The last row of those with the fewest edges: between two lines of text, or two of a table."""
    strip = picture.crop((0, top, picture.width, bottom)).convert("L")
    edges = ImageChops.difference(strip, ImageChops.offset(strip, 1, 0))
    busy = edges.resize((1, strip.height), Image.Resampling.BOX).tobytes()
    return top + busy.rindex(min(busy)) + 1


@contextmanager
def _opened(image: bytes) -> Iterator[Image.Image]:
    try:
        with Image.open(BytesIO(image), formats=("PNG",)) as picture:
            yield picture
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise NotPaintable(f"it cannot be read: {error}") from error


def _written(picture: Image.Image) -> bytes:
    written = BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()
