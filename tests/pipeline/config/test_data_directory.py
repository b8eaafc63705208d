"""Given a data directory: where things are, who may write it, and who may look."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rutter.events.errors import DirectoryInUse, WorldBroken
from rutter.pipeline.config.data_directory import DataDirectory


def test_everything_has_its_place(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "data")
    assert directory.log == tmp_path / "data" / "log.db"
    assert directory.projections == tmp_path / "data" / "projections.db"


def test_it_is_private_to_its_owner(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "deep" / "data")
    directory.create()
    directory.create()
    assert stat.S_IMODE(directory.root.stat().st_mode) == 0o700


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    first, second = DataDirectory(tmp_path), DataDirectory(tmp_path)
    first.lock()
    with pytest.raises(DirectoryInUse, match=rf"in use by process {os.getpid()}"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_the_lock_is_private_too(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    directory.lock()
    assert stat.S_IMODE((tmp_path / "writer.lock").stat().st_mode) == 0o600
    directory.unlock()


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from rutter.pipeline.config.data_directory import DataDirectory;"
        "DataDirectory(Path(sys.argv[1])).lock(); os._exit(9)"
    )
    gone = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert gone.returncode == 9
    assert (tmp_path / "writer.lock").read_text().strip().isdigit()
    directory = DataDirectory(tmp_path)
    directory.lock()
    directory.unlock()


def test_letting_go_of_what_one_does_not_hold_is_fine(tmp_path: Path) -> None:
    DataDirectory(tmp_path).unlock()


def test_a_longer_process_id_leaves_no_trace_of_the_last_one(tmp_path: Path) -> None:
    (tmp_path / "writer.lock").write_text("99999999999999\n")
    directory = DataDirectory(tmp_path)
    directory.lock()
    assert (tmp_path / "writer.lock").read_text() == f"{os.getpid()}\n"
    directory.unlock()


def test_a_place_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorldBroken, match=r"cannot be created .*name another with --data"):
        DataDirectory(tmp_path / "file" / "data").create()


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "writer.lock").mkdir()
    with pytest.raises(WorldBroken, match=r"cannot be written .*name another with --data"):
        DataDirectory(tmp_path).lock()


def test_artifacts_are_kept_inside(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    kept = directory.artifacts.put(b"picture", "image/png")
    assert directory.artifacts.path(kept).is_relative_to(tmp_path / "artifacts")


def test_what_others_could_read_is_made_private_once_and_said(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    kept = directory.artifacts.put(b"picture", "image/png")
    loose = [directory.root, directory.log, directory.projections, directory.root / "artifacts"]
    for path in (directory.log, directory.projections):
        path.write_bytes(b"")
    place = directory.artifacts.path(kept)
    for path in (*loose, place.parent, place):
        path.chmod(0o755 if path.is_dir() else 0o644)
    directory.lock()
    directory.unlock()
    assert set(directory.tightened) == {*loose, place.parent, place}
    for path in directory.tightened:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted

    again = DataDirectory(directory.root)
    again.lock()
    again.unlock()
    assert again.tightened == ()


def test_the_configuration_is_ours_too(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    (directory.root / "config.toml").write_text("")
    for path in (directory.root, directory.root / "config.toml"):
        path.chmod(0o755)
    directory.lock()
    directory.unlock()
    assert set(directory.tightened) == {directory.root, directory.root / "config.toml"}


def test_a_folder_that_holds_other_things_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("notes.txt", "log.db"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o644)
    directory = DataDirectory(tmp_path)
    directory.lock()
    directory.unlock()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"notes.txt": 0o644, "log.db": 0o600, "writer.lock": 0o600}
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    other.chmod(0o644)
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    (directory.root / "log.db-wal").symlink_to(other)
    directory.lock()
    directory.unlock()
    assert stat.S_IMODE(other.stat().st_mode) == 0o644
