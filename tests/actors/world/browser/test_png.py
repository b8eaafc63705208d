"""Boxes are painted over a picture, however its rows are stored, and nothing else changes."""

import struct
import zlib

import pytest

from rutter.actors.world.browser.png import SIGNATURE, NotPaintable, cut, outlined, painted, size_of

WIDTH, HEIGHT = 5, 6


def pixel(x: int, y: int, channels: int) -> bytes:
    return bytes((37 * x + 11 * y + 80 * channel + 200) & 0xFF for channel in range(channels))


def predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 4:
        guess = left + above - corner
        return min((left, above, corner), key=lambda each: abs(guess - each))
    return (0, left, above, (left + above) // 2)[kind]


def stored(kind: int, channels: int) -> bytes:
    """The picture with all its rows stored in one way."""
    rows = [b"".join(pixel(x, y, channels) for x in range(WIDTH)) for y in range(HEIGHT)]
    raw = b""
    for y, row in enumerate(rows):
        above = rows[y - 1] if y else bytes(len(row))
        raw += bytes([kind])
        for at, byte in enumerate(row):
            left = row[at - channels] if at >= channels else 0
            corner = above[at - channels] if at >= channels else 0
            raw += bytes([(byte - predicted(kind, left, above[at], corner)) & 0xFF])
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, colour, 0, 0, 0)
    parts = ((b"IHDR", header), (b"tEXt", b"Title\0secret"), (b"IDAT", zlib.compress(raw)))
    return SIGNATURE + b"".join(map(chunk, (*parts, (b"IEND", b""))))


def chunk(part: tuple[bytes, bytes]) -> bytes:
    kind, body = part
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def pixels(image: bytes, channels: int) -> dict[tuple[int, int], bytes]:
    """Of a picture whose rows are differences to those above."""
    at = image.index(b"IDAT")
    (size,) = struct.unpack(">I", image[at - 4 : at])
    raw = zlib.decompress(image[at + 4 : at + 4 + size])
    found, above = {}, bytes(WIDTH * channels)
    for y in range(HEIGHT):
        line = raw[y * (WIDTH * channels + 1) :][: WIDTH * channels + 1]
        assert line[0] == 2
        above = bytes((a + b) & 0xFF for a, b in zip(line[1:], above, strict=True))
        for x in range(WIDTH):
            found[x, y] = above[x * channels : (x + 1) * channels]
    return found


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4])
def test_what_is_in_a_box_is_black_and_all_else_as_it_was(kind: int, channels: int) -> None:
    image = painted(stored(kind, channels), [(1, 2, 3, 4), (-9, 5, 1, 99), (4, 0, 4, 6)])
    assert size_of(image) == (WIDTH, HEIGHT)
    assert b"secret" not in image
    black = bytes(channels - 1) + b"\xff" if channels in (2, 4) else bytes(channels)
    covered = {(x, y) for x in (1, 2) for y in (2, 3)} | {(0, 5)}
    for (x, y), found in pixels(image, channels).items():
        assert found == (black if (x, y) in covered else pixel(x, y, channels))


@pytest.mark.parametrize(
    "image",
    [
        b"",
        b"GIF89a" + bytes(30),
        SIGNATURE + bytes(30),
        stored(0, 3).replace(b"\x08\x02\0\0\0", b"\x10\x02\0\0\0"),  # sixteen bits
        stored(0, 3).replace(b"\x08\x02\0\0\0", b"\x08\x02\0\0\x01"),  # interlaced
        stored(0, 3).replace(b"\x08\x02\0\0\0", b"\x08\x06\0\0\0"),  # not so many bytes
    ],
)
def test_another_kind_of_picture_is_refused(image: bytes) -> None:
    with pytest.raises(NotPaintable):
        painted(image, [(0, 0, 1, 1)])


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_part_is_cut_out_and_every_second_pixel_of_it_kept(channels: int) -> None:
    part = cut(stored(1, channels), (1, 2, 5, 6), 2)
    assert size_of(part) == (2, 2)
    again = cut(painted(part, []), (0, 0, 9, 9))
    raw = zlib.decompress(again[again.index(b"IDAT") + 4 : again.rindex(b"IEND") - 8])
    assert raw[1 : 1 + channels] == pixel(1, 2, channels)
    assert raw[1 + channels : 1 + 2 * channels] == pixel(3, 2, channels)


def test_of_what_lies_outside_there_is_no_part() -> None:
    with pytest.raises(NotPaintable, match="nothing of it is left"):
        cut(stored(0, 3), (WIDTH, 0, WIDTH + 3, 2))
    with pytest.raises(NotPaintable, match="nothing of it is left"):
        cut(stored(0, 3), (0, HEIGHT, 2, HEIGHT + 2))


def test_a_frame_lies_around_its_box_and_not_on_it() -> None:
    found = pixels(outlined(stored(2, 3), (2, 2, 3, 3), (9, 8, 7), 1), 3)
    frame = {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)} - {(2, 2)}
    for place, colour in found.items():
        assert colour == (b"\x09\x08\x07" if place in frame else pixel(*place, 3)), place
