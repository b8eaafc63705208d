"""S2 8: what was done, with its evidence, and what was only looked at, apart from each other."""

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from events.action import Action, ByPoint, Parameter, Secret, Text, Typed
from events.critic import ActionJudged, Evidence
from events.envelope import Envelope
from events.event import Event
from events.executor import ActionDone, ActionFailed, PersonActed
from events.observer import ObservationFailed, PageObserved
from events.runtime import SessionEnded
from events.validator import ActionStarted
from events.workflow import MILLION
from replay.wording import in_words, way_in_words

# Reading is an observation, not an action (S2 1.2).
LOOKING = frozenset({"extract", "wait_for", "wait"})


class History:
    """The two tables of S2 8, with the session and step behind the seed's own columns."""

    name: ClassVar[str] = "history"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            ActionStarted,
            PersonActed,
            ActionDone,
            ActionFailed,
            ActionJudged,
            PageObserved,
            ObservationFailed,
            SessionEnded,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        "action_history": """
            id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL,
            action_type TEXT NOT NULL, target TEXT, text_content TEXT, coordinates TEXT,
            success INTEGER NOT NULL, message TEXT, error TEXT, verification_evidence TEXT,
            session TEXT NOT NULL, step INTEGER NOT NULL""",
        "observation_log": """
            id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL,
            query_type TEXT NOT NULL, target TEXT, result TEXT, success INTEGER NOT NULL,
            session TEXT NOT NULL""",
        "history_running": "session TEXT PRIMARY KEY, action TEXT, result TEXT, error TEXT",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case PageObserved(page=page):
                _observed(db, envelope, "page", page.url, page.title.text, success=True)
            case ObservationFailed(code=code, message=message):
                _observed(db, envelope, "page", "", f"{code}: {message}", success=False)
            case ActionStarted(action=action) | PersonActed(action=action):
                db.execute(
                    "INSERT OR REPLACE INTO history_running VALUES (?, ?, NULL, NULL)",
                    (envelope.session, msgspec.json.encode(action).decode()),
                )
            case ActionDone(extracted=extracted) if extracted is not None:
                _note(db, envelope, "result", extracted.text)
            case ActionFailed(code=code, message=message):
                _note(db, envelope, "error", f"{code}: {message}" if message else code)
            case ActionJudged() as judged:
                _judged(db, envelope, judged)
            case SessionEnded():
                db.execute("DELETE FROM history_running WHERE session = ?", (envelope.session,))
            case _:
                pass


def _judged(db: sqlite3.Connection, envelope: Envelope, judged: ActionJudged) -> None:
    row = db.execute(
        "SELECT action, result, error FROM history_running WHERE session = ?", (envelope.session,)
    ).fetchone()
    if row is None:
        return
    action = msgspec.json.decode(row[0], type=Action)
    success = judged.verdict == "confirmed"
    if action.type in LOOKING:
        _observed(db, envelope, action.type, _target(action), row[1] or row[2], success=success)
        return
    db.execute(
        "INSERT INTO action_history (timestamp, action_type, target, text_content, coordinates, "
        "success, message, error, verification_evidence, session, step) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            timestamp(envelope.at_ns),
            action.type,
            _target(action),
            _text(action),
            _coordinates(action),
            success,
            in_words(action),
            None if success else row[2] or f"{judged.verdict}: {judged.reason}",
            _evidence(judged.evidence),
            envelope.session,
            judged.step,
        ),
    )


def timestamp(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat(timespec="milliseconds")


def _observed(
    db: sqlite3.Connection,
    envelope: Envelope,
    query: str,
    target: str | None,
    result: str | None,
    *,
    success: bool,
) -> None:
    db.execute(
        "INSERT INTO observation_log (timestamp, query_type, target, result, success, session) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (timestamp(envelope.at_ns), query, target, result, success, envelope.session),
    )


def _note(db: sqlite3.Connection, envelope: Envelope, column: str, text: str) -> None:
    db.execute(
        f"UPDATE history_running SET {column} = ? WHERE session = ?", (text, envelope.session)
    )


def _target(action: Action) -> str | None:
    if action.target is not None and action.target.primary is not None:
        return way_in_words(action.target.primary)
    return action.url or action.key


def _text(action: Action) -> str | None:
    """What was typed; a parameter or secret by its name."""
    match action.value:
        case Text(text):
            return text
        case Parameter(name):
            return f"<{name}>"
        case Secret(name):
            return f"<secret {name}>"
        case Typed(number):
            return f"<typed {number + 1}>"
        case None:
            return None


def _coordinates(action: Action) -> str | None:
    way = action.target.primary if action.target else None
    return f"{way.x},{way.y}" if isinstance(way, ByPoint) else None


def _evidence(evidence: tuple[Evidence, ...]) -> str | None:
    """The deciding evidence in the seed's own form (S2 5.1)."""
    if not evidence:
        return None
    last = evidence[-1]
    said = {
        "source": last.source,
        "checked_text": last.checked,
        "sample": last.sample.text if last.sample else None,
        "confidence": last.confidence / MILLION,
    }
    return msgspec.json.encode(said).decode()
