"""A log carried elsewhere: all of it or nothing, the same when it arrives, beside a writer."""

import asyncio
import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rutter.events.archive import write_archive
from rutter.events.chain import GENESIS, link
from rutter.events.errors import (
    BadInput,
    DirectoryInUse,
    LogCorrupt,
    LogForeign,
    LogFull,
    RutterError,
    WorldBroken,
)
from rutter.events.runtime import ChainHead
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import Row
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep import backup
from rutter.pipeline.upkeep.backup import back_up, export_log, import_log
from rutter.pipeline.upkeep.erase import erase
from rutter.pipeline.upkeep.inspection import inspect
from rutter.replay.projections import ProjectionStore
from tests.support.data_directories import NEEDLES, dump, holding, tamper
from tests.support.envelopes import Scribe, marked_turn
from tests.support.small_disk import small_disk_of

ROOT = Path(__file__).parents[3]
Carry = Callable[[DataDirectory, Path], Any]


@pytest.fixture
def export(directory: DataDirectory, tmp_path: Path) -> Path:
    place = tmp_path / "all.rutter"
    export_log(directory, place)
    return place


@pytest.fixture
def empty(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path / "empty")


def rows(directory: DataDirectory) -> list[Row]:
    with SqliteReader(directory.log) as reader:
        return list(reader.rows())


def artifacts(directory: DataDirectory) -> dict[str, bytes]:
    files = (directory.root / "artifacts").glob("*/*")
    return {file.parent.name + file.name: file.read_bytes() for file in files}


def listed(folder: Path) -> set[str]:
    """Everything there but what SQLite keeps beside an open log."""
    found = {path.name for path in folder.iterdir()}
    return {name for name in found if not name.endswith(("-wal", "-shm"))}


class TestExportAndImport:
    def test_rows_and_artifacts_arrive_as_they_were(
        self, directory: DataDirectory, export: Path, empty: DataDirectory
    ) -> None:
        carried = import_log(empty, export)
        assert rows(empty) == rows(directory)
        assert artifacts(empty) == artifacts(directory)
        assert carried.events == len(rows(directory))
        assert (carried.artifacts, carried.missing_artifacts) == (len(artifacts(directory)), 0)

    def test_what_arrives_is_whole_and_means_the_same(
        self, directory: DataDirectory, export: Path, empty: DataDirectory
    ) -> None:
        import_log(empty, export)
        assert inspect(empty).ok
        assert dump(empty) == dump(directory)

    def test_exported_again_it_is_the_same_file(
        self, export: Path, empty: DataDirectory, tmp_path: Path
    ) -> None:
        import_log(empty, export)
        export_log(empty, tmp_path / "again.rutter")
        assert (tmp_path / "again.rutter").read_bytes() == export.read_bytes()

    def test_what_arrives_can_be_written_on(self, export: Path, empty: DataDirectory) -> None:
        import_log(empty, export)
        before = len(rows(empty))

        async def append() -> None:
            log = await SqliteLog.open(empty.log)
            assert log.next_seq == before + 1
            await log.append(Scribe(log.next_seq).turn("later", marked_turn(1, ["x"])))
            await log.close()

        asyncio.run(append())
        assert len(rows(empty)) == before + 1

    def test_only_their_owner_can_read_what_is_made(
        self, export: Path, empty: DataDirectory
    ) -> None:
        import_log(empty, export)
        assert stat.S_IMODE(export.stat().st_mode) == 0o600
        for path in (empty.root, *empty.root.rglob("*")):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path

    def test_nothing_is_left_beside_them(
        self, export: Path, empty: DataDirectory, tmp_path: Path
    ) -> None:
        import_log(empty, export)
        assert listed(tmp_path) == {"data", "all.rutter", "empty"}
        assert listed(empty.root) == {"log.db", "artifacts", "writer.lock"}

    def test_an_erased_log_arrives_erased(
        self, directory: DataDirectory, empty: DataDirectory, tmp_path: Path
    ) -> None:
        asyncio.run(erase(directory, "run-1", None, "asked to"))
        export_log(directory, tmp_path / "erased.rutter")
        import_log(empty, tmp_path / "erased.rutter")
        assert holding(tmp_path, NEEDLES["run-1"]) == []
        assert inspect(empty).ok

    def test_an_artifact_that_is_missing_or_changed_is_counted_and_left_out(
        self, directory: DataDirectory, empty: DataDirectory, tmp_path: Path
    ) -> None:
        gone, changed, *_ = sorted((directory.root / "artifacts").glob("*/*"))
        gone.unlink()
        changed.write_bytes(b"another")
        out = export_log(directory, tmp_path / "some.rutter")
        into = import_log(empty, tmp_path / "some.rutter")
        assert out.missing_artifacts == into.missing_artifacts == 2
        assert [fault.kind for fault in inspect(empty).faults] == ["artifact", "artifact"]

    def test_it_tells_how_far_it_is(
        self, directory: DataDirectory, empty: DataDirectory, tmp_path: Path
    ) -> None:
        told: list[str] = []
        export_log(directory, tmp_path / "x", lambda what, done, of: told.append(what))
        import_log(empty, tmp_path / "x", lambda what, done, of: told.append(what))
        assert {"copying artifacts", "writing events", "reading it back"} <= set(told)


