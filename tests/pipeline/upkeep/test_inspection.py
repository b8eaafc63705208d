"""A data directory held against its log: file, rows, artifacts, projections."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rutter.events.errors import BadInput, LogCorrupt, LogForeign
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import SIDE_FILES, beside
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.inspection import guarded, inspect
from rutter.replay.integrity import LogFindings
from rutter.replay.projections import ProjectionStore
from tests.support.case_table import for_each
from tests.support.data_directories import tamper

INDEX_LEAF = 0x0A  # the first byte of a page of SQLite's


def kinds(found: LogFindings) -> list[str]:
    return [fault.kind for fault in found.faults]


def complaint(directory: DataDirectory) -> str:
    """What is wrong first, found or in the way of finding anything."""
    try:
        return inspect(directory).faults[0].what
    except LogForeign as error:
        return error.what


def artifacts(directory: DataDirectory) -> list[Path]:
    return sorted(path for path in (directory.root / "artifacts").glob("*/*"))


def test_a_directory_as_its_process_left_it_is_whole(directory: DataDirectory) -> None:
    found = inspect(directory)
    assert found.ok
    assert found.artifacts == len(artifacts(directory))
    assert found.unsealed == 0


def test_it_tells_how_far_it_is(directory: DataDirectory) -> None:
    told: list[str] = []
    inspect(directory, lambda what, done, of: told.append(what))
    assert {"following the chains", "checking the file", "reading artifacts"} <= set(told)


def test_nothing_is_written(directory: DataDirectory) -> None:
    shutil.rmtree(directory.root / "artifacts")
    directory.projections.unlink()
    before = {path.name: path.read_bytes() for path in directory.root.iterdir()}
    inspect(directory)
    after = {path.name: path.read_bytes() for path in directory.root.iterdir()}
    beside_it = {directory.log.name + suffix for suffix in SIDE_FILES}
    assert {name: after[name] for name in after if name not in beside_it} == {
        name: before[name] for name in before if name not in beside_it
    }


class TestArtifacts:
    def test_a_missing_one_is_named_with_the_event_that_names_it(
        self, directory: DataDirectory
    ) -> None:
        gone = artifacts(directory)[0]
        gone.unlink()
        [fault] = inspect(directory).faults
        with SqliteReader(directory.log) as reader:
            row = next(row for row in reader.rows() if row[0] == fault.seq)
        assert fault.kind == "artifact"
        assert (fault.session, fault.n) == (row[1], row[2])
        assert (gone.parent.name + gone.name).encode() in row[7]
        assert "is missing at" in fault.what

    def test_a_changed_one_is_named(self, directory: DataDirectory) -> None:
        artifacts(directory)[0].write_bytes(b"another picture")
        [fault] = inspect(directory).faults
        assert (fault.kind, "is not what was stored" in fault.what) == ("artifact", True)

    def test_one_that_cannot_be_read_is_named(self, directory: DataDirectory) -> None:
        place = artifacts(directory)[0]
        place.unlink()
        place.mkdir()
        assert kinds(inspect(directory)) == ["artifact"]


class TestProjections:
    def test_an_end_that_was_cut_off_is_found_by_what_they_have_seen(
        self, directory: DataDirectory
    ) -> None:
        """A process that was killed leaves no seal: only this tells a cut from a crash."""
        tamper(directory.log, "DELETE FROM events WHERE kind IN ('LogSealed', 'ProcessStopped')")
        [fault] = inspect(directory).faults
        assert fault.kind == "projections"
        assert "cut off" in fault.what

    def test_a_log_that_took_the_place_of_theirs_is_found(self, directory: DataDirectory) -> None:
        with ProjectionStore(directory.projections) as store:
            store.db.execute("UPDATE position SET hash = x'00'")
        [fault] = inspect(directory).faults
        assert (fault.kind, "rewritten" in fault.what) == ("projections", True)

    def test_that_they_are_behind_is_no_fault(self, directory: DataDirectory) -> None:
        with SqliteReader(directory.log) as reader:
            tenth = next(row for row in reader.rows(9))
        with ProjectionStore(directory.projections) as store:
            store.db.execute("UPDATE position SET position = 10, hash = ?", (tenth[8],))
        assert inspect(directory).ok

    @pytest.mark.parametrize("how", ["none", "empty", "another version"])
    def test_none_at_all_are_no_fault(self, directory: DataDirectory, how: str) -> None:
        if how == "another version":
            tamper_position = "ALTER TABLE position RENAME TO another"
            with ProjectionStore(directory.projections) as store:
                store.db.execute(tamper_position)
        else:
            directory.projections.unlink()
        if how == "empty":
            directory.projections.touch()
        assert inspect(directory).ok

    def test_a_damaged_file_is_told_with_what_to_do(self, directory: DataDirectory) -> None:
        directory.projections.write_bytes(
            b"not a database, but long enough to be taken for one" * 9
        )
        [fault] = inspect(directory).faults
        assert (fault.kind, "rutter log rebuild" in fault.what) == ("projections", True)


class TestTheFile:
    def cut(self, directory: DataDirectory, share: float) -> None:
        for suffix in SIDE_FILES:
            beside(directory.log, suffix).unlink(missing_ok=True)
        body = directory.log.read_bytes()
        directory.log.write_bytes(body[: int(len(body) * share)])

    @pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
    def test_a_truncated_one_is_told(self, directory: DataDirectory, share: float) -> None:
        self.cut(directory, share)
        assert complaint(directory)

    def test_pages_that_were_overwritten_are_told(self, directory: DataDirectory) -> None:
        body = bytearray(directory.log.read_bytes())
        body[len(body) // 2 : len(body) // 2 + 8_192] = bytes(8_192)
        directory.log.write_bytes(bytes(body))
        assert not inspect(directory).ok

    def test_an_index_that_does_not_fit_its_table_is_told(self, directory: DataDirectory) -> None:
        """Reading by session goes through it: the rows alone do not tell."""
        body = bytearray(directory.log.read_bytes())
        leaf = next(
            page
            for page in range(0, len(body), 4_096)
            if body[page] == INDEX_LEAF and b"run-1" in body[page : page + 4_096]
        )
        at = body.index(b"run-1", leaf)
        body[at : at + 5] = b"run-9"
        directory.log.write_bytes(bytes(body))
        [fault] = inspect(directory).faults
        assert (fault.kind, "events_by_session" in fault.what) == ("file", True)

    @for_each("body", [b"SQLite format 3\0" + bytes(2_000), b"hello" * 1_000])
    def test_a_foreign_file_is_refused(self, tmp_path: Path, body: bytes) -> None:
        directory = DataDirectory(tmp_path)
        directory.log.write_bytes(body)
        with pytest.raises(LogForeign):
            inspect(directory)

    def test_no_log_is_bad_input(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="there is no log"):
            inspect(DataDirectory(tmp_path))

    def test_text_that_is_not_text_is_named(self, directory: DataDirectory) -> None:
        tamper(directory.log, "UPDATE events SET actor = CAST(x'ff' AS TEXT) WHERE seq = 50")
        [fault] = inspect(directory).faults
        assert (fault.kind, fault.seq) == ("changed", 50)


def test_an_erasing_that_was_cut_short_is_told(directory: DataDirectory) -> None:
    directory.erasing.touch()
    [fault] = inspect(directory).faults
    assert (fault.kind, "rutter log erase" in fault.what) == ("erased", True)


class TestGuarded:
    def test_the_first_fault_is_the_error(self, directory: DataDirectory) -> None:
        tamper(directory.log, "UPDATE events SET at_ns = 1 WHERE seq IN (50, 60)")
        with pytest.raises(LogCorrupt, match="position 50, event") as told:
            guarded(inspect(directory), directory.log)
        assert "rutter log verify" in told.value.fix

    def test_a_last_seal_that_a_crash_took_is_no_reason(self, directory: DataDirectory) -> None:
        directory.projections.unlink()
        tamper(directory.log, "DELETE FROM events WHERE kind = 'LogSealed'")
        assert kinds(inspect(directory)) == ["unsealed"]
        guarded(inspect(directory), directory.log)


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        (
            "CREATE TRIGGER t AFTER INSERT ON events BEGIN UPDATE events SET kind = 'x'; END",
            "it holds the trigger t, which is not ours",
        ),
        ("CREATE VIEW v AS SELECT * FROM events", "it holds the view v"),
        ("CREATE TABLE more (a)", "it holds the table more"),
        ("CREATE INDEX i ON events (at_ns)", "it holds the index i"),
        ("DROP INDEX events_by_kind", "it lacks: CREATE INDEX events_by_kind"),
        ("ALTER TABLE events ADD COLUMN more TEXT", "it holds the table events"),
        ("PRAGMA auto_vacuum = 2; VACUUM", "auto_vacuum is 2"),
    ],
)
def test_a_database_that_is_not_as_it_was_made_is_named(
    directory: DataDirectory, sql: str, what: str
) -> None:
    with closing(sqlite3.connect(directory.log)) as connection:
        connection.executescript(sql)
        connection.commit()
    said = [fault.what for fault in inspect(directory).faults if fault.kind == "file"]
    assert any(what in each for each in said), said
