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
from rutter.replay.fold import hears
from rutter.replay.projections.metrics import only_checks
from rutter.replay.projections.projection import Entry, Projection
from rutter.replay.whatif import ScoredPrediction


class ExecutionCounts(msgspec.Struct, frozen=True):
    """Execution counts say what was done because it was predicted, and what came of it. What was
    not confirmed, or was taken back, is wrong."""

    acted: int
    confirmed: int
    wrong: int
    unjudged: int


class CalibrationTable(Projection):
    name: ClassVar[str] = "calibration"
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

    @hears
    def _predict(self, entry: Entry, made: PredictionMade) -> None:
        """None when nothing was predicted: an older prediction was not about this page."""
        if not made.candidates:
            entry.execute("DELETE FROM calibration_open WHERE session = ?", entry.session)
            return
        top = made.candidates[0]
        said = (made.model, made.generation, top.probability, doing(top.action))
        seq = entry.envelope.seq
        entry.execute(
            "REPLACE INTO calibration_open VALUES (?, ?, ?, ?, ?, ?)", entry.session, seq, *said
        )

    @hears
    def _plan(self, entry: Entry, plan: PlanProposed) -> None:
        """It is acted on: whatever comes of it, it is no test of the model. A second try of the
        step is the same execution."""
        if plan.driver != "prediction" or only_checks(plan):
            return
        entry.execute(
            "INSERT OR IGNORE INTO calibration_acting "
            "SELECT session, ?, seq, model, generation, probability, doing, 0 "
            "FROM calibration_open WHERE session = ?",
            plan.step,
            entry.session,
        )
        entry.execute("DELETE FROM calibration_open WHERE session = ?", entry.session)

    @hears
    def _ask(self, entry: Entry, asked: ApprovalRequested) -> None:
        acting = "UPDATE calibration_acting SET asked = 1 WHERE session = ? AND step = ?"
        entry.execute(acting, entry.session, asked.step)

    @hears
    def _act(self, entry: Entry, started: ActionStarted | QueryStarted) -> None:
        entry.execute(
            "INSERT OR IGNORE INTO calibration "
            "SELECT seq, session, model, generation, probability, NULL, 1, asked "
            "FROM calibration_acting WHERE session = ? AND step = ?",
            entry.session,
            started.step,
        )

    @hears
    def _judge(self, entry: Entry, end: ActionJudged | QueryAnswered | QueryFailed) -> None:
        correct = entry.step is not None and entry.step.done
        acting = "SELECT seq, doing FROM calibration_acting WHERE session = ? AND step = ?"
        for seq, done in entry.execute(acting, entry.session, end.step).fetchall():
            entry.execute("UPDATE calibration SET correct = ? WHERE seq = ?", correct, seq)
            _remember(entry, seq if correct else None, done)

    @hears
    def _settle(self, entry: Entry, learned: TransitionLearned) -> None:
        if learned.driver == "prediction":
            return
        done, right = doing(learned.action), None
        found = entry.execute(
            "DELETE FROM calibration_open WHERE session = ? "
            "RETURNING seq, model, generation, probability, doing",
            entry.session,
        ).fetchall()
        for seq, model, generation, probability, predicted in found:
            row = (seq, entry.session, model, generation, probability, predicted == done)
            entry.execute("INSERT INTO calibration VALUES (?, ?, ?, ?, ?, ?, 0, 0)", *row)
            right = seq if predicted == done else None
        _remember(entry, right, done)

    @hears
    def _take_back(self, entry: Entry, undone: TransitionUndone) -> None:
        """What a person took back right away was not what they wanted, though they did it."""
        if undone.why == "refused":
            return
        right = "DELETE FROM calibration_right WHERE session = ? RETURNING seq, doing"
        for seq, done in entry.execute(right, entry.session).fetchall():
            if done == bare(undone.token):
                entry.execute("UPDATE calibration SET correct = 0 WHERE seq = ?", seq)

    @hears
    def _forget(self, entry: Entry, forgotten: SessionForgotten) -> None:
        """What was done in it was done, and stays on the record."""
        tests = "DELETE FROM calibration WHERE session = ? AND NOT acted"
        entry.execute(tests, forgotten.session)

    @hears
    def _close(self, entry: Entry, _end: SessionEnded) -> None:
        for table in ("calibration_open", "calibration_acting", "calibration_right"):
            entry.execute(f"DELETE FROM {table} WHERE session = ?", entry.session)


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


def _remember(entry: Entry, seq: int | None, done: str) -> None:
    """What was done last, and the prediction that was right about it, if there is one."""
    if seq is None:
        entry.execute("DELETE FROM calibration_right WHERE session = ?", entry.session)
    else:
        entry.execute("REPLACE INTO calibration_right VALUES (?, ?, ?)", entry.session, seq, done)
