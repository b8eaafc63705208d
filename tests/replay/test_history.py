"""S2 8: what was done with its evidence, and what was only looked at, in tables of their own."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from events.sqlite_reader import SqliteReader
from replay.projections import ProjectionStore
from tests.goldens import rows, to_database

S2_ACTIONS = [
    "id",
    "timestamp",
    "action_type",
    "target",
    "text_content",
    "coordinates",
    "success",
    "message",
    "error",
    "verification_evidence",
]
S2_OBSERVATIONS = ["id", "timestamp", "query_type", "target", "result", "success"]


@pytest.fixture(scope="module", params=["order", "trouble"])
def db(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sqlite3.Connection]:
    folder: Path = tmp_path_factory.mktemp("history")
    to_database(folder / "log.db", rows(request.param))
    with ProjectionStore(folder / "projections.db") as store:
        with SqliteReader(folder / "log.db") as reader:
            store.rebuild(reader)
        yield store.db


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def test_the_seeds_columns_come_first_and_in_order(db: sqlite3.Connection) -> None:
    assert columns(db, "action_history")[: len(S2_ACTIONS)] == S2_ACTIONS
    assert columns(db, "observation_log")[: len(S2_OBSERVATIONS)] == S2_OBSERVATIONS


def test_evidence_is_the_seeds_json(db: sqlite3.Connection) -> None:
    for success, text in db.execute("SELECT success, verification_evidence FROM action_history"):
        evidence = json.loads(text)
        assert sorted(evidence) == ["checked_text", "confidence", "sample", "source"]
        assert evidence["source"] == "DOM"
        assert evidence["confidence"] == (1.0 if success else 0.2)


def test_reading_is_an_observation_and_never_an_action(db: sqlite3.Connection) -> None:
    kinds = {kind for (kind,) in db.execute("SELECT DISTINCT action_type FROM action_history")}
    assert kinds == {"navigate", "type", "click", "press", "select"}
    extracts = db.execute(
        "SELECT target, result, success FROM observation_log WHERE query_type = 'extract'"
    ).fetchall()
    assert extracts
    assert all(
        target == '[data-testid="order-number"]' and result.isdigit() and success
        for target, result, success in extracts
    )


def test_a_secret_is_there_by_its_name_alone(db: sqlite3.Connection) -> None:
    typed = db.execute("SELECT text_content FROM action_history WHERE target LIKE '%password%'")
    assert {text for (text,) in typed} == {"<secret password>"}


def test_a_failure_says_why(db: sqlite3.Connection) -> None:
    for success, error in db.execute("SELECT success, error FROM action_history"):
        assert (error is None) == bool(success)
