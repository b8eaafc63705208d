"""The metrics table says how well Rutter does (S0 6). A prediction is correct when the next
confirmed action is the one: what was done to which element, whatever the parameter that was typed
is named. What only reads is confirmed when it is answered."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

from rutter.events.action import kind_of
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import PersonActed, QueryAnswered
from rutter.events.observer import PageObserved
from rutter.events.planner import PlanProposed
from rutter.events.predictor import PredictionMade, TransitionLearned
from rutter.events.runtime import ProcessStarted, ProcessStopped, SessionEnded
from rutter.events.signature import doing
from rutter.events.validator import ActionRejected, ActionStarted

COUNTERS = (
    "predictions",
    "correct",
    "executions",
    "successes",
    "probability",
    "decisions",
    "decision_ns",
    "unsafe_filtered",
    "uptime_ns",
)


class MetricsTable:
    name: ClassVar[str] = "metrics"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            PredictionMade,
            TransitionLearned,
            PageObserved,
            PlanProposed,
            ActionStarted,
            PersonActed,
            ActionJudged,
            QueryAnswered,
            ActionRejected,
            ProcessStarted,
            ProcessStopped,
            SessionEnded,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        "metrics": "counter TEXT PRIMARY KEY, value INTEGER NOT NULL",
        "metrics_open": """
            session TEXT PRIMARY KEY, doing TEXT, probability INTEGER, observed_ns INTEGER,
            started_ns INTEGER""",
        # Two may be open at once: a step, and the look elsewhere whether it worked.
        "metrics_steps": """
            session TEXT NOT NULL, step INTEGER NOT NULL, planned TEXT, acting INTEGER NOT NULL,
            PRIMARY KEY (session, step)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case PredictionMade(candidates=candidates):
                # None when nothing was predicted: an older prediction was not about this action.
                top = candidates[0] if candidates else None
                doing_, probability = (doing(top.action), top.probability) if top else (None, None)
                _note(db, envelope, doing=doing_, probability=probability)
            case TransitionLearned(driver=driver, action=learned) if driver != "prediction":
                _settle_prediction(db, envelope.session, doing(learned))
            case PageObserved():
                _note(db, envelope, observed_ns=envelope.at_ns)
            case PlanProposed() as plan if not only_checks(plan):
                _settle_decision(db, envelope)
                # What was predicted freely is learned at the end of its session, if at all: its
                # own plan says what it was.
                planned = doing(plan.action) if plan.driver == "prediction" else None
                _begin(db, envelope, plan.step, planned=planned)
            case ActionStarted(step=step, action=action) if not action.verify:
                _add(db, "executions", 1)
                _begin(db, envelope, step, acting=1)
            case PersonActed(step=step):
                _begin(db, envelope, step, acting=0)  # not ours to be praised for
            case ActionJudged(step=step, verdict="confirmed") | QueryAnswered(step=step):
                planned, acting = _begun(db, envelope.session, step)
                _add(db, "successes", acting)
                _settle_prediction(db, envelope.session, planned)
            case ActionRejected(code="policy_denied"):
                _add(db, "unsafe_filtered", 1)
            case ProcessStarted():
                _note(db, envelope, started_ns=envelope.at_ns)
            case ProcessStopped():
                began = _open(db, envelope.session)[3]
                _add(db, "uptime_ns", envelope.at_ns - (began or envelope.at_ns))
                _forget(db, envelope.session)
            case SessionEnded():
                _forget(db, envelope.session)
            case _:
                pass


def snapshot(db: sqlite3.Connection) -> dict[str, float | int]:
    """The seed's metrics, every field of S0 6."""
    counted: dict[str, int] = dict.fromkeys(COUNTERS, 0)
    counted.update(db.execute("SELECT counter, value FROM metrics").fetchall())
    predictions, executions = counted["predictions"], counted["executions"]
    decisions = counted["decisions"]
    return {
        "total_predictions": predictions,
        "correct_predictions": counted["correct"],
        "prediction_accuracy": ratio(counted["correct"], predictions),
        "total_executions": executions,
        "successful_executions": counted["successes"],
        "execution_success_rate": ratio(counted["successes"], executions),
        "average_confidence": ratio(counted["probability"], predictions * 1_000_000),
        "unsafe_filtered": counted["unsafe_filtered"],
        "average_decision_time_ms": ratio(counted["decision_ns"], decisions * 1_000_000),
        "uptime_seconds": ratio(counted["uptime_ns"], 1_000_000_000),
    }


def ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _add(db: sqlite3.Connection, counter: str, amount: int) -> None:
    db.execute(
        "INSERT INTO metrics VALUES (?, ?) "
        "ON CONFLICT DO UPDATE SET value = value + excluded.value",
        (counter, amount),
    )


def _note(db: sqlite3.Connection, envelope: Envelope, **columns: object) -> None:
    names = ", ".join(columns)
    places = ", ".join("?" * len(columns))
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
    db.execute(
        f"INSERT INTO metrics_open (session, {names}) VALUES (?, {places}) "
        f"ON CONFLICT DO UPDATE SET {updates}",
        (envelope.session, *columns.values()),
    )


def _open(
    db: sqlite3.Connection, session: str
) -> tuple[str | None, int | None, int | None, int | None]:
    row: tuple[str | None, int | None, int | None, int | None] | None = db.execute(
        "SELECT doing, probability, observed_ns, started_ns FROM metrics_open WHERE session = ?",
        (session,),
    ).fetchone()
    return row or (None, None, None, None)


def only_checks(plan: PlanProposed) -> bool:
    """What looks whether something is so is neither predicted nor counted."""
    return kind_of(plan.action) == "verification" or plan.read_back_of > 0


def _begin(db: sqlite3.Connection, envelope: Envelope, step: int, **column: object) -> None:
    [(name, value)] = column.items()
    db.execute(
        "INSERT OR IGNORE INTO metrics_steps VALUES (?, ?, NULL, 0)", (envelope.session, step)
    )
    db.execute(
        f"UPDATE metrics_steps SET {name} = ? WHERE session = ? AND step = ?",
        (value, envelope.session, step),
    )


def _begun(db: sqlite3.Connection, session: str, step: int) -> tuple[str | None, int]:
    """What was planned of the step, and whether we did it; nothing of what only checks."""
    row: tuple[str | None, int] | None = db.execute(
        "SELECT planned, acting FROM metrics_steps WHERE session = ? AND step = ?", (session, step)
    ).fetchone()
    return row or (None, 0)


def _forget(db: sqlite3.Connection, session: str) -> None:
    for table in ("metrics_open", "metrics_steps"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))


def _settle_prediction(db: sqlite3.Connection, session: str, confirmed: str | None) -> None:
    predicted, probability, _, _ = _open(db, session)
    if predicted is None or confirmed is None:
        return
    _add(db, "predictions", 1)
    _add(db, "correct", predicted == confirmed)
    _add(db, "probability", probability or 0)
    db.execute("UPDATE metrics_open SET doing = NULL WHERE session = ?", (session,))


def _settle_decision(db: sqlite3.Connection, envelope: Envelope) -> None:
    observed_ns = _open(db, envelope.session)[2]
    if observed_ns is not None:
        _add(db, "decisions", 1)
        _add(db, "decision_ns", envelope.at_ns - observed_ns)
        db.execute(
            "UPDATE metrics_open SET observed_ns = NULL WHERE session = ?", (envelope.session,)
        )
