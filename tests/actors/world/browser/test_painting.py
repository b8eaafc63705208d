"""Boxes are painted over a picture, and nothing else of it changes."""

from io import BytesIO

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from rutter.actors.world.browser.painting import (
    NotPaintable,
    cut,
    outlined,
    painted,
    size_of,
    sliced,
)
from tests.support.case_table import for_each

WIDTH, HEIGHT = 5, 6
Colour = tuple[int, int, int]


def pixel(x: int, y: int) -> Colour:
    return (37 * x + 11 * y) & 0xFF, (80 * x + y) & 0xFF, (200 + 9 * y) & 0xFF


def stored(mode: str = "RGB") -> bytes:
    picture = Image.new("RGB", (WIDTH, HEIGHT))
    for x in range(WIDTH):
        for y in range(HEIGHT):
            picture.putpixel((x, y), pixel(x, y))
    said, written = PngInfo(), BytesIO()
    said.add_text("Title", "secret")
    picture.convert(mode).save(written, "PNG", pnginfo=said)
    return written.getvalue()


def pixels(image: bytes) -> dict[tuple[int, int], object]:
    with Image.open(BytesIO(image)) as picture:
        return {
            (x, y): picture.getpixel((x, y))
            for x in range(picture.width)
            for y in range(picture.height)
        }


@for_each("mode", ["RGB", "RGBA"])
def test_what_is_in_a_box_is_black_and_all_else_as_it_was(mode: str) -> None:
    image = painted(stored(mode), [(1, 2, 3, 4), (-9, 5, 1, 99), (4, 0, 4, 6), (7, 7, 9, 9)])
    assert size_of(image) == (WIDTH, HEIGHT)
    assert b"secret" not in image
    covered = {(x, y) for x in (1, 2) for y in (2, 3)} | {(0, 5)}
    for place, found in pixels(image).items():
        assert found == ((0, 0, 0) if place in covered else pixel(*place))


@for_each("image", [b"", b"GIF89a" + bytes(30), stored()[:60], stored()[:-40]])
def test_what_is_no_whole_picture_is_refused(image: bytes) -> None:
    with pytest.raises(NotPaintable):
        painted(image, [(0, 0, 1, 1)])


def test_a_part_is_cut_out_and_one_pixel_of_four_kept() -> None:
    part = pixels(cut(stored(), (1, 2, 5, 6), 2))
    assert len(part) == 4
    for (x, y), found in part.items():
        assert found in {pixel(1 + 2 * x + dx, 2 + 2 * y + dy) for dx in (0, 1) for dy in (0, 1)}


def test_of_what_lies_outside_there_is_no_part() -> None:
    with pytest.raises(NotPaintable, match="nothing of it is left"):
        cut(stored(), (WIDTH, 0, WIDTH + 3, 2))
    with pytest.raises(NotPaintable, match="nothing of it is left"):
        cut(stored(), (0, HEIGHT, 2, HEIGHT + 2))


def test_a_frame_lies_around_its_box_and_not_on_it() -> None:
    found = pixels(outlined(stored(), (2, 2, 3, 3), (9, 8, 7), 1))
    frame = {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)} - {(2, 2)}
    for place, colour in found.items():
        assert colour == ((9, 8, 7) if place in frame else pixel(*place)), place


def test_a_tall_picture_is_parted_between_its_lines_and_a_wide_one_is_made_narrow() -> None:
    picture, written = Image.new("RGB", (400, 1000), "#fff"), BytesIO()
    for top in range(0, 1000, 30):  # lines of letters with a gap of ten rows
        for x in range(0, 400, 4):
            picture.paste("#000", (x, top, x + 2, top + 20))
    picture.save(written, "PNG")
    slices = sliced(written.getvalue(), 400, 300)
    assert [size_of(each)[0] for each in slices] == [400] * 4
    heights = [size_of(each)[1] for each in slices]
    assert sum(heights) == 1000
    assert max(heights) <= 300
    cuts = [sum(heights[:count]) % 30 for count in range(4)]
    assert all(cut == 0 or cut >= 20 for cut in cuts), "no line is cut"
    assert [size_of(each) for each in sliced(written.getvalue(), 100, 300)] == [(100, 250)]
    with pytest.raises(NotPaintable):
        sliced(b"no picture", 100, 100)
