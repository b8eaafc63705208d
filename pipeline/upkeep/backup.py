"""A backup carries a log elsewhere: exported and imported as one file, or copied as a data
directory.

What is written is made under another name, checked by reading it back, synced, and then renamed:
it is there as a whole or not at all. All three read one moment of the log, beside its writer.
"""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

import msgspec

from rutter.events import sqlite_schema as schema
from rutter.events.archive import RESTORE, Archive, write_archive
from rutter.events.artifacts import ArtifactStore
from rutter.events.durable import disk_told, drafted, sync
from rutter.events.errors import BadInput, LogCorrupt
from rutter.events.page import Artifact
from rutter.events.runtime import ChainHead
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.inspection import (
    InspectionWatch,
    guarded,
    unwatched,
    watched,
    watched_rows,
)
from rutter.replay.integrity import LogInspector
from rutter.replay.projections import ProjectionStore

BATCH = 5_000
UNCHANGED = "; nothing was changed"
DRAFT = ".importing"  # one writer holds the directory, so one name is enough
INSERT = f"INSERT INTO events VALUES ({','.join('?' * schema.COLUMNS)})"


class LogCopy(msgspec.Struct, frozen=True):
    """A copy says what of a log was carried to its place, and how big it is there."""

    place: str
    events: int
    sessions: int
    artifacts: int
    missing_artifacts: int
    bytes: int
    expired_artifacts: int = 0


# -- export ----------------------------------------------------------------------------------------


def export_log(
    directory: DataDirectory, place: Path, watch: InspectionWatch = unwatched
) -> LogCopy:
    """Writes the log and its artifacts as one file, and reads it back before it gets its name."""
    check_free(place)
    with SqliteReader(directory.log) as reader, reader.snapshot():
        inspector = _followed(watched_rows(reader, watch, "following the chains"), directory.log)
        bodies = _Bodies(directory.artifacts, inspector, watch)
        with disk_told(place, UNCHANGED), drafted(place) as draft:
            with draft.open("wb") as file:
                rows = watched_rows(reader, watch, "writing events")
                manifest = write_archive(file, rows, inspector.heads(), bodies, bodies.missing)
            with Archive(draft) as archive:
                _check_archive(archive, place, watch)
    return _copied(
        place, inspector, len(manifest.artifacts), manifest.missing, place.stat().st_size
    )


class _Bodies:
    """The artifacts that are there come in order of their names; missing ones are noted."""

    def __init__(
        self, artifacts: ArtifactStore, inspector: LogInspector, watch: InspectionWatch
    ) -> None:
        self._artifacts = artifacts
        self._named = [named.artifact for _, named in sorted(inspector.named.items())]
        self._watch = watch
        self.missing: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for artifact in watched(self._watch, "copying artifacts", self._named):
            try:
                body = self._artifacts.get(artifact)
            except LogCorrupt:  # gone or changed: the log is whole without it, and says so
                self.missing.append(artifact.sha256)
                continue
            yield artifact.sha256, body


def _copied(
    place: Path, inspector: LogInspector, artifacts: int, missing: Collection[str], size: int
) -> LogCopy:
    """What was left out because it is lost is told from what had expired."""
    expired = len(inspector.expired & set(missing))
    events, sessions = inspector.last_seq, len(inspector.heads())
    lost = len(missing) - expired
    return LogCopy(str(place), events, sessions, artifacts, lost, size, expired)


def _check_archive(archive: Archive, place: Path, watch: InspectionWatch) -> LogInspector:
    """Chains, heads, counts and artifacts are those that the manifest promises."""
    manifest = archive.manifest
    watch("reading it back", 0, manifest.events)
    inspector = _followed(archive.rows(), place)
    _check_heads(inspector, manifest.heads, manifest.events, place)
    for name, body in archive.artifacts():
        if hashlib.sha256(body).hexdigest() != name:
            raise LogCorrupt(f"{place}: artifact {name[:12]} is not what its name says")
    absent = set(inspector.named) - {*manifest.artifacts, *manifest.missing}
    if absent:
        raise LogCorrupt(f"{place}: artifact {min(absent)[:12]} is named and not in it")
    return inspector


# -- import ----------------------------------------------------------------------------------------


def import_log(
    directory: DataDirectory, source: Path, watch: InspectionWatch = unwatched
) -> LogCopy:
    """Puts an export in place, in a directory that has no log."""
    with Archive(source) as archive, _held(directory):
        if schema.check_file(directory.log):
            raise BadInput(
                f"{directory.root} has a log already", "import into an empty directory: --data DIR"
            )
        inspector = _check_archive(archive, source, watch)
        with draft_folder(directory.log, DRAFT) as draft:
            _unpack(archive, draft, source, watch)
            _put_in_place(draft, directory)
    manifest, size = archive.manifest, directory.log.stat().st_size
    return _copied(directory.root, inspector, len(manifest.artifacts), manifest.missing, size)


def _unpack(archive: Archive, draft: Path, source: Path, watch: InspectionWatch) -> None:
    """A whole data directory under another name, followed once more from what is on disk."""
    manifest = archive.manifest
    _write_log(draft / schema.FILE, archive, watch)
    store = ArtifactStore(draft / "artifacts")
    for count, (_, body) in enumerate(archive.artifacts()):
        watch("writing artifacts", count, len(manifest.artifacts))
        store.put(body, "")
    with SqliteReader(draft / schema.FILE) as reader:
        written = _followed(watched_rows(reader, watch, "following the chains"), source)
        _check_heads(written, manifest.heads, manifest.events, source)


