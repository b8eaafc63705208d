"""Where a daemon is, and what systemd is told."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from pipeline.daemon.serving import notify
from pipeline.daemon.whereabouts import drop_whereabouts, find_daemon, write_whereabouts
from pipeline.directory import DataDirectory


def test_it_is_found_while_it_runs_and_its_file_is_its_owners_alone(tmp_path: Path) -> None:
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


def test_systemd_is_told_where_it_listens_and_nobody_is_needed(tmp_path: Path) -> None:
    place = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(place))
        notify("READY=1", "STATUS=serving", address=str(place))
        assert systemd.recv(100) == b"READY=1\nSTATUS=serving"
    notify("READY=1", address=str(tmp_path / "nobody"))
    notify("READY=1", address="")
