"""The history tables hold what was done, with its evidence, and apart from it what was only
looked at (S2 8)."""

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from rutter.events.action import Action, ByPoint, Parameter, Secret, Text, Typed, kind_of
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import ActionDone, ActionFailed, PersonActed, QueryAnswered, QueryFailed
from rutter.events.observer import FilesSeen, ObservationFailed, PageObserved
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionEnded
from rutter.events.tools import FileRead, ToolCalled
from rutter.events.validator import ActionRejected, ActionStarted, QueryStarted
from rutter.replay.story.evidence_weight import deciding, overall
from rutter.replay.story.wording import file_in_words, file_wanted, in_words, locator_in_words


class HistoryTables:
    """The two tables of S2 8 have the session and step behind the seed's own columns."""

    name: ClassVar[str] = "history"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            ActionStarted,
            PersonActed,
            ActionDone,
            ActionFailed,
            ActionJudged,
            PlanProposed,
            ActionRejected,
            QueryStarted,
            QueryAnswered,
            QueryFailed,
            ToolCalled,
            FileRead,
            FilesSeen,
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
        "history_running": """
            session TEXT NOT NULL, step INTEGER NOT NULL, action TEXT NOT NULL, result TEXT,
            error TEXT, PRIMARY KEY (session, step)""",
        "history_wanted": "session TEXT PRIMARY KEY, call TEXT NOT NULL, path TEXT NOT NULL",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case (
                ActionStarted(step=step, action=action)
                | PersonActed(step=step, action=action)
                | QueryStarted(step=step, action=action)
                | PlanProposed(step=step, action=action, kind="observation")
            ):
                db.execute(
                    "INSERT OR REPLACE INTO history_running VALUES (?, ?, ?, NULL, NULL)",
                    (envelope.session, step, msgspec.json.encode(action).decode()),
                )
            case ActionDone(step=step, extracted=extracted) if extracted is not None:
                _note(db, envelope, step, "result", extracted.text)
            case ActionFailed(step=step, code=code, message=message):
                _note(db, envelope, step, "error", f"{code}: {message}" if message else code)
            case ActionJudged() as judged:
                _judged(db, envelope, judged)
            case SessionEnded():
                for table in ("history_running", "history_wanted"):
                    db.execute(f"DELETE FROM {table} WHERE session = ?", (envelope.session,))
            case _:
                _looked(db, envelope)


def _looked(db: sqlite3.Connection, envelope: Envelope) -> None:
    """What only reads, whoever asked for it."""
    match envelope.event:
        case PageObserved(page=page):
            _observed(db, envelope, "page", page.url, page.title.text, success=True)
        case ObservationFailed(code=code, message=message):
            _observed(db, envelope, "page", "", f"{code}: {message}", success=False)
        case QueryAnswered(step=step, text=text):
            _answered(db, envelope, step, text.text if text is not None else None, success=True)
        case QueryFailed(step=step, code=code, message=message):
            said = f"{code}: {message}" if message else code
            _answered(db, envelope, step, said, success=False)
        case ActionRejected(step=step, reason=reason):
            _answered(db, envelope, step, reason, success=False)
        case FilesSeen(files=files):
            for seen in files:
                found = seen.exists and not seen.error
                _observed(db, envelope, "file", seen.path, file_in_words(seen), success=found)
        case ToolCalled() as called:
            _wanted(db, envelope, called)
        case FileRead() as read:
            _file_read(db, envelope, read)
        case _:
            pass


def _judged(db: sqlite3.Connection, envelope: Envelope, judged: ActionJudged) -> None:
    row = db.execute(
        "SELECT action, result, error FROM history_running WHERE session = ? AND step = ?",
        (envelope.session, judged.step),
    ).fetchone()
    if row is None:
        return
    action = msgspec.json.decode(row[0], type=Action)
    success = judged.verdict == "confirmed"
    if kind_of(action) == "observation":  # of a log from before these had a way of their own
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
            _evidence(judged),
            envelope.session,
            judged.step,
        ),
    )


def _answered(
    db: sqlite3.Connection, envelope: Envelope, step: int, result: str | None, *, success: bool
) -> None:
    row = db.execute(
        "SELECT action FROM history_running WHERE session = ? AND step = ?",
        (envelope.session, step),
    ).fetchone()
    action = msgspec.json.decode(row[0], type=Action) if row is not None else None
    if action is not None and kind_of(action) == "observation":
        _observed(db, envelope, action.type, _target(action), result, success=success)


def _wanted(db: sqlite3.Connection, envelope: Envelope, called: ToolCalled) -> None:
    path = file_wanted(called)
    if path is not None:
        db.execute(
            "INSERT OR REPLACE INTO history_wanted VALUES (?, ?, ?)",
            (envelope.session, called.call, path),
        )


def _file_read(db: sqlite3.Connection, envelope: Envelope, read: FileRead) -> None:
    """That it was read, and how much; what it holds stays in the log (S2 5.2)."""
    row = db.execute(
        "SELECT path FROM history_wanted WHERE session = ? AND call = ?",
        (envelope.session, read.call),
    ).fetchone()
    length = len(read.text.text) if read.text is not None else 0
    result = f"{read.error}: {read.message}" if read.error else f"{length} characters"
    path = row[0] if row is not None else None
    _observed(db, envelope, "file", path, result, success=not read.error)


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


def _note(db: sqlite3.Connection, envelope: Envelope, step: int, column: str, text: str) -> None:
    db.execute(
        f"UPDATE history_running SET {column} = ? WHERE session = ? AND step = ?",
        (text, envelope.session, step),
    )


def _target(action: Action) -> str | None:
    if action.target is not None and action.target.primary is not None:
        return locator_in_words(action.target.primary)
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
    locator = action.target.primary if action.target else None
    return f"{locator.x},{locator.y}" if isinstance(locator, ByPoint) else None


def _evidence(judged: ActionJudged) -> str | None:
    """The deciding evidence in the seed's own form (S2 5.1), with the confidence over all."""
    decided = deciding(judged.evidence)
    if decided is None:
        return None
    said = {
        "source": decided.source,
        "checked_text": decided.checked,
        "sample": decided.sample.text if decided.sample else None,
        "confidence": overall(judged) / MILLION,
    }
    return msgspec.json.encode(said).decode()
