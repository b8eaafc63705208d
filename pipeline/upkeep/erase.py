"""Erasing removes payloads for good: the one exception to "nothing is ever updated" (decision 007).

The intent is an event (`PayloadErased`), durable before anything goes. A mark in the directory
stands from before the intent until all of it is done; whoever writes the directory next finds the
mark and does every step again. Each step may be done twice: none needs what a later one destroys.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import get_args

import msgspec

from rutter.events import sqlite_schema as schema
from rutter.events.artifacts import artifacts_in, naming_fields
from rutter.events.chain import erased, is_gone
from rutter.events.codec import decode
from rutter.events.durable import disk_told, sync, write_whole
from rutter.events.envelope import kind
from rutter.events.errors import BadInput, LogCorrupt, LogLocked, LogWriteFailed, WorldBroken
from rutter.events.page import Artifact
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import PayloadErased, ProcessStarted, SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import close_interrupted_sessions, open_app
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched, watched_rows

NAMING = [kind(event) for event in get_args(AnyEvent) if naming_fields(event)]


class Erasure(msgspec.Struct, frozen=True):
    """An erasure took this, and what was known because of it."""

    session: str
    payloads: int
    artifacts: int
    workflows: tuple[str, ...] = ()


async def erase(
    directory: DataDirectory,
    session: str,
    n: int | None,
    why: str,
    watch: InspectionWatch = unwatched,
) -> Erasure:
    """Erases one payload of an ended session, or all of them. The caller holds the lock."""
    finished = finish_erasing(directory, watch)
    await _close_if_open(directory, session, n)
    intent = _intent(directory, session, n, why)
    if _is_done(directory, intent):
        if not finished:
            raise BadInput("that is erased already", f"see: rutter show {session}")
        return Erasure(session, 0, 0)
    erasure = _foresee(directory, intent, watch)
    await _say_and_do(directory, [intent], watch)
    return erasure


async def carry_out(
    directory: DataDirectory, said: Sequence[AnyEvent], watch: InspectionWatch
) -> int:
    """Says these, among them what goes, and does it; how many artifacts went with it. The caller
    holds the lock and knows that all of it is there."""
    intents = [event for event in said if isinstance(event, PayloadErased)]
    with SqliteReader(directory.log) as reader:
        rows = (row for intent in intents for row in _rows(reader, intent) if not is_gone(row[7]))
        artifacts = _only_named_by(reader, {row[0]: row for row in rows}, watch)
    await _say_and_do(directory, said, watch)
    return len(artifacts)


async def _say_and_do(
    directory: DataDirectory, said: Sequence[AnyEvent], watch: InspectionWatch
) -> None:
    _set_mark(directory)
    async with open_app(directory) as app:
        for event in said:
            await app.say_process(event)
    _check_intended(directory, [each for each in said if isinstance(each, PayloadErased)])
    finish_erasing(directory, watch)


def finish_erasing(directory: DataDirectory, watch: InspectionWatch = unwatched) -> bool:
    """Does what was said to go and has not gone; says whether there was anything to finish.

    The caller holds the lock and no log is open: this is the only other writer of the file.
    """
    if not directory.erasing.exists():
        return False
    for step in STEPS if schema.check_file(directory.log) else ():
        step(directory, watch)
    directory.erasing.unlink()
    sync(directory.root)
    return True


# -- before anything goes --------------------------------------------------------------------------


async def _close_if_open(directory: DataDirectory, session: str, n: int | None) -> None:
    """A session that a dead process left open is closed first, as any start would do."""
    with SqliteReader(directory.log) as reader:
        kinds = reader.query("SELECT kind FROM events WHERE session = ? ORDER BY n", session)
    if kinds and kinds[0] == (kind(ProcessStarted),):
        _check_workflow(session, n, [what for (what,) in kinds])
        return
    if not kinds or kinds[0] != (kind(SessionStarted),):
        raise BadInput(f"there is no session {session!r}", "see: rutter sessions")
    if kinds[-1] != (kind(SessionEnded),):
        await close_interrupted_sessions(directory)


def _check_workflow(process: str, n: int | None, kinds: list[str]) -> None:
    """What a process says of itself stays: what it sealed, and what it erased."""
    if n is None or kinds[n - 1 : n] != [kind(WorkflowLearned)]:
        learned = [str(at) for at, what in enumerate(kinds, 1) if what == kind(WorkflowLearned)]
        raise BadInput(
            f"of a process only a workflow that was changed can go ({process})",
            f"give --event {' or '.join(learned)}" if learned else "see: rutter sessions",
        )


def _intent(directory: DataDirectory, session: str, n: int | None, why: str) -> PayloadErased:
    with SqliteReader(directory.log) as reader:
        ((last,),) = reader.query("SELECT max(n) FROM events WHERE session = ?", session)
        first = 1 if n is None else n
        if not 1 <= first <= last:
            raise BadInput(f"{session} has events 1 to {last}", "give --event within them")
    return PayloadErased(session, first, why, last if n is None else 0)


def _is_done(directory: DataDirectory, intent: PayloadErased) -> bool:
    with SqliteReader(directory.log) as reader:
        return all(is_gone(row[7]) for row in _rows(reader, intent))


def _foresee(directory: DataDirectory, intent: PayloadErased, watch: InspectionWatch) -> Erasure:
    """Counted before, because afterwards it cannot be."""
    with SqliteReader(directory.log) as reader:
        going = [row for row in _rows(reader, intent) if not is_gone(row[7])]
        artifacts = _only_named_by(reader, {row[0]: row for row in going}, watch)
    workflows = [decode(row[7]) for row in going if row[6] == kind(WorkflowLearned)]
    learned = (event.workflow for event in workflows if isinstance(event, WorkflowLearned))
    names = tuple(f"{workflow.name} version {workflow.version}" for workflow in learned)
    return Erasure(intent.session, len(going), len(artifacts), names)


def _set_mark(directory: DataDirectory) -> None:
    with disk_told(directory.erasing):
        write_whole(directory.erasing, b"")


def _check_intended(directory: DataDirectory, intents: Sequence[PayloadErased]) -> None:
    """Nothing goes that the log does not say."""
    with SqliteReader(directory.log) as reader:
        said = [envelope.event for envelope in reader.read(kinds=[kind(PayloadErased)])]
    if any(intent not in said for intent in intents):
        raise LogWriteFailed(
            f"{directory.log} did not take the intent", "check the disk, run again"
        )


# -- the steps, each of which may be done again ----------------------------------------------------


def _drop_artifacts(directory: DataDirectory, watch: InspectionWatch) -> None:
    """First: once the payloads are gone, nobody knows what they named."""
    with SqliteReader(directory.log) as reader:
        going = {row[0]: row for row in _pending(reader)}
        for artifact in _only_named_by(reader, going, watch) if going else ():
            place = directory.artifacts.path(artifact)
            try:
                place.unlink(missing_ok=True)
                sync(place.parent)
            except FileNotFoundError:
                continue  # its folder is not there either
            except OSError as error:
                raise WorldBroken(f"{place} cannot be deleted ({error.strerror})") from error


def _replace_payloads(directory: DataDirectory, watch: InspectionWatch) -> None:
    with SqliteReader(directory.log) as reader:
        going = [(erased(row[6], row[7]), row[0]) for row in _pending(reader)]
    watch("erasing payloads", 0, len(going))
    with _writing(directory.log) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("UPDATE events SET payload = ? WHERE seq = ?", going)
        connection.execute("COMMIT")


def _rewrite_log(directory: DataDirectory, watch: InspectionWatch) -> None:
    """Pages keep old bytes in their unused parts, and so does the WAL."""
    watch("rewriting the log", 0, 1)
    with _writing(directory.log) as connection:
        _scrub(connection, directory.log)


def _empty_projections(directory: DataDirectory, watch: InspectionWatch) -> None:
    """They hold what was folded from what is gone. The next reader folds them anew."""
    path = directory.projections
    if not path.exists():
        return
    watch("emptying the projections", 0, 1)
    try:
        with _writing(path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            tables = (
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
            for (name,) in connection.execute(tables).fetchall():
                connection.execute(f'DROP TABLE "{name}"')
            connection.execute("PRAGMA user_version=0")
            connection.execute("COMMIT")
            _scrub(connection, path)
    except LogCorrupt:  # damaged beyond use; it is disposable
        for file in schema.files_of(path):
            file.unlink(missing_ok=True)


Step = Callable[[DataDirectory, InspectionWatch], None]
STEPS: tuple[Step, ...] = (_drop_artifacts, _replace_payloads, _rewrite_log, _empty_projections)


# -- how -------------------------------------------------------------------------------------------


def _pending(reader: SqliteReader) -> Iterator[schema.Row]:
    """Rows whose payload was said to go and is still there."""
    for envelope in list(reader.read(kinds=[kind(PayloadErased)])):
        if isinstance(envelope.event, PayloadErased):
            yield from (row for row in _rows(reader, envelope.event) if not is_gone(row[7]))


def _rows(reader: SqliteReader, intent: PayloadErased) -> Iterator[schema.Row]:
    for row in reader.rows(session=intent.session):
        if intent.n <= row[2] <= intent.to:
            yield row


def _only_named_by(
    reader: SqliteReader, going: dict[int, schema.Row], watch: InspectionWatch
) -> list[Artifact]:
    """Artifacts that these rows name and no other does."""
    named = {artifact.sha256: artifact for row in going.values() for artifact in _named(row)}
    if not named:
        return []
    for row in watched_rows(reader, watch, "looking for other uses of its artifacts", NAMING):
        if row[0] not in going:
            for artifact in _named(row):
                named.pop(artifact.sha256, None)
    return list(named.values())


def _named(row: schema.Row) -> list[Artifact]:
    return artifacts_in(schema.to_envelope(row).event)


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that leaves nothing of what it deletes."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for pragma in (*schema.WRITER_PRAGMAS, "PRAGMA secure_delete=ON"):
                connection.execute(pragma).fetchall()
            yield connection
    except sqlite3.Error as error:
        raise schema.open_error(error, path) from error


def _scrub(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("VACUUM")
    ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if busy:
        raise LogLocked(
            f"another process reads {path}, so erased bytes are still beside it",
            "close it, then run any command that writes: it finishes the erasing",
        )
