"""A file of rows is read from bytes to a header and cells, or refused with what is wrong with it
and where.

UTF-8 with or without its mark, and UTF-16 with it; anything else is named by whoever has it. The
separator is a comma, a semicolon or a tab, as the header shows. Nothing is guessed in silence: a
row that does not fit the header is an error, not half a row.
"""

import codecs
import csv
import hashlib
import io
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from rutter.events.errors import BadInput

SEPARATORS = {",": ",", ";": ";", "tab": "\t", "\t": "\t", "comma": ",", "semicolon": ";"}
MAX_BYTES = 64 * 2**20  # what is read into memory at once
MAX_ROWS = 10_000  # a run each: more than anybody waits for
MAX_COLUMNS = 500
MAX_CELL = 10_000  # characters: no field of a form takes more, and every one of them is in the log
MARKS = (  # the longer first: one begins as the other does
    (codecs.BOM_UTF32_LE, ""),
    (codecs.BOM_UTF32_BE, ""),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAVE = "save it as UTF-8, or name what it is: --encoding windows-1252"


class BadRows(BadInput):
    """The file of rows cannot be used as it is; nothing was run."""


class Cells(msgspec.Struct, frozen=True):
    """Cells are one row of the file: with its number without the header, and its line."""

    number: int
    line: int
    cells: tuple[str, ...]

    def where(self, path: Path) -> str:
        return f"{path.name}: row {self.number} (line {self.line})"


class Sheet(msgspec.Struct, frozen=True):
    """A sheet is the whole file. Every row has as many cells as there are columns."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Cells, ...]
    separator: str
    sha256: str


def read_sheet(
    path: Path, *, encoding: str = "", separator: str = "", expected: Collection[str] = ()
) -> Sheet:
    """`expected` are columns that are hoped for: by them the separator is known, where the header
    could be read in two ways."""
    body = _bytes(path)
    text = _text(body, path, encoding)
    if (at := text.find("\0")) >= 0:
        raise BadRows(
            f"{path.name}: line {_line(text, at)} holds a NUL byte: it is no text, or UTF-16 "
            "without its mark",
            "save it as CSV in UTF-8, or say --encoding utf-16-le",
        )
    text, stated = _without_hint(text)
    parted = _separator(text, separator or stated, expected)
    rows = _rows(text, parted, path)
    header = next(rows, None)
    if header is None:
        raise BadRows(f"{path.name} is empty", "its first line names the columns, one row follows")
    columns = _columns(header, path)
    found = tuple(_fitting(rows, columns, path))
    if not found:
        raise BadRows(f"{path.name} has a header and no row", "add one line for each run")
    return Sheet(path, columns, found, parted, hashlib.sha256(body).hexdigest())


def read_separator(said: str) -> str:
    if said not in SEPARATORS:
        raise BadRows(f"{said!r} is no separator", "it is one of: , ; tab")
    return SEPARATORS[said]


# -- bytes and text --------------------------------------------------------------------------------


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadRows(f"{path} cannot be read ({error.strerror})", "check --rows") from error
    if len(body) > MAX_BYTES:
        raise BadRows(f"{path.name} is larger than {MAX_BYTES >> 20} MB", "split it")
    if not body.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise BadRows(f"{path.name} is empty", "its first line names the columns, one row follows")
    return body


def _text(body: bytes, path: Path, encoding: str) -> str:
    marked = next((name for mark, name in MARKS if body.startswith(mark)), None)
    if marked == "":
        raise BadRows(f"{path.name} is UTF-32, which is not read", SAVE)
    name = encoding or marked or "utf-8"
    try:
        if not codecs.lookup(name)._is_text_encoding:
            raise LookupError
    except LookupError as error:
        raise BadRows(f"there is no encoding {name!r}", "try windows-1252, or utf-16-le") from error
    told = "UTF-8" if name.startswith("utf-8") else name
    try:
        text = body.decode(name).removeprefix("\ufeff")
    except UnicodeError as error:
        where, byte = path.name, ""
        if isinstance(error, UnicodeDecodeError) and error.start < len(body):
            where = f"{path.name}: line {_line_of(body, error.start, name)}"
            byte = f" (byte {body[error.start]:#04x})"
        raise BadRows(f"{where} is not {told}{byte}", SAVE) from error
    try:
        text.encode()
    except UnicodeEncodeError as error:  # some encodings spell half of a character
        line = _line(text, error.start)
        raise BadRows(f"{path.name}: line {line} holds half of a character", SAVE) from error
    return text


def _line_of(body: bytes, at: int, name: str) -> int:
    """Not every encoding can leave out what it does not know: then the bytes are counted."""
    try:
        before = body[:at].decode(name, "replace")
    except UnicodeError:
        before = body[:at].decode("latin-1")
    return _line(before, len(before))


def _line(text: str, at: int) -> int:
    return len(text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def _without_hint(text: str) -> tuple[str, str]:
    """Spreadsheets write `sep=;` as a first line of their own."""
    first, _, rest = text.partition("\n")
    hint = first.strip().casefold()
    if len(hint) == 5 and hint.startswith("sep=") and hint[4] in SEPARATORS:
        return f"\n{rest}", hint[4]  # the line stays: errors count from the first
    return text, ""


# -- rows and cells --------------------------------------------------------------------------------


def _separator(text: str, stated: str, expected: Collection[str]) -> str:
    """The one under which the header names most of what is hoped for, else the most frequent."""
    if stated:
        return read_separator(stated)

    def score(separator: str) -> tuple[int, int]:
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
            header = next((row for row in reader if row), [])
        except csv.Error:
            header = []
        named = {cell.strip() for cell in header} & set(expected)
        return len(named), len(header)

    return max((",", ";", "\t"), key=score)  # of equals the first: a comma


def _rows(text: str, separator: str, path: Path) -> Iterator[Cells]:
    """Every line that is one, the header as number 0; empty ones only at the end."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number, begins, empty = 0, 1, 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise BadRows(*_unreadable(error, number, begins, path)) from error
        if cells is None:
            return
        line, begins = begins, reader.line_num + 1
        if not cells:
            empty = empty or (line if number else 0)  # before the header they mean nothing
            continue
        if empty:
            raise BadRows(f"{path.name}: line {empty} is empty", "take it out")
        if number > MAX_ROWS:
            raise BadRows(f"{path.name} has more than {MAX_ROWS} rows", "split it")
        yield Cells(number, line, tuple(cells))
        number += 1


def _unreadable(error: csv.Error, number: int, line: int, path: Path) -> tuple[str, str]:
    where = f"{path.name}: row {number} (line {line})" if number else f"{path.name}: its header"
    said = str(error)
    if "field larger" in said:
        what = f"has a cell of more than {MAX_CELL} characters"
        return f"{where} {what}, or a quote that nothing closes", "shorten it, or close the quote"
    if "unexpected end" in said:
        return f"{where} has a quote that nothing closes", 'a quote in a cell is written twice: ""'
    return f"{where} cannot be read: {said}", 'a quote in a cell is written twice: ""'


def _columns(header: Cells, path: Path) -> tuple[str, ...]:
    columns = tuple(cell.strip() for cell in header.cells)
    if len(columns) > MAX_COLUMNS:
        raise BadRows(f"{path.name} has more than {MAX_COLUMNS} columns", "take some out")
    for number, column in enumerate(columns, 1):
        if not column:
            raise BadRows(f"{path.name}: column {number} has no name", "the first line names them")
        if columns.index(column) + 1 != number:
            raise BadRows(f"{path.name}: two columns are called {column!r}", "rename one of them")
        if len(column) > 200 or not column.isprintable():
            raise BadRows(f"{path.name}: {column[:40]!r} is no name of a column", "see its header")
    return columns


def _fitting(rows: Iterator[Cells], columns: tuple[str, ...], path: Path) -> Iterator[Cells]:
    for row in rows:
        where = row.where(path)
        if len(row.cells) != len(columns):
            raise BadRows(
                f"{where} has {len(row.cells)} cells, the header {len(columns)}",
                'put a cell that holds the separator in quotes: "..."',
            )
        if not any(cell.strip() for cell in row.cells):
            raise BadRows(f"{where} has nothing in it", "take it out")
        for column, cell in zip(columns, row.cells, strict=True):
            if len(cell) > MAX_CELL:
                raise BadRows(
                    f"{where} has {len(cell)} characters in {column!r}, at most {MAX_CELL}",
                    "shorten it",
                )
        yield row
