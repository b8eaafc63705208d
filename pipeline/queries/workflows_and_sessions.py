"""Queries find workflows and sessions by name beside a running process, with projections caught
up."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from rutter.events.errors import BadInput
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.config.settings import Settings
from rutter.replay.projections import ProjectionStore
from rutter.replay.projections.step_trace import LISTS


class Tables:
    """One command or job opens its projections once, when they are first asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._store: ProjectionStore | None = None

    def now(self) -> ProjectionStore:
        """Caught up with the log as it is now. Raises where there is none."""
        directory = self.settings.directory
        with SqliteReader(directory.log) as reader:
            if self._store is None:
                self._store = ProjectionStore(directory.projections)
            self._store.catch_up(reader)
        return self._store

    def __enter__(self) -> "Tables":
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()


@contextmanager
def project(settings: Settings) -> Iterator[ProjectionStore]:
    """The projections, caught up with the log as it is now."""
    with Tables(settings) as tables:
        yield tables.now()


def catch_up(settings: Settings) -> None:
    """What was just done is in the tables of whoever looks next."""
    with project(settings):
        pass


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


def find_workflow(settings: Settings, name: str) -> Workflow:
    with project(settings) as store:
        return latest_workflow(store, name)


def versions_of(store: ProjectionStore, name: str) -> list[int]:
    known = "SELECT version FROM workflows WHERE name = ? ORDER BY version"
    return [version for (version,) in store.db.execute(known, (name,))]


def workflow_version(store: ProjectionStore, name: str, version: int) -> Workflow:
    latest_workflow(store, name)  # a name that nobody knows is refused as such
    one = "SELECT workflow FROM workflows WHERE name = ? AND version = ?"
    row = store.db.execute(one, (name, version)).fetchone()
    if row is None:
        known = ", ".join(map(str, versions_of(store, name)))
        raise BadInput(f"workflow {name!r} has no version {version}", f"it has: {known}")
    return msgspec.json.decode(row[0], type=Workflow)


def all_workflows(store: ProjectionStore) -> list[Workflow]:
    """The latest of each."""
    names = [name for (name,) in store.db.execute("SELECT DISTINCT name FROM workflows")]
    return [latest_workflow(store, name) for name in sorted(names)]


def known_workflows(tables: Tables) -> list[Workflow]:
    """The latest of each; none, where there is no log yet."""
    return all_workflows(tables.now()) if tables.settings.directory.log.exists() else []


def step_trace(store: ProjectionStore, session: str) -> list[dict[str, Any]]:
    """The trace of one session in order (S4 W4), its lists as lists."""
    rows = store.rows("SELECT * FROM step_trace WHERE run_id = ? ORDER BY n", session)
    return [row | {each: msgspec.json.decode(row[each]) for each in LISTS} for row in rows]


def find_session(settings: Settings, wanted: str) -> str:
    """A session by its name, by the end of it, or `last`."""
    with project(settings) as store:
        return session_in(store, wanted)


def session_in(store: ProjectionStore, wanted: str) -> str:
    rows = store.db.execute("SELECT session FROM sessions ORDER BY seq DESC").fetchall()
    names = [str(name) for (name,) in rows]
    if wanted == "last" and names:
        return names[0]
    found = [name for name in names if name == wanted] or [n for n in names if n.endswith(wanted)]
    if len(found) != 1:
        what = "several sessions end in" if found else "there is no session"
        raise BadInput(f"{what} {wanted!r}", "see: rutter sessions")
    return found[0]
