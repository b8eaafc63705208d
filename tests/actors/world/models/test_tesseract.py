"""Tesseract reads pictures as an adapter of its own: what it is asked, and every way to fail."""

from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFont

from rutter.actors.world.models.messages import ModelFailed
from rutter.actors.world.models.tesseract import TesseractReader, lacking
from rutter.events.advisor import TokenUsage
from tests.support.tesseract import needed

pytestmark = pytest.mark.anyio
LONG_MS = 60_000
FEES = [("Plan", "Boats", "Monthly"), ("Sloop", "3", "$29"), ("Ketch", "8", "$55")]


def drawn(*, ruled: bool = True, ink: str = "#111", ground: str = "#fff") -> bytes:
    """A heading and a table below it."""
    picture = Image.new("RGB", (900, 260), ground)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(18)
    pen.text((40, 30), "Choose a plan for your boat", ink, font)
    for row, cells in enumerate(FEES):
        for column, cell in enumerate(cells):
            left, top = 40 + column * 220, 90 + row * 44
            if ruled:
                pen.rectangle((left, top, left + 220, top + 44), outline="#888")
            pen.text((left + 12, top + 11), cell, ink, font)
    written = BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


TABLE = "\n".join(" | ".join(row) for row in FEES)


@needed()
async def test_text_tables_and_layout_are_what_the_prompt_asks_for() -> None:
    reader = TesseractReader()
    said = [
        (await reader.vision((drawn(),), prompt, within_ms=LONG_MS)).text
        for prompt in (
            "Extract all visible text",
            "extract  pricing table.",
            "Describe the page layout and main content",
            "What does the Sloop cost?",
        )
    ]
    everything = f"Choose a plan for your boat\n\n{TABLE}"
    layout = "1. text, 1 line: Choose a plan for your boat\n2. table, 3 rows of 3: Plan | Boats"
    layout += " | Monthly"
    assert said == [everything, TABLE, layout, everything]


@needed()
async def test_light_on_dark_in_several_pictures_costs_nothing() -> None:
    dark = drawn(ruled=False, ink="#eee", ground="#101418")
    pictures = (dark, drawn())
    reply = await TesseractReader().vision(pictures, "Extract pricing table", within_ms=LONG_MS)
    assert reply.text == f"{TABLE}\n\n{TABLE}"
    assert (reply.model, reply.ending, reply.usage) == ("eng", "said", TokenUsage())


@needed()
async def test_every_way_to_fail_has_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(picture: bytes, *, language: str = "eng", within_ms: int = LONG_MS) -> str:
        with pytest.raises(ModelFailed) as caught:
            await TesseractReader(language).vision((picture,), "text", within_ms=within_ms)
        assert not caught.value.transient
        assert caught.value.message
        return caught.value.code

    assert await failing(b"no picture") == "invalid"
    assert await failing(drawn(), language="xyz") == "unavailable"
    assert await failing(drawn(), within_ms=1) == "timeout"
    assert lacking("eng+xyz").what == "tesseract cannot read 'xyz' here"
    assert "tesseract-ocr-xyz" in lacking("eng+xyz").fix
    assert not lacking("eng").what
    monkeypatch.setenv("PATH", "/nowhere")
    assert await failing(drawn()) == "unavailable"
    assert lacking("eng").what == "the program tesseract is not installed"
    assert "apt-get install tesseract-ocr" in lacking("eng").fix
