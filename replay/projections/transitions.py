"""S0's tables: confirmed actions, and first- and second-order transitions with their counts."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from events.critic import ActionJudged
from events.envelope import Envelope
from events.event import Event
from events.executor import PersonActed, QueryAnswered, QueryFailed
from events.observer import PageObserved
from events.predictor import TransitionLearned
from events.runtime import SessionEnded
from events.signature import signature
from events.validator import ActionStarted, QueryStarted
from events.workflow import Driver

BY_PERSON: frozenset[Driver] = frozenset({"person", "script"})
COUNTS = "count, by_person, by_agent"
FIRST = f"transitions_first_order (from_action, to_action, {COUNTS})"
SECOND = f"transitions_second_order (from_action_1, from_action_2, to_action, {COUNTS})"


class Transitions:
    """The counts fold the very events that the model folds, so the two cannot disagree."""

    name: ClassVar[str] = "transitions"
    folds: ClassVar[frozenset[type[Event]]] = frozenset({TransitionLearned})
    tables: ClassVar[Mapping[str, str]] = {
        "transitions_first_order": """
            id INTEGER PRIMARY KEY, from_action TEXT NOT NULL, to_action TEXT NOT NULL,
            count INTEGER NOT NULL DEFAULT 1, by_person INTEGER NOT NULL DEFAULT 0,
            by_agent INTEGER NOT NULL DEFAULT 0, UNIQUE (from_action, to_action)""",
        "transitions_second_order": """
            id INTEGER PRIMARY KEY, from_action_1 TEXT NOT NULL, from_action_2 TEXT NOT NULL,
            to_action TEXT NOT NULL, count INTEGER NOT NULL DEFAULT 1,
            by_person INTEGER NOT NULL DEFAULT 0, by_agent INTEGER NOT NULL DEFAULT 0,
            UNIQUE (from_action_1, from_action_2, to_action)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        event = envelope.event
        if not isinstance(event, TransitionLearned):
            return
        if len(event.after) >= 1:
            _count(db, FIRST, (event.after[-1], event.token), event.driver)
        if len(event.after) >= 2:
            _count(db, SECOND, (*event.after[-2:], event.token), event.driver)


def _count(db: sqlite3.Connection, table: str, actions: tuple[str, ...], driver: Driver) -> None:
    """Once more, by whoever did it: a person, also by a script of theirs; or an agent of ours."""
    person = driver in BY_PERSON
    db.execute(
        f"INSERT INTO {table} VALUES ({', '.join('?' * len(actions))}, 1, ?, ?) "
        "ON CONFLICT DO UPDATE SET count = count + 1, by_person = by_person + excluded.by_person, "
        "by_agent = by_agent + excluded.by_agent",
        (*actions, person, not person),
    )


class Actions:
    """Every action that came to something, with the page it was done on, as in S0 7. What was only
    checked is in none of the counts, and not here either."""

    name: ClassVar[str] = "actions"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            ActionStarted,
            QueryStarted,
            PersonActed,
            PageObserved,
            ActionJudged,
            QueryAnswered,
            QueryFailed,
            SessionEnded,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        "actions": """
            id INTEGER PRIMARY KEY, session TEXT NOT NULL, action_signature TEXT NOT NULL,
            action_json TEXT NOT NULL, timestamp REAL NOT NULL, url TEXT,
            success INTEGER NOT NULL DEFAULT 1""",
        "actions_here": "session TEXT PRIMARY KEY, url TEXT",
        "actions_running": """
            session TEXT NOT NULL, step INTEGER NOT NULL, signature TEXT NOT NULL,
            json TEXT NOT NULL, url TEXT, PRIMARY KEY (session, step)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case PageObserved(page=page):
                db.execute(
                    "INSERT OR REPLACE INTO actions_here VALUES (?, ?)",
                    (envelope.session, page.url),
                )
            case (
                ActionStarted(step=step, action=action)
                | QueryStarted(step=step, action=action)
                | PersonActed(step=step, action=action)
            ) if not action.verify:
                db.execute(
                    "INSERT OR REPLACE INTO actions_running VALUES (?, ?, ?, ?, "
                    "(SELECT url FROM actions_here WHERE session = ?))",
                    (
                        envelope.session,
                        step,
                        signature(action),
                        msgspec.json.encode(action).decode(),
                        envelope.session,
                    ),
                )
            case ActionJudged(step=step, verdict=verdict):
                _keep(db, envelope, step, success=verdict == "confirmed")
            case QueryAnswered(step=step):
                _keep(db, envelope, step, success=True)
            case QueryFailed(step=step):
                _keep(db, envelope, step, success=False)
            case SessionEnded():
                for table in ("actions_here", "actions_running"):
                    db.execute(f"DELETE FROM {table} WHERE session = ?", (envelope.session,))
            case _:
                pass


def _keep(db: sqlite3.Connection, envelope: Envelope, step: int, *, success: bool) -> None:
    db.execute(
        "INSERT INTO actions (session, action_signature, action_json, timestamp, url, success) "
        "SELECT session, signature, json, ?, url, ? FROM actions_running "
        "WHERE session = ? AND step = ?",
        (envelope.at_ns / 1e9, success, envelope.session, step),
    )
