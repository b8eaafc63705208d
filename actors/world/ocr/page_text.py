"""The text of a picture is told in reading order: lines, columns one by one, tables row by row."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from rutter.actors.world.ocr.word_boxes import Word
from rutter.actors.world.ocr.zones import Piece, Row, Zone, zones_of

UNSURE = 80  # of 100: a cell with a word below it is marked (notes of the prototype, one case)
MARK = " [unsure]"
LIKE_TEXT = 5  # words of a line, in the middle of all: no cell of a table is like that
IN_LINE = 0.6  # of what stands in the other columns, beside something in the first
LEVEL = 0.4  # of a line's height: what is no further off stands beside it
TALLER = 1.25
NUMBER = re.compile(r"^[^\w]*[$€£¥]?\s*[-+]?\d")


class Cell(NamedTuple):
    text: str
    sure: bool = True

    def __str__(self) -> str:
        return self.text if self.sure else f"{self.text}{MARK}"


class TextBlock(NamedTuple):
    """A block of text has lines, one below the other."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class TableBlock(NamedTuple):
    """A table has rows of as many cells."""

    rows: tuple[tuple[Cell, ...], ...]

    def __str__(self) -> str:
        return "\n".join(" | ".join(map(str, row)) for row in self.rows)


ReadBlock = TextBlock | TableBlock


def blocks_of(words: Sequence[Word]) -> list[ReadBlock]:
    return [block for zone in zones_of(words) for block in _blocks(zone)]


def layout_of(blocks: Sequence[ReadBlock]) -> str:
    """One line for each part of the page, from top to bottom, with how it begins."""
    return "\n".join(f"{place}. {_part(block)}" for place, block in enumerate(blocks, 1))


def _part(block: ReadBlock) -> str:
    if isinstance(block, TableBlock):
        rows, columns = len(block.rows), len(block.rows[0])
        return f"table, {rows} rows of {columns}: {' | '.join(map(str, block.rows[0]))}"
    many = len(block.lines)
    return f"text, {many} line{'' if many == 1 else 's'}: {block.lines[0]}"


def _blocks(zone: Zone) -> Iterator[ReadBlock]:
    if not zone.gutters:
        yield from _paragraphs([piece for row in zone.rows for piece in row])
        return
    above, rows, below = _parted(zone)
    zone = Zone(rows, zone.gutters)
    if above:
        yield from _paragraphs(above)
    columns = _columns(zone)
    if _shape(columns) == "table":
        yield TableBlock(tuple(_cells(row, _edges(zone)) for row in rows))
    else:
        for column in columns:
            yield from _paragraphs(column)
    if below:
        yield from _paragraphs(below)


def _parted(zone: Zone) -> tuple[list[Piece], tuple[Row, ...], list[Piece]]:
    """What stands in the first column alone, above and below the others: a heading, a note. The
    longest of several columns goes on alone, too, but not behind a gap."""
    rows, edges = zone.rows, _edges(zone)
    alone = [all(not _column_of(piece, edges) for piece in row) for row in rows]
    first = alone.index(False)
    last = len(rows) - alone[::-1].index(False)
    column = [[piece for piece in row if not _column_of(piece, edges)] for row in rows]
    while last < len(rows) and _goes_on([row for row in column[first : last + 1] if row]):
        last += 1
    above = [piece for row in rows[:first] for piece in row]
    return above, tuple(rows[first:last]), [piece for row in rows[last:] for piece in row]


def _goes_on(rows: Sequence[Sequence[Piece]]) -> bool:
    """Whether the last of them is no further from the one above it than those are elsewhere."""
    *gaps, last = [_gap(above, below) for above, below in pairwise(rows)] or [0.0]
    return not gaps or last <= max(1.3 * max(gaps), max(gaps) + 2)


# -- lines -----------------------------------------------------------------------------------------


