"""A run of the suite leaves nothing behind: no process, no file, no directory. This looks."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux
ENDING_S = 10  # what was told to end may take this long
CACHES = (".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", ".import_linter_cache")
# Where pytest keeps what failed, and tidies up by itself; what a browser or its driver cannot take
# away when a test kills them. All of it goes with the directory that the run was given.
EXPECTED = ("pytest-of-", "org.chromium.Chromium.", "playwright")

# Nobody cuts the power here: tests that are about it have a disk of their own making. In memory no
# `fsync` waits for a disk, which on a busy machine is most of what a log costs.
MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30


def temporary_place() -> Path:
    """Where temporary files of tests go, unless somebody has said it."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    return MEMORY if roomy and "TMPDIR" not in os.environ else Path(tempfile.gettempdir())


def looked_for(run: Callable[[], int], checkout: Path) -> tuple[int, list[str]]:
    """What `run` comes to in a process of its own, and a line for each thing that it left."""
    known = _untracked(checkout)
    before, temporary = tempfile.tempdir, Path(tempfile.mkdtemp("", "rutter-", temporary_place()))
    temporary.chmod(0o755)  # some tests are somebody else for a while, as in any place of this kind
    said = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(temporary)
    tempfile.tempdir = None
    try:
        code = _adopting(run)
        left = _processes()
        left += [f"file {path}" for path in _kept(temporary)]
        left += [f"file {path}" for path in sorted(_untracked(checkout) - known)]
        return code, left
    finally:
        tempfile.tempdir = before
        del os.environ["TMPDIR"]
        if said is not None:
            os.environ["TMPDIR"] = said
        shutil.rmtree(temporary, ignore_errors=True)


def _adopting(run: Callable[[], int]) -> int:
    """Runs it in a child. A process whose parent has ended becomes a child of this one: it is
    found among them afterwards, and when it ends before, it is let go of as any init does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = run()
        finally:
            sys.stdout.flush()
            os._exit(code)
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def _processes() -> list[str]:
    _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=ENDING_S)
    found = [f"process {each.pid}: {' '.join(each.cmdline())[:150]}" for each in alive]
    for each in alive:
        each.kill()
    return found


def _kept(temporary: Path) -> list[Path]:
    return sorted(path for path in temporary.iterdir() if not path.name.startswith(EXPECTED))


def _untracked(checkout: Path) -> set[str]:
    """What git does not know there. Nothing where there is no git."""
    asked = ["git", "status", "--porcelain", "--ignored", "--untracked-files=normal"]
    try:
        answer = subprocess.run(asked, cwd=checkout, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return set()
    names = (line[3:] for line in answer.stdout.splitlines() if line[:2] in ("??", "!!"))
    return {name for name in names if "__pycache__" not in name and not name.startswith(CACHES)}
