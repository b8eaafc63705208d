"""Words with boxes become text in reading order: no picture, and nobody who reads one."""

from rutter.actors.world.ocr.page_text import TableBlock, blocks_of, layout_of
from rutter.actors.world.ocr.word_boxes import Word
from rutter.actors.world.ocr.zones import LONGEST, zones_of
from tests.support.case_table import for_each

HIGH, WIDE = 12, 8  # of a letter


def line(text: str, left: float, top: float, *, sure: float = 95, high: float = HIGH) -> list[Word]:
    """The words of a line, a usual space apart."""
    words = []
    for text_of in text.split():
        right = left + WIDE * len(text_of)
        words.append(Word(text_of, left, top, right, top + high, sure))
        left = right + 5
    return words


def lines(texts: list[str], left: float, top: float, *, every: float = 20) -> list[Word]:
    return [word for at, text in enumerate(texts) for word in line(text, left, top + at * every)]


def table(rows: list[str], lefts: list[float], top: float) -> list[Word]:
    return [
        word
        for at, row in enumerate(rows)
        for cell, left in zip(row.split("|"), lefts, strict=True)
        for word in line(cell, left, top + at * 30)
    ]


TEXT = "the boats come in at seven in the morning"
LEFT, RIGHT = [f"left {n} {TEXT}" for n in range(4)], [f"right {n} {TEXT}" for n in range(3)]
FEES = ["Length|Summer|Winter", "6 m|14.50|9.00", "8 m|18.00|11.50"]


def text_of(words: list[Word]) -> str:
    return "\n\n".join(map(str, blocks_of(words)))


def test_columns_are_read_one_after_the_other_whether_or_not_their_lines_are_level() -> None:
    for shift in (0, 7, 10):
        words = [*lines(LEFT, 40, 100), *lines(RIGHT, 600, 100 + shift)]
        assert text_of(words).replace("\n\n", "\n") == "\n".join([*LEFT, *RIGHT])


def test_a_table_is_read_row_by_row_and_what_stands_around_it_is_no_row_of_it() -> None:
    words = [
        *line("Fees", 40, 20, high=20),
        *lines(LEFT, 40, 60),
        *lines(RIGHT, 600, 60),
        *table(FEES, [40, 300, 500], 180),
        *lines([TEXT + " and so on and on and on"], 40, 300),
    ]
    blocks = blocks_of(words)
    assert [isinstance(each, TableBlock) for each in blocks] == [False, False, False, True, False]
    assert str(blocks[3]) == "\n".join(row.replace("|", " | ") for row in FEES)
    assert layout_of(blocks).splitlines()[3] == "4. table, 3 rows of 3: Length | Summer | Winter"


def test_a_menu_beside_a_text_is_not_read_into_it() -> None:
    menu = ["Tickets", "Weather", "Lost property"]
    words = [*lines(menu, 40, 100, every=39), *lines(LEFT, 300, 112, every=27)]
    assert text_of(words).replace("\n\n", "\n") == "\n".join([*menu, *LEFT])


def test_cards_are_read_one_by_one_though_their_lines_are_level() -> None:
    cards = ["Sloop|Ketch|Yawl", "$12 a month|$29 a month|$55 a month", "One boat|Three boats|Ten"]
    told = text_of(table(cards, [40, 400, 800], 100)).split("\n\n")
    assert told[:2] == ["Sloop\n$12 a month\nOne boat", "Ketch\n$29 a month\nThree boats"]


def test_a_head_that_stands_left_of_its_numbers_is_a_head_of_their_column() -> None:
    words = [
        *line("Length", 40, 100),
        *line("Summer", 300, 100),
        *[word for at in (1, 2) for word in line(f"{at} m", 40, 100 + 30 * at)],
        *[word for at in (1, 2) for word in line(f"{at}.50", 400, 100 + 30 * at)],
    ]
    assert text_of(words) == "Length | Summer\n1 m | 1.50\n2 m | 2.50"


@for_each("sure, said", [(79, "BS [unsure]"), (80, "BS")])
def test_a_cell_that_is_not_sure_is_marked(sure: float, said: str) -> None:
    words = [*table(FEES, [40, 300, 500], 0), *line("9 m", 40, 90), *line("BS", 300, 90, sure=sure)]
    assert text_of([*words, *line("7.00", 500, 90)]).splitlines()[-1] == f"9 m | {said} | 7.00"


def test_a_long_page_is_read_in_order_and_nothing_is_nothing() -> None:
    assert (zones_of([]), blocks_of([])) == ([], [])
    many = [f"{n} {TEXT}" for n in range(LONGEST + 9)]
    assert text_of(lines(many, 40, 0)).replace("\n\n", "\n") == "\n".join(many)
