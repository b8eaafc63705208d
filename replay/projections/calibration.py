"""The calibration table holds one row for each prediction: how sure it was, and whether it was
right, once it is settled.

It is settled by the next action that counts, as in `metrics`. What the Planner did because of a
prediction says nothing of it, as nobody else chose it (a model must not teach itself): those rows
are `acted`, with whether a person was `asked` first, and are told apart from all others. `correct`
is null as long as what was done has no verdict.
"""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.planner import PlanProposed
from rutter.events.predictor import (
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
)
from rutter.events.runtime import SessionEnded
from rutter.events.signature import bare, doing
from rutter.events.validator import ActionStarted, ApprovalRequested, QueryStarted
from rutter.replay.projections.metrics import only_checks
from rutter.replay.whatif import ScoredPrediction


class ExecutionCounts(msgspec.Struct, frozen=True):
    """Execution counts say what was done because it was predicted, and what came of it. What was
    not confirmed, or was taken back, is wrong."""

    acted: int
    confirmed: int
    wrong: int
    unjudged: int


class CalibrationTable:
    name: ClassVar[str] = "calibration"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            PredictionMade,
            PlanProposed,
            ApprovalRequested,
            ActionStarted,
            QueryStarted,
            ActionJudged,
            QueryAnswered,
            QueryFailed,
            TransitionLearned,
            TransitionUndone,
            SessionForgotten,
            SessionEnded,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        "calibration": """
            seq INTEGER PRIMARY KEY, session TEXT NOT NULL, model TEXT NOT NULL,
            generation INTEGER NOT NULL, probability INTEGER NOT NULL, correct INTEGER,
            acted INTEGER NOT NULL, asked INTEGER NOT NULL""",
        # The last prediction of a session, as long as nothing came of it.
        "calibration_open": """
            session TEXT PRIMARY KEY, seq INTEGER NOT NULL, model TEXT NOT NULL,
            generation INTEGER NOT NULL, probability INTEGER NOT NULL, doing TEXT NOT NULL""",
        "calibration_acting": """
            session TEXT NOT NULL, step INTEGER NOT NULL, seq INTEGER NOT NULL,
            model TEXT NOT NULL, generation INTEGER NOT NULL, probability INTEGER NOT NULL,
            doing TEXT NOT NULL, asked INTEGER NOT NULL, PRIMARY KEY (session, step)""",
        # The last one that was right: it may yet be taken back.
        "calibration_right": "session TEXT PRIMARY KEY, seq INTEGER NOT NULL, doing TEXT NOT NULL",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        session = envelope.session
        match envelope.event:
            case PredictionMade() as prediction:
                _predict(db, envelope, prediction)
            case PlanProposed(driver="prediction") as plan if not only_checks(plan):
                _plan(db, session, plan.step)
            case ApprovalRequested(step=step):
                db.execute(
                    "UPDATE calibration_acting SET asked = 1 WHERE session = ? AND step = ?",
                    (session, step),
                )
            case ActionStarted(step=step) | QueryStarted(step=step):
                _act(db, session, step)
            case ActionJudged(step=step, verdict=verdict):
                _judge(db, session, step, correct=verdict == "confirmed")
            case QueryAnswered(step=step):
                _judge(db, session, step, correct=True)
            case QueryFailed(step=step):
                _judge(db, session, step, correct=False)
            case TransitionLearned(driver=driver, action=action) if driver != "prediction":
                _settle(db, session, doing(action))
            case TransitionUndone(token=token, why=why) if why != "refused":
                _take_back(db, session, bare(token))
            case SessionForgotten(session=forgotten):
                # What was done in it was done, and stays on the record.
                db.execute("DELETE FROM calibration WHERE session = ? AND NOT acted", (forgotten,))
            case SessionEnded():
                _close(db, session)
            case _:
                pass


def models(db: sqlite3.Connection) -> dict[str, int]:
    """Whose predictions were settled, and how many; the model that was asked last comes first."""
    found = "SELECT model, sum(NOT acted) FROM calibration GROUP BY model ORDER BY max(seq) DESC"
    return dict(db.execute(found).fetchall())


