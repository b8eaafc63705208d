"""Queries find workflows and sessions by name beside a running process, with projections caught
up."""

from typing import Any

import msgspec

from rutter.events.errors import BadInput
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.config.settings import Settings
from rutter.replay.projections import ProjectionStore
from rutter.replay.projections.step_trace import LISTS


def project(settings: Settings) -> ProjectionStore:
    """The projections, caught up with the log as it is now."""
    directory = settings.directory
    with SqliteReader(directory.log) as reader:
        store = ProjectionStore(directory.projections)
        try:
            store.catch_up(reader)
        except BaseException:
            store.close()
            raise
    return store


def latest_workflow(store: ProjectionStore, name: str) -> Workflow:
    """The newest version that was recorded to its end, else the newest at all."""
    newest = "SELECT workflow FROM workflows WHERE name = ? ORDER BY complete DESC, version DESC"
    row = store.db.execute(newest, (name,)).fetchone()
    if row is None:
        known = [found for (found,) in store.db.execute("SELECT DISTINCT name FROM workflows")]
        raise BadInput(
            f"there is no workflow {name!r}",
            f"it knows: {', '.join(known)}"
            if known
            else f"record it: rutter record {name} --script FILE",
        )
    return msgspec.json.decode(row[0], type=Workflow)


def workflow_version(store: ProjectionStore, name: str, version: int) -> Workflow:
    latest_workflow(store, name)  # a name that nobody knows is refused as such
    one = "SELECT workflow FROM workflows WHERE name = ? AND version = ?"
    row = store.db.execute(one, (name, version)).fetchone()
    if row is None:
        every = "SELECT version FROM workflows WHERE name = ? ORDER BY version"
        known = ", ".join(str(each) for (each,) in store.db.execute(every, (name,)))
        raise BadInput(f"workflow {name!r} has no version {version}", f"it has: {known}")
    return msgspec.json.decode(row[0], type=Workflow)


def all_workflows(store: ProjectionStore) -> list[Workflow]:
    """The latest of each."""
    names = [name for (name,) in store.db.execute("SELECT DISTINCT name FROM workflows")]
    return [latest_workflow(store, name) for name in sorted(names)]


def step_trace(store: ProjectionStore, session: str) -> list[dict[str, Any]]:
    """The trace of one session in order (S4 W4), its lists as lists."""
    rows = store.rows("SELECT * FROM step_trace WHERE run_id = ? ORDER BY n", session)
    return [row | {each: msgspec.json.decode(row[each]) for each in LISTS} for row in rows]


def find_session(settings: Settings, wanted: str) -> str:
    """A session by its name, by the end of it, or `last`."""
    with project(settings) as store:
        rows = store.db.execute("SELECT session FROM sessions ORDER BY seq DESC").fetchall()
    names = [name for (name,) in rows]
    if wanted == "last" and names:
        return str(names[0])
    found = [name for name in names if name == wanted] or [n for n in names if n.endswith(wanted)]
    if len(found) != 1:
        what = "several sessions end in" if found else "there is no session"
        raise BadInput(f"{what} {wanted!r}", "see: rutter sessions")
    return str(found[0])
