"""The inspection holds a data directory against its log: the file, its rows, the artifacts, the
projections."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from rutter.events import sqlite_schema as schema
from rutter.events.artifacts import ArtifactStore
from rutter.events.errors import LogCorrupt
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.replay.integrity import LogFault, LogFindings, LogInspector, NamedArtifact

Each = TypeVar("Each")
LACKS_TABLE = "it lacks: CREATE TABLE"
OFTEN = 1_000  # rows between two words about how far it is


class InspectionWatch(Protocol):
    """A watch is told how far something long is."""

    def __call__(self, what: str, done: int, of: int) -> None: ...


def unwatched(what: str, done: int, of: int) -> None:
    """Nobody looks."""


def inspect(directory: DataDirectory, watch: InspectionWatch = unwatched) -> LogFindings:
    """Everything that is wrong, each thing with its place. Only reads; works beside a writer."""
    # Before the rows: beside a writer the projections move on while we read.
    folded = _folded(directory.projections)
    inspector = LogInspector()
    with SqliteReader(directory.log, damaged=True) as reader:
        faults = list(_file(reader, inspector, watch))
        if not faults:
            faults += _projections(reader, inspector, folded)
    if directory.erasing.exists():
        what = "an erasing was cut short, its bytes may still be here; rutter log erase finishes it"
        faults.append(LogFault("erased", what))
    named, expired = inspector.named.values(), inspector.expired
    faults += check_artifacts(named, directory.artifacts, watch, expired)
    findings = inspector.findings()
    found = sorted((*findings.faults, *faults), key=lambda fault: (fault.seq, fault.n))
    return msgspec.structs.replace(findings, faults=tuple(found))


def watched(watch: InspectionWatch, what: str, listed: Collection[Each]) -> Iterator[Each]:
    for count, each in enumerate(listed):
        watch(what, count, len(listed))
        yield each


def watched_rows(
    reader: SqliteReader, watch: InspectionWatch, what: str, kinds: Sequence[str] | None = None
) -> Iterator[schema.Row]:
    last = reader.last_seq()
    for count, row in enumerate(reader.rows(kinds=kinds)):
        if count % OFTEN == 0:
            watch(what, row[0], last)
        yield row


def check_artifacts(
    named: Iterable[NamedArtifact],
    artifacts: ArtifactStore,
    watch: InspectionWatch = unwatched,
    expired: Collection[str] = (),
) -> Iterator[LogFault]:
    """Every artifact that an event names is there and is what its name says, but for those that
    went by a rule. One of them whose file is still there goes with the next tidying."""
    for each in watched(watch, "reading artifacts", list(named)):
        try:
            if each.artifact.sha256 in expired and not artifacts.path(each.artifact).exists():
                continue
            artifacts.get(each.artifact)
        except (LogCorrupt, OSError) as error:
            said = error.what if isinstance(error, LogCorrupt) else str(error)
            yield LogFault("artifact", said, each.seq, each.session, each.n)


def guarded(findings: LogFindings, path: Path) -> None:
    """Raises on the first fault: for what must not go on with a log that is not whole.

    A last seal that is not there is no reason: a crash leaves that, and the next start mends it.
    """
    faults = [fault for fault in findings.faults if fault.kind != "unsealed"]
    if not faults:
        return
    first = faults[0]
    where = f", event {first.n} of {first.session}" if first.session else ""
    raise LogCorrupt(
        f"{path} is not whole: position {first.seq}{where}: {first.what}",
        "rutter log verify names all that is wrong; restore the log from a backup",
    )


def _file(
    reader: SqliteReader, inspector: LogInspector, watch: InspectionWatch
) -> Iterator[LogFault]:
    """How it was made, every row that can be read, then SQLite's own check, indexes included."""
    last = 0
    try:
        foreign = reader.foreign_parts()
        for what in foreign:
            yield LogFault("file", f"the database is not as it was made: {what}")
        if any(what.startswith(LACKS_TABLE) for what in foreign):
            return  # what its rows would be read as is anybody's guess
        for row in watched_rows(reader, watch, "following the chains"):
            last = row[0]
            inspector.take(row)
    except LogCorrupt as error:
        yield LogFault("file", f"nothing can be read behind this position: {error.what}", last)
        return
    watch("checking the file", last, last)
    try:
        damage = reader.damage()
    except LogCorrupt as error:
        damage = error.what
    if damage:
        yield LogFault("file", f"SQLite finds it damaged: {damage}")


def _folded(path: Path) -> tuple[int, bytes] | LogFault | None:
    """The position that the projections stand at, and the hash of the event there."""
    if not path.exists():
        return None
    try:
        with closing(schema.open_read_only(path)) as connection:
            row = connection.execute("SELECT position, hash FROM position").fetchone()
    except sqlite3.OperationalError:
        return None  # of another version, or none yet: the next reader makes them anew
    except sqlite3.DatabaseError as error:
        return LogFault("projections", f"{path} cannot be read ({error}); run: rutter log rebuild")
    return (int(row[0]), bytes(row[1])) if row else None


def _projections(
    reader: SqliteReader, inspector: LogInspector, folded: tuple[int, bytes] | LogFault | None
) -> Iterator[LogFault]:
    """They were folded from this log, and from no more than it has."""
    if folded is None or isinstance(folded, LogFault):
        yield from [folded] if folded else []
        return
    position, digest = folded
    if position > inspector.last_seq:
        what = f"the projections have seen events up to {position}: the end of the log was cut off"
        yield LogFault("projections", what, inspector.last_seq + 1)
        return
    there = reader.query("SELECT hash FROM events WHERE seq = ?", position)
    if position and there != [(digest,)]:
        what = "the projections have seen another event here: the log was rewritten or replaced"
        yield LogFault("projections", what, position)
