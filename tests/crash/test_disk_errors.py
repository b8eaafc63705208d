"""A full disk, an I/O error in the commit, a locked database: typed, and nothing half-written."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.events import sqlite_schema as schema
from rutter.events.errors import LogFull, LogLocked
from rutter.events.sqlite_log import SqliteLog
from tests.crash.sufferer import Case, Outcome, append_until_refused, suffer
from tests.crash.survivors import Problem, find_problems
from tests.crash.vfs import Fault
from tests.support.envelopes import Scribe, marked_turn
from tests.support.small_disk import small_disk_of

pytestmark = pytest.mark.slow

# The first writes and syncs of a few batches, and later ones that fall into checkpoints.
WRITES = (1, 2, 3, 7, 8, 20, 33, 50, 81, 130, 200)
SYNCS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 14)


def cases(tmp_path: Path, faults: list[Fault], writers: int, **options: bool) -> list[Case]:
    made = []
    for number, fault in enumerate(faults):
        (tmp_path / str(number)).mkdir()
        made.append(Case(str(tmp_path / str(number)), fault, writers, **options))
    return made


def problems(case: Case, outcome: Outcome) -> list[Problem]:
    return find_problems(Path(case.directory, "log.db"), outcome.acks)


@pytest.mark.parametrize("writers", [1, 4, 64])
@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize(
    ("kind", "points", "error"),
    [
        ("full", WRITES, "LogFull"),
        ("torn", WRITES, "LogFull"),
        ("io_write", WRITES, "LogWriteFailed"),
        ("io_sync", SYNCS, "LogWriteFailed"),
    ],
)
def test_a_failed_write_is_told_refuses_all_that_follows_and_leaves_a_whole_log(
    tmp_path: Path, kind: str, points: tuple[int, ...], error: str, stays: bool, writers: int
) -> None:
    faults = [Fault(kind, at, stays) for at in points]  # type: ignore[arg-type]
    made = cases(tmp_path, faults, writers)
    for case, outcome in zip(made, suffer(made), strict=True):
        assert set(outcome.errors) == {error}
        assert outcome.refusals == [error] * 3
        assert problems(case, outcome) == []


def test_what_the_log_itself_still_shows_is_what_was_acknowledged(tmp_path: Path) -> None:
    made = cases(tmp_path, [Fault("full", at) for at in WRITES], writers=4)
    for outcome in suffer(made):
        assert outcome.visible == (outcome.acks[-1].seq if outcome.acks else 0)


def test_the_control_that_lets_a_batch_land_behind_a_failed_one_is_caught(tmp_path: Path) -> None:
    faults = [Fault("full", at, stays=False) for at in range(1, 60, 3)]
    made = cases(tmp_path, faults, writers=64, unguarded=True)
    found = {
        problem.kind
        for case, outcome in zip(made, suffer(made), strict=True)
        for problem in problems(case, outcome)
    }
    assert "gap" in found


def test_the_control_that_acknowledges_what_failed_is_caught(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, [Fault("full", 20)], writers=1)
    (outcome,) = suffer([case])
    failed = outcome.acks[-1]
    outcome.acks.append(type(failed)(failed.seq + 3, b"the next turn, which failed"))
    assert {problem.kind for problem in problems(case, outcome)} == {"lost"}


def test_a_file_that_may_not_grow_is_told_as_a_failed_write(tmp_path: Path) -> None:
    case = Case(str(tmp_path), limit_bytes=150_000)
    (outcome,) = suffer([case])
    assert set(outcome.errors) == {"LogWriteFailed"}
    assert outcome.refusals == ["LogWriteFailed"] * 3
    assert outcome.acks
    assert problems(case, outcome) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KB. Needs root; what it shows is shown by the VFS for everyone."""
    with small_disk_of("300k", tmp_path) as place:
        yield place


def test_a_disk_that_is_really_full_is_told_and_the_log_goes_on_when_there_is_room(
    small_disk: Path,
) -> None:
    path, ballast, outcome = small_disk / "log.db", small_disk / "ballast", Outcome()
    ballast.write_bytes(bytes(50_000))

    async def fill() -> None:
        log = await SqliteLog.open(path)
        await append_until_refused(log, 4, outcome)
        await log.close()

    asyncio.run(fill())
    assert set(outcome.errors) == {"LogFull"}
    ballast.unlink()
    assert find_problems(path, outcome.acks) == []


def test_a_disk_too_full_for_a_new_log_is_told_and_leaves_no_log(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(290_000))
    with pytest.raises(LogFull):
        asyncio.run(SqliteLog.open(small_disk / "log.db"))
    (small_disk / "ballast").unlink()
    assert find_problems(small_disk / "log.db", []) == []


def test_a_database_that_another_process_holds_is_told_as_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pragmas = (*schema.WRITER_PRAGMAS[:-1], "PRAGMA busy_timeout=20")
    monkeypatch.setattr(schema, "WRITER_PRAGMAS", pragmas)
    path = tmp_path / "log.db"

    async def append_while_locked() -> None:
        log = await SqliteLog.open(path)
        intruder = sqlite3.connect(path, isolation_level=None)
        intruder.execute("BEGIN IMMEDIATE")
        scribe = Scribe()
        try:
            with pytest.raises(LogLocked):
                await log.append(scribe.turn("a", marked_turn(1, ["x"])))
        finally:
            intruder.close()
        with pytest.raises(LogLocked):
            await log.append(scribe.turn("a", marked_turn(2, ["x"])))
        await log.close()

    asyncio.run(append_while_locked())
    assert find_problems(path, []) == []
