"""Ten pages in different fonts and themes are read in real Chromium, each once."""

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import NamedTuple

import pytest

from rutter.actors.world.browser.window import Window
from rutter.actors.world.ocr.page_text import MARK, TableBlock, blocks_of
from rutter.actors.world.ocr.word_boxes import read_words
from tests.support.pictured_pages import PAGES, PicturedPage
from tests.support.tesseract import needed

pytestmark = [pytest.mark.browser, pytest.mark.anyio, needed()]

LEAST = 0.95  # of the words, and of those in their order
SEEDED = ("fees", "mixed beside a menu")


class PageScore(NamedTuple):
    words: float
    ordered: float
    lost: list[str]
    unsure: int


async def score(window: Window, page: PicturedPage) -> PageScore:
    """Cells are compared without spaces; one that is marked may be wrong."""
    await window.tab.page.set_content(page.html)
    picture = await window.tab.screenshot(full_page=True, within_ms=20_000)
    blocks = blocks_of(read_words(picture, "eng", within_s=100))
    text = "\n".join(map(str, blocks)).replace(MARK, "").replace(" | ", " ")
    true, read = page.words, text.split()
    order = SequenceMatcher(None, true, read, autojunk=False).get_matching_blocks()
    tables = [each for each in blocks if isinstance(each, TableBlock)]
    cells = [cell for table in tables for row in table.rows for cell in row]
    lost = _bare(page.cells) - _bare(cell.text for cell in cells)
    unsure = sum(not cell.sure for cell in cells)
    return PageScore(
        sum((Counter(true) & Counter(read)).values()) / len(true),
        sum(block.size for block in order) / len(true),
        list(lost.elements()),
        unsure,
    )


def _bare(cells: Iterable[str]) -> Counter[str]:
    return Counter(cell.replace(" ", "") for cell in cells)


async def check(window: Window, pages: list[PicturedPage]) -> None:
    wrong = {}
    for page in pages:
        found = await score(window, page)
        print(f"{page.name}: {found}")
        if min(found.words, found.ordered) < LEAST or len(found.lost) > found.unsure:
            wrong[page.name] = found
    assert not wrong


async def test_a_table_and_a_mixed_page_are_read(window: Window) -> None:
    await check(window, [page for page in PAGES if page.name in SEEDED])


async def test_all_ten_pages_are_read(window: Window) -> None:
    await check(window, list(PAGES))
