"""A SQLite VFS without a C compiler: it records what reaches the disk, and can make it fail.

It is registered as the default VFS in the very library that the `sqlite3` module uses. Files are
opened by the real VFS; then the pointer to their methods is turned to a copy in which write,
truncate, sync and close go through here first. All else, the shared memory of the WAL-index too,
stays what it was. Renames and directory syncs of the process are recorded beside it. The
recording is what `tests.crash.disk` rebuilds disk images from.
"""

import _sqlite3
import ctypes
import os
import sqlite3
import stat
import traceback
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

OK, IOERR_WRITE, IOERR_FSYNC, FULL = 0, 778, 1034, 13
OPEN_MAIN_DB, OPEN_MAIN_JOURNAL, OPEN_WAL = 0x100, 0x800, 0x80000
RECORDED = OPEN_MAIN_DB | OPEN_MAIN_JOURNAL | OPEN_WAL

Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
Delete = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
Close = CFUNCTYPE(c_int, c_void_p)
Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
Sync = CFUNCTYPE(c_int, c_void_p, c_int)


def _pointers(*names: str) -> list[tuple[str, Any]]:
    return [(name, c_void_p) for name in names]


class Methods(Structure):
    """sqlite3_io_methods. Version 2 ends before the memory-mapped reads, which we do without."""

    _fields_ = [
        ("version", c_int),
        *_pointers("close", "read", "write", "truncate", "sync", "size"),
        *_pointers("lock", "unlock", "check_lock", "control", "sector", "device"),
        *_pointers("shm_map", "shm_lock", "shm_barrier", "shm_unmap", "fetch", "unfetch"),
    ]


class OpenFile(Structure):
    """sqlite3_file."""

    _fields_ = [("methods", POINTER(Methods))]


class Vfs(Structure):
    """sqlite3_vfs."""

    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("path_size", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("app", c_void_p),
        *_pointers("open", "delete", "access", "full_path"),
        *_pointers("dl_open", "dl_error", "dl_sym", "dl_close"),
        *_pointers("randomness", "sleep", "time", "last_error", "time64"),
        *_pointers("set_call", "get_call", "next_call"),
    ]


class Op(msgspec.Struct, frozen=True, array_like=True):
    """One thing that was asked of the disk. `names`: names became durable with it."""

    what: Literal["create", "write", "truncate", "sync", "delete", "rename", "sync_names"]
    file: str = ""
    offset: int = 0
    body: bytes = b""
    to: str = ""
    names: bool = False


class Fault(msgspec.Struct, frozen=True):
    """What goes wrong, at which write or sync from now on (from 1), and whether it stays wrong."""

    kind: Literal["full", "torn", "io_write", "io_sync"]
    at: int
    stays: bool = True


class _Opened(NamedTuple):
    name: str
    real: Methods


