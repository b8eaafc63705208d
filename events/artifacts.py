"""Screenshots and page bodies, outside the log, named by their content.

A file is durable before the event that names it is committed: written beside its place, synced,
renamed, and the directory synced too.
"""

import hashlib
import os
import re
import threading
from functools import cache
from pathlib import Path

import msgspec

from events.durable import is_full, sync_directory
from events.errors import LogCorrupt, LogFull, WorldBroken
from events.event import Event
from events.page import Artifact

NAME = re.compile("[0-9a-f]{64}")


def artifacts_in(event: Event) -> list[Artifact]:
    """The artifacts that an event names."""
    values = [getattr(event, field) for field in naming_fields(type(event))]
    return [value for value in values if value is not None]


@cache
def naming_fields(event: type[Event]) -> tuple[str, ...]:
    """The fields of this type that name an artifact."""
    fields = msgspec.structs.fields(event)
    return tuple(field.name for field in fields if field.type in (Artifact, Artifact | None))


class ArtifactStore:
    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def root(self) -> Path:
        return self._root

    def path(self, artifact: Artifact) -> Path:
        if not NAME.fullmatch(artifact.sha256):  # a log from elsewhere must not lead elsewhere
            raise LogCorrupt(f"{artifact.sha256[:80]!r} is not the name of an artifact")
        return self._root / artifact.sha256[:2] / artifact.sha256[2:]

    def put(self, body: bytes, media: str) -> Artifact:
        """Keeps `body`; equal bodies are kept once. On disk when this returns."""
        artifact = Artifact(hashlib.sha256(body).hexdigest(), len(body), media)
        place = self.path(artifact)
        try:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            place.parent.mkdir(exist_ok=True, mode=0o700)
            if not place.exists():
                self._write(place, body)
            for directory in (place.parent, self._root, self._root.parent):
                sync_directory(directory)
        except OSError as error:
            raise _explain(error, place) from error
        return artifact

    def get(self, artifact: Artifact) -> bytes:
        """The body, checked against its name."""
        place = self.path(artifact)
        try:
            body = place.read_bytes()
        except FileNotFoundError as error:
            raise LogCorrupt(f"artifact {artifact.sha256[:12]} is missing at {place}") from error
        if hashlib.sha256(body).hexdigest() != artifact.sha256:
            raise LogCorrupt(f"artifact {artifact.sha256[:12]} at {place} is not what was stored")
        return body

    def _write(self, place: Path, body: bytes) -> None:
        temporary = place.with_name(f".{place.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            with open(temporary, "wb", opener=_private) as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(place)
        finally:
            temporary.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _explain(error: OSError, place: Path) -> WorldBroken:
    if is_full(error):
        return LogFull(f"no space left to write {place}", "free some disk space and run again")
    return WorldBroken(f"writing {place} failed: {error}", "check the disk and run again")