@contextmanager
def _held(directory: DataDirectory) -> Iterator[None]:
    """The writer's lock; a directory that was made for an import that fails goes again."""
    fresh = not directory.root.exists()
    directory.lock()
    try:
        yield
    except BaseException:
        if fresh:
            shutil.rmtree(directory.root, ignore_errors=True)
        raise
    finally:
        directory.unlock()


def _write_log(path: Path, archive: Archive, watch: InspectionWatch) -> None:
    """The rows as they were stored. Synced once, at the end: until then it has no name."""
    schema.create_file(path)
    total = archive.manifest.events
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
            connection.execute("PRAGMA synchronous=OFF")
            for done, batch in enumerate(_batches(archive.rows())):
                watch("writing events", done * BATCH, total)
                connection.execute("BEGIN")
                connection.executemany(INSERT, batch)
                connection.execute("COMMIT")
    except sqlite3.IntegrityError as error:
        raise LogCorrupt(f"the export holds an event twice ({error})") from error
    except sqlite3.Error as error:
        raise schema.write_error(error, path) from error
    sync(path)


def _put_in_place(draft: Path, directory: DataDirectory) -> None:
    """Artifacts first, the log last: a directory has a log only once it has all of it."""
    for path in (directory.projections, directory.log):
        for stale in schema.files_of(path):
            stale.unlink(missing_ok=True)  # of a log that is no longer there
    for file in sorted((draft / "artifacts").glob("*/*")):
        place = directory.artifacts.path(Artifact(file.parent.name + file.name, 0))
        for folder in (place.parent.parent, place.parent):
            folder.mkdir(exist_ok=True, mode=0o700)
        file.rename(place)
        sync(place.parent)
    (draft / schema.FILE).rename(directory.log)
    sync(directory.root)


# -- backup ----------------------------------------------------------------------------------------


def back_up(directory: DataDirectory, place: Path, watch: InspectionWatch = unwatched) -> LogCopy:
    """Copies the log and its artifacts into a data directory of its own, and tries it out."""
    check_free(place)
    with SqliteReader(directory.log) as reader, reader.snapshot():
        inspector = _followed(watched_rows(reader, watch, "following the chains"), directory.log)
        bodies = _Bodies(directory.artifacts, inspector, watch)
        with draft_folder(place, f".{place.name}.{os.getpid()}") as draft:
            copy = DataDirectory(draft)
            reader.copy_to(copy.log, lambda done, of: watch("copying the log", done, of))
            for _, body in bodies:
                copy.artifacts.put(body, "")
            _try_out(copy, reader, inspector, watch)
            sync(draft)
            draft.rename(place)
            sync(place.parent)
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    there = len(inspector.named) - len(bodies.missing)
    return _copied(place, inspector, there, bodies.missing, size)


def _try_out(
    copy: DataDirectory, original: SqliteReader, inspector: LogInspector, watch: InspectionWatch
) -> None:
    """Restores the copy elsewhere: its chains end where they did, and it means the same."""
    with draft_folder(copy.log, ".restored") as folder:
        shutil.copyfile(copy.log, folder / schema.FILE)
        with SqliteReader(folder / schema.FILE) as reader:
            restored = _followed(watched_rows(reader, watch, "restoring it"), copy.log)
            _check_heads(restored, inspector.heads(), inspector.last_seq, copy.log)
            watch("comparing projections", 0, 2)
            theirs = _projected(reader, folder / "restored.db")
        watch("comparing projections", 1, 2)
        if theirs != _projected(original, folder / "original.db"):
            raise LogCorrupt(f"{copy.log} does not mean what the log means", "run it again")


def _projected(reader: SqliteReader, path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What the log means. An event that does not fold is parked in both, and compared so."""
    with ProjectionStore(path) as store:
        store.catch_up(reader)
        return {**store.dump(), "parked": [tuple(row) for row in store.parked()]}


# -- how -------------------------------------------------------------------------------------------


def _followed(rows: Iterable[schema.Row], path: Path) -> LogInspector:
    """An inspector that has taken all these rows and found nothing wrong."""
    inspector = LogInspector()
    for row in rows:
        inspector.take(row)
    guarded(inspector.findings(), path)
    return inspector


def _check_heads(
    inspector: LogInspector, heads: tuple[ChainHead, ...], events: int, path: Path
) -> None:
    if (inspector.heads(), inspector.last_seq) != (heads, events):
        raise LogCorrupt(f"{path} does not hold all that it should", RESTORE)


def _batches(rows: Iterator[schema.Row]) -> Iterator[list[schema.Row]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


def check_free(place: Path) -> None:
    if place.exists() or place.is_symlink():
        raise BadInput(f"{place} is there already", "name another place, or move it away")
    if not place.parent.is_dir():
        raise BadInput(f"there is no folder {place.parent}", "make it first")


@contextmanager
def draft_folder(place: Path, name: str) -> Iterator[Path]:
    """A folder beside `place`, gone at the end unless it was renamed."""
    with disk_told(place, UNCHANGED):
        draft = place.with_name(name)
        shutil.rmtree(draft, ignore_errors=True)  # what a killed one left
        draft.mkdir(mode=0o700)
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)
