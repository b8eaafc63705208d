"""The data directory: where things are, private to its owner, with one writer at a time."""

import fcntl
import os
from pathlib import Path

from events import sqlite_schema
from events.artifacts import ArtifactStore
from events.errors import DirectoryInUse, WorldBroken


class DataDirectory:
    """Paths of one data directory. `lock` makes this process its writer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock: int | None = None

    @property
    def log(self) -> Path:
        return self.root / sqlite_schema.FILE

    @property
    def projections(self) -> Path:
        return self.root / "projections.db"

    @property
    def erasing(self) -> Path:
        """Stands here from before an erasing until all of it is done."""
        return self.root / "erasing"

    @property
    def artifacts(self) -> ArtifactStore:
        return ArtifactStore(self.root / "artifacts")

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
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._lock = handle

    def unlock(self) -> None:
        handle, self._lock = self._lock, None
        if handle is not None:
            os.close(handle)