class TestImportRefuses:
    def test_a_directory_that_has_a_log(self, directory: DataDirectory, export: Path) -> None:
        before = rows(directory), listed(directory.root) | {"writer.lock"}
        with pytest.raises(BadInput, match="has a log already"):
            import_log(directory, export)
        assert (rows(directory), listed(directory.root)) == before

    def test_a_directory_that_somebody_writes(self, export: Path, empty: DataDirectory) -> None:
        empty.lock()
        with pytest.raises(DirectoryInUse):
            import_log(DataDirectory(empty.root), export)
        empty.unlock()
        assert not empty.log.exists()

    def test_a_directory_that_holds_another_programs_file(
        self, export: Path, empty: DataDirectory
    ) -> None:
        empty.create()
        empty.log.write_bytes(b"precious" * 100)
        with pytest.raises(LogForeign):
            import_log(empty, export)
        assert empty.log.read_bytes() == b"precious" * 100

    @pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.99])
    def test_a_file_that_was_cut_off(
        self, export: Path, empty: DataDirectory, share: float
    ) -> None:
        body = export.read_bytes()
        export.write_bytes(body[: int(len(body) * share)])
        with pytest.raises(LogCorrupt):
            import_log(empty, export)
        assert not empty.root.exists()

    def test_a_log_file_instead_of_an_export(
        self, directory: DataDirectory, empty: DataDirectory
    ) -> None:
        with pytest.raises(LogForeign, match="is not a rutter export"):
            import_log(empty, directory.log)
        assert not empty.root.exists()

    @pytest.mark.parametrize(
        ("what", "said"),
        [
            ("a changed payload", "its hash does not follow"),
            ("a lost event", "missing"),
            ("a lost tail", "does not hold all that it should"),
            ("an unknown event", "is not known to this version"),
            ("a changed artifact", "is not what its name says"),
            ("a lost artifact", "is named and not in it"),
        ],
    )
    def test_an_export_that_is_not_whole(
        self, directory: DataDirectory, empty: DataDirectory, tmp_path: Path, what: str, said: str
    ) -> None:
        place = tmp_path / "forged.rutter"
        forge(directory, place, what)
        with pytest.raises(LogCorrupt, match=said):
            import_log(empty, place)
        assert not empty.root.exists()

    def test_a_failure_in_a_directory_that_was_there_leaves_it_as_it_was(
        self, export: Path, empty: DataDirectory
    ) -> None:
        empty.create()
        (empty.root / "config.toml").write_text("mine")
        export.write_bytes(export.read_bytes()[:5_000])
        with pytest.raises(LogCorrupt):
            import_log(empty, export)
        assert listed(empty.root) <= {"config.toml", "writer.lock"}

    def test_what_a_killed_import_left_is_cleared_away(
        self, directory: DataDirectory, export: Path, empty: DataDirectory
    ) -> None:
        empty.create()
        (empty.root / backup.DRAFT).mkdir()
        (empty.root / backup.DRAFT / "log.db").write_bytes(b"half")
        name, body = next(iter(artifacts(directory).items()))
        assert empty.artifacts.put(body, "").sha256 == name  # put in place before it was killed
        import_log(empty, export)
        assert listed(empty.root) == {"log.db", "artifacts", "writer.lock"}
        assert inspect(empty).ok

    def test_projections_of_a_log_that_is_gone_do_not_survive(
        self, directory: DataDirectory, export: Path, empty: DataDirectory
    ) -> None:
        empty.create()
        shutil.copy(directory.projections, empty.projections)
        with ProjectionStore(empty.projections) as store:
            store.db.execute("UPDATE sessions SET name = 'of another log'")
        import_log(empty, export)
        assert not empty.projections.exists()


