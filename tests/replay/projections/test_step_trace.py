"""S4 W4: the step trace."""

import json
import sqlite3
from pathlib import Path

import msgspec

from rutter.events.observer import PageObserved
from rutter.events.page import Artifact
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.validator import ActionStarted
from rutter.pipeline.sessions import session_started
from rutter.replay.fold import Fold, hears
from rutter.replay.projections import ProjectionStore
from rutter.replay.projections.step_trace import StepTraceTable
from tests.support import shop_facts, step_kinds
from tests.support.case_table import for_each
from tests.support.golden_logs import names, older
from tests.support.golden_tables import projected
from tests.support.shop_facts import click, go_to, judged, page, plan
from tests.support.timed_log import Ledger


def of(wanted: str) -> list[str]:
    """The golden logs of this name, whatever logic made them."""
    return [name for name in (*names(), *older()) if name.rpartition("/")[2] == wanted]


def traced(name: str) -> list[dict[str, object]]:
    with projected(name) as store:
        store.db.row_factory = sqlite3.Row
        found = store.db.execute("SELECT * FROM step_trace ORDER BY started_ns, attempt").fetchall()
    return [dict(row) for row in found]


@for_each("log", of("order"))
def test_every_field_of_the_seed_is_there(log: str) -> None:
    (first, *_) = traced(log)
    assert {
        *("run_id", "step_id", "tool_name", "args_hash", "duration_ms", "status", "error_code"),
        *("artifacts", "policy_flags"),
    } <= set(first)


@for_each("log", of("order"))
def test_a_run_that_went_well_has_its_steps_closed_and_allowed(log: str) -> None:
    steps = [step for step in traced(log) if str(step["run_id"]).startswith("run-")]
    assert len(steps) >= 19
    assert {step["status"] for step in steps} == {"ok"}
    flags = [json.loads(str(step["policy_flags"])) for step in steps]
    assert flags[3] == ["allow:standing_approval"]
    assert all(step["duration_ms"] is not None for step in steps)


@for_each("log", of("order"))
def test_what_cannot_be_undone_is_flagged(log: str) -> None:
    flagged = [step for step in traced(log) if "irreversible" in str(step["policy_flags"])]
    assert {step["tool_name"] for step in flagged} == {"browser_click"}
    assert {str(step["run_id"]).partition("-")[0] for step in flagged} >= {"record", "run"}


@for_each("log", of("side_by_side"))
def test_equal_steps_have_equal_argument_hashes(log: str) -> None:
    steps = traced(log)
    runs: dict[object, list[object]] = {}
    for step in steps:
        if str(step["run_id"]).startswith("run-"):
            runs.setdefault(step["run_id"], []).append(step["args_hash"])
    first, *others = (set(hashes) for hashes in runs.values())
    # A read-back goes to where its own run led; all else is the same.
    assert all(len(other ^ first) <= 4 for other in others)


@for_each("log", of("trouble"))
@for_each(
    "status, code",
    [("failed", "execution_error"), ("rejected", "policy_denied"), ("withheld", None)],
)
def test_what_went_wrong_is_typed(log: str, status: str, code: str | None) -> None:
    found = [step for step in traced(log) if step["status"] == status]
    assert found
    assert {step["error_code"] for step in found} == {code}


def test_every_kind_of_step_has_its_row_and_closes_by_its_own_number(tmp_path: Path) -> None:
    with Ledger(tmp_path / "log.db") as ledger, ProjectionStore(tmp_path / "p.db") as store:
        ledger.write(shop_facts.run_of(None), *step_kinds.read_back(1, "failed"), ms=10)
        ledger.write(
            *step_kinds.read(3), *step_kinds.waited_in_vain(4), *step_kinds.checked(5), ms=10
        )
        with ledger.reader() as reader:
            store.rebuild(reader)
        found = store.db.execute(
            "SELECT step_id, tool_name, kind, status, error_code, policy_flags, duration_ms > 0 "
            "FROM step_trace ORDER BY step_id"
        ).fetchall()

    allowed = '["allow:nothing_matched"]'
    assert found == [
        (1, "browser_click", "action", "failed", None, allowed, 1),
        (2, "navigate", "verification", "failed", None, allowed, 1),
        (3, "extract", "observation", "ok", None, "[]", 1),
        (4, "wait_for", "observation", "failed", "tool_timeout", "[]", 1),
        (5, "check", "verification", "failed", None, allowed, 1),
    ]


def call(name: str, tool: str, **arguments: object) -> ToolCalled:
    return ToolCalled(name, tool, json.dumps(arguments))


def test_every_call_has_a_row_also_where_it_led_to_no_step(tmp_path: Path) -> None:
    """A snapshot, a click that was done, one that had no such ref, arguments that do not fit, a
    person's word, and the claim that it is over."""
    look = Artifact("5ca1ab1e", 9, "image/jpeg")
    clicked = msgspec.structs.replace(plan(click()), driver="agent")
    with Ledger(tmp_path / "log.db") as ledger, ProjectionStore(tmp_path / "p.db") as store:
        ledger.write(
            session_started.tool_session("https://shop.example/"),
            msgspec.structs.replace(plan(go_to()), driver="script"),
            judged(),
            call("c1", "get_snapshot"),
            PageObserved(page(), "requested", screenshot=look),
            ToolAnswered("c1", True),
            call("c2", "browser_click", ref="@e1"),
            msgspec.structs.replace(clicked, step=2),
            judged(number=2),
            ToolAnswered("c2", True),
            call("c3", "browser_click", ref="@e99"),
            ToolAnswered("c3", False, "ref_invalid", "validation_error", True),
            call("c4", "browser_fill"),
            ToolAnswered("c4", False, "invalid_params", "validation_error"),
            call("c5", "request_human_approval", action="Pay", reason="it is asked for"),
            ToolAnswered("c5", False, "human_rejected", "policy_denied"),
            call("c6", "complete_task", status="success", reason="done"),
            ToolAnswered("c6", True),
            ms=10,
        )
        with ledger.reader() as reader:
            store.rebuild(reader)
        columns = "call, tool_name, step_id, kind, status, error_code, duration_ms > 0, artifacts"
        found = store.db.execute(f"SELECT {columns} FROM step_trace ORDER BY n").fetchall()

    assert found == [
        ("", "navigate", 1, "action", "ok", None, 1, "[]"),
        ("c1", "get_snapshot", 0, "observation", "ok", None, 1, '["5ca1ab1e"]'),
        ("c2", "browser_click", 2, "action", "ok", None, 1, "[]"),
        ("c3", "browser_click", 0, "action", "failed", "validation_error", 1, "[]"),
        ("c4", "browser_fill", 0, "action", "failed", "validation_error", 1, "[]"),
        ("c5", "request_human_approval", 0, "control", "failed", "policy_denied", 1, "[]"),
        ("c6", "complete_task", 0, "verification", "ok", None, 1, "[]"),
    ]


def test_a_projection_hears_exactly_what_it_has_a_method_for() -> None:
    class Counted(Fold):
        name = "counted"

        @hears
        def _either(self, event: ToolCalled | ToolAnswered) -> None: ...

    assert Counted.folds == {ToolCalled, ToolAnswered}
    assert ActionStarted in StepTraceTable.folds
