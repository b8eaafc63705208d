"""A workflow renamed in the log is one row per version, under its last name."""

import sqlite3

import msgspec

from rutter.events.envelope import Envelope
from rutter.events.predictor import WorkflowLearned, WorkflowRenamed
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Workflow
from rutter.replay.projections.projection import Entry
from rutter.replay.projections.workflows import WorkflowsTable
from rutter.replay.steps import SessionSteps
from tests.support.shop_facts import click, step, workflow


def folded(*events: AnyEvent) -> list[tuple[str, int, str]]:
    """Name and version of each row, and the name inside its body."""
    projection = WorkflowsTable()
    db = sqlite3.connect(":memory:")
    for name, columns in projection.tables.items():
        db.execute(f"CREATE TABLE {name} ({columns})")
    for n, event in enumerate(events, 1):
        envelope = Envelope(n, "p", n, n, "runtime", 0, event, b"")
        projection.apply(Entry(db, envelope, SessionSteps()))
    rows = db.execute("SELECT name, version, workflow FROM workflows ORDER BY 1, 2").fetchall()
    db.close()
    return [(n, v, msgspec.json.decode(body, type=Workflow).name) for n, v, body in rows]


def learned(name: str, version: int = 1) -> WorkflowLearned:
    made = workflow(step(click()))
    return WorkflowLearned(msgspec.structs.replace(made, name=name, version=version))


def test_every_version_takes_the_new_name_in_its_body_too() -> None:
    rows = folded(learned("order"), learned("order", 2), WorkflowRenamed("order", "buy"))

    assert rows == [("buy", 1, "buy"), ("buy", 2, "buy")]


def test_a_name_that_was_taken_is_taken_over() -> None:
    rows = folded(
        learned("order"), learned("buy"), learned("buy", 2), WorkflowRenamed("order", "buy")
    )

    assert rows == [("buy", 1, "buy")]


def test_renaming_to_itself_or_from_nothing_changes_nothing() -> None:
    rows = folded(
        learned("order"), WorkflowRenamed("order", "order"), WorkflowRenamed("x", "order")
    )

    assert rows == [("order", 1, "order")]
