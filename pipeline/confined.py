"""Text files of one directory, and nothing outside it: no `..`, no link, no device, no end."""

import errno
import os
import stat
from pathlib import Path

from events.action import Untrusted
from events.tools import FileRead

MAX_BYTES = 65_536
# What O_NOFOLLOW says to a link, as the last part of a path and before it.
_LINK = (errno.ELOOP, errno.ENOTDIR)


def read_confined(call: str, root: Path | None, path: str) -> FileRead:
    """Reads the file for this call. Every part of its path is opened inside the one before it, and
    none of them may be a link: nothing that is renamed meanwhile leads outside."""
    if root is None:
        return _refused(call, "this session was given no directory to read from")
    parts = Path(path).parts
    if Path(path).is_absolute() or not parts or ".." in parts or "\0" in path:
        return _refused(call, "the path leads outside the directory")
    opened: list[int] = []
    try:
        opened.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY))
        for part in parts:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        return _text(call, opened[-1])
    except OSError as error:
        if error.errno in _LINK:
            return _refused(call, "a link is not followed")
        return FileRead(call, error="action_failed", message=f"it cannot be read: {error.strerror}")
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _text(call: str, descriptor: int) -> FileRead:
    held = os.fstat(descriptor)
    if not stat.S_ISREG(held.st_mode):
        return _refused(call, "it is not a file")
    if held.st_size > MAX_BYTES:
        return _refused(call, f"it has {held.st_size} bytes, more than {MAX_BYTES}")
    body = os.read(descriptor, MAX_BYTES + 1)
    try:
        return FileRead(call, Untrusted(body[:MAX_BYTES].decode("utf-8")))
    except UnicodeDecodeError:
        return FileRead(call, error="action_failed", message="it is not text in UTF-8")


def _refused(call: str, message: str) -> FileRead:
    return FileRead(call, error="policy_denied", message=message)
