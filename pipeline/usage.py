"""What a data directory holds and takes on disk."""

from pathlib import Path

import msgspec

from events import sqlite_schema as schema
from events.envelope import kind
from events.runtime import PayloadErased
from events.sqlite_reader import SqliteReader
from pipeline.directory import DataDirectory


class KindUse(msgspec.Struct, frozen=True):
    kind: str
    events: int
    bytes: int


class Usage(msgspec.Struct, frozen=True):
    """Sizes are those of files; `kinds` are sizes of payloads, biggest first."""

    events: int
    sessions: int
    erased: int
    first_ns: int
    last_ns: int
    log_bytes: int
    artifacts: int
    artifact_bytes: int
    projection_bytes: int
    kinds: tuple[KindUse, ...]


def measure(directory: DataDirectory) -> Usage:
    """Counts and sizes. Only reads, and no payload but those that say what was erased."""
    with SqliteReader(directory.log) as reader, reader.snapshot():
        ((events, sessions, first_ns, last_ns),) = reader.query(
            "SELECT count(*), count(DISTINCT session), min(at_ns), max(at_ns) FROM events"
        )
        kinds = reader.query(
            "SELECT kind, count(*), sum(length(payload)) FROM events GROUP BY kind ORDER BY 3 DESC"
        )
        erased: set[tuple[str, int]] = set()
        for envelope in reader.read(kinds=[kind(PayloadErased)]):
            if isinstance(event := envelope.event, PayloadErased):
                erased |= {(event.session, n) for n in range(event.n, event.to + 1)}
    artifacts = [file for file in (directory.root / "artifacts").rglob("*") if file.is_file()]
    return Usage(
        events,
        sessions,
        len(erased),
        first_ns or 0,
        last_ns or 0,
        _bytes(directory.log),
        len(artifacts),
        sum(file.stat().st_size for file in artifacts),
        _bytes(directory.projections),
        tuple(KindUse(*row) for row in kinds),
    )


def _bytes(path: Path) -> int:
    """A database with the files that SQLite keeps beside it."""
    files = (path, *(schema.beside(path, suffix) for suffix in schema.SIDE_FILES))
    return sum(file.stat().st_size for file in files if file.exists())
