"""The step trace has one schema for every driver and every kind of step (S4 W4)."""

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.action import kind_of
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import ActionFailed, PersonActed, QueryAnswered, QueryFailed
from rutter.events.faults import FAULTS
from rutter.events.observer import BrowserLost, PageObserved, ScreenshotTaken
from rutter.events.page import Artifact
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.signature import signature
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
)


class StepTraceTable:
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
            QueryAnswered,
            QueryFailed,
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
            started_ns INTEGER NOT NULL, kind TEXT NOT NULL,
            PRIMARY KEY (run_id, step_id, attempt)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case PlanProposed() | PersonActed() as begun:
                _open(db, envelope, begun)
            case ActionApproved(step=step, rule=rule):
                _append(db, envelope, "policy_flags", f"allow:{rule}", step)
            case ApprovalRequested(step=step, rule=rule):
                _append(db, envelope, "policy_flags", f"ask:{rule}", step)
            case ActionRejected(step=step, rule=rule, code=code):
                _append(db, envelope, "policy_flags", f"deny:{rule}", step)
                _close(db, envelope, step, "rejected", code)
            case ActionWithheld(step=step):
                _close(db, envelope, step, "withheld")
            case PageObserved(screenshot=Artifact() as artifact):
                _append(db, envelope, "artifacts", artifact.sha256)
            case ScreenshotTaken(artifact=artifact):
                _append(db, envelope, "artifacts", artifact.sha256)
            case _:
                _came_of(db, envelope)


def _came_of(db: sqlite3.Connection, envelope: Envelope) -> None:
    match envelope.event:
        case ActionStarted(step=step, irreversible=True):
            _append(db, envelope, "policy_flags", "irreversible", step)
        case ActionFailed(step=step, code=code):
            _fail(db, envelope, _error(code), step)
        case ActionJudged(step=step, verdict=verdict):
            _close(db, envelope, step, "ok" if verdict == "confirmed" else verdict)
        case QueryAnswered(step=step):
            _close(db, envelope, step, "ok")
        case QueryFailed(step=step, code=code):
            _close(db, envelope, step, "failed", _error(code))
        case OutcomeUnknown(step=step):
            _close(db, envelope, step, "unknown")
        case BrowserLost():
            _fail(db, envelope, "tool_unavailable")
        case _:
            pass


# The last try of a step, or of the last step where an event names none.
_LAST = (
    "rowid = (SELECT rowid FROM step_trace WHERE run_id = ? AND step_id = coalesce(?, step_id) "
    "ORDER BY step_id DESC, attempt DESC LIMIT 1)"
)


def _error(code: str) -> str:
    return FAULTS[code].error_code


def _open(db: sqlite3.Connection, envelope: Envelope, begun: PlanProposed | PersonActed) -> None:
    """A proposal that corrects the one before it (another action, same attempt) takes its place."""
    digest = hashlib.sha256(signature(begun.action).encode()).hexdigest()
    attempt = begun.attempt if isinstance(begun, PlanProposed) else 1
    db.execute(
        "INSERT OR REPLACE INTO step_trace (run_id, step_id, attempt, tool_name, args_hash, "
        "status, started_ns, kind) VALUES (?, ?, ?, ?, ?, 'open', ?, ?)",
        (
            envelope.session,
            begun.step,
            attempt,
            begun.action.type,
            digest,
            envelope.at_ns,
            kind_of(begun.action),
        ),
    )


def _append(
    db: sqlite3.Connection, envelope: Envelope, column: str, value: str, step: int | None = None
) -> None:
    where = (envelope.session, step)
    row = db.execute(f"SELECT {column} FROM step_trace WHERE {_LAST}", where).fetchone()
    if row is not None:
        listed = [*msgspec.json.decode(row[0], type=list[str]), value]
        encoded = msgspec.json.encode(listed).decode()
        db.execute(f"UPDATE step_trace SET {column} = ? WHERE {_LAST}", (encoded, *where))


def _fail(db: sqlite3.Connection, envelope: Envelope, code: str, step: int | None = None) -> None:
    db.execute(
        f"UPDATE step_trace SET error_code = ? WHERE {_LAST}", (code, envelope.session, step)
    )


def _close(
    db: sqlite3.Connection, envelope: Envelope, step: int, status: str, code: str | None = None
) -> None:
    db.execute(
        "UPDATE step_trace SET status = ?, error_code = coalesce(?, error_code), "
        f"duration_ms = (? - started_ns) / 1000000 WHERE status = 'open' AND {_LAST}",
        (status, code, envelope.at_ns, envelope.session, step),
    )
