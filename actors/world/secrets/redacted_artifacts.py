"""A page's files are kept without known secrets, or not at all where they cannot be."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import IO

from rutter.actors.world.secrets.redaction import Redactor
from rutter.events.artifacts import ArtifactStore
from rutter.events.page import Artifact

NOT_KEPT = b"not kept: it holds a secret, or more than can be looked through\n"
# Of one file: a few bytes unpack to as many as somebody likes. What is packed twice is not found.
MAX_INSIDE = 64 << 20
MAX_MEMBERS = 1_000


class CleanArtifacts(ArtifactStore):
    """A session's store keeps clean artifacts. Text loses known values; what is no text, or packed,
    is replaced by a line that says so when it holds one."""

    def __init__(self, store: ArtifactStore, redact: Redactor) -> None:
        super().__init__(store.root)
        self._redact = redact

    def put(self, body: bytes, media: str) -> Artifact:
        if not self._redact.knows_any:
            return super().put(body, media)
        for coding in _codings(body):
            try:
                text = body.decode(coding)
            except UnicodeDecodeError:
                continue
            if self._redact.holds_secret(text):
                return super().put(self._redact.without_known(text).encode(coding), media)
        for inside in chain([body], _unpacked(body)):
            if inside is None or self._redact.holds_secret(inside.decode("latin-1")):
                return super().put(NOT_KEPT, "text/plain")
        return super().put(body, media)


def parts_of(body: bytes) -> Iterator[bytes]:
    """The body, and what is packed in it as far as that can be looked at."""
    yield body
    yield from (inside for inside in _unpacked(body) if inside is not None)


def _codings(body: bytes) -> Iterator[str]:
    """What text may be written in: zeros are in no text of bytes."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield "utf-16"
    if b"\0" in body:
        yield from ("utf-16-le", "utf-16-be")
    else:
        yield "utf-8"


def _unpacked(body: bytes) -> Iterator[bytes | None]:
    """What is packed in it, one after the other; `None` when there is more than is looked at."""
    left = MAX_INSIDE
    try:
        for number, member in enumerate(_members(body)):
            inside = member.read(left + 1)
            left -= len(inside)
            if left < 0 or number >= MAX_MEMBERS:
                yield None
                return
            yield inside
    # Cut short, damaged, locked by a password (RuntimeError) or packed in a way that zipfile does
    # not know (NotImplementedError): it may hold what nobody could look at here.
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        yield None


def _members(body: bytes) -> Iterator[gzip.GzipFile | IO[bytes]]:
    if body.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            yield file
    elif body.startswith(b"PK\x03\x04"):
        try:
            packed = zipfile.ZipFile(io.BytesIO(body))
        except zipfile.BadZipFile:
            return  # it only begins like one; as bytes it was looked at
        with packed:
            for entry in packed.infolist():
                with packed.open(entry) as member:
                    yield member
