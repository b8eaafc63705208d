"""A small disk is soon full, for what must survive that: a file system of its own in memory."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk_of(size: str, parent: Path) -> Iterator[Path]:
    """Only root can mount one: for everyone else the test is skipped, and says so."""
    place = parent / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here ({error})")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
