"""The schema is the log's one table, and how the writer and readers beside it open it."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rutter.events.codec import decode
from rutter.events.durable import MAKE_ROOM, disk_error, sync
from rutter.events.envelope import Actor, Envelope, kind
from rutter.events.errors import (
    LogCorrupt,
    LogForeign,
    LogFull,
    LogLocked,
    LogWriteFailed,
    RutterError,
)
from rutter.events.runtime import PayloadGone
from rutter.events.upcast import current_tag, stored_tags

APPLICATION_ID = 0x52555454  # "RUTT": `file log.db` and other tools can tell whose it is
FORMAT = 1
FILE = "log.db"

# A rowid table: WITHOUT ROWID doubles the file, because payloads then live in the B-tree's nodes.
CREATE = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    n INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    actor TEXT NOT NULL,
    cause INTEGER NOT NULL,
    kind TEXT NOT NULL,
    payload BLOB NOT NULL,
    hash BLOB NOT NULL
)
"""
INDEXES = (
    "CREATE UNIQUE INDEX events_by_session ON events (session, n)",
    "CREATE INDEX events_by_kind ON events (kind, seq)",
)
IDENTITY = (f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={FORMAT}")
LASTING = {  # settings that are kept in the file; the journal's mode is another one in a backup
    "application_id": APPLICATION_ID,
    "user_version": FORMAT,
    "encoding": "UTF-8",
    "auto_vacuum": 0,
}
SIDE_FILES = ("-wal", "-shm", "-journal")
COLUMNS = 9
BUSY_MS = 2_000  # there is one writer: who waits this long waits for something that is not ours

# WAL with synchronous=FULL: NORMAL loses acknowledged events in a power cut. Checkpoints are the
# writer's own business, off the commit path.
WRITER_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=0",
    f"PRAGMA busy_timeout={BUSY_MS}",
)

Row = tuple[int, str, int, int, Actor, int, str, bytes, bytes]


def to_envelope(row: Row) -> Envelope:
    seq, session, n, at_ns, actor, cause, stored_kind, payload, digest = row
    try:
        event = decode(payload)
    except LogCorrupt as error:
        raise type(error)(f"event {seq}: {error.what}", error.fix) from error
    except TypeError as error:  # no bytes at all, which the table would not have taken
        raise LogCorrupt(f"event {seq}: its row is damaged ({error})") from error
    if kind(event) != stored_kind:
        was = event.was if isinstance(event, PayloadGone) else kind(event)
        if was not in (stored_kind, current_tag(stored_kind)):
            raise LogCorrupt(f"event {seq}: stored as {stored_kind!r}, but it is {was!r}")
    return Envelope(seq, session, n, at_ns, actor, cause, event, digest)


def select(
    after: int, session: str | None, kinds: Sequence[str] | None, limit: int
) -> tuple[str, list[object]]:
    """One page of a read."""
    where, values = ["seq > ?"], [after]
    parameters: list[object] = list(values)
    if session is not None:
        where.append("session = ?")
        parameters.append(session)
    if kinds is not None:
        tags = stored_tags(kinds)
        where.append(f"kind IN ({','.join('?' * len(tags))})")
        parameters.extend(tags)
    sql = f"SELECT * FROM events WHERE {' AND '.join(where)} ORDER BY seq LIMIT {limit}"
    return sql, parameters


def check_file(path: Path) -> bool:
    """Whether there is a log of ours at `path`; raises when it is something else. Only reads."""
    if path.is_dir():
        raise LogForeign(f"{path} is a directory", "name another one with --data")
    if not path.exists() or path.stat().st_size == 0:
        return False
    try:
        with closing(open_read_only(path)) as connection:
            application_id = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise open_error(error, path) from error
    if application_id != APPLICATION_ID:
        raise LogForeign(f"{path} is not a rutter log", "name another directory with --data")
    if version != FORMAT:
        raise LogForeign(
            f"{path} has log format {version}, this program reads format {FORMAT}",
            "use the version of rutter that wrote it, or another --data directory",
        )
    return True


def open_read_only(path: Path) -> sqlite3.Connection:
    """Beside a writer or without one, and from a directory that only others may write."""
    address = path.absolute().as_uri()  # a path may hold what means something in a URI
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=BUSY_MS / 1_000)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if not _name(error).startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            raise
        wal = beside(path, "-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        # No room for SQLite's shared memory, and nothing that is not in the file yet: as it lies.
        return sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
    return connection


def create_file(path: Path) -> None:
    """A new log, made under another name: a crash leaves a whole log at `path`, or none.

    Only its owner can read it; SQLite gives the WAL the same mode.
    """
    draft = beside(path, ".new")
    try:
        for stale in (draft, *(beside(p, s) for p in (draft, path) for s in SIDE_FILES)):
            stale.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            for statement in (*WRITER_PRAGMAS, "BEGIN", CREATE, *INDEXES, *IDENTITY, "COMMIT"):
                connection.execute(statement)
        draft.rename(path)
        sync(path.parent)
    except sqlite3.Error as error:
        raise write_error(error, path) from error
    except OSError as error:
        raise disk_error(error, path) from error


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def files_of(path: Path) -> tuple[Path, ...]:
    """A database with all that SQLite keeps beside it."""
    return (path, *(beside(path, suffix) for suffix in SIDE_FILES))


def write_error(error: Exception, path: Path) -> LogWriteFailed:
    """SQLite's error as one of ours that says what to do."""
    name = _name(error)
    if name in ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"):  # the second: no room for shared memory
        return LogFull(f"no space left to write {path}", MAKE_ROOM)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LogLocked(f"{path} is locked by another process", "close that process and run again")
    return LogWriteFailed(
        f"writing {path} failed: {error}", "check the disk, then run again: the log tells what held"
    )


def open_error(error: sqlite3.Error, path: Path) -> RutterError:
    """Why a file that is there cannot be opened or read."""
    foreign = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_READONLY", "SQLITE_CANTOPEN")
    # An error with no name is Python's own: a text column holds what is not text.
    if _name(error) and not _name(error).startswith(foreign):
        return write_error(error, path)
    return LogForeign(
        f"{path} cannot be read as a log ({error})",
        "restore it from a backup, or name another directory with --data",
    )


def _name(error: Exception) -> str:
    return getattr(error, "sqlite_errorname", "") or ""
