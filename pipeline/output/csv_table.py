"""A table is written as CSV (RFC 4180): UTF-8, lines that end in CRLF, quotes where they are
needed.

A spreadsheet takes a cell that begins with `=` for something to compute, and computing may reach
the network or start a program. What a page said must not: such a cell gets an apostrophe before
it, which spreadsheets read as "this is text". Plain numbers are left as they are.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

# What begins a formula in one spreadsheet or another; wide forms of the same, which some fold; and
# blanks and controls that are skipped before it.
_FORMULA = re.compile("[\\s\x00-\x1f\ufeff]*[=+\\-@|%\uff1d\uff0b\uff0d\uff20\u2212]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,' ][0-9]+)*(?:[eE][+-]?[0-9]{1,3})?\s?%?")


def guarded(cell: str) -> str:
    """The cell as no spreadsheet computes it."""
    if not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def as_csv(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    separator: str = ",",
    guard: bool = True,
) -> str:
    """A header and its rows. `guard`: no cell is a formula, the header's neither."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    for row in (columns, *rows):
        writer.writerow([guarded(cell) if guard else cell for cell in row])
    return out.getvalue()