def settled(db: sqlite3.Connection, model: str) -> list[ScoredPrediction]:
    """What a model said and what came of it; nothing that was done because it said so."""
    found = db.execute(
        "SELECT probability, correct FROM calibration WHERE model = ? AND NOT acted ORDER BY seq",
        (model,),
    )
    return [ScoredPrediction(probability, bool(correct)) for probability, correct in found]


def executions(db: sqlite3.Connection, model: str, *, asked: bool) -> ExecutionCounts:
    """What was done because this model said so: alone, or after a person was `asked`."""
    acted, confirmed, wrong = db.execute(
        "SELECT count(*), coalesce(sum(correct), 0), coalesce(sum(NOT correct), 0) "
        "FROM calibration WHERE model = ? AND acted AND asked = ?",
        (model, asked),
    ).fetchone()
    return ExecutionCounts(acted, confirmed, wrong, acted - confirmed - wrong)


def _predict(db: sqlite3.Connection, envelope: Envelope, prediction: PredictionMade) -> None:
    """None when nothing was predicted: an older prediction was not about this page."""
    if not prediction.candidates:
        db.execute("DELETE FROM calibration_open WHERE session = ?", (envelope.session,))
        return
    top = prediction.candidates[0]
    made = (prediction.model, prediction.generation, top.probability, doing(top.action))
    db.execute(
        "REPLACE INTO calibration_open VALUES (?, ?, ?, ?, ?, ?)",
        (envelope.session, envelope.seq, *made),
    )


def _plan(db: sqlite3.Connection, session: str, step: int) -> None:
    """It is acted on: whatever comes of it, it is no test of the model. A second try of the step is
    the same execution."""
    db.execute(
        "INSERT OR IGNORE INTO calibration_acting "
        "SELECT session, ?, seq, model, generation, probability, doing, 0 "
        "FROM calibration_open WHERE session = ?",
        (step, session),
    )
    db.execute("DELETE FROM calibration_open WHERE session = ?", (session,))


def _act(db: sqlite3.Connection, session: str, step: int) -> None:
    db.execute(
        "INSERT OR IGNORE INTO calibration "
        "SELECT seq, session, model, generation, probability, NULL, 1, asked "
        "FROM calibration_acting WHERE session = ? AND step = ?",
        (session, step),
    )


def _judge(db: sqlite3.Connection, session: str, step: int, *, correct: bool) -> None:
    found = db.execute(
        "SELECT seq, doing FROM calibration_acting WHERE session = ? AND step = ?", (session, step)
    ).fetchone()
    if found is None:
        return
    seq, done = found
    db.execute("UPDATE calibration SET correct = ? WHERE seq = ?", (correct, seq))
    _remember(db, session, seq if correct else None, done)


def _settle(db: sqlite3.Connection, session: str, done: str) -> None:
    found = db.execute(
        "DELETE FROM calibration_open WHERE session = ? "
        "RETURNING seq, model, generation, probability, doing",
        (session,),
    ).fetchall()
    right = None
    for seq, model, generation, probability, predicted in found:
        row = (seq, session, model, generation, probability, predicted == done)
        db.execute("INSERT INTO calibration VALUES (?, ?, ?, ?, ?, ?, 0, 0)", row)
        right = seq if predicted == done else None
    _remember(db, session, right, done)


def _remember(db: sqlite3.Connection, session: str, seq: int | None, done: str) -> None:
    """What was done last, and the prediction that was right about it, if there is one."""
    if seq is None:
        db.execute("DELETE FROM calibration_right WHERE session = ?", (session,))
    else:
        db.execute("REPLACE INTO calibration_right VALUES (?, ?, ?)", (session, seq, done))


def _take_back(db: sqlite3.Connection, session: str, undone: str) -> None:
    """What a person took back right away was not what they wanted, though they did it."""
    found = db.execute(
        "DELETE FROM calibration_right WHERE session = ? RETURNING seq, doing", (session,)
    ).fetchall()
    for seq, done in found:
        if done == undone:
            db.execute("UPDATE calibration SET correct = 0 WHERE seq = ?", (seq,))


def _close(db: sqlite3.Connection, session: str) -> None:
    for table in ("calibration_open", "calibration_acting", "calibration_right"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
