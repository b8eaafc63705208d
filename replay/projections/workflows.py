"""The workflows table holds every version of every workflow."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.predictor import (
    SessionForgotten,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.workflow import Workflow
from rutter.replay.fold import hears
from rutter.replay.projections.projection import Entry, Projection


class WorkflowsTable(Projection):
    """Each row is a version; `session` is who taught it: the session that recorded or repaired it,
    or the process in which a person changed it. `merged` is the version that a recording was merged
    with, `again` the one that a person went back to; 0: none."""

    name: ClassVar[str] = "workflows"
    tables: ClassVar[Mapping[str, str]] = {
        "workflows": """
            name TEXT NOT NULL, version INTEGER NOT NULL, steps INTEGER NOT NULL,
            complete INTEGER NOT NULL, parameters TEXT NOT NULL, secrets TEXT NOT NULL,
            recorded_ns INTEGER NOT NULL, session TEXT NOT NULL, stopped_at TEXT NOT NULL,
            workflow TEXT NOT NULL, merged INTEGER NOT NULL, again INTEGER NOT NULL,
            PRIMARY KEY (name, version)""",
    }

    @hears
    def _learned(self, entry: Entry, learned: WorkflowLearned) -> None:
        workflow, of = learned.workflow, learned.compared
        entry.insert(
            "workflows",
            name=workflow.name,
            version=workflow.version,
            steps=len(workflow.steps),
            complete=workflow.complete,
            parameters=" ".join(workflow.parameters),
            secrets=" ".join(workflow.secrets),
            recorded_ns=entry.at_ns,
            session=entry.session,
            stopped_at=learned.stopped_at,
            workflow=_body(workflow),
            merged=of.version if of is not None and of.merged else 0,
            again=learned.again,
        )

    @hears
    def _deleted(self, entry: Entry, deleted: WorkflowDeleted) -> None:
        entry.execute("DELETE FROM workflows WHERE name = ?", deleted.name)

    @hears
    def _renamed(self, entry: Entry, renamed: WorkflowRenamed) -> None:
        if renamed.name != renamed.to:
            _rename(entry.db, renamed.name, renamed.to)

    @hears
    def _forgotten(self, entry: Entry, forgotten: SessionForgotten) -> None:
        entry.execute("DELETE FROM workflows WHERE session = ?", forgotten.session)


def _rename(db: sqlite3.Connection, name: str, to: str) -> None:
    """Every version takes the new name, in its body too; what had that name before is replaced."""
    rows = db.execute("SELECT version, workflow FROM workflows WHERE name = ?", (name,)).fetchall()
    if rows:
        db.execute("DELETE FROM workflows WHERE name = ?", (to,))
    for version, body in rows:
        renamed = msgspec.structs.replace(msgspec.json.decode(body, type=Workflow), name=to)
        db.execute(
            "UPDATE workflows SET name = ?, workflow = ? WHERE name = ? AND version = ?",
            (to, _body(renamed), name, version),
        )


def _body(workflow: Workflow) -> str:
    return msgspec.json.encode(workflow, order="deterministic").decode()
