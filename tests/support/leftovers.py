"""A run of the suite leaves nothing behind: no process, no file, no directory. This looks."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux
ENDING_S = 10  # what was told to end may take this long
CACHES = (".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", ".import_linter_cache")
PYTEST_OWN = "pytest-of-"  # where it keeps what failed, and tidies up by itself


@contextmanager
def looked_for(checkout: Path) -> Iterator[list[str]]:
    """Gives a list that holds, once this is left, one line for each thing that was left behind."""
    left: list[str] = []
    known = _untracked(checkout)
    _adopt_orphans()
    before, temporary = tempfile.tempdir, Path(tempfile.mkdtemp(prefix="rutter-"))
    temporary.chmod(0o755)  # some tests are somebody else for a while, as in any place of this kind
    os.environ["TMPDIR"] = str(temporary)
    tempfile.tempdir = None
    try:
        yield left
        left += _processes()
        left += [f"file {path}" for path in _kept(temporary)]
        left += [f"file {path}" for path in sorted(_untracked(checkout) - known)]
    finally:
        tempfile.tempdir = before
        del os.environ["TMPDIR"]
        shutil.rmtree(temporary, ignore_errors=True)


def _adopt_orphans() -> None:
    """A process whose parent has ended becomes a child of this one, and is found among them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _processes() -> list[str]:
    _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=ENDING_S)
    found = [f"process {each.pid}: {' '.join(each.cmdline())[:150]}" for each in alive]
    for each in alive:
        each.kill()
    return found


def _kept(temporary: Path) -> list[Path]:
    return sorted(path for path in temporary.iterdir() if not path.name.startswith(PYTEST_OWN))


def _untracked(checkout: Path) -> set[str]:
    """What git does not know there. Nothing where there is no git."""
    asked = ["git", "status", "--porcelain", "--ignored", "--untracked-files=normal"]
    try:
        answer = subprocess.run(asked, cwd=checkout, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return set()
    names = (line[3:] for line in answer.stdout.splitlines() if line[:2] in ("??", "!!"))
    return {name for name in names if "__pycache__" not in name and not name.startswith(CACHES)}
