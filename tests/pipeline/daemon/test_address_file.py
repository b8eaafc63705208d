"""Where a daemon is, who is believed about it, and what systemd is told."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.daemon.address_file import (
    AddressFileUnsafe,
    drop_whereabouts,
    find_daemon,
    write_whereabouts,
)
from rutter.pipeline.daemon.serve import notify, reached_by
from tests.support.case_table import for_each


@pytest.fixture
def held(tmp_path: Path) -> Iterator[DataDirectory]:
    """A directory that this process has, as a daemon has its own."""
    directory = DataDirectory(tmp_path)
    directory.lock()
    yield directory
    directory.unlock()


def test_it_is_found_while_it_runs_and_its_file_is_its_owners_alone(
    held: DataDirectory, tmp_path: Path
) -> None:
    directory = DataDirectory(tmp_path)
    assert find_daemon(directory) is None
    write_whereabouts(directory, "http://127.0.0.1:8080")
    found = find_daemon(directory)
    assert found is not None
    assert (found.pid, found.url) == (os.getpid(), "http://127.0.0.1:8080")
    assert (tmp_path / "daemon.json").stat().st_mode & 0o777 == 0o600
    drop_whereabouts(directory)
    assert find_daemon(directory) is None


def test_one_that_was_killed_is_not_there_any_more(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    place = tmp_path / "daemon.json"
    place.write_text(f'{{"pid": {ended.pid}, "url": "http://127.0.0.1:1"}}')
    place.chmod(0o600)
    assert find_daemon(DataDirectory(tmp_path)) is None
    place.write_text("half a fi")
    assert find_daemon(DataDirectory(tmp_path)) is None


def test_one_that_has_the_directory_no_more_is_not_believed(tmp_path: Path) -> None:
    """Its number may be another process's by now, and its port another person's."""
    directory = DataDirectory(tmp_path)
    directory.lock()
    write_whereabouts(directory, "http://127.0.0.1:8080")
    assert find_daemon(DataDirectory(tmp_path)) is not None
    directory.unlock()
    assert find_daemon(DataDirectory(tmp_path)) is None


def test_a_file_that_names_another_process_than_has_the_directory_is_old(
    held: DataDirectory, tmp_path: Path
) -> None:
    _write(tmp_path, "http://127.0.0.1:8080", pid=os.getppid())
    assert find_daemon(held) is None


@for_each(
    "url",
    [
        *("http://evil.test:8080", "http://8.8.8.8:8080", "http://127.0.0.1.evil.test:8080"),
        *("http://127.0.0.1:8080@evil.test:80", "http://user:x@127.0.0.1:8080"),
        *("http://127.0.0.1:8080/@evil.test", "http://127.0.0.1:8080?x", "http://127.0.0.1"),
        *("http://127.0.0.1:0", "http://127.0.0.1:99999", "https://127.0.0.1:8080"),
        *("http://0.0.0.0:8080", "http://[::]:8080", "http://[fe80::1]:8080"),
        *("http://localhost.evil.test:8080", "file:///tmp/x", "//127.0.0.1:8080"),
        *("http://127.0.0.1:8080\r\nHost: x", ""),
    ],
)
def test_no_token_is_sent_to_another_machine(held: DataDirectory, url: str) -> None:
    _write(held.root, url)
    with pytest.raises(AddressFileUnsafe, match="no address of this machine"):
        find_daemon(held)


@for_each(
    "url", ["http://127.0.0.1:1", "http://127.0.0.2:65535", "http://[::1]:1", "http://localhost:1"]
)
def test_every_address_of_this_machine_will_do(held: DataDirectory, url: str) -> None:
    _write(held.root, url)
    found = find_daemon(held)
    assert found is not None
    assert found.url == url


def test_a_file_that_somebody_else_could_have_written_is_not_believed(
    held: DataDirectory, tmp_path: Path
) -> None:
    place = tmp_path / "daemon.json"
    for mode in (0o620, 0o602, 0o666):
        _write(tmp_path, "http://127.0.0.1:8080")
        place.chmod(mode)
        with pytest.raises(AddressFileUnsafe, match="written by somebody else"):
            find_daemon(held)
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    with pytest.raises(AddressFileUnsafe, match="link"):
        find_daemon(held)
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(AddressFileUnsafe, match="plain file"):
        find_daemon(held)
    place.unlink()
    place.mkdir()
    with pytest.raises(AddressFileUnsafe):
        find_daemon(held)


def _write(folder: Path, url: str, pid: int = 0) -> None:
    write_whereabouts(DataDirectory(folder), url)
    place = folder / "daemon.json"
    place.write_text(place.read_text().replace(str(os.getpid()), str(pid or os.getpid())))
    place.chmod(0o600)


@for_each(
    "host, asked",
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("::1", "[::1]"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("192.168.1.5", "192.168.1.5"),
    ],
)
def test_it_is_asked_for_by_an_address_that_it_answers_to(host: str, asked: str) -> None:
    assert reached_by(host) == asked


def test_systemd_is_told_where_it_listens_and_nobody_is_needed(tmp_path: Path) -> None:
    place = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(place))
        notify("READY=1", "STATUS=serving", address=str(place))
        assert systemd.recv(100) == b"READY=1\nSTATUS=serving"
    notify("READY=1", address=str(tmp_path / "nobody"))
    notify("READY=1", address="")
