"""A reader beside the writer sees an event only when it is on disk."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.crash.appender import ROOT
from tests.crash.peeker import Seen

pytestmark = pytest.mark.slow


def peek(path: Path, synchronous: str = "") -> Seen:
    command = [sys.executable, "-m", "tests.crash.peeker", str(path), synchronous]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=60)
    return msgspec.json.decode(done.stdout, type=Seen)


def test_a_reader_sees_nothing_of_a_commit_until_it_is_synced(tmp_path: Path) -> None:
    seen = peek(tmp_path / "log.db")
    header, *commits = seen.before_syncs
    assert header == 0
    assert len(commits) == 30, "a sync for each commit"
    assert commits == sorted(set(commits)), "each sync made one more turn visible"
    assert commits[0] == 0
    assert commits[-1] < seen.at_the_end


def test_the_control_with_synchronous_normal_shows_what_no_sync_covers(tmp_path: Path) -> None:
    seen = peek(tmp_path / "log.db", "NORMAL")
    assert len(seen.before_syncs) <= 1
    assert seen.at_the_end > 30