def forge(directory: DataDirectory, place: Path, what: str) -> None:
    """An export by somebody who means no good: whole as a file, and not as a log."""
    stored, bodies = rows(directory), sorted(artifacts(directory).items())
    heads = {row[1]: (row[2], row[8]) for row in stored}
    match what:
        case "a changed payload":
            stored[50] = (*stored[50][:7], stored[50][7] + b"\xc0", stored[50][8])
        case "a lost event":
            del stored[50]
        case "a lost tail":
            stored = [row for row in stored if row[6] not in ("ProcessStopped", "LogSealed")]
        case "an unknown event":
            stored = with_unknown(stored)
            heads = {row[1]: (row[2], row[8]) for row in stored}
        case "a changed artifact":
            bodies[0] = (bodies[0][0], b"another")
        case _:  # a lost artifact
            del bodies[0]
    made = tuple(ChainHead(name, n, digest) for name, (n, digest) in sorted(heads.items()))
    with place.open("wb") as file:
        write_archive(file, stored, made, bodies, [])


def with_unknown(stored: list[Row]) -> list[Row]:
    """An event of a newer program, truly chained, in a session of its own."""
    header: dict[str, Any] = {"session": "newer", "n": 1, "at_ns": stored[-1][3]}
    payload = b"\x81\xa5event\xaaPageFolded"
    digest = link(GENESIS, **header, actor="runtime", cause=0, kind="PageFolded", payload=payload)
    seq = stored[-1][0] + 1
    row: Row = (seq, "newer", 1, stored[-1][3], "runtime", 0, "PageFolded", payload, digest)
    return [*stored, row]


