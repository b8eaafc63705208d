"""Painting boxes over a PNG, and cutting a part out of one, with nothing but the standard library.

Only for what Chromium sends: eight bits a channel, no interlacing. Rows that are stored as a
difference to the one above, as they are when speed was asked for, are added as one large number.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
UP = b"\x02"
BLACK = (0, 0, 0)
Box = tuple[int, int, int, int]  # left, top, right, bottom


class NotPaintable(Exception):
    """A picture of another kind than is known here."""


def size_of(image: bytes) -> tuple[int, int]:
    """Its width and height in pixels."""
    if not image.startswith(SIGNATURE) or len(image) < 24:
        raise NotPaintable("it is no PNG")
    width, height = struct.unpack(">II", image[16:24])
    return width, height


def painted(image: bytes, boxes: Iterable[Box], colour: tuple[int, int, int] = BLACK) -> bytes:
    """The same picture with these boxes in one colour. Nothing of what was there is kept."""
    opened = _open(image)
    channels = opened.channels
    grey = channels < 3
    paint = bytes((sum(colour) // 3,) if grey else colour) + b"\xff" * (channels in (2, 4))
    for left, top, right, bottom in boxes:
        start, end = max(0, left), min(opened.width, right)
        for y in range(max(0, top), min(len(opened.rows), bottom) if end > start else 0):
            opened.rows[y][start * channels : end * channels] = paint * (end - start)
    return _written(opened)


def outlined(image: bytes, box: Box, colour: tuple[int, int, int], thick: int = 2) -> bytes:
    """The same picture with a frame around a box."""
    left, top, right, bottom = box
    edges = (
        (left - thick, top - thick, right + thick, top),
        (left - thick, bottom, right + thick, bottom + thick),
        (left - thick, top, left, bottom),
        (right, top, right + thick, bottom),
    )
    return painted(image, edges, colour)


def cut(image: bytes, box: Box, every: int = 1) -> bytes:
    """What lies in the box, and of that one pixel of so many across and down."""
    opened = _open(image)
    left, top, right, bottom = box
    left, right = max(0, left), min(opened.width, right)
    channels = opened.channels
    rows = []
    for row in opened.rows[max(0, top) : max(0, bottom) : every]:
        part = row[left * channels : right * channels]
        kept = bytearray(len(range(0, right - left, every)) * channels)
        for channel in range(channels):
            kept[channel::channels] = part[channel :: channels * every]
        rows.append(kept)
    width = len(range(0, right - left, every))
    if not rows or width < 1:
        raise NotPaintable("nothing of it is left")
    header = struct.pack(">II", width, len(rows)) + opened.header[8:]
    return _written(_Opened(header, width, channels, rows))


class _Opened(NamedTuple):
    header: bytes
    width: int
    channels: int
    rows: list[bytearray]


def _open(image: bytes) -> _Opened:
    chunks = list(_chunks(image))
    header = next((body for kind, body in chunks if kind == b"IHDR"), b"")
    if len(header) != 13 or header[8] != 8 or header[12] or header[9] not in CHANNELS:
        raise NotPaintable("it is not of eight bits a channel")
    width, height = struct.unpack(">II", header[:8])
    channels = CHANNELS[header[9]]
    stored = b"".join(body for kind, body in chunks if kind == b"IDAT")
    rows = _rows(zlib.decompress(stored), width * channels, height, channels)
    return _Opened(header, width, channels, rows)


def _written(opened: _Opened) -> bytes:
    parts = ((b"IHDR", opened.header), (b"IDAT", _stored(opened.rows)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in parts)


def _chunks(image: bytes) -> Iterator[tuple[bytes, bytes]]:
    size_of(image)
    at = len(SIGNATURE)
    while at + 12 <= len(image):
        (size,) = struct.unpack(">I", image[at : at + 4])
        yield image[at + 4 : at + 8], image[at + 8 : at + 8 + size]
        at += 12 + size


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _rows(raw: bytes, size: int, height: int, channels: int) -> list[bytearray]:
    if len(raw) != (size + 1) * height:
        raise NotPaintable("it is not as large as it says")
    rows: list[bytearray] = []
    above = bytearray(size)
    for at in range(0, len(raw), size + 1):
        above = _row(raw[at], raw[at + 1 : at + 1 + size], above, channels)
        rows.append(above)
    return rows


def _row(filtered: int, row: bytes, above: bytearray, channels: int) -> bytearray:
    match filtered:
        case 0:
            return bytearray(row)
        case 1:
            return _across(row, channels)
        case 2:
            return bytearray(_added(row, bytes(above)))
        case 3 | 4:
            return _one_by_one(filtered, row, above, channels)
        case _:
            raise NotPaintable("a row of it is stored in an unknown way")


def _added(first: bytes, second: bytes) -> bytes:
    """Byte by byte, each without its carry: seven bits are added, the eighth is put back."""
    size = len(first)
    low, high = int.from_bytes(b"\x7f" * size), int.from_bytes(b"\x80" * size)
    a, b = int.from_bytes(first), int.from_bytes(second)
    return (((a & low) + (b & low)) ^ ((a ^ b) & high)).to_bytes(size)


def _across(row: bytes, channels: int) -> bytearray:
    found = bytearray(len(row))
    for channel in range(channels):
        sums = accumulate(row[channel::channels])
        found[channel::channels] = bytes(each & 0xFF for each in sums)
    return found


def _one_by_one(filtered: int, row: bytes, above: bytearray, channels: int) -> bytearray:
    found = bytearray(len(row))
    for at, byte in enumerate(row):
        left = found[at - channels] if at >= channels else 0
        corner = above[at - channels] if at >= channels else 0
        guess = (left + above[at]) // 2 if filtered == 3 else _nearest(left, above[at], corner)
        found[at] = (byte + guess) & 0xFF
    return found


def _nearest(left: int, above: int, corner: int) -> int:
    """The standard's predictor by Paeth."""
    guess = left + above - corner
    ranked = (abs(guess - left), left), (abs(guess - above), above), (abs(guess - corner), corner)
    return min(ranked, key=lambda each: each[0])[1]


def _stored(rows: list[bytearray]) -> bytes:
    first = [UP + bytes(rows[0])] if rows else []
    return zlib.compress(
        b"".join([*first, *(UP + _taken(bytes(b), bytes(a)) for a, b in pairwise(rows))])
    )


def _taken(row: bytes, above: bytes) -> bytes:
    """The difference, byte by byte: what is taken away is added as its complement."""
    inverse = above.translate(_NEGATIVE)
    return _added(row, inverse)


_NEGATIVE = bytes(-byte & 0xFF for byte in range(256))
