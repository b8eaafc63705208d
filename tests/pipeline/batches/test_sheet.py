"""A file of rows: what is read, and what is said of a file that cannot be."""

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.pipeline.batches.sheet import MAX_CELL, BadRows, Sheet, read_sheet
from rutter.pipeline.output.csv_table import as_csv
from tests.support.case_table import for_each

PLAIN = "customer,note\nAurora,A quay\nJuniper,Zweiter Kai\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.csv"


def read(file: Path, body: bytes | str, **how: str) -> Sheet:
    file.write_bytes(body if isinstance(body, bytes) else body.encode())
    return read_sheet(file, **how)


def cells(sheet: Sheet) -> list[tuple[str, ...]]:
    return [row.cells for row in sheet.rows]


# -- encodings -------------------------------------------------------------------------------------


@for_each(
    "body",
    [
        "name\nJosé 船\n".encode(),
        codecs.BOM_UTF8 + "name\nJosé 船\n".encode(),
        "name\nJosé 船\n".encode("utf-16"),
        codecs.BOM_UTF16_BE + "name\nJosé 船\n".encode("utf-16-be"),
        "name\r\nJosé 船\r\n".encode(),
        "name\rJosé 船\r".encode(),
        "name\nJosé 船".encode(),
        "name\nJosé 船\n\n\n".encode(),
        "\n\nname\nJosé 船\n".encode(),
    ],
)
def test_utf_8_and_utf_16_with_its_mark_are_read_with_any_line_ends(
    file: Path, body: bytes
) -> None:
    sheet = read(file, body)
    assert (sheet.columns, cells(sheet)) == (("name",), [("José 船",)])


def test_any_other_encoding_is_named_by_whoever_has_it(file: Path) -> None:
    body = "name\nAda\nJosé\n".encode("windows-1252")
    with pytest.raises(BadRows, match=r"line 3 is not UTF-8 \(byte 0xe9\)") as refused:
        read(file, body)
    assert "--encoding windows-1252" in refused.value.fix
    assert cells(read(file, body, encoding="windows-1252")) == [("Ada",), ("José",)]


@for_each(
    "body, how, complaint",
    [
        (b"", {}, "orders.csv is empty"),
        (b" \r\n\n", {}, "orders.csv is empty"),
        (codecs.BOM_UTF8, {}, "orders.csv is empty"),
        (codecs.BOM_UTF16_LE, {}, "orders.csv is empty"),
        (b"a,b\n", {}, "has a header and no row"),
        (b"a\nx\0y\n", {}, "line 2 holds a NUL byte"),
        ("a\nb\n".encode("utf-16-le"), {}, "line 1 holds a NUL byte"),
        ("a\nb\n".encode("utf-32"), {}, "is UTF-32"),
        (b"\xff\xfea\x00\n", {}, "line 1 is not utf-16"),
        (b"a\nb\n", {"encoding": "latin-99"}, "there is no encoding 'latin-99'"),
        (b"a\nb\n", {"encoding": "rot13"}, "there is no encoding 'rot13'"),
        (b"a\nb\n", {"encoding": "undefined"}, "orders.csv is not undefined"),
        (b"a\nb\xff\n", {"encoding": "idna"}, r"line 2 is not idna \(byte 0xff\)"),
        (b"a\nb\xff\n", {"encoding": "punycode"}, "is not punycode"),
        (b"a\n+2AA-\n", {"encoding": "utf-7"}, "line 2 holds half of a character"),
        (b"a\n\\ud800\n", {"encoding": "unicode_escape"}, "line 2 holds half of a character"),
        (b"a\nb\n", {"separator": "#"}, "'#' is no separator"),
        (b"a,b\n1,2\n\n3,4\n", {}, "line 3 is empty"),
        (b"a,b\n1,2\n3\n", {}, r"row 2 \(line 3\) has 1 cells, the header 2"),
        (b"a,b\n1,2,3\n", {}, r"row 1 \(line 2\) has 3 cells, the header 2"),
        (b'a,b\n"one\ntwo",2\n3\n', {}, r"row 2 \(line 4\) has 1 cells"),
        (b"a,b\n,\n", {}, r"row 1 \(line 2\) has nothing in it"),
        (b"a,a\n1,2\n", {}, "two columns are called 'a'"),
        (b"a, a \n1,2\n", {}, "two columns are called 'a'"),
        (b"a,\n1,2\n", {}, "column 2 has no name"),
        (b'a\n"never closed\n', {}, r"row 1 \(line 2\) has a quote that nothing closes"),
        (b'a\nx\n"b"c\n', {}, r"row 2 \(line 3\) cannot be read"),
        (b"a\nx\n" + b"y" * 10_000_000 + b"\n", {}, r"row 2 \(line 3\) has a cell of more than"),
        (b"a\n" + b"y" * (MAX_CELL + 1), {}, r"row 1 \(line 2\) has 10001 characters in 'a'"),
        (b"a" * 200_000 + b"\n1\n", {}, "its header has a cell of more than"),
        (b"a\x07b\n1\n", {}, "is no name of a column"),
        (b"a\n" + b"1\n" * 10_002, {}, "more than 10000 rows"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_with_its_place(
    file: Path, body: bytes, how: dict[str, str], complaint: str
) -> None:
    with pytest.raises(BadRows, match=complaint) as refused:
        read(file, body, **how)
    assert refused.value.fix
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadRows, match="cannot be read"):
        read_sheet(tmp_path / "none.csv")
    with pytest.raises(BadRows, match="cannot be read"):
        read_sheet(tmp_path)


# -- separators ------------------------------------------------------------------------------------


@for_each(
    "body, how",
    [
        ("a;b\n1;2, or 3\n", {}),
        ("a\tb\n1\t2, or 3\n", {}),
        ('a,b\n1,"2, or 3"\n', {}),
        ("a;b\n1;2, or 3\n", {"separator": ";"}),
        ("sep=;\na;b\n1;2, or 3\n", {}),
        ("a\tb\n1\t2, or 3\n", {"separator": "tab"}),
    ],
)
def test_the_separator_is_seen_in_the_header_or_stated(
    file: Path, body: str, how: dict[str, str]
) -> None:
    sheet = read(file, body, **how)
    assert (sheet.columns, cells(sheet)) == (("a", "b"), [("1", "2, or 3")])


def test_where_a_header_can_be_read_in_two_ways_the_known_names_say_which(file: Path) -> None:
    file.write_text("customer;first,second,third\nAurora;x\n")
    assert read_sheet(file, expected=["customer"]).columns == ("customer", "first,second,third")


def test_a_line_is_counted_where_it_stands_in_the_file(file: Path) -> None:
    sheet = read(file, 'a,b\n"one\ntwo",2\n3,4\n')
    assert [(row.number, row.line) for row in sheet.rows] == [(1, 2), (2, 4)]
    sheet = read(file, "sep=,\na\n1\n")
    assert [(row.number, row.line) for row in sheet.rows] == [(1, 3)]


# -- there and back --------------------------------------------------------------------------------

CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=30)


@given(
    rows=st.lists(
        st.tuples(CELL, CELL).filter(lambda row: any(cell.strip() for cell in row)), min_size=1
    ),
    separator=st.sampled_from([",", ";", "\t"]),
)
def test_what_is_written_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], separator: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.csv"
    file.write_bytes(as_csv(["a", "b"], rows, separator=separator, guard=False).encode())
    assert cells(read_sheet(file)) == rows
