"""A position for each target, that only goes forward."""

import sqlite3
from pathlib import Path

import pytest

from rutter.events.errors import WorldBroken
from rutter.pipeline.traces.cursor import Cursor, Position

FIVE = Position(5, 3, b"five")
NINE = Position(9, 10, b"nine")


def test_nothing_is_out_at_first(tmp_path: Path) -> None:
    assert Cursor(tmp_path / "traces.db", "a").read() == Position()


def test_a_position_is_found_again(tmp_path: Path) -> None:
    Cursor(tmp_path / "traces.db", "a").move(FIVE)
    assert Cursor(tmp_path / "traces.db", "a").read() == FIVE


def test_every_target_has_its_own(tmp_path: Path) -> None:
    Cursor(tmp_path / "traces.db", "a").move(FIVE)
    assert Cursor(tmp_path / "traces.db", "b").read() == Position()


def test_it_never_goes_back_by_itself(tmp_path: Path) -> None:
    cursor = Cursor(tmp_path / "traces.db", "a")
    cursor.move(NINE)
    cursor.move(FIVE)
    assert cursor.read() == NINE
    cursor.forget()
    cursor.move(FIVE)
    assert cursor.read() == FIVE


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    Cursor(tmp_path / "traces.db", "a")
    assert (tmp_path / "traces.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read as one"])
def test_a_file_that_is_something_else_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "traces.db").write_bytes(content * 20)
    with pytest.raises(WorldBroken, match="delete it"):
        Cursor(tmp_path / "traces.db", "a")


def test_a_locked_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rutter.pipeline.traces.cursor.LOCKED_MS", 1)
    cursor = Cursor(tmp_path / "traces.db", "a")
    holder = sqlite3.connect(tmp_path / "traces.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(WorldBroken, match="locked"):
        cursor.move(FIVE)
    holder.close()
