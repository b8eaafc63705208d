"""Allowed files lie in the folders that were named, and nowhere else: no `..`, no link, no device.

Every part of a path is opened inside the one before it and none may be a link, so nothing that is
renamed meanwhile leads outside. The folder itself is what was named: it may be a link.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import repeat
from pathlib import PurePath
from typing import NamedTuple

import anyio
import anyio.to_thread
import msgspec

from rutter.events.action import Untrusted
from rutter.events.checks import FileCheck, FileContains, path_of
from rutter.events.critic import FilesRequested
from rutter.events.observer import FileSeen, FilesSeen
from rutter.events.tools import FileRead

MAX_TEXT = 65_536  # what a caller of `read_file` gets at once
MAX_SEARCHED = 64 * 1024 * 1024  # a file that is read to its end after a step
CHUNK = 65_536
POLL_S = 0.05
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class _FileRefused(Exception):
    """The path names no file in a folder that was allowed."""


class _FoundFile(NamedTuple):
    """A found file has a name in an open folder, and was this when it was found."""

    folder: int
    name: str
    held: os.stat_result


Stamp = tuple[int, int, int, int]


class _FileFacts(NamedTuple):
    """A file has these facts. The stamp is another one when it was written meanwhile."""

    seen: FileSeen
    stamp: Stamp | None = None


# -- checking --------------------------------------------------------------------------------------


async def look_at_files(
    request: FilesRequested, folders: Sequence[str], before: FilesSeen | None = None
) -> FilesSeen:
    """Once something else is known of one of them than what was said `before` of this step, or
    else than at first; at the latest when the time is up."""
    paths = tuple(path_of(check) for check in request.checks)
    looked = await _look_at_all(request.checks, folders)
    known = tuple(each.seen for each in looked)
    if before is not None and before.step == request.step and _paths(before) == paths:
        known = before.files
    with anyio.move_on_after(request.within_ms / 1000) as waiting:
        while known == tuple(each.seen for each in looked) and request.within_ms > 0:
            await anyio.sleep(POLL_S)
            looked = await _look_at_all(request.checks, folders, looked)
    if waiting.cancelled_caught:  # a stamp may be too coarse: what is said last is looked at
        looked = await _look_at_all(request.checks, folders)
    return FilesSeen(request.step, tuple(each.seen for each in looked))


def _paths(seen: FilesSeen) -> tuple[str, ...]:
    return tuple(each.path for each in seen.files)


async def _look_at_all(
    checks: Sequence[FileCheck], folders: Sequence[str], before: Sequence[_FileFacts] = ()
) -> list[_FileFacts]:
    """In a thread that is left behind when nobody waits any more: a disk may hang."""

    def look() -> list[_FileFacts]:
        known = before or repeat(None)
        return [_look(check, folders, old) for check, old in zip(checks, known, strict=False)]

    return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)


def _look(check: FileCheck, folders: Sequence[str], before: _FileFacts | None) -> _FileFacts:
    path = path_of(check)
    seen = FileSeen(path)
    try:
        with _found(path, folders) as found:
            stamp = _stamp(found.held)
            if before is not None and before.stamp == stamp:
                return before
            seen = FileSeen(path, exists=True, size=found.held.st_size)
            if isinstance(check, FileContains):
                seen = _searched(found, seen, check.value.encode())
            return _FileFacts(seen, stamp)
    except (FileNotFoundError, NotADirectoryError):
        return _FileFacts(FileSeen(path))
    except _FileRefused as refused:
        return _FileFacts(FileSeen(path, error="policy_denied", message=str(refused)))
    except OSError as error:
        told = msgspec.structs.replace(seen, error="unreadable", message=_why(error))
        return _FileFacts(told)


def _stamp(held: os.stat_result) -> Stamp:
    return held.st_dev, held.st_ino, held.st_size, held.st_mtime_ns


def _searched(found: _FoundFile, seen: FileSeen, wanted: bytes) -> FileSeen:
    if seen.size <= MAX_SEARCHED:
        with _opened(found) as descriptor:
            holds = _holds(descriptor, wanted)
        if holds is not None:
            return msgspec.structs.replace(seen, holds=holds)
    said = f"it has more than {MAX_SEARCHED} bytes, and is not searched"
    return msgspec.structs.replace(seen, error="too_large", message=said)


def _holds(descriptor: int, wanted: bytes) -> bool | None:
    """Bytes for bytes, in pieces that overlap: text in UTF-8 is found as it is written. `None`:
    the file grew past what is searched."""
    kept, read = b"", 0
    while read <= MAX_SEARCHED:
        piece = os.read(descriptor, CHUNK)
        read += len(piece)
        window = kept + piece
        if wanted in window:
            return True
        if not piece:
            return False
        kept = window[max(0, len(window) - len(wanted) + 1) :]
    return None


# -- reading ---------------------------------------------------------------------------------------


def read_file(call: str, path: str, folders: Sequence[str]) -> FileRead:
    """What reading the file for this call comes to."""
    try:
        with _found(path, folders) as found, _opened(found) as descriptor:
            return FileRead(call, Untrusted(_text(descriptor)))
    except _FileRefused as refused:
        return FileRead(call, error="policy_denied", message=str(refused))
    except UnicodeDecodeError:
        return FileRead(call, error="action_failed", message="it is not text in UTF-8")
    except OSError as error:
        return FileRead(call, error="action_failed", message=_why(error))


def _text(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    if size > MAX_TEXT:
        raise _FileRefused(f"it has {size} bytes, more than {MAX_TEXT}")
    body = b""
    while len(body) < MAX_TEXT and (piece := os.read(descriptor, MAX_TEXT - len(body))):
        body += piece
    return body.decode("utf-8")


# -- the way there ---------------------------------------------------------------------------------


@contextmanager
def _found(path: str, folders: Sequence[str]) -> Iterator[_FoundFile]:
    folder, parts = _place(path, folders)
    with ExitStack() as opened:
        inside = os.open(folder, _FOLDER)
        opened.callback(os.close, inside)
        for part in parts[:-1]:
            if not stat.S_ISDIR(_held(inside, part).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            inside = _open(part, _FOLDER | os.O_NOFOLLOW, inside)
            opened.callback(os.close, inside)
        held = _held(inside, parts[-1])
        if not stat.S_ISREG(held.st_mode):
            raise _FileRefused("it is not a file")
        yield _FoundFile(inside, parts[-1], held)


@contextmanager
def _opened(found: _FoundFile) -> Iterator[int]:
    """The file itself: it may be another one by now, but none that is a link or a device."""
    descriptor = _open(found.name, _FILE, found.folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _FileRefused("it is not a file")
        yield descriptor
    finally:
        os.close(descriptor)


def _place(path: str, folders: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The folder that it is in, and its path from there."""
    if not folders:
        raise _FileRefused("this session was given no directory to read from")
    wanted = PurePath(path)
    if not wanted.parts or ".." in wanted.parts or not _can_be_a_name(path):
        raise _FileRefused("the path leads outside the directory")
    if not wanted.is_absolute():
        return _absolute(folders[0]), wanted.parts
    for folder in folders:
        if wanted != PurePath(folder) and wanted.is_relative_to(folder):
            return _absolute(folder), wanted.relative_to(folder).parts
    raise _FileRefused("the path leads outside the directory")


def _absolute(folder: str) -> str:
    if not PurePath(folder).is_absolute():
        raise _FileRefused("the directory that was given is not an absolute path")
    return folder


def _can_be_a_name(path: str) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:  # half a character
        return False


def _held(folder: int, name: str) -> os.stat_result:
    """What it is, before it is opened: to open a device may be to use it."""
    held = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(held.st_mode):
        raise _FileRefused("a link is not followed")
    return held


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError:
        _held(folder, name)  # it may have become a link since it was found
        raise


def _why(error: OSError) -> str:
    return f"it cannot be read: {error.strerror}"
