"""Artifacts are screenshots and page bodies, kept outside the log, named by their content.

A file is durable before the event that names it is committed: written beside its place, synced,
renamed, and the directory synced too. One that expired goes when that is on disk; whoever puts the
same body at that moment keeps it.
"""

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import msgspec.inspect

from rutter.events.durable import disk_told, sync, write_whole
from rutter.events.errors import LogCorrupt, WorldBroken
from rutter.events.event import Event
from rutter.events.page import Artifact

NAME = re.compile("[0-9a-f]{64}")
# Between a look whether a file is there and what is done because of it. For a whole process: its
# sessions have stores of their own on the same folder.
_HELD = threading.Lock()


def artifacts_in(event: Event) -> list[Artifact]:
    """The artifacts that an event names, itself or in a workflow that it holds; each once."""
    return list(dict.fromkeys(_artifacts(event)))


@cache
def naming_fields(named_in: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of this type that name an artifact, or hold something that does."""
    info = msgspec.inspect.type_info(named_in)
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    return tuple(field.name for field in fields if _mentions(field.type))


def _artifacts(value: object) -> Iterator[Artifact]:
    """Only where one can be: most of what an event holds is never looked at."""
    if isinstance(value, Artifact):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in naming_fields(type(value)):
            yield from _artifacts(getattr(value, name))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _artifacts(each)
    elif isinstance(value, dict):
        yield from _artifacts(tuple(value.values()))


def _mentions(info: msgspec.inspect.Type) -> bool:
    """Whether a value of this type can hold an artifact."""
    match info:
        case msgspec.inspect.StructType(cls=cls):
            return cls is Artifact or bool(naming_fields(cls))
        case msgspec.inspect.UnionType(types=types):
            return any(map(_mentions, types))
        case msgspec.inspect.TupleType(item_types=types):
            return any(map(_mentions, types))
        case msgspec.inspect.VarTupleType(item_type=one) | msgspec.inspect.ListType(item_type=one):
            return _mentions(one)
        case msgspec.inspect.DictType(value_type=one):
            return _mentions(one)
        case _:
            return False


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
        with disk_told(place):
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            place.parent.mkdir(exist_ok=True, mode=0o700)
            if self._touched(place):
                sync(place.parent)
            else:
                write_whole(place, body)
            for directory in (self._root, self._root.parent):
                sync(directory)
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

    def drop(self, digest: str, mtime_ns: int) -> bool:
        """Deletes the file, unless somebody put the same body since it was looked at. The caller
        syncs its folder."""
        place = self.path(Artifact(digest, 0))
        try:
            with _HELD:
                if place.stat().st_mtime_ns != mtime_ns:
                    return False
                place.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise WorldBroken(
                f"{place} cannot be deleted ({error.strerror})", "check the disk and run again"
            ) from error
        return True

    def _touched(self, place: Path) -> bool:
        """Whether it is there already, and then as new as if it was written now."""
        with _HELD:
            try:
                os.utime(place)
            except FileNotFoundError:
                return False
        return True
