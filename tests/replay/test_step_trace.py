"""S4 W4: the step trace."""

import json
import sqlite3
from pathlib import Path

import pytest

from events.sqlite_reader import SqliteReader
from replay.projections import ProjectionStore
from tests.goldens import rows, to_database


def traced(folder: Path, name: str) -> list[dict[str, object]]:
    to_database(folder / "log.db", rows(name))
    with ProjectionStore(folder / "projections.db") as store:
        with SqliteReader(folder / "log.db") as reader:
            store.rebuild(reader)
        store.db.row_factory = sqlite3.Row
        found = store.db.execute("SELECT * FROM step_trace ORDER BY started_ns, attempt").fetchall()
    return [dict(row) for row in found]


def test_every_field_of_the_seed_is_there(tmp_path: Path) -> None:
    (first, *_) = traced(tmp_path, "order")
    assert {
        "run_id",
        "step_id",
        "tool_name",
        "args_hash",
        "duration_ms",
        "status",
        "error_code",
        "artifacts",
        "policy_flags",
    } <= set(first)


def test_a_run_that_went_well_has_its_steps_closed_and_allowed(tmp_path: Path) -> None:
    steps = [step for step in traced(tmp_path, "order") if str(step["run_id"]).startswith("run-")]
    assert len(steps) == 19
    assert {step["status"] for step in steps} == {"ok"}
    flags = [json.loads(str(step["policy_flags"])) for step in steps]
    assert flags[3] == ["allow:standing_approval"]
    assert all(step["duration_ms"] is not None for step in steps)


def test_equal_steps_have_equal_argument_hashes(tmp_path: Path) -> None:
    steps = traced(tmp_path, "side_by_side")
    runs: dict[object, list[object]] = {}
    for step in steps:
        if str(step["run_id"]).startswith("run-"):
            runs.setdefault(step["run_id"], []).append(step["args_hash"])
    first, *others = runs.values()
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("status", "code"),
    [("failed", "execution_error"), ("rejected", "policy_denied"), ("withheld", None)],
)
def test_what_went_wrong_is_typed(tmp_path: Path, status: str, code: str | None) -> None:
    found = [step for step in traced(tmp_path, "trouble") if step["status"] == status]
    assert found
    assert {step["error_code"] for step in found} == {code}