class RecordingVfs:
    """Everything written from `install` on, in order, in `ops`."""

    def __init__(self, *, lying: bool = False) -> None:
        self.ops: list[Op] = []
        self.before_sync: Callable[[], None] = lambda: None
        self._lying = lying  # syncs are answered, but promise nothing
        self._fault: Fault | None = None
        self._calls = {"write": 0, "sync": 0}
        self._open_files: dict[int, _Opened] = {}
        self._known: set[str] = set()
        self._unsynced_names: set[str] = set()
        self._kept: list[object] = []  # what C points to must outlive us
        self._wrapped: dict[int, Methods] = {}
        self._real: Vfs

    def install(self) -> "RecordingVfs":
        """Becomes the default VFS of this process, for good."""
        library = sqlite_library()
        self._real = _find_default(library)
        ours = Vfs.from_buffer_copy(self._real)
        ours.name = b"recording"
        ours.next = None
        ours.open = self._callback(Open, self._on_open)
        ours.delete = self._callback(Delete, self._on_delete)
        self._kept.append(ours)
        if library.sqlite3_vfs_register(ctypes.byref(ours), 1) != OK:
            raise RuntimeError("SQLite refused the recording VFS")
        return self

    def record_names(self) -> None:
        """Renames and directory syncs do not go through SQLite: they are caught in `os`."""
        rename, fsync = os.rename, os.fsync

        def on_rename(old: Path, new: Path) -> None:
            rename(old, new)
            self._known.discard(old.name)
            self._known.add(new.name)
            self.ops.append(Op("rename", old.name, to=new.name))

        def on_fsync(handle: int) -> None:
            fsync(handle)
            if stat.S_ISDIR(os.fstat(handle).st_mode) and not self._lying:
                self.ops.append(Op("sync_names", names=True))

        os.rename, os.fsync = on_rename, on_fsync  # type: ignore[assignment]

    def fail(self, fault: Fault | None) -> None:
        """Counts from here to `fault.at`; none mends the disk."""
        self._fault = fault
        self._calls = {"write": 0, "sync": 0}

    def _callback(self, prototype: Any, function: Callable[..., int]) -> c_void_p:
        callback = prototype(_or_die(function))
        self._kept.append(callback)
        return ctypes.cast(callback, c_void_p)

    def _on_open(self, vfs: int, path: int | None, file: int, flags: int, out: Any) -> int:
        result = int(Open(self._real.open)(vfs, path, file, flags, out))
        if result != OK or path is None or not flags & RECORDED:
            return result
        name = Path(ctypes.string_at(path).decode()).name
        opened = ctypes.cast(file, POINTER(OpenFile)).contents
        self._open_files[file] = _Opened(name, opened.methods.contents)
        opened.methods = ctypes.pointer(self._wrap(opened.methods.contents))
        if name not in self._known:
            self._known.add(name)
            self.ops.append(Op("create", name))
            if not flags & OPEN_MAIN_DB:  # SQLite syncs the directory with a new journal or WAL
                self._unsynced_names.add(name)
        return result

    def _wrap(self, real: Methods) -> Methods:
        address = ctypes.addressof(real)
        if address not in self._wrapped:
            ours = Methods.from_buffer_copy(real)
            ours.version = min(real.version, 2)
            ours.close = self._callback(Close, self._on_close)
            ours.write = self._callback(Write, self._on_write)
            ours.truncate = self._callback(Truncate, self._on_truncate)
            ours.sync = self._callback(Sync, self._on_sync)
            self._wrapped[address] = ours
        return self._wrapped[address]

    def _on_close(self, file: int) -> int:
        return int(Close(self._open_files.pop(file).real.close)(file))

    def _on_delete(self, vfs: int, path: bytes, sync_directory: int) -> int:
        result = int(Delete(self._real.delete)(vfs, path, sync_directory))
        name = Path(path.decode()).name
        if result == OK and name in self._known:
            self._known.discard(name)
            self.ops.append(Op("delete", name, names=bool(sync_directory) and not self._lying))
        return result

    def _on_write(self, file: int, body: int, size: int, offset: int) -> int:
        name, real = self._open_files[file]
        fault = self._due("write")
        if fault and fault.kind == "torn":
            Write(real.write)(file, body, size // 2, offset)
        if fault:
            return FULL if fault.kind in ("full", "torn") else IOERR_WRITE
        self.ops.append(Op("write", name, offset, ctypes.string_at(body, size)))
        return int(Write(real.write)(file, body, size, offset))

    def _on_truncate(self, file: int, size: int) -> int:
        name, real = self._open_files[file]
        self.ops.append(Op("truncate", name, size))
        return int(Truncate(real.truncate)(file, size))

    def _on_sync(self, file: int, flags: int) -> int:
        name, real = self._open_files[file]
        self.before_sync()
        if self._due("sync"):
            return IOERR_FSYNC
        result = int(Sync(real.sync)(file, flags))
        if result == OK and not self._lying:
            self.ops.append(Op("sync", name, names=name in self._unsynced_names))
            self._unsynced_names.discard(name)
        return result

    def _due(self, call: Literal["write", "sync"]) -> Fault | None:
        self._calls[call] += 1
        fault = self._fault
        if fault is None or (fault.kind == "io_sync") != (call == "sync"):
            return None
        count = self._calls[call]
        return fault if count == fault.at or (fault.stays and count > fault.at) else None


def _or_die(function: Callable[..., int]) -> Callable[..., int]:
    """An exception cannot cross into C, where any number would be taken for the answer."""

    def call(*arguments: Any) -> int:
        try:
            return function(*arguments)
        except BaseException:  # noqa: BLE001 - whatever it is, the child cannot go on
            traceback.print_exc()
            os._exit(70)

    return call


def sqlite_library() -> ctypes.CDLL:
    """The library that the `sqlite3` module calls, however Python was built."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    shared = [line.split()[-1] for line in lines if "libsqlite3" in line]
    own = getattr(_sqlite3, "__file__", None)  # none when it is built into the interpreter
    for name in (*shared[:1], own, None):
        library = ctypes.CDLL(name)
        if _is_ours(library):
            return library
    raise RuntimeError(
        "the crash tests need SQLite's C functions: this Python has them linked in and hidden; "
        "use a Python whose sqlite3 module uses a shared libsqlite3"
    )


def _is_ours(library: ctypes.CDLL) -> bool:
    try:
        library.sqlite3_libversion.restype = c_char_p
        version = library.sqlite3_libversion()
        library.sqlite3_vfs_find.restype = POINTER(Vfs)
        library.sqlite3_vfs_register.argtypes = [c_void_p, c_int]
    except AttributeError:
        return False
    return bool(version == sqlite3.sqlite_version.encode())


def _find_default(library: ctypes.CDLL) -> Vfs:
    found = library.sqlite3_vfs_find(None)
    if not found:
        raise RuntimeError("SQLite has no default VFS")
    default: Vfs = found.contents
    return default
