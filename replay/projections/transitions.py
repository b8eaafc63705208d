"""S0's tables: confirmed actions, and first- and second-order transitions with their counts."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from events.critic import ActionJudged
from events.envelope import Envelope
from events.event import Event
from events.executor import PersonActed
from events.observer import PageObserved
from events.predictor import TransitionLearned
from events.runtime import SessionEnded
from events.signature import signature
from events.validator import ActionStarted


class Transitions:
    """The counts fold the very events that the model folds, so the two cannot disagree."""

    name: ClassVar[str] = "transitions"
    folds: ClassVar[frozenset[type[Event]]] = frozenset({TransitionLearned})
    tables: ClassVar[Mapping[str, str]] = {
        "transitions_first_order": """
            id INTEGER PRIMARY KEY, from_action TEXT NOT NULL, to_action TEXT NOT NULL,
            count INTEGER NOT NULL DEFAULT 1, UNIQUE (from_action, to_action)""",
        "transitions_second_order": """
            id INTEGER PRIMARY KEY, from_action_1 TEXT NOT NULL, from_action_2 TEXT NOT NULL,
            to_action TEXT NOT NULL, count INTEGER NOT NULL DEFAULT 1,
            UNIQUE (from_action_1, from_action_2, to_action)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        event = envelope.event
        if not isinstance(event, TransitionLearned):
            return
        if len(event.after) >= 1:
            db.execute(
                "INSERT INTO transitions_first_order (from_action, to_action) VALUES (?, ?) "
                "ON CONFLICT DO UPDATE SET count = count + 1",
                (event.after[-1], event.token),
            )
        if len(event.after) >= 2:
            db.execute(
                "INSERT INTO transitions_second_order (from_action_1, from_action_2, to_action) "
                "VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + 1",
                (event.after[-2], event.after[-1], event.token),
            )


class Actions:
    """Every judged action with its outcome and the page it was done on, as in S0 7."""

    name: ClassVar[str] = "actions"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {ActionStarted, PersonActed, PageObserved, ActionJudged, SessionEnded}
    )
    tables: ClassVar[Mapping[str, str]] = {
        "actions": """
            id INTEGER PRIMARY KEY, session TEXT NOT NULL, action_signature TEXT NOT NULL,
            action_json TEXT NOT NULL, timestamp REAL NOT NULL, url TEXT,
            success INTEGER NOT NULL DEFAULT 1""",
        "actions_running": """
            session TEXT PRIMARY KEY, here TEXT, signature TEXT, json TEXT, url TEXT""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case PageObserved(page=page):
                db.execute(
                    "INSERT INTO actions_running (session, here) VALUES (?, ?) "
                    "ON CONFLICT DO UPDATE SET here = excluded.here",
                    (envelope.session, page.url),
                )
            case ActionStarted(action=action) | PersonActed(action=action):
                db.execute(
                    "UPDATE actions_running SET signature = ?, json = ?, url = here "
                    "WHERE session = ?",
                    (signature(action), msgspec.json.encode(action).decode(), envelope.session),
                )
            case ActionJudged(verdict=verdict):
                db.execute(
                    "INSERT INTO actions (session, action_signature, action_json, timestamp, url, "
                    "success) SELECT session, signature, json, ?, url, ? FROM actions_running "
                    "WHERE session = ? AND signature IS NOT NULL",
                    (envelope.at_ns / 1e9, verdict == "confirmed", envelope.session),
                )
            case SessionEnded():
                db.execute("DELETE FROM actions_running WHERE session = ?", (envelope.session,))
            case _:
                pass