class TestBackup:
    def test_it_is_a_data_directory_that_works(
        self, directory: DataDirectory, tmp_path: Path
    ) -> None:
        carried = back_up(directory, tmp_path / "monday")
        copy = DataDirectory(tmp_path / "monday")
        assert rows(copy) == rows(directory)
        assert artifacts(copy) == artifacts(directory)
        assert inspect(copy).ok
        assert dump(copy) == dump(directory)
        assert carried.events == len(rows(directory))
        assert carried.bytes > 0

    def test_nothing_but_the_log_and_its_artifacts_is_in_it(
        self, directory: DataDirectory, tmp_path: Path
    ) -> None:
        back_up(directory, tmp_path / "monday")
        assert {path.name for path in (tmp_path / "monday").iterdir()} == {"log.db", "artifacts"}
        assert listed(tmp_path) == {"data", "monday"}

    def test_only_its_owner_can_read_it(self, directory: DataDirectory, tmp_path: Path) -> None:
        back_up(directory, tmp_path / "monday")
        for path in (tmp_path / "monday", *(tmp_path / "monday").rglob("*")):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path

    def test_a_copy_that_does_not_mean_the_same_is_refused(
        self, directory: DataDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Folding is what tells: here, a reader that sees less in one of the two."""
        real = backup._projected

        def short(reader: SqliteReader, path: Path) -> dict[str, list[tuple[object, ...]]]:
            folded = real(reader, path)
            return {**folded, "sessions": []} if path.name == "restored.db" else folded

        monkeypatch.setattr(backup, "_projected", short)
        with pytest.raises(LogCorrupt, match="does not mean what the log means"):
            back_up(directory, tmp_path / "monday")
        assert listed(tmp_path) == {"data"}

    def test_an_artifact_that_is_missing_is_counted(
        self, directory: DataDirectory, tmp_path: Path
    ) -> None:
        next((directory.root / "artifacts").glob("*/*")).unlink()
        assert back_up(directory, tmp_path / "monday").missing_artifacts == 1

    @pytest.mark.slow
    def test_a_process_that_appends_meanwhile_is_not_in_the_way(self, tmp_path: Path) -> None:
        directory = DataDirectory(tmp_path / "busy")
        directory.create()
        command = [sys.executable, "-m", "tests.crash.victim", str(directory.log), "7", "4"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            heard = 0
            copies = []
            for number in range(5):
                while heard < (number + 1) * 30:
                    heard += bool(child.stdout.readline())
                copies.append(back_up(directory, tmp_path / f"copy-{number}"))
            child.kill()
            rest = child.stdout.read()
        assert rest  # it went on all the while
        everything = rows(directory)
        for number, carried in enumerate(copies):
            copy = rows(DataDirectory(tmp_path / f"copy-{number}"))
            assert copy == everything[: carried.events]
            assert len(copy) >= (number + 1) * 30  # what was acknowledged before is in it
        assert copies[0].events < copies[-1].events

    @pytest.mark.slow
    def test_export_sees_one_moment_of_a_log_that_grows(self, tmp_path: Path) -> None:
        directory = DataDirectory(tmp_path / "busy")
        directory.create()
        command = [sys.executable, "-m", "tests.crash.victim", str(directory.log), "8", "4"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(60):
                child.stdout.readline()
            carried = export_log(directory, tmp_path / "all.rutter")
            child.kill()
            child.stdout.read()
        into = DataDirectory(tmp_path / "into")
        import_log(into, tmp_path / "all.rutter")
        assert rows(into) == rows(directory)[: carried.events]


# -- what goes wrong the same way for all of them --------------------------------------------------


@pytest.mark.parametrize("carry", [export_log, back_up])
class TestRefusals:
    @pytest.mark.parametrize("there", ["file", "folder", "link"])
    def test_nothing_is_overwritten(
        self, directory: DataDirectory, tmp_path: Path, carry: Carry, there: str
    ) -> None:
        place = tmp_path / "precious"
        if there == "file":
            place.write_text("keep")
        elif there == "folder":
            place.mkdir()
        else:
            place.symlink_to(tmp_path / "nowhere")
        with pytest.raises(BadInput, match="is there already"):
            carry(directory, place)
        assert listed(tmp_path) == {"data", "precious"}

    def test_a_folder_that_is_not_there_is_bad_input(
        self, directory: DataDirectory, tmp_path: Path, carry: Carry
    ) -> None:
        with pytest.raises(BadInput, match="there is no folder"):
            carry(directory, tmp_path / "no" / "where")

    def test_no_log_is_bad_input(self, tmp_path: Path, carry: Carry) -> None:
        with pytest.raises(BadInput, match="there is no log"):
            carry(DataDirectory(tmp_path / "none"), tmp_path / "place")
        assert listed(tmp_path) == set()

    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE events SET payload = x'00' WHERE seq = 50",
            "DELETE FROM events WHERE seq = 50",
            "DELETE FROM events WHERE session = 'run-1'",
        ],
    )
    def test_a_log_that_is_not_whole_is_not_carried(
        self, directory: DataDirectory, tmp_path: Path, carry: Carry, sql: str
    ) -> None:
        tamper(directory.log, sql)
        with pytest.raises(LogCorrupt, match="is not whole: position") as told:
            carry(directory, tmp_path / "place")
        assert "rutter log verify" in told.value.fix
        assert listed(tmp_path) == {"data"}

    def test_a_foreign_file_is_refused(self, tmp_path: Path, carry: Carry) -> None:
        (tmp_path / "log.db").write_bytes(b"SQLite format 3\0" + bytes(3_000))
        with pytest.raises(LogForeign):
            carry(DataDirectory(tmp_path), tmp_path / "place")
        assert not (tmp_path / "place").exists()

    @pytest.mark.parametrize(
        ("code", "told"),
        [(errno.ENOSPC, LogFull), (errno.EDQUOT, LogFull), (errno.EIO, WorldBroken)],
    )
    def test_a_disk_that_fails_is_told_and_leaves_nothing(
        self,
        directory: DataDirectory,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        carry: Carry,
        code: int,
        told: type[RutterError],
    ) -> None:
        def fail(_: int) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(told) as error:
            carry(directory, tmp_path / "place")
        assert str(tmp_path) in error.value.what
        assert error.value.fix
        assert listed(tmp_path) == {"data"}

    def test_a_disk_that_is_really_full_is_told_and_leaves_nothing(
        self, directory: DataDirectory, small_disk: Path, carry: Carry
    ) -> None:
        with pytest.raises(LogFull) as error:
            carry(directory, small_disk / "place")
        assert str(small_disk) in error.value.what
        assert listed(small_disk) == set()

    def test_a_place_that_may_not_be_written_is_told(
        self, directory: DataDirectory, carry: Carry
    ) -> None:
        with pytest.raises(WorldBroken, match="cannot be written"):
            carry(directory, Path("/proc/place"))


def test_an_import_onto_a_full_disk_is_told_and_leaves_no_log(
    export: Path, small_disk: Path
) -> None:
    with pytest.raises(LogFull):
        import_log(DataDirectory(small_disk / "data"), export)
    assert listed(small_disk) == set()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 KB. Needs root; what it shows is shown by a failing sync for everyone."""
    with small_disk_of("40k", tmp_path) as place:
        yield place