def _paragraphs(pieces: Sequence[Piece]) -> Iterator[TextBlock]:
    """Lines, with a new block behind each wide gap."""
    lines = _lines(pieces)
    gaps = [_gap(above, below) for above, below in pairwise(lines)]
    usual = min(gaps, default=0.0)
    block = [_line_text(lines[0])]
    for line, gap in zip(lines[1:], gaps, strict=True):
        if gap > usual + 0.5 * (line[0].bottom - line[0].top):
            yield TextBlock(tuple(block))
            block = []
        block.append(_line_text(line))
    yield TextBlock(tuple(block))


def _lines(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces by the lines that they stand on."""
    lines: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda each: each.middle):
        for line in reversed(lines[-4:]):
            if _level(line[0], piece):
                line.append(piece)
                break
        else:
            lines.append([piece])
    return [sorted(line, key=lambda each: each.left) for line in lines]


def _level(one: Piece, other: Piece) -> bool:
    high = max(one.bottom - one.top, other.bottom - other.top)
    return abs(one.middle - other.middle) <= LEVEL * high


def _line_text(line: Sequence[Piece]) -> str:
    return "  ".join(piece.text for piece in line)


def _gap(above: Sequence[Piece], below: Sequence[Piece]) -> float:
    return min(each.top for each in below) - max(each.bottom for each in above)


# -- what a zone with gutters is -------------------------------------------------------------------


def _columns(zone: Zone) -> list[list[Piece]]:
    edges = _edges(zone)
    columns: list[list[Piece]] = [[] for _ in range(len(edges) + 1)]
    for row in zone.rows:
        for piece in row:
            columns[_column_of(piece, edges)].append(piece)
    return [column for column in columns if column]


def _edges(zone: Zone) -> list[float]:
    return [gutter[1] for gutter in zone.gutters]


def _column_of(piece: Piece, edges: Sequence[float]) -> int:
    return sum(piece.left >= edge for edge in edges)


def _shape(columns: Sequence[Sequence[Piece]]) -> Literal["columns", "table"]:
    """Lines of text stand in columns; so do cards, whose rows are each of one kind. Cells of a
    table stand beside those of its longest column, and each column is of one kind."""
    like_text = [median(len(each.words) for each in column) >= LIKE_TEXT for column in columns]
    if sum(like_text) > 1 or not _in_line(columns):
        return "columns"
    return "columns" if _are_cards(columns) else "table"


def _in_line(columns: Sequence[Sequence[Piece]]) -> bool:
    longest = max(columns, key=len)
    others = [piece for column in columns if column is not longest for piece in column]
    beside = sum(any(_level(piece, each) for each in longest) for piece in others)
    return beside >= IN_LINE * len(others)


def _are_cards(columns: Sequence[Sequence[Piece]]) -> bool:
    if len({len(column) for column in columns}) > 1 or len(columns[0]) < 3:
        return False
    kinds = [[_is_number(piece) for piece in column] for column in columns]
    by_row = _of_one_kind(list(zip(*kinds, strict=True))[1:])
    by_column = _of_one_kind([column[1:] for column in kinds])
    heads, rest = ([column[0] for column in columns], [p for c in columns for p in c[1:]])
    taller = median(map(_high, heads)) >= TALLER * median(map(_high, rest))
    return by_row > by_column or (by_row == by_column and taller)


def _of_one_kind(groups: Sequence[Sequence[bool]]) -> float:
    alike = sum(max(sum(group), len(group) - sum(group)) for group in groups)
    return alike / sum(map(len, groups))


def _is_number(piece: Piece) -> bool:
    return NUMBER.match(piece.text) is not None


def _high(piece: Piece) -> float:
    return max(word.height for word in piece.words)


# -- tables ----------------------------------------------------------------------------------------


def _cells(row: Row, edges: Sequence[float]) -> tuple[Cell, ...]:
    """Lines of one cell are told one after the other."""
    cells: list[list[Piece]] = [[] for _ in range(len(edges) + 1)]
    for piece in sorted(row, key=lambda each: (each.top, each.left)):
        cells[_column_of(piece, edges)].append(piece)
    return tuple(_cell(pieces) for pieces in cells)


def _cell(pieces: Sequence[Piece]) -> Cell:
    words = [word for piece in pieces for word in piece.words]
    return Cell(" ".join(word.text for word in words), all(word.sure >= UNSURE for word in words))
