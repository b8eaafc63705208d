"""S2 8: what was done with its evidence, and what was only looked at, in tables of their own."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rutter.events.validator import ActionRejected
from rutter.replay.projections import ProjectionStore
from tests.support import shop_facts, step_kinds
from tests.support.case_table import for_each
from tests.support.golden_logs import names, older
from tests.support.golden_tables import projected
from tests.support.timed_log import Ledger

S2_ACTIONS = [
    *("id", "timestamp", "action_type", "target", "text_content", "coordinates", "success"),
    *("message", "error", "verification_evidence"),
]
S2_OBSERVATIONS = ["id", "timestamp", "query_type", "target", "result", "success"]


LOGS = [name for name in (*names(), *older()) if name.endswith(("order", "trouble"))]


@pytest.fixture(scope="module")
def tables() -> Iterator[dict[str, sqlite3.Connection]]:
    with ExitStack() as opened:
        yield {name: opened.enter_context(projected(name)).db for name in LOGS}


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


@for_each("log", LOGS)
def test_the_seeds_columns_come_first_and_in_order(
    tables: dict[str, sqlite3.Connection], log: str
) -> None:
    assert columns(tables[log], "action_history")[: len(S2_ACTIONS)] == S2_ACTIONS
    assert columns(tables[log], "observation_log")[: len(S2_OBSERVATIONS)] == S2_OBSERVATIONS


@for_each("log", LOGS)
def test_evidence_is_the_seeds_json(tables: dict[str, sqlite3.Connection], log: str) -> None:
    for success, text in tables[log].execute(
        "SELECT success, verification_evidence FROM action_history"
    ):
        evidence = json.loads(text)
        assert sorted(evidence) == ["checked_text", "confidence", "sample", "source"]
        assert evidence["source"] in ("DOM", "FILE")
        assert (evidence["confidence"] == 1.0) == bool(success)


@for_each("log", LOGS)
def test_reading_is_an_observation_and_never_an_action(
    tables: dict[str, sqlite3.Connection], log: str
) -> None:
    done = {
        kind for (kind,) in tables[log].execute("SELECT DISTINCT action_type FROM action_history")
    }
    assert done
    assert not done & {"extract", "wait_for", "wait"}
    extracts = (
        tables[log]
        .execute("SELECT target, result, success FROM observation_log WHERE query_type = 'extract'")
        .fetchall()
    )
    assert extracts
    assert all(
        target == '[data-testid="order-number"]' and result.isdigit() and success
        for target, result, success in extracts
    )


@for_each("log", LOGS)
def test_a_secret_is_there_by_its_name_alone(
    tables: dict[str, sqlite3.Connection], log: str
) -> None:
    typed = tables[log].execute(
        "SELECT text_content FROM action_history WHERE target LIKE '%password%'"
    )
    assert {text for (text,) in typed} == {"<secret password>"}


@for_each("log", LOGS)
def test_a_failure_says_why(tables: dict[str, sqlite3.Connection], log: str) -> None:
    for success, error in tables[log].execute("SELECT success, error FROM action_history"):
        assert (error is None) == bool(success)


# -- by hand ---------------------------------------------------------------------------------------


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A read-back, an observation, one in vain, a verification and two files."""
    with Ledger(tmp_path / "log.db") as ledger, ProjectionStore(tmp_path / "p.db") as store:
        ledger.write(
            shop_facts.run_of(None), *step_kinds.read_back(1, "failed"), *step_kinds.read(3)
        )
        ledger.write(*step_kinds.waited_in_vain(4), *step_kinds.checked(5))
        ledger.write(*step_kinds.file_read(), *step_kinds.file_read("policy_denied"))
        refused = ActionRejected(6, "target_exists", "not there", "1", "execution_error")
        ledger.write(shop_facts.plan(step_kinds.READ, number=6, kind="observation"), refused)
        denied = ActionRejected(7, "denylist", "it pays", "1", "policy_denied")
        ledger.write(shop_facts.plan(step_kinds.SAVE, number=7), denied)
        with ledger.reader() as reader:
            store.catch_up(reader)
        assert store.parked() == []
        yield store.db


def test_actions_and_verifications_are_in_the_history_each_with_its_own_verdict(
    by_hand: sqlite3.Connection,
) -> None:
    found = by_hand.execute(
        "SELECT step, action_type, success, message FROM action_history ORDER BY step"
    ).fetchall()

    assert found == [
        (1, "click", 0, "click #save"),
        (2, "navigate", 0, f"look at {step_kinds.LOOK.url} for 'Order 7'"),
        (5, "check", 0, "check that the page shows 'Order sent' and there is a file 'orders.csv'"),
    ]


def test_the_evidence_is_what_decided_with_the_confidence_over_all(
    by_hand: sqlite3.Connection,
) -> None:
    [text] = by_hand.execute(
        "SELECT verification_evidence FROM action_history WHERE step = 5"
    ).fetchone()

    assert json.loads(text) == {
        "source": "DOM",
        "checked_text": "Order sent",
        "sample": None,
        "confidence": 0.65,
    }


def test_queries_and_files_are_in_the_observation_log(by_hand: sqlite3.Connection) -> None:
    found = by_hand.execute(
        "SELECT query_type, target, result, success FROM observation_log "
        "WHERE query_type != 'page' ORDER BY id"
    ).fetchall()

    assert found == [
        ("extract", "#n", "1007", 1),
        ("wait_for", "#there", "timeout: 3000 ms", 0),
        ("file", "orders.csv", "'orders.csv': there, 12 bytes", 1),
        ("file", "/etc/x", "'/etc/x': not looked at (policy_denied: outside)", 0),
        ("file", "customers.csv", "7 characters", 1),
        ("file", "customers.csv", "policy_denied: outside", 0),
        ("extract", "#n", "not there", 0),
    ]
