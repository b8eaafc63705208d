"""S4 W4: the step trace, one schema for every driver."""

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from events.critic import ActionJudged, OutcomeUnknown
from events.envelope import Envelope
from events.event import Event
from events.executor import ActionFailed, PersonActed
from events.observer import BrowserLost, PageObserved, ScreenshotTaken
from events.page import Artifact
from events.planner import PlanProposed, RunStopped
from events.signature import signature
from events.validator import (
    ActionApproved,
    ActionRejected,
    ActionWithheld,
    ApprovalRequested,
)

# The spec's table: what S3 calls an error, as S4's typed errors.
ERROR_CODES = {
    "ref_invalid": "validation_error",
    "value_unbound": "validation_error",
    "timeout": "tool_timeout",
    "page_crashed": "tool_unavailable",
}


class StepTrace:
    name: ClassVar[str] = "step_trace"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            PlanProposed,
            PersonActed,
            ActionApproved,
            ActionRejected,
            ActionWithheld,
            ApprovalRequested,
            ActionFailed,
            ActionJudged,
            OutcomeUnknown,
            BrowserLost,
            PageObserved,
            ScreenshotTaken,
            RunStopped,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        "step_trace": """
            run_id TEXT NOT NULL, step_id INTEGER NOT NULL, attempt INTEGER NOT NULL,
            tool_name TEXT NOT NULL, args_hash TEXT NOT NULL, duration_ms INTEGER,
            status TEXT NOT NULL, error_code TEXT, artifacts TEXT NOT NULL DEFAULT '[]',
            policy_flags TEXT NOT NULL DEFAULT '[]', render_mode TEXT NOT NULL DEFAULT 'dom',
            started_ns INTEGER NOT NULL, PRIMARY KEY (run_id, step_id, attempt)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case PlanProposed() | PersonActed() as begun:
                _open(db, envelope, begun)
            case ActionApproved(rule=rule):
                _append(db, envelope.session, "policy_flags", f"allow:{rule}")
            case ApprovalRequested(rule=rule):
                _append(db, envelope.session, "policy_flags", f"ask:{rule}")
            case ActionRejected(rule=rule, code=code):
                _append(db, envelope.session, "policy_flags", f"deny:{rule}")
                _close(db, envelope, "rejected", code)
            case ActionWithheld():
                _close(db, envelope, "withheld", None)
            case ActionFailed(code=code):
                _fail(db, envelope, ERROR_CODES.get(code, "execution_error"))
            case ActionJudged(verdict=verdict):
                _close(db, envelope, "ok" if verdict == "confirmed" else verdict, None)
            case OutcomeUnknown():
                _close(db, envelope, "unknown", None)
            case BrowserLost():
                _fail(db, envelope, "tool_unavailable")
            case PageObserved(screenshot=Artifact() as artifact):
                _append(db, envelope.session, "artifacts", artifact.sha256)
            case ScreenshotTaken(artifact=artifact):
                _append(db, envelope.session, "artifacts", artifact.sha256)
            case _:
                pass


_LAST = (
    "rowid = (SELECT rowid FROM step_trace WHERE run_id = ? "
    "ORDER BY step_id DESC, attempt DESC LIMIT 1)"
)


def _open(db: sqlite3.Connection, envelope: Envelope, begun: PlanProposed | PersonActed) -> None:
    """A proposal that corrects the one before it (another action, same attempt) takes its place."""
    digest = hashlib.sha256(signature(begun.action).encode()).hexdigest()
    attempt = begun.attempt if isinstance(begun, PlanProposed) else 1
    db.execute(
        "INSERT OR REPLACE INTO step_trace (run_id, step_id, attempt, tool_name, args_hash, "
        "status, started_ns) VALUES (?, ?, ?, ?, ?, 'open', ?)",
        (envelope.session, begun.step, attempt, begun.action.type, digest, envelope.at_ns),
    )


def _append(db: sqlite3.Connection, session: str, column: str, value: str) -> None:
    row = db.execute(f"SELECT {column} FROM step_trace WHERE {_LAST}", (session,)).fetchone()
    if row is not None:
        listed = [*msgspec.json.decode(row[0], type=list[str]), value]
        encoded = msgspec.json.encode(listed).decode()
        db.execute(f"UPDATE step_trace SET {column} = ? WHERE {_LAST}", (encoded, session))


def _fail(db: sqlite3.Connection, envelope: Envelope, code: str) -> None:
    db.execute(f"UPDATE step_trace SET error_code = ? WHERE {_LAST}", (code, envelope.session))


def _close(db: sqlite3.Connection, envelope: Envelope, status: str, code: str | None) -> None:
    db.execute(
        "UPDATE step_trace SET status = ?, error_code = coalesce(?, error_code), "
        f"duration_ms = (? - started_ns) / 1000000 WHERE status = 'open' AND {_LAST}",
        (status, code, envelope.at_ns, envelope.session),
    )
