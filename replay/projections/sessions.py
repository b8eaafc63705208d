"""The sessions table holds one row a session, from its start to its end.

`done` of its `proposed` steps were confirmed or, where they only read, answered. A model call
counts from when it is asked for; what `unpriced` of them cost is not known, or not yet. What a
session taught counts until it is forgotten. `paused` says by whom, as long as it is.
"""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived, VisionGiven
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope, kind
from rutter.events.event import Event
from rutter.events.executor import PersonActed, QueryAnswered
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import SessionForgotten
from rutter.events.runtime import (
    PayloadGone,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    SessionStarted,
)
from rutter.replay.story.cost import is_call, is_priced


class SessionsTable:
    name: ClassVar[str] = "sessions"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            SessionStarted,
            PlanProposed,
            PersonActed,
            ActionJudged,
            QueryAnswered,
            AdviceRequested,
            AdviceReceived,
            AdviceFailed,
            AdviceLost,
            VisionGiven,
            SessionPaused,
            SessionResumed,
            SessionEnded,
            PayloadGone,
            SessionForgotten,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        "sessions": """
            session TEXT PRIMARY KEY, seq INTEGER NOT NULL, purpose TEXT NOT NULL,
            driver TEXT NOT NULL, name TEXT NOT NULL, version INTEGER, started_ns INTEGER NOT NULL,
            ended_ns INTEGER, reason TEXT, failure TEXT, detail TEXT, proposed INTEGER NOT NULL,
            done INTEGER NOT NULL, model_calls INTEGER NOT NULL, tokens INTEGER NOT NULL,
            cost_microdollars INTEGER NOT NULL, unpriced INTEGER NOT NULL, vals TEXT NOT NULL,
            goal TEXT NOT NULL, forgotten_ns INTEGER, paused TEXT""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case SessionStarted() as started:
                self._start(db, envelope, started)
            case PlanProposed(step=step) | PersonActed(step=step):
                # A step that is tried twice is proposed twice, and is one step.
                db.execute(
                    "UPDATE sessions SET proposed = max(proposed, ?) WHERE session = ?",
                    (step, envelope.session),
                )
            case ActionJudged(verdict="confirmed") | QueryAnswered():
                db.execute(
                    "UPDATE sessions SET done = done + 1 WHERE session = ?", (envelope.session,)
                )
            case AdviceRequested():
                self._ask(db, envelope)
            case AdviceReceived() | AdviceFailed() | AdviceLost() as end:
                self._spend(db, envelope, end)
            case VisionGiven() as given if is_call(given):
                self._ask(db, envelope)
                self._spend(db, envelope, given)
            case SessionEnded(reason=reason, failure=failure, detail=detail):
                db.execute(
                    "UPDATE sessions SET ended_ns = ?, reason = ?, failure = ?, detail = ?, "
                    "paused = NULL WHERE session = ?",
                    (envelope.at_ns, reason, failure, detail, envelope.session),
                )
            case SessionPaused() | SessionResumed() as said:
                by = said.by if isinstance(said, SessionPaused) else None
                db.execute(
                    "UPDATE sessions SET paused = ? WHERE session = ?", (by, envelope.session)
                )
            case PayloadGone(was=was):
                self._gone(db, envelope, was)
            case SessionForgotten(session=session):
                db.execute(
                    "UPDATE sessions SET forgotten_ns = ? "
                    "WHERE session = ? AND forgotten_ns IS NULL",
                    (envelope.at_ns, session),
                )
            case _:
                pass

    @staticmethod
    def _ask(db: sqlite3.Connection, envelope: Envelope) -> None:
        db.execute(
            "UPDATE sessions SET model_calls = model_calls + 1, unpriced = unpriced + 1 "
            "WHERE session = ?",
            (envelope.session,),
        )

    @staticmethod
    def _spend(
        db: sqlite3.Connection,
        envelope: Envelope,
        end: AdviceReceived | AdviceFailed | AdviceLost | VisionGiven,
    ) -> None:
        tokens = cost = 0
        if isinstance(end, AdviceReceived | VisionGiven):
            tokens, cost = end.usage.input + end.usage.output, end.cost_microdollars
        db.execute(
            "UPDATE sessions SET tokens = tokens + ?, cost_microdollars = cost_microdollars + ?, "
            "unpriced = max(unpriced - ?, 0) WHERE session = ?",
            (tokens, cost, is_priced(end), envelope.session),
        )

    @staticmethod
    def _gone(db: sqlite3.Connection, envelope: Envelope, was: str) -> None:
        """That a session was, and when, is still known when its payloads are erased."""
        if was == kind(SessionStarted):
            db.execute(
                "INSERT INTO sessions VALUES (?, ?, 'erased', '', '', NULL, ?, NULL, NULL, NULL, "
                "NULL, 0, 0, 0, 0, 0, 0, '{}', '', NULL, NULL)",
                (envelope.session, envelope.seq, envelope.at_ns),
            )
        elif was == kind(SessionEnded):
            db.execute(
                "UPDATE sessions SET ended_ns = ?, reason = 'erased', paused = NULL "
                "WHERE session = ?",
                (envelope.at_ns, envelope.session),
            )

    @staticmethod
    def _start(db: sqlite3.Connection, envelope: Envelope, started: SessionStarted) -> None:
        db.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL, "
            "0, 0, 0, 0, 0, 0, ?, ?, NULL, NULL)",
            (
                envelope.session,
                envelope.seq,
                started.purpose,
                started.driver,
                started.name,
                started.workflow.version if started.workflow else None,
                envelope.at_ns,
                msgspec.json.encode(started.values, order="sorted").decode(),
                started.goal,
            ),
        )
