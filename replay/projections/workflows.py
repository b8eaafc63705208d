"""What it knows: every version of every workflow."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from events.envelope import Envelope
from events.event import Event
from events.predictor import WorkflowDeleted, WorkflowLearned, WorkflowRenamed


class Workflows:
    name: ClassVar[str] = "workflows"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {WorkflowLearned, WorkflowDeleted, WorkflowRenamed}
    )
    tables: ClassVar[Mapping[str, str]] = {
        "workflows": """
            name TEXT NOT NULL, version INTEGER NOT NULL, steps INTEGER NOT NULL,
            complete INTEGER NOT NULL, parameters TEXT NOT NULL, secrets TEXT NOT NULL,
            recorded_ns INTEGER NOT NULL, session TEXT NOT NULL, stopped_at TEXT NOT NULL,
            workflow TEXT NOT NULL, PRIMARY KEY (name, version)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case WorkflowLearned(workflow=workflow, stopped_at=stopped_at):
                db.execute(
                    "INSERT INTO workflows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        workflow.name,
                        workflow.version,
                        len(workflow.steps),
                        workflow.complete,
                        " ".join(workflow.parameters),
                        " ".join(workflow.secrets),
                        envelope.at_ns,
                        envelope.session,
                        stopped_at,
                        msgspec.json.encode(workflow, order="deterministic").decode(),
                    ),
                )
            case WorkflowDeleted(name=name):
                db.execute("DELETE FROM workflows WHERE name = ?", (name,))
            case WorkflowRenamed(name=name, to=to):
                db.execute("UPDATE workflows SET name = ? WHERE name = ?", (to, name))
            case _:
                pass
