"""A word box says where in a picture a word stands; Tesseract finds them, on this machine.

A picture of a page is small print on any ground: it is made grey, dark on light, and twice as
large. The order in which Tesseract tells words is not used: it loses columns or tables, whichever
of its ways is taken.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from io import BytesIO
from itertools import pairwise
from typing import Any, NamedTuple

from PIL import Image, ImageOps, ImageStat

from rutter.actors.world.ocr.ruled_lines import without_rules

PROGRAM = "tesseract"
# Its neural engine alone, and one column of text of any size: of its ways this one drops least.
HOW = "--oem 1 --psm 4"
DARK = 110  # of 255, on average: light letters on a dark ground
LARGER = 2
SIGN_SURE = 60  # of 100: what has no letter and no digit is an icon or a rule below that
_END_OF_NUMBER = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
WIDE = 0.24  # of a word's height: so wide is no gap between two letters
WIDER = 1.4  # than any other gap of the word


class Word(NamedTuple):
    """A word stands in this box, in pixels of the picture; it is so sure of it, of 100."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    sure: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


class NoReader(Exception):
    """Tesseract, or what calls it, is not on this machine; or it failed."""


def read_words(picture: bytes, language: str, *, within_s: float) -> list[Word]:
    """All words of a picture, in no order that counts. Raises `NoReader`, `TimeoutError`."""
    tesseract = _tesseract()
    with Image.open(BytesIO(picture), formats=("PNG",)) as opened:
        prepared = _prepared(opened)
    try:
        found = tesseract.image_to_data(
            prepared,
            lang=language,
            config=HOW,
            timeout=within_s,
            output_type=tesseract.Output.DICT,
        )
    except RuntimeError as error:  # what it raises when its time is up, and when it fails
        if "timeout" in str(error):
            raise TimeoutError from error
        raise NoReader(str(error)) from error
    return [part for word in _words(found) for part in _parted(word, prepared)]


def languages() -> list[str]:
    """What it can read here. Raises `NoReader`."""
    known = _tesseract().get_languages(config="")
    return sorted(each for each in known if each != "osd")


def _tesseract() -> Any:
    """What calls the program, with one thread: with more it takes four times the processor's time
    and, where others work too, longer."""
    if shutil.which(PROGRAM) is None:
        raise NoReader("the program tesseract is not installed")
    try:
        calls: Any = import_module("pytesseract.pytesseract")
    except ModuleNotFoundError as error:
        raise NoReader("the package pytesseract is not installed") from error
    calls.environ = {**calls.environ, "OMP_THREAD_LIMIT": "1"}
    return calls


def _prepared(picture: Image.Image) -> Image.Image:
    grey = picture.convert("L")
    if ImageStat.Stat(grey).mean[0] < DARK:
        grey = ImageOps.invert(grey)
    grey = without_rules(grey)
    size = (grey.width * LARGER, grey.height * LARGER)
    return grey.resize(size, Image.Resampling.LANCZOS)


def _words(found: Mapping[str, list[Any]]) -> Iterator[Word]:
    columns = (found[name] for name in ("text", "conf", "left", "top", "width", "height"))
    for text, sure, left, top, width, height in zip(*columns, strict=True):
        told = str(text).strip()
        says = any(each.isalnum() for each in told)
        if not told or not (says or float(sure) >= SIGN_SURE):
            continue
        box = [each / LARGER for each in (left, top, left + width, top + height)]
        yield Word(told, box[0], box[1], box[2], box[3], float(sure))


def _parted(word: Word, prepared: Image.Image) -> Iterator[Word]:
    """A number and what it counts are often told as one word: they are parted where as many gaps
    stand out by their width as there are ends of numbers in it."""
    ends = [found.start() for found in _END_OF_NUMBER.finditer(word.text)]
    inked = _inked(word, prepared) if ends else []
    gaps = [(one[1], other[0]) for one, other in pairwise(inked)]
    widest = sorted(gaps, key=lambda gap: gap[0] - gap[1])
    least = max(2.0, WIDE * word.height, *(WIDER * (b - a) for a, b in widest[len(ends) :]))
    gaps = [gap for gap in gaps if gap[1] - gap[0] > least]
    if not ends or len(gaps) != len(ends):
        yield word
        return
    begins, stops = [0, *ends], [*ends, len(word.text)]
    lefts = [word.left, *(gap[1] for gap in gaps)]
    rights = [*(gap[0] for gap in gaps), word.right]
    for begin, stop, left, right in zip(begins, stops, lefts, rights, strict=True):
        yield word._replace(text=word.text[begin:stop], left=left, right=right)


def _inked(word: Word, prepared: Image.Image) -> list[tuple[float, float]]:
    """From where to where there is ink in its box, from left to right."""
    left, top, right, bottom = (
        round(each * LARGER) for each in (word.left, word.top, word.right, word.bottom)
    )
    part = prepared.crop((left, top, right, bottom))
    levels = part.histogram()
    dark = next(level for level, many in enumerate(levels) if many)
    light = 255 - next(level for level, many in enumerate(reversed(levels)) if many)
    ink = part.point(lambda value: 255 if value < (dark + light) // 2 else 0)
    across = ink.transpose(Image.Transpose.TRANSPOSE)
    pixels, high = across.tobytes(), across.width
    columns = bytes(any(pixels[at : at + high]) for at in range(0, len(pixels), high))
    return [
        (word.left + found.start() / LARGER, word.left + found.end() / LARGER)
        for found in re.finditer(rb"\x01+", columns)
    ]
