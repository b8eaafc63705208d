"""The transition tables hold confirmed actions, and first- and second-order transitions with their
counts (S0)."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.critic import ActionJudged
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.predictor import SessionForgotten, TransitionLearned
from rutter.events.signature import signature
from rutter.events.workflow import Driver
from rutter.replay.fold import hears
from rutter.replay.projections.projection import Entry, Projection

BY_PERSON: frozenset[Driver] = frozenset({"person", "script"})
FIRST, SECOND = "transitions_first_order", "transitions_second_order"
BEFORE = {FIRST: ("from_action",), SECOND: ("from_action_1", "from_action_2")}


class TransitionTables(Projection):
    """The counts fold the very events that the predictor folds, so the two cannot disagree: what a
    session counted is taken back when it is forgotten."""

    name: ClassVar[str] = "transitions"
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

    @hears
    def _learned(self, entry: Entry, learned: TransitionLearned) -> None:
        """Once more, by whoever did it: a person, also by a script of theirs; or an agent of
        ours."""
        after, person = learned.after, learned.driver in BY_PERSON
        if not after:
            return
        first = _count(entry.db, FIRST, (after[-1], learned.token), person=person)
        second = None
        if len(after) > 1:
            second = _count(entry.db, SECOND, (*after[-2:], learned.token), person=person)
        taught = (entry.session, entry.envelope.n, first, second, person)
        entry.execute("INSERT INTO transitions_taught VALUES (?, ?, ?, ?, ?)", *taught)

    @hears
    def _forgotten(self, entry: Entry, forgotten: SessionForgotten) -> None:
        """As if it had never counted: what it alone had seen is gone."""
        taught = entry.execute(
            "DELETE FROM transitions_taught WHERE session = ? RETURNING first, second, person",
            forgotten.session,
        ).fetchall()
        for first, second, person in taught:
            _discount(entry.db, FIRST, first, person=person)
            if second is not None:
                _discount(entry.db, SECOND, second, person=person)


def _count(db: sqlite3.Connection, table: str, actions: tuple[str, ...], *, person: bool) -> int:
    columns = ", ".join((*BEFORE[table], "to_action, count, by_person, by_agent"))
    [(row,)] = db.execute(
        f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(actions))}, 1, ?, ?) "
        "ON CONFLICT DO UPDATE SET count = count + 1, by_person = by_person + excluded.by_person, "
        "by_agent = by_agent + excluded.by_agent RETURNING id",
        (*actions, person, not person),
    )
    return int(row)


def _discount(db: sqlite3.Connection, table: str, row: int, *, person: bool) -> None:
    db.execute(
        f"UPDATE {table} SET count = count - 1, by_person = by_person - ?, "
        "by_agent = by_agent - ? WHERE id = ?",
        (person, not person, row),
    )
    db.execute(f"DELETE FROM {table} WHERE id = ? AND count = 0", (row,))


class ActionsTable(Projection):
    """The actions table holds every action that came to something, with the page it was done on, as
    in S0 7. What was only checked is in none of the counts, and not here either."""

    name: ClassVar[str] = "actions"
    tables: ClassVar[Mapping[str, str]] = {
        "actions": """
            id INTEGER PRIMARY KEY, session TEXT NOT NULL, action_signature TEXT NOT NULL,
            action_json TEXT NOT NULL, timestamp REAL NOT NULL, url TEXT,
            success INTEGER NOT NULL DEFAULT 1""",
    }

    @hears
    def _came_to(self, entry: Entry, end: ActionJudged | QueryAnswered | QueryFailed) -> None:
        step = entry.step
        if step is None or step.begun is None or step.begun.verify:
            return
        entry.insert(
            "actions",
            session=entry.session,
            action_signature=signature(step.begun),
            action_json=msgspec.json.encode(step.begun).decode(),
            timestamp=entry.at_ns / 1e9,
            url=step.begun_url or None,
            success=step.done,
        )
