"""Forgetting unlearns what a session taught, or a workflow with every session that had to do with
it.

Nothing goes from the log: that a session is forgotten is a fact about what counts from there on.
The model and the tables are folded without it (`SessionForgotten`). What happened goes with
`rutter.pipeline.upkeep.erase`.
"""

from collections.abc import Iterable

import msgspec

from rutter.events.envelope import kind
from rutter.events.errors import BadInput, LogWriteFailed
from rutter.events.predictor import (
    EffectsLearned,
    SessionForgotten,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowRenamed,
)
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import close_interrupted_sessions, open_app
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.replay.projections import ProjectionStore

TAUGHT = [kind(TransitionLearned), kind(EffectsLearned)]


class Unlearned(msgspec.Struct, frozen=True):
    """A forgetting takes this away, or would. `workflow` when it was named; it is `known` until
    then. `open`: one of the sessions has no end yet.

    `runs` are verified ones, by which it was known what a workflow leads to. `versions` are those
    that are no longer known; `kept` are others of the same workflows, which another session taught
    or a person made. `generation` is the model's, afterwards.
    """

    sessions: tuple[str, ...]
    transitions: int
    runs: int
    versions: tuple[str, ...]
    kept: tuple[str, ...]
    generation: int
    workflow: str = ""
    known: bool = False
    open: bool = False


class ForgetTarget(msgspec.Struct, frozen=True):
    """A target is one session by its full name, or one workflow."""

    session: str = ""
    workflow: str = ""


async def forget(directory: DataDirectory, wanted: ForgetTarget, why: str) -> Unlearned:
    """Says what is to be forgotten. The caller holds the lock of the directory."""
    found = foresee(directory, wanted)  # what is refused leaves nothing in the log
    if found.open:  # by a process that died; closing it may teach what was recorded until then
        await close_interrupted_sessions(directory)
        found = foresee(directory, wanted)
    async with open_app(directory) as app:
        for session in found.sessions:
            await app.say_process(SessionForgotten(session, why))
        if found.known:  # last: cut short before it, the same command goes on
            await app.say_process(WorkflowDeleted(found.workflow))
    _check_said(directory, found)
    return found


def _check_said(directory: DataDirectory, found: Unlearned) -> None:
    """Nobody is told that something is forgotten that the log does not say."""
    with SqliteReader(directory.log) as reader:
        if _generation(reader) != found.generation:
            raise LogWriteFailed(
                f"{directory.log} did not take all of it", "check the disk, run again"
            )


def foresee(directory: DataDirectory, wanted: ForgetTarget) -> Unlearned:
    """What would be unlearned; a session or workflow of which nothing can be is refused."""
    with (
        SqliteReader(directory.log) as reader,
        ProjectionStore(directory.projections) as store,
    ):
        store.catch_up(reader)
        if wanted.session:
            if not _left(store, (wanted.session,)):
                raise BadInput(f"{wanted.session} is forgotten already", "see: rutter sessions")
            return _taught(reader, store, (wanted.session,))
        ever = _sessions_of(wanted.workflow, reader, store)
        sessions = _left(store, ever)
        sql = "SELECT count(*) FROM workflows WHERE name = ?"
        known = bool(store.db.execute(sql, (wanted.workflow,)).fetchone()[0])
        if not sessions and not known:
            raise _refusal(store, wanted.workflow, was=bool(ever))
        found = _taught(reader, store, sessions, wanted.workflow)
        return msgspec.structs.replace(found, workflow=wanted.workflow, known=known)


def _taught(
    reader: SqliteReader, store: ProjectionStore, sessions: tuple[str, ...], deleted: str = ""
) -> Unlearned:
    """What these sessions taught and is still known; and all versions of the workflow that goes."""
    lessons = (each for name in sessions for each in reader.read(session=name, kinds=TAUGHT))
    learned = [type(envelope.event) for envelope in lessons]
    known = store.db.execute("SELECT name, version, session FROM workflows ORDER BY name, version")
    versions = known.fetchall()
    unended = store.db.execute("SELECT session FROM sessions WHERE ended_ns IS NULL")
    going = [each for each in versions if each[2] in sessions or each[0] == deleted]
    touched = {name for name, _, _ in going}
    kept = [each for each in versions if each[0] in touched and each not in going]
    return Unlearned(
        sessions,
        learned.count(TransitionLearned),
        learned.count(EffectsLearned),
        tuple(f"{name} version {version}" for name, version, _ in going),
        tuple(f"{name} version {version}" for name, version, _ in kept),
        _generation(reader) + len(sessions),
        open=any(session in sessions for (session,) in unended),
    )


def _generation(reader: SqliteReader) -> int:
    """Each forgetting is a new one."""
    [(count,)] = reader.query("SELECT count(*) FROM events WHERE kind = ?", kind(SessionForgotten))
    return int(count)


# -- which sessions --------------------------------------------------------------------------------


def _sessions_of(name: str, reader: SqliteReader, store: ProjectionStore) -> dict[str, None]:
    """Those that recorded, repaired or ran the workflow, under whatever name it had then.

    In the order of the log: a name that was given away and then to another workflow is that one's.
    """
    moments = store.db.execute("SELECT seq, session, name, '' FROM sessions").fetchall()
    for envelope in reader.read(kinds=[kind(WorkflowRenamed)]):
        event = envelope.event
        if isinstance(event, WorkflowRenamed) and event.name != event.to:
            moments.append((envelope.seq, "", event.name, event.to))
    by_name: dict[str, dict[str, None]] = {}
    for _, session, called, to in sorted(moments):
        if to:
            by_name.setdefault(to, {}).update(by_name.pop(called, {}))
        elif called:
            by_name.setdefault(called, {})[session] = None
    # And of a session whose start was erased it is known by what it taught.
    taught = store.db.execute("SELECT session FROM workflows WHERE name = ?", (name,))
    return by_name.get(name, {}) | dict.fromkeys(session for (session,) in taught)


def _left(store: ProjectionStore, sessions: Iterable[str]) -> tuple[str, ...]:
    """The sessions among these that are not forgotten yet. A process is none: what a person
    changed there goes with its workflow."""
    rows = store.db.execute("SELECT session FROM sessions WHERE forgotten_ns IS NULL ORDER BY seq")
    wanted = {*sessions}
    return tuple(session for (session,) in rows if session in wanted)


# -- what cannot be forgotten ----------------------------------------------------------------------


def _refusal(store: ProjectionStore, name: str, *, was: bool) -> BadInput:
    known = [found for (found,) in store.db.execute("SELECT DISTINCT name FROM workflows")]
    return BadInput(
        f"{name!r} is forgotten already" if was else f"there is no workflow {name!r}",
        f"it knows: {', '.join(known)}" if known else "see: rutter sessions",
    )
