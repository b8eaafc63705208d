"""Ruled lines are taken out of a picture: where they box in a cell, its short words go unread."""

import re

from PIL import Image, ImageChops

THIN = 3  # pixels: a rule is no thicker
LONG = 40  # longer than any stroke of a letter, and than the row of a table is high
APART = 24  # of 255: how much a rule differs from what lies on both of its sides
_RUN = re.compile(rb"\xff{%d,}" % LONG)


def without_rules(grey: Image.Image) -> Image.Image:
    """The picture with what lies beside each thin long line drawn over it."""
    upright = grey.transpose(Image.Transpose.TRANSPOSE)
    without = _without_upright(upright).transpose(Image.Transpose.TRANSPOSE)
    return _without_upright(without)


def _without_upright(grey: Image.Image) -> Image.Image:
    """Without those that go from top to bottom. A row of the transposed picture is a column: runs
    in its bytes are found faster than by any loop over pixels."""
    left = ImageChops.offset(grey, THIN, 0)
    right = ImageChops.offset(grey, -THIN, 0)
    apart = ImageChops.darker(
        ImageChops.difference(grey, left), ImageChops.difference(grey, right)
    ).point(lambda value: 255 if value > APART else 0)
    columns = apart.transpose(Image.Transpose.TRANSPOSE)
    width, pixels = columns.width, columns.tobytes()
    runs = bytearray(len(pixels))
    for place in range(0, len(pixels), width):
        for found in _RUN.finditer(pixels, place, place + width):
            begin, end = found.span()
            runs[begin:end] = b"\xff" * (end - begin)
    if b"\xff" not in runs:
        return grey
    mask = Image.frombytes("L", columns.size, bytes(runs)).transpose(Image.Transpose.TRANSPOSE)
    without = grey.copy()
    without.paste(left, mask=mask)
    return without
