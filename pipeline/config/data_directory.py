"""The data directory holds everything in known places, private to its owner, with one writer at a
time."""

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from rutter.events import sqlite_schema
from rutter.events.artifacts import ArtifactStore
from rutter.events.errors import DirectoryInUse, WorldBroken

FOLDER, FILE = 0o700, 0o600
TOKENS = ("person.token", "agent.token")
LOGINS = "logins"
# What is made in a data directory. One that holds anything else is somebody's own folder as well:
# its files are made private, and the folder is left as it is.
OURS = (
    "log.db",
    "projections.db",
    "traces.db",
    "writer.lock",
    "erasing",
    "tidied",
    "artifacts",
    "pictures",
    "config.toml",
    "daemon.json",
    LOGINS,
    *TOKENS,
)


class DataDirectory:
    """A data directory has these paths. `lock` makes this process its writer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / sqlite_schema.FILE
        self.projections = root / "projections.db"
        self.erasing = root / "erasing"  # stands here from before an erasing until all is done
        self.tidied = root / "tidied"  # as old as the last look whether something has expired
        self.logins = root / LOGINS  # kept logins, encrypted, one file for each origin
        self._lock: int | None = None
        self.tightened: tuple[Path, ...] = ()  # what others could read until it was locked

    @property
    def artifacts(self) -> ArtifactStore:
        return ArtifactStore(self.root / "artifacts")

    def picture(self, session: str, place: Path) -> Path:
        """What a session's picture is opened by: a link that ends as viewers know it. It holds
        nothing: with the artifact the picture is gone. Where no link can be, the artifact."""
        link = self.root / "pictures" / f"{Path(session).name}.png"
        try:
            link.parent.mkdir(mode=FOLDER, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(place)
        except OSError:  # a disk that is full, or not ours to write
            return place
        return link

    def create(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise WorldBroken(
                f"{self.root} cannot be created ({error.strerror})", "name another with --data"
            ) from error

    def lock(self) -> None:
        """Takes the writer's lock, or says who has it. It goes when the process goes."""
        self.create()
        place = self.root / "writer.lock"
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise WorldBroken(
                f"{self.root} cannot be written ({error.strerror})", "name another with --data"
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(handle, 32).decode("ascii", "replace").strip() or "another process"
            os.close(handle)
            raise DirectoryInUse(
                f"{self.root} is in use by process {holder}",
                "wait until it is done, or name another directory with --data",
            ) from error
        self.tightened = tuple(self._tighten())
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._lock = handle

    def unlock(self) -> None:
        handle, self._lock = self._lock, None
        if handle is not None:
            os.close(handle)

    def writer(self) -> int | None:
        """The process that has the lock, if one has it. What a dead one wrote there is nobody."""
        try:
            handle = os.open(self.root / "writer.lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            said = os.read(handle, 32).strip()
            return int(said) if said.isdigit() else None
        finally:
            os.close(handle)
        return None

    def _tighten(self) -> Iterator[Path]:
        """Makes what is there private, and says what was not: a copy or a backup that was put back
        has whatever mode it came with."""
        entries = sorted(self.root.iterdir())
        own = [entry for entry in entries if entry.name.startswith(OURS)]
        if len(own) == len(entries):
            yield from _made_private(self.root, FOLDER)
        for entry in own:
            if entry.name in TOKENS:
                continue  # one that others could read may be known to them: it is refused, not kept
            if entry.name == LOGINS:
                yield from _made_private(entry, FOLDER)  # and its files are refused as well
                continue
            if entry.is_dir() and not entry.is_symlink():
                yield from _all_private(entry)
            else:
                yield from _made_private(entry, FILE)


def _all_private(folder: Path) -> Iterator[Path]:
    """A folder with all that is in it. Nobody else gets into one that was private before."""
    opened = list(_made_private(folder, FOLDER))
    yield from opened
    for entry in sorted(folder.iterdir()) if opened else ():
        if entry.is_dir() and not entry.is_symlink():
            yield from _all_private(entry)
        else:
            yield from _made_private(entry, FILE)


def _made_private(path: Path, mode: int) -> Iterator[Path]:
    """Not through a link, and not what belongs to somebody else."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode) or not stat.S_IMODE(found.st_mode) & 0o077:
            return
        path.chmod(mode)
    except OSError:
        return
    yield path
