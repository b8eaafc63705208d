"""The transition tables hold confirmed actions, and first- and second-order transitions with their
counts (S0)."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import PersonActed, QueryAnswered, QueryFailed
from rutter.events.observer import PageObserved
from rutter.events.predictor import SessionForgotten, TransitionLearned
from rutter.events.runtime import SessionEnded
from rutter.events.signature import signature
from rutter.events.validator import ActionStarted, QueryStarted
from rutter.events.workflow import Driver

BY_PERSON: frozenset[Driver] = frozenset({"person", "script"})
FIRST, SECOND = "transitions_first_order", "transitions_second_order"
BEFORE = {FIRST: ("from_action",), SECOND: ("from_action_1", "from_action_2")}


class TransitionTables:
    """The counts fold the very events that the predictor folds, so the two cannot disagree: what a
    session counted is taken back when it is forgotten."""

    name: ClassVar[str] = "transitions"
    folds: ClassVar[frozenset[type[Event]]] = frozenset({TransitionLearned, SessionForgotten})
    tables: ClassVar[Mapping[str, str]] = {
        FIRST: """
            id INTEGER PRIMARY KEY, from_action TEXT NOT NULL, to_action TEXT NOT NULL,
            count INTEGER NOT NULL DEFAULT 1, by_person INTEGER NOT NULL DEFAULT 0,
            by_agent INTEGER NOT NULL DEFAULT 0, UNIQUE (from_action, to_action)""",
        SECOND: """
            id INTEGER PRIMARY KEY, from_action_1 TEXT NOT NULL, from_action_2 TEXT NOT NULL,
            to_action TEXT NOT NULL, count INTEGER NOT NULL DEFAULT 1,
            by_person INTEGER NOT NULL DEFAULT 0, by_agent INTEGER NOT NULL DEFAULT 0,
            UNIQUE (from_action_1, from_action_2, to_action)""",
        # Who counted what, by the rows' own numbers: a row lasts as long as anybody counts in it.
        "transitions_taught": """
            session TEXT NOT NULL, n INTEGER NOT NULL, first INTEGER NOT NULL, second INTEGER,
            person INTEGER NOT NULL, PRIMARY KEY (session, n)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case TransitionLearned(after=after) as learned if after:
                _learn(db, envelope, learned)
            case SessionForgotten(session=session):
                _forget(db, session)
            case _:
                pass


def _learn(db: sqlite3.Connection, envelope: Envelope, learned: TransitionLearned) -> None:
    """Once more, by whoever did it: a person, also by a script of theirs; or an agent of ours."""
    after, person = learned.after, learned.driver in BY_PERSON
    first = _count(db, FIRST, (after[-1], learned.token), person=person)
    second = None
    if len(after) > 1:
        second = _count(db, SECOND, (*after[-2:], learned.token), person=person)
    db.execute(
        "INSERT INTO transitions_taught VALUES (?, ?, ?, ?, ?)",
        (envelope.session, envelope.n, first, second, person),
    )


def _count(db: sqlite3.Connection, table: str, actions: tuple[str, ...], *, person: bool) -> int:
    columns = ", ".join((*BEFORE[table], "to_action, count, by_person, by_agent"))
    [(row,)] = db.execute(
        f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(actions))}, 1, ?, ?) "
        "ON CONFLICT DO UPDATE SET count = count + 1, by_person = by_person + excluded.by_person, "
        "by_agent = by_agent + excluded.by_agent RETURNING id",
        (*actions, person, not person),
    )
    return int(row)


def _forget(db: sqlite3.Connection, session: str) -> None:
    """As if it had never counted: what it alone had seen is gone."""
    taught = db.execute(
        "DELETE FROM transitions_taught WHERE session = ? RETURNING first, second, person",
        (session,),
    ).fetchall()
    for first, second, person in taught:
        _discount(db, FIRST, first, person=person)
        if second is not None:
            _discount(db, SECOND, second, person=person)


def _discount(db: sqlite3.Connection, table: str, row: int, *, person: bool) -> None:
    db.execute(
        f"UPDATE {table} SET count = count - 1, by_person = by_person - ?, "
        "by_agent = by_agent - ? WHERE id = ?",
        (person, not person, row),
    )
    db.execute(f"DELETE FROM {table} WHERE id = ? AND count = 0", (row,))


class ActionsTable:
    """The actions table holds every action that came to something, with the page it was done on, as
    in S0 7. What was only checked is in none of the counts, and not here either."""

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
