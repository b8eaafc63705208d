"""A durable file outlives a power cut: one function writes it, and says what the disk refused.

A file is written beside its place, synced, renamed, and its directory synced too: whoever looks
sees the old one, the new one or none, and never half of one.
"""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rutter.events.errors import LogFull, WorldBroken

PRIVATE = 0o600


def write_whole(place: Path, body: bytes) -> None:
    """A file for its owner alone, in place of the one that may be there."""
    with drafted(place) as draft:
        draft.write_bytes(body)


@contextmanager
def drafted(
    place: Path, *, mode: int = PRIVATE, name: Callable[[Path, Path], object] = Path.rename
) -> Iterator[Path]:
    """Makes an empty file to fill, which gets the name of `place` when all went well, else goes."""
    draft = place.with_name(f".{place.name}.{os.getpid()}.{threading.get_ident()}")
    draft.unlink(missing_ok=True)  # of a process that was killed, and had this number
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
        yield draft
        sync(draft)
        name(draft, place)
        sync(place.parent)
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Waits until a file's content, or the names in a directory, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Never only to run it again: what the disk has no room to tell may have been done.
MAKE_ROOM = (
    "free some disk space, and look what was done (rutter show last) before you run it again"
)


@contextmanager
def disk_told(place: Path, kept: str = "") -> Iterator[None]:
    """Says what the disk refuses as an error of ours, with the place and what to do."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, place, kept) from error


def disk_error(error: OSError, place: Path, kept: str = "") -> WorldBroken:
    if is_full(error):
        return LogFull(f"no space left to write {place}{kept}", MAKE_ROOM)
    why = error.strerror or error
    return WorldBroken(f"{place} cannot be written ({why}){kept}", "check the place and the disk")


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
