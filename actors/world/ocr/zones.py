"""A zone is a stretch of a page whose rows have the same gutters: text, columns, or a table.

Words are joined to pieces of a line, pieces that lie beside each other to rows, and rows to zones,
by the cut of the page that has the most use of its gutters. So a table below two columns of text is
not taken for their end, and a menu beside a text is not read into it.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from rutter.actors.world.ocr.word_boxes import Word

SPACE = 1.3  # of the height of words: what is further apart are two pieces
ZONE_COSTS = 1.5  # rows with a gutter: as many more must be gained for one more zone
GAP = 2.6  # of the height of words: to go on over a wider gap costs as well
GAP_COSTS = 1.0
LONGEST = 150  # rows of one zone
Span = tuple[float, float]
EDGE: tuple[Span, ...] = ((float("-inf"), float("inf")),)


class Piece(NamedTuple):
    """A piece of a line is words with no more than a space between them."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @property
    def top(self) -> float:
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return max(word.bottom for word in self.words)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


Row = tuple[Piece, ...]


class Zone(NamedTuple):
    """A zone has rows, and what lies free between its columns in all of them."""

    rows: tuple[Row, ...]
    gutters: tuple[Span, ...] = ()


def zones_of(words: Sequence[Word]) -> list[Zone]:
    if not words:
        return []
    high = median(word.height for word in words)
    return _cut(_rows(_pieces(words, high)), high)


# -- pieces and rows -------------------------------------------------------------------------------


def _pieces(words: Sequence[Word], high: float) -> list[Piece]:
    """Words of a line stand at one height; a line may end anywhere, and another begin beside it."""
    pieces: list[list[Word]] = []
    for word in sorted(words, key=lambda each: (each.left, each.top)):
        ends = [piece for piece in pieces if _goes_on(piece[-1], word, high)]
        if ends:
            min(ends, key=lambda piece: abs(piece[-1].bottom - word.bottom)).append(word)
        else:
            pieces.append([word])
    return [Piece(tuple(piece)) for piece in pieces]


def _goes_on(last: Word, word: Word, high: float) -> bool:
    """Whether the word stands in the line of the last one, a space behind it."""
    near = max(high, min(last.height, word.height)) * SPACE
    shared = min(last.bottom, word.bottom) - max(last.top, word.top)
    beside = shared >= 0.45 * min(last.height, word.height)
    return beside and -high < word.left - last.right <= near


def _rows(pieces: Sequence[Piece]) -> list[Row]:
    """Pieces whose heights overlap, one after the other; a hanging letter is no overlap."""
    rows: list[list[Piece]] = []
    reach = float("-inf")
    for piece in sorted(pieces, key=lambda each: (each.top, each.left)):
        slack = 0.25 * (piece.bottom - piece.top)
        if rows and piece.top + slack < reach:
            rows[-1].append(piece)
            reach = max(reach, piece.bottom - slack)
        else:
            rows.append([piece])
            reach = piece.bottom - slack
    return [tuple(sorted(row, key=lambda each: each.left)) for row in rows]


# -- zones -----------------------------------------------------------------------------------------


def _cut(rows: Sequence[Row], high: float) -> list[Zone]:
    """The cut of the rows into zones that is worth most: `best[n]` is of the first n rows."""
    free = [_free(row, high) for row in rows]
    best: list[tuple[float, int, tuple[Span, ...]]] = [(0.0, 0, ())]
    for end in range(1, len(rows) + 1):
        found: list[tuple[float, int, tuple[Span, ...]]] = []
        gutters, cost = EDGE, ZONE_COSTS
        for begin in range(end - 1, max(-1, end - 1 - LONGEST), -1):
            gutters = _both(gutters, free[begin], high)
            if begin < end - 1:
                cost += GAP_COSTS * _is_gap(rows[begin], rows[begin + 1], high)
            inner, used = _inner(gutters, rows[begin:end])
            found.append((best[begin][0] + used - cost, begin, inner))
        # The longest of those that are worth the same.
        best.append(max(found, key=lambda each: (each[0], -each[1])))
    zones: list[Zone] = []
    end = len(rows)
    while end:
        _, begin, gutters = best[end]
        zones.append(Zone(tuple(rows[begin:end]), gutters))
        end = begin
    return zones[::-1]


def _free(row: Row, high: float) -> tuple[Span, ...]:
    """Where nothing of the row stands: what lies between its pieces, and beside it."""
    spans: list[Span] = []
    reach = float("-inf")
    for piece in row:
        if piece.left - reach > high:
            spans.append((reach, piece.left))
        reach = max(reach, piece.right)
    return (*spans, (reach, float("inf")))


def _both(some: Sequence[Span], others: Sequence[Span], high: float) -> tuple[Span, ...]:
    shared = ((max(one[0], other[0]), min(one[1], other[1])) for one in some for other in others)
    return tuple(span for span in shared if span[1] - span[0] > 0.8 * high)


def _inner(gutters: Sequence[Span], rows: Sequence[Row]) -> tuple[tuple[Span, ...], int]:
    """The gutters that part columns which stand beside each other, and how many pieces do, counted
    for each. A head that begins where the numbers below it do not, is no column of its own."""
    if len(gutters) == 2:  # what lies beside all of it, and nothing between
        return (), 0
    columns: list[list[int]] = [[] for _ in range(len(gutters) + 1)]
    for at, row in enumerate(rows):
        for piece in row:
            columns[_column(piece, gutters)].append(at)
    kept: list[Span] = []
    groups: list[list[int]] = []
    for place, here in enumerate(columns):
        if not groups or not here:
            groups = groups or [here]
        elif _beside(groups[-1], here):
            kept.append(gutters[place - 1])
            groups.append(here)
        else:
            groups[-1] = sorted(groups[-1] + here)
    return tuple(kept), sum(_beside(one, other) for one, other in pairwise(groups))


def _beside(one: Sequence[int], other: Sequence[int]) -> int:
    """How many pieces of two columns, told by their rows, stand beside each other; their lines need
    not be level."""
    if not one or not other:
        return 0
    first, last = max(one[0], other[0]), min(one[-1], other[-1])
    return min(sum(first <= at <= last for at in column) for column in (one, other))


def _column(piece: Piece, gutters: Sequence[Span]) -> int:
    return sum(piece.left >= gutter[1] for gutter in gutters)


def _is_gap(above: Row, below: Row, high: float) -> bool:
    gap = min(piece.top for piece in below) - max(piece.bottom for piece in above)
    return gap > GAP * high
