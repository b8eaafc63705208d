"""A ratio is what two commits are compared by: it is read from the tables that a bench prints.

The printed text is read, not a format of its own: every commit prints it, also those from before
the comparison was there, and so do the parts of a bench that run in processes of their own.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

Ratios = Mapping[str, float]

TENTH = 0.1
# Printed are two places: ratios that are equal can look a hundredth apart. Above it, for floats.
ROUNDED = 0.015
_LINE_OF_DASHES = re.compile(r"  -+(  -+)*")
_FIGURE = re.compile(r"-?[\d,]+(\.\d+)?")


class Table(NamedTuple):
    """A table is what `print_table` was given, as text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Spread(NamedTuple):
    """A spread is the same ratio in every round of one tree."""

    median: float
    least: float
    most: float

    @property
    def width(self) -> float:
        return self.most - self.least

    def __str__(self) -> str:
        return f"{self.least:,.2f}..{self.most:,.2f}"


class Comparison(NamedTuple):
    name: str
    before: Spread
    after: Spread

    @property
    def change(self) -> float:
        return self.after.median / self.before.median if self.before.median else 1.0

    @property
    def moved(self) -> bool:
        """By more than the rounds of either tree differ among themselves, and by more than a tenth:
        less is found between two runs of one tree as well."""
        gap = abs(self.after.median - self.before.median)
        noise = max(self.before.width, self.after.width, TENTH * self.before.median, ROUNDED)
        return gap > noise


def spread_of(figures: Sequence[float]) -> Spread:
    return Spread(median(figures), min(figures), max(figures))


def spreads_of(rounds: Sequence[Ratios]) -> dict[str, Spread]:
    """Of each ratio that any round has, in the order of the table."""
    names = dict.fromkeys(name for each in rounds for name in each)
    return {name: spread_of([each[name] for each in rounds if name in each]) for name in names}


def compare(before: Mapping[str, Spread], after: Mapping[str, Spread]) -> list[Comparison]:
    """What only one of the trees measures cannot be compared, and is left out."""
    return [Comparison(name, before[name], after[name]) for name in after if name in before]


def ratios_in(printed: str) -> dict[str, float]:
    """By names that are the same in every run of a bench."""
    found: dict[str, float] = {}
    for table in tables_in(printed):
        for name, ratio in _ratios_of(table):
            found[name if name not in found else f"{name} [{_without_figures(table.title)}]"] = (
                ratio
            )
    return found


def tables_in(printed: str) -> Iterator[Table]:
    lines = printed.splitlines()
    for at, line in enumerate(lines):
        if at < 2 or not _LINE_OF_DASHES.fullmatch(line):
            continue
        columns = [dashes.span() for dashes in re.finditer("-+", line)]
        heads, *rows = [
            [row[begin:end].strip() for begin, end in columns]
            for row in (lines[at - 1], *_rows_below(lines[at + 1 :], columns))
        ]
        yield Table(lines[at - 2].strip(), heads, rows)


def _rows_below(lines: Sequence[str], columns: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Up to what is printed below a table: it does not leave free what is between the columns."""
    gaps = [(0, 2), *((end, end + 2) for _, end in columns)]
    for line in lines:
        if not line.strip() or any(line[begin:end].strip() for begin, end in gaps):
            return
        yield line


def _ratios_of(table: Table) -> Iterator[tuple[str, float]]:
    columns = [at for at, head in enumerate(table.columns) if head == "ratio"]
    for name, row in zip(_names_of(table), table.rows, strict=True):
        for at in columns:
            to = f", to {table.columns[at - 1]}" if len(columns) > 1 else ""
            if _FIGURE.fullmatch(row[at]):
                yield name + to, float(row[at].replace(",", ""))


def _names_of(table: Table) -> Iterator[str]:
    """A row's first cell, and what tells it from others where that does not."""
    times = Counter(row[0] for row in table.rows)
    above = ""
    for first, *others in table.rows:
        if not first:
            words = [cell for cell in others if cell and not _FIGURE.fullmatch(cell)]
            yield ", ".join([above, *words])
            continue
        above = f"{table.columns[0]} {first}" if _FIGURE.fullmatch(first) else first
        yield above if times[first] == 1 else f"{above}, {table.columns[1]} {others[0]}"


def _without_figures(title: str) -> str:
    return re.sub(r"[\d,.]*\d", "N", title.partition(" (")[0])
