"""The instruments of the power-cut test: the model of a disk, and the VFS that feeds it."""

import sqlite3
from pathlib import Path
from random import Random

import pytest

from tests.crash import vfs
from tests.crash.appender import Plan, record
from tests.crash.disk import SECTOR, Disk
from tests.crash.vfs import Op

CREATED = [Op("create", "log"), Op("sync_names", names=True)]
OLD, NEW = b"o" * 4 * SECTOR, b"n" * 4 * SECTOR


def images(ops: list[Op], directory: Path) -> list[dict[str, bytes]]:
    """Many states that the disk may be found in after `ops`."""
    disk, found = Disk(), []
    for op in ops:
        disk.apply(op)
    for seed in range(200):
        place = directory / str(seed)
        place.mkdir()
        disk.cut_power(place, Random(seed))
        found.append({file.name: file.read_bytes() for file in place.iterdir()})
    return found


def test_what_was_synced_is_always_there(tmp_path: Path) -> None:
    ops = [*CREATED, Op("write", "log", 0, OLD), Op("sync", "log")]
    assert all(image == {"log": OLD} for image in images(ops, tmp_path))


def test_a_write_without_a_sync_is_there_or_gone_or_torn_in_sectors(tmp_path: Path) -> None:
    ops = [*CREATED, Op("write", "log", 0, OLD), Op("sync", "log"), Op("write", "log", 0, NEW)]
    bodies = {image["log"] for image in images(ops, tmp_path)}
    sectors = {body[i : i + SECTOR] for body in bodies for i in range(0, len(body), SECTOR)}
    assert {OLD, NEW} < bodies
    assert sectors == {b"o" * SECTOR, b"n" * SECTOR}


def test_a_later_write_may_be_there_without_an_earlier_one(tmp_path: Path) -> None:
    ops = [*CREATED, Op("write", "log", 0, OLD), Op("write", "log", len(OLD), NEW)]
    assert bytes(len(OLD)) + NEW in {image["log"] for image in images(ops, tmp_path)}


def test_a_new_name_may_be_missing_until_its_directory_is_synced(tmp_path: Path) -> None:
    ops = [Op("create", "log"), Op("write", "log", 0, OLD), Op("sync", "log")]
    found = images(ops, tmp_path)
    assert {} in found
    assert {"log": OLD} in found


def test_a_deleted_file_may_be_back_until_its_directory_is_synced(tmp_path: Path) -> None:
    found = images([*CREATED, Op("delete", "log")], tmp_path)
    assert {} in found
    assert {"log": b""} in found


def test_a_file_is_renamed_as_a_whole(tmp_path: Path) -> None:
    found = images([*CREATED, Op("rename", "log", to="kept")], tmp_path)
    assert {tuple(image) for image in found} == {("log",), ("kept",)}


def test_a_python_that_hides_its_sqlite_is_told_and_not_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert vfs.sqlite_library().sqlite3_libversion().decode() == sqlite3.sqlite_version
    monkeypatch.setattr(vfs, "_is_ours", lambda library: False)
    with pytest.raises(RuntimeError, match="shared libsqlite3"):
        vfs.sqlite_library()


@pytest.mark.slow
def test_the_recorded_operations_are_all_there_were(tmp_path: Path) -> None:
    """With nothing lost the image is the very file that SQLite wrote."""
    recording = record(Plan(str(tmp_path / "recording"), seed=3, writers=3))
    (tmp_path / "image").mkdir()
    disk = Disk()
    for op in recording.ops:
        disk.apply(op)
    disk.apply(Op("sync", "log.db", names=True))
    disk.cut_power(tmp_path / "image", Random(0))
    written = (tmp_path / "recording" / "log.db").read_bytes()
    assert [file.name for file in (tmp_path / "image").iterdir()] == ["log.db"]
    assert (tmp_path / "image" / "log.db").read_bytes() == written
