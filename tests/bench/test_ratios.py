"""Ratios are read from what the benches print, and have moved when it is more than noise."""

import pytest

from bench.ratios import Comparison, Spread, compare, ratios_in, spreads_of
from bench.tables import Cell, print_table
from tests.support.case_table import for_each

BEFORE = Spread(1.0, 0.95, 1.1)


@for_each(
    "after, moved",
    [
        (BEFORE, False),  # the control: measured twice, it is the same
        (Spread(1.3, 1.25, 1.35), True),
        (Spread(0.7, 0.68, 0.75), True),  # which way is better, a ratio does not say
        (Spread(1.12, 1.1, 1.14), False),  # within the spread of the other tree
        (Spread(1.3, 1.0, 1.4), False),  # within its own
    ],
)
def test_a_ratio_has_moved_by_more_than_both_spreads(after: Spread, moved: bool) -> None:
    assert Comparison("a", BEFORE, after).moved is moved


def test_what_never_varied_has_moved_by_more_than_a_tenth_only() -> None:
    before = Spread(1.0, 1.0, 1.0)

    assert not Comparison("a", before, Spread(1.09, 1.09, 1.09)).moved
    assert Comparison("a", before, Spread(1.11, 1.11, 1.11)).moved


def test_what_the_two_printed_places_make_of_one_ratio_is_no_move() -> None:
    before = Spread(0.03, 0.03, 0.03)

    assert not Comparison("a", before, Spread(0.04, 0.04, 0.04)).moved
    assert Comparison("a", before, Spread(0.06, 0.06, 0.06)).moved


def test_the_rounds_of_a_tree_become_a_median_and_a_spread() -> None:
    rounds = [{"a": 3.0, "b": 1.0}, {"a": 1.0}, {"a": 1.5}]

    assert spreads_of(rounds) == {"a": Spread(1.5, 1.0, 3.0), "b": Spread(1.0, 1.0, 1.0)}


def test_only_what_both_trees_printed_is_compared() -> None:
    other = Spread(2.0, 1.9, 2.1)

    (compared,) = compare({"a": BEFORE, "old": BEFORE}, {"new": other, "a": other})

    assert (compared.name, compared.change) == ("a", 2.0)


def test_a_change_from_a_ratio_that_printed_as_nothing_is_no_division() -> None:
    assert Comparison("a", Spread(0.0, 0.0, 0.0), Spread(0.5, 0.5, 0.5)).change == 1.0


def test_ratios_are_read_by_the_name_of_their_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[list[Cell]] = [
        ["ours, end verified", 5_064, 1.16],
        ["  act: click", 7, ""],
        ["long", 1, 1_234.0],
    ]
    print_table("19 steps, 12 rounds in turns, ms", ["from the open page to", "ms", "ratio"], rows)
    print("  ratio to plain Playwright in the same round, median; aim 1.0\n\n== other: words")

    assert ratios_in(capsys.readouterr().out) == {"ours, end verified": 1.16, "long": 1234.0}


def test_rows_of_one_name_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    log = "six actors, memory log"
    rows: list[list[Cell]] = [["bare queues", "", 1.0], [log, 1, 0.1], [log, 8, 0.2]]
    print_table("scripted sessions", ["through", "side by side", "ratio"], rows)
    rows = [["decide again", "0.40", "bare"], ["", "9.8", "Temporal's replayer"]]
    print_table("replay", ["what", "ratio", "to"], rows)

    assert ratios_in(capsys.readouterr().out) == {
        "bare queues": 1.0,
        "six actors, memory log, side by side 1": 0.1,
        "six actors, memory log, side by side 8": 0.2,
        "decide again": 0.4,
        "decide again, Temporal's replayer": 9.8,
    }


def test_tables_with_the_same_rows_are_told_apart_by_their_titles(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table("5 browsers, throughput", ["sessions", "ours", "ratio"], [["20", 3, 0.9]])
    print_table("cost of 5 (seconds)", ["sessions", "ours", "ratio"], [["20", 2, 1.4]])

    found = ratios_in(capsys.readouterr().out)

    assert found == {"sessions 20": 0.9, "sessions 20 [cost of N]": 1.4}


def test_of_several_ratios_in_a_row_each_says_to_what(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["page", "ours", "aria", "ratio", "refs", "ratio"]
    print_table("one look", columns, [["form", 2, 4, 0.5, 8, 0.25]])

    assert ratios_in(capsys.readouterr().out) == {"form, to aria": 0.5, "form, to refs": 0.25}


def test_what_is_no_table_has_no_ratios() -> None:
    assert ratios_in("Python 3.11\n\n== append: the log\n  ----\nratio 0.9\n") == {}
