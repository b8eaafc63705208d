"""A table of cases fails with every row that does, by its name, and is one test to pytest."""

import asyncio
from inspect import signature
from pathlib import Path

import pytest

from tests.support.case_table import for_each


def test_every_row_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @for_each("number, text", [(1, "one"), (2, "two"), (3, "three")])
    def is_two(number: int, text: str) -> None:
        tried.append(text)
        assert number == 2

    with pytest.raises(BaseExceptionGroup) as failed:
        is_two()
    assert tried == ["one", "two", "three"]
    assert failed.value.message.splitlines() == [
        "2 of 3 fail",
        "row 1: number=1, text='one'",
        "row 3: number=3, text='three'",
    ]
    assert [each.__notes__ for each in failed.value.exceptions] == [
        ["row 1: number=1, text='one'"],
        ["row 3: number=3, text='three'"],
    ]


def test_what_should_have_been_raised_and_was_not_is_a_failure() -> None:
    @for_each("text", ["1", "x"])
    def is_no_number(text: str) -> None:
        with pytest.raises(ValueError):
            int(text)

    with pytest.raises(BaseExceptionGroup, match="1 of 2 fail\nrow 1: text='1'"):
        is_no_number()


def test_what_runs_in_a_loop_is_waited_for() -> None:
    @for_each("number", [1, 2])
    async def is_two(number: int) -> None:
        await asyncio.sleep(0)
        assert number == 2

    with pytest.raises(BaseExceptionGroup, match="1 of 2 fail\nrow 1: number=1"):
        asyncio.run(is_two())


def test_fixtures_are_asked_for_and_tables_combine() -> None:
    met = []

    @for_each("left", [1, 2])
    @for_each("right", "ab")
    def meets(fixture: str, left: int, right: str) -> None:
        met.append((fixture, left, right))

    assert list(signature(meets).parameters) == ["fixture"]
    meets(fixture="same")
    assert met == [("same", 1, "a"), ("same", 1, "b"), ("same", 2, "a"), ("same", 2, "b")]


def test_each_row_has_a_directory_of_its_own(tmp_path: Path) -> None:
    @for_each("number", [1, 2])
    def begins_empty(number: int, tmp_path: Path) -> None:
        assert not list(tmp_path.iterdir())
        (tmp_path / "file").touch()

    begins_empty(tmp_path=tmp_path)
    assert len(list(tmp_path.glob("*/file"))) == 2


def test_nobody_stops_it_unheard() -> None:
    @for_each("number", [1, 2])
    def stops(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stops()


@for_each("table", [[], [(1,)], [(1, 2, 3)]])
def test_a_table_without_rows_or_with_crooked_ones_is_none(table: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError):
        for_each("left, right", table)
