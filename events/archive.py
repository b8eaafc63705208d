"""An archive is a log with its artifacts in one portable file: a plain zip, nothing compressed.

    manifest.json           what is in it, and where every session's chain ends
    events/000000.msgpack   the stored rows, byte for byte, in order
    artifacts/SHA256        each artifact under the name of its content

Equal logs give equal bytes: members in one order, no times, no names of machines. Not compressed,
because a compressor's output is its version's own. Nothing is ever unpacked by a name in the file.
"""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from rutter.events.artifacts import NAME
from rutter.events.codec import UNREADABLE
from rutter.events.errors import BadInput, LogCorrupt, LogForeign
from rutter.events.runtime import ChainHead
from rutter.events.sqlite_schema import FORMAT, Row

KIND = "rutter log export"
VERSION = 1
MANIFEST = "manifest.json"
CHUNK_BYTES = 1 << 20
CHUNK_ROWS = 5_000
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can hold
RESTORE = "export it again, or import another copy"

_rows = msgspec.msgpack.Decoder(list[Row])
_pack = msgspec.msgpack.Encoder()


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest lists what the file holds. `missing` artifacts were gone at the source already."""

    kind: str
    version: int
    log_format: int
    events: int
    chunks: int
    heads: tuple[ChainHead, ...]
    artifacts: tuple[str, ...]
    missing: tuple[str, ...] = ()


def write_archive(
    file: BinaryIO,
    rows: Iterable[Row],
    heads: tuple[ChainHead, ...],
    bodies: Iterable[tuple[str, bytes]],
    missing: Iterable[str],
) -> Manifest:
    """Writes the whole archive. `bodies` are artifacts by name, in the order of their names."""
    events = chunks = 0
    artifacts: list[str] = []
    with zipfile.ZipFile(file, "w") as archive:
        for chunks, chunk in enumerate(_chunks(rows), 1):
            events += len(chunk)
            _add(archive, _chunk_name(chunks - 1), _pack.encode(chunk))
        for name, body in bodies:
            artifacts.append(name)
            _add(archive, f"artifacts/{name}", body)
        manifest = Manifest(
            KIND, VERSION, FORMAT, events, chunks, heads, tuple(artifacts), tuple(missing)
        )
        _add(archive, MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


class Archive:
    """An archive is read against its manifest and its checksums."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise BadInput(f"{path} cannot be read ({error.strerror})", "check the name") from error
        # NotImplementedError is what zipfile says to a method of packing that it does not know.
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise self._unreadable(error) from error
        try:
            self.manifest = self._read_manifest()
            self._check_members()
        except LogCorrupt:
            self._zip.close()
            raise

    def rows(self) -> Iterator[Row]:
        for number in range(self.manifest.chunks):
            name = _chunk_name(number)
            try:
                yield from _rows.decode(self._read(name))
            except UNREADABLE as error:
                raise LogCorrupt(
                    f"{self._path}: {name} holds no rows ({error})", RESTORE
                ) from error

    def artifacts(self) -> Iterator[tuple[str, bytes]]:
        for name in self.manifest.artifacts:
            yield name, self._read(f"artifacts/{name}")

    def _read_manifest(self) -> Manifest:
        if MANIFEST not in self._zip.namelist():
            raise LogForeign(
                f"{self._path} is not a rutter export", "name a file of rutter log export"
            )
        body = self._read(MANIFEST)
        try:
            version = msgspec.json.decode(body, type=_Version)
            if (version.kind, version.version, version.log_format) == (KIND, VERSION, FORMAT):
                return msgspec.json.decode(body, type=Manifest)
        except UNREADABLE as error:
            raise LogForeign(
                f"{self._path}: its manifest is not ours ({error})", RESTORE
            ) from error
        raise LogForeign(
            f"{self._path} is {version.kind!r} version {version.version} of log format "
            f"{version.log_format}, this program reads version {VERSION} of format {FORMAT}",
            "use the version of rutter that wrote it",
        )

    def _check_members(self) -> None:
        """Just what the manifest names, once each, as we write it: no surprise is unpacked."""
        manifest, there = self.manifest, self._zip.infolist()
        names = [MANIFEST, *map(_chunk_name, range(min(manifest.chunks, len(there))))]
        names += [f"artifacts/{name}" for name in manifest.artifacts]
        if len({*names}) < len(names) or sorted(names) != sorted(each.filename for each in there):
            raise LogCorrupt(f"{self._path} does not hold what its manifest says", RESTORE)
        if not all(NAME.fullmatch(name) for name in manifest.artifacts):
            raise LogCorrupt(f"{self._path} names an artifact by what is no name", RESTORE)
        plain = zipfile.ZIP_STORED
        if any(info.compress_type != plain or info.flag_bits & 1 for info in there):
            raise LogForeign(f"{self._path} was packed by another program", RESTORE)

    def _read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        # All that zipfile raises on damaged bytes; NotImplementedError on packing it does not know.
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
            raise LogCorrupt(f"{self._path}: {name} is damaged ({error})", RESTORE) from error

    def _unreadable(self, error: Exception) -> LogCorrupt:
        with self._path.open("rb") as file:
            if file.read(4) == b"PK\x03\x04":
                return LogCorrupt(f"{self._path} is cut off or damaged ({error})", RESTORE)
        return LogForeign(
            f"{self._path} is not a rutter export", "name a file of rutter log export"
        )

    def close(self) -> None:
        self._zip.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Version(msgspec.Struct):
    kind: str
    version: int
    log_format: int


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Cut by what the rows hold alone, so that equal logs are cut alike."""
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row[7])
        if size >= CHUNK_BYTES or len(chunk) >= CHUNK_ROWS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _chunk_name(number: int) -> str:
    return f"events/{number:06}.msgpack"


def _add(archive: zipfile.ZipFile, name: str, body: bytes) -> None:
    info = zipfile.ZipInfo(name, EPOCH)
    info.create_system = 3  # unix, wherever it is written
    info.external_attr = 0o600 << 16
    archive.writestr(info, body)
