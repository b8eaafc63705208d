"""The metrics table says how well Rutter does (S0 6). A prediction is correct when the next
confirmed action is the one: what was done to which element, whatever the parameter that was typed
is named. What only reads is confirmed when it is answered."""

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

from rutter.events.action import kind_of
from rutter.events.critic import ActionJudged
from rutter.events.executor import QueryAnswered
from rutter.events.observer import PageObserved
from rutter.events.planner import PlanProposed
from rutter.events.predictor import PredictionMade, TransitionLearned
from rutter.events.runtime import ProcessStarted, ProcessStopped, SessionEnded
from rutter.events.signature import doing
from rutter.events.validator import ActionRejected, ActionStarted
from rutter.replay.accuracy.threshold_curve import ratio
from rutter.replay.fold import hears
from rutter.replay.projections.projection import Entry, Projection
from rutter.replay.step_record import StepRecord

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


class MetricsTable(Projection):
    name: ClassVar[str] = "metrics"
    tables: ClassVar[Mapping[str, str]] = {
        "metrics": "counter TEXT PRIMARY KEY, value INTEGER NOT NULL",
        "metrics_open": """
            session TEXT PRIMARY KEY, doing TEXT, probability INTEGER, observed_ns INTEGER,
            started_ns INTEGER""",
    }

    @hears
    def _predicted(self, entry: Entry, made: PredictionMade) -> None:
        # None when nothing was predicted: an older prediction was not about this action.
        top = made.candidates[0] if made.candidates else None
        predicted, probability = (doing(top.action), top.probability) if top else (None, None)
        _note(entry, doing=predicted, probability=probability)

    @hears
    def _learned(self, entry: Entry, learned: TransitionLearned) -> None:
        if learned.driver != "prediction":
            _settle_prediction(entry, doing(learned.action))

    @hears
    def _saw(self, entry: Entry, _seen: PageObserved) -> None:
        _note(entry, observed_ns=entry.at_ns)

    @hears
    def _planned(self, entry: Entry, plan: PlanProposed) -> None:
        if not only_checks(plan):
            _settle_decision(entry)

    @hears
    def _started(self, entry: Entry, started: ActionStarted) -> None:
        if not started.action.verify:
            _add(entry, "executions", 1)

    @hears
    def _came_to(self, entry: Entry, end: ActionJudged | QueryAnswered) -> None:
        """What was predicted freely is learned at the end of its session, if at all: its own plan
        says what it was. What a person did is not ours to be praised for."""
        step = entry.step
        if isinstance(end, ActionJudged) and end.verdict != "confirmed":
            return
        ours = step is not None and step.started_ns and not (step.begun and step.begun.verify)
        _add(entry, "successes", bool(ours))
        if step is not None and step.planner == "prediction" and not only_checks(step):
            _settle_prediction(entry, doing(step.action))

    @hears
    def _rejected(self, entry: Entry, rejected: ActionRejected) -> None:
        if rejected.code == "policy_denied":
            _add(entry, "unsafe_filtered", 1)

    @hears
    def _process_started(self, entry: Entry, _started: ProcessStarted) -> None:
        _note(entry, started_ns=entry.at_ns)

    @hears
    def _over(self, entry: Entry, end: ProcessStopped | SessionEnded) -> None:
        if isinstance(end, ProcessStopped):
            _add(entry, "uptime_ns", entry.at_ns - (_open(entry)[3] or entry.at_ns))
        entry.execute("DELETE FROM metrics_open WHERE session = ?", entry.session)


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


def _add(entry: Entry, counter: str, amount: int) -> None:
    entry.execute(
        "INSERT INTO metrics VALUES (?, ?) "
        "ON CONFLICT DO UPDATE SET value = value + excluded.value",
        counter,
        amount,
    )


def _note(entry: Entry, **columns: object) -> None:
    names = ", ".join(columns)
    places = ", ".join("?" * len(columns))
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
    entry.execute(
        f"INSERT INTO metrics_open (session, {names}) VALUES (?, {places}) "
        f"ON CONFLICT DO UPDATE SET {updates}",
        entry.session,
        *columns.values(),
    )


def _open(entry: Entry) -> tuple[str | None, int | None, int | None, int | None]:
    row: tuple[str | None, int | None, int | None, int | None] | None = entry.execute(
        "SELECT doing, probability, observed_ns, started_ns FROM metrics_open WHERE session = ?",
        entry.session,
    ).fetchone()
    return row or (None, None, None, None)


def only_checks(plan: PlanProposed | StepRecord) -> bool:
    """What looks whether something is so is neither predicted nor counted."""
    return kind_of(plan.action) == "verification" or plan.read_back_of > 0


def _settle_prediction(entry: Entry, confirmed: str) -> None:
    predicted, probability, _, _ = _open(entry)
    if predicted is None:
        return
    _add(entry, "predictions", 1)
    _add(entry, "correct", predicted == confirmed)
    _add(entry, "probability", probability or 0)
    entry.execute("UPDATE metrics_open SET doing = NULL WHERE session = ?", entry.session)


def _settle_decision(entry: Entry) -> None:
    observed_ns = _open(entry)[2]
    if observed_ns is not None:
        _add(entry, "decisions", 1)
        _add(entry, "decision_ns", entry.at_ns - observed_ns)
        entry.execute("UPDATE metrics_open SET observed_ns = NULL WHERE session = ?", entry.session)
