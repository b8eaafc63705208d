"""Files that a page sent are kept without known secrets, or not at all where they cannot be."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator

from actors.redaction import Redactor
from events.artifacts import ArtifactStore
from events.page import Artifact

NOT_KEPT = b"not kept: it holds a secret\n"
MAX_INSIDE = 64 << 20  # bytes that are unpacked of one file: what is packed deeper is not found


class CleanArtifacts(ArtifactStore):
    """The same store, for one session. Text loses known values; what is no text, or packed, is
    replaced by a line that says so when it holds one."""

    def __init__(self, store: ArtifactStore, redact: Redactor) -> None:
        super().__init__(store.root)
        self._redact = redact

    def put(self, body: bytes, media: str) -> Artifact:
        for coding in _codings(body):
            try:
                text = body.decode(coding)
            except UnicodeDecodeError:
                continue
            if self._redact.holds_secret(text):
                return super().put(self._redact.without_known(text).encode(coding), media)
        for inside in (body, *_unpacked(body)):
            if self._redact.holds_secret(inside.decode("latin-1")):
                return super().put(NOT_KEPT, "text/plain")
        return super().put(body, media)


def _codings(body: bytes) -> Iterator[str]:
    """What text may be written in: zeros are in no text of bytes."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield "utf-16"
    if b"\0" in body:
        yield from ("utf-16-le", "utf-16-be")
    else:
        yield "utf-8"


def _unpacked(body: bytes) -> Iterator[bytes]:
    try:
        if body.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
                yield file.read(MAX_INSIDE)
        elif body.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(body)) as packed:
                for name in packed.namelist():
                    with packed.open(name) as file:
                        yield file.read(MAX_INSIDE)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return  # it is not what it says; as bytes it was looked at
