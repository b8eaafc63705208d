"""The commands that read, on a log that the real pipeline made in a scripted world."""

import asyncio
import re
from pathlib import Path

import pytest

from rutter.events.advisor import AdviceLost
from rutter.events.planner import AdviceRequested, RunStopped
from rutter.events.runtime import SessionEnded
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Workflow
from rutter.replay.projections import ProjectionStore
from tests.support import scripted_logs, shop_facts, step_kinds
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter, check_logs
from tests.support.timed_log import Ledger

SEED_METRICS = (
    *("total_predictions", "correct_predictions", "prediction_accuracy", "total_executions"),
    *("successful_executions", "execution_success_rate", "average_confidence", "unsafe_filtered"),
    *("average_decision_time_ms", "uptime_seconds"),
)
READING: tuple[tuple[str, ...], ...] = (
    ("workflows",),
    ("workflows", "show", "order"),
    ("sessions",),
    ("show", "last"),
    ("transitions",),
    ("metrics",),
)


@pytest.fixture(scope="module")
def rutter(tmp_path_factory: pytest.TempPathFactory) -> Rutter:
    """Recorded, sailed alone, lost on the way, and recorded half."""
    data = tmp_path_factory.mktemp("read") / "data"
    scripted_logs.keep(data / "log.db")
    check_logs(data)
    return Rutter(data)


def squeezed(text: str) -> list[str]:
    """The lines of a table, each with single blanks."""
    return [" ".join(line.split()) for line in text.splitlines()]


# -- workflows -------------------------------------------------------------------------------------


def test_workflows_lists_what_it_knows(rutter: Rutter) -> None:
    head, half, order = squeezed(rutter("workflows").out)

    assert head == "workflow version steps parameters secrets recorded came state"
    assert half.startswith("half 1 1 - - 2023-11-14 22:13:")
    assert "incomplete: element_not_found" in half
    assert re.fullmatch(r"order 1 6 customer - 2023-11-14 22:13:2\d recorded complete", order)


def test_workflows_as_json(rutter: Rutter) -> None:
    half, order = rutter.json("workflows")

    assert set(order) == {
        "name", "version", "steps", "complete", "parameters", "secrets",
        "recorded_ns", "session", "stopped_at", "merged", "again", "came",
    }  # fmt: skip
    assert (order["name"], order["version"], order["complete"]) == ("order", 1, 1)
    assert (half["name"], half["complete"]) == ("half", 0)


def test_a_workflow_is_shown_step_by_step(rutter: Rutter) -> None:
    lines = squeezed(rutter("workflows", "show", "order").out)

    assert lines[:2] == ["order version 1 (complete)", "parameters: customer"]
    assert "1 go to https://shop.example/ /" in lines
    assert "2 type <customer> into 'Search'" in lines
    assert "4 click <customer> /customers/*" in lines
    assert "6 click 'Place order' /orders/* by its recording" in lines


def test_a_workflow_as_json_is_the_workflow(rutter: Rutter) -> None:
    shown = rutter.json("workflows", "show", "order")

    assert (shown["name"], shown["version"], len(shown["steps"])) == ("order", 1, 6)
    assert set(shown) <= set(Workflow.__struct_fields__)


def test_a_workflow_that_it_does_not_know(rutter: Rutter) -> None:
    ended = rutter("workflows", "show", "refund")

    assert (ended.code, ended.out) == (2, "")
    assert ended.complaint.startswith("rutter: there is no workflow 'refund' -> it knows: ")
    assert {"half", "order"} <= set(re.findall(r"\w+", ended.complaint))
    assert rutter("workflows", "show").complaint == (
        "rutter: which workflow? -> rutter workflows show NAME"
    )


# -- sessions and show -----------------------------------------------------------------------------


def test_sessions_lists_what_ran_newest_first(rutter: Rutter) -> None:
    head, half, lost, alone, watched = squeezed(rutter("sessions").out)

    assert head == "session what started done/proposed took end"
    assert half.startswith("record-0005 record half 2023-11-14")
    assert half.endswith("failed lost")
    assert lost.startswith("run-0004 run order")
    assert lost.endswith("failed lost")
    assert alone.startswith("run-0003 run order")
    assert " 7/7 " in alone
    assert alone.endswith("completed")
    assert watched.startswith("record-0002 record order")


def test_sessions_as_json(rutter: Rutter) -> None:
    rows = rutter.json("sessions")

    assert [row["session"] for row in rows] == [
        "record-0005",
        "run-0004",
        "run-0003",
        "record-0002",
    ]
    alone = rows[2]
    assert (alone["purpose"], alone["driver"], alone["reason"]) == ("run", "workflow", "completed")
    assert (alone["proposed"], alone["done"], alone["model_calls"]) == (7, 7, 0)
    assert (rows[1]["proposed"], rows[1]["done"]) == (5, 4)  # it was lost at the fifth
    assert alone["vals"] == '{"customer":"Fairlead Offshore"}'
    assert "error_code" not in alone


def test_a_failed_session_says_as_json_what_to_do(rutter: Rutter) -> None:
    lost = {
        "error_code": "execution_error",
        "retriable": False,
        "hint": "look at the screenshot, record the step again",
    }
    row = rutter.json("sessions")[1]
    told = rutter.json("show", row["session"])
    assert {key: row[key] for key in lost} == lost
    assert {key: told[key] for key in lost} == lost


def test_as_many_sessions_as_asked_for(rutter: Rutter) -> None:
    assert len(rutter.json("sessions", "--last", "2")) == 2


@pytest.mark.parametrize("name", ["run-0003", "0003", "3"])
def test_a_session_by_its_name_or_the_end_of_it(rutter: Rutter, name: str) -> None:
    assert rutter.json("show", name)["session"] == "run-0003"


def test_the_last_session(rutter: Rutter) -> None:
    assert rutter.json("show", "last")["session"] == "record-0005"


@pytest.mark.parametrize(
    ("name", "what"),
    [("run-9999", "there is no session 'run-9999'"), ("", "several sessions end in ''")],
)
def test_a_session_that_is_not_one(rutter: Rutter, name: str, what: str) -> None:
    ended = rutter("show", name)

    assert (ended.code, ended.complaint) == (2, f"rutter: {what} -> see: rutter sessions")


def test_a_session_is_shown_step_by_step(rutter: Rutter) -> None:
    lines = squeezed(rutter("show", "run-0003").out)
    assert lines[0] == "order: done"
    assert re.search(r" UTC, took 0\.\d s, version 1 \(run-0003\)$", lines[1])
    assert lines[2] == "customer = Fairlead Offshore"
    assert "[OK] 2 type \"Fairlead Offshore\" into 'Search'" in lines
    assert "[OK] 6 click 'Place order'" in lines
    assert not any(word in " ".join(lines[:-1]) for word in ("gate", "evidence", "PLAN", "confid"))
    assert lines[-1].endswith("show run-0003 --verbose")


def test_a_session_is_shown_with_reasons_and_evidence_where_they_are_asked_for(
    rutter: Rutter,
) -> None:
    out = rutter("--verbose", "show", "run-0003").out
    lines = squeezed(out)

    assert any(line.startswith("[OK] 4 click 'Fairlead Offshore' confirmed:") for line in lines)
    assert "gate: standing_approval, approved by its recording" in out
    assert "action: PLAN -> POLICY CHECK -> ACT -> VERIFY -> COMMIT; confidence 1" in lines
    assert any(re.match(r"evidence: DOM '.+', confidence 1$", line) for line in lines)
    assert lines[-1] == "end: completed: the recorded end is reached"


def test_a_session_that_failed_says_where_it_looked(rutter: Rutter) -> None:
    lines = squeezed(rutter("show", "run-0004").out)
    assert "[FAIL] 5 type '3' into 'Quantity'" in lines
    [what] = [line for line in lines if line.startswith("Step 5: ")]
    assert what.startswith('Step 5: there is no field "Quantity" on the page ')
    assert lines[-2].startswith("If the page is only out of order, run it again later (")
    assert not any("element_not_found" in line for line in lines)

    lines = squeezed(rutter("--verbose", "show", "run-0004").out)
    assert "looked for #qty: not there" in lines
    assert any(line.startswith("end: failed (lost): element_not_found") for line in lines)
    assert what in lines


def test_a_session_as_json_is_its_story(rutter: Rutter) -> None:
    told = rutter.json("show", "run-0003")

    assert (told["reason"], told["name"], told["version"]) == ("completed", "order", 1)
    assert [step["verdict"] for step in told["steps"]] == ["confirmed"] * 6
    assert told["steps"][5]["rule"] == "standing_approval"


def test_a_session_as_it_was_then(rutter: Rutter) -> None:
    whole = rutter.json("show", "run-0003")
    moments = [*range(1, whole["events"], 7), whole["events"]]
    told = [rutter.json("show", "run-0003", "--at", str(at)) for at in moments]
    steps = [len(each.get("steps", ())) for each in told]

    assert [each["events"] for each in told] == moments
    assert (told[-1], steps) == (whole, sorted(steps))
    assert "[..] 1 go to" in "\n".join(squeezed(rutter("show", "run-0003", "--at", "5").out))


@pytest.mark.parametrize("at", ["0", "-1", "100000"])
def test_a_point_that_the_session_never_reached(rutter: Rutter, at: str) -> None:
    ended = rutter("show", "run-0003", "--at", at)

    assert ended.code == 2
    assert re.fullmatch(
        r"rutter: the session has events 1 to \d+ -> give --at within them", ended.complaint
    )


# -- what was learned ------------------------------------------------------------------------------


def test_transitions_are_counted_most_frequent_first(rutter: Rutter) -> None:
    head, *rows = squeezed(rutter("transitions").out)
    counts = [int(row.split()[0]) for row in rows]

    assert head == "count by person by agent from to"
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 3
    assert rows[0].split()[1:] == [
        "1",  # recorded
        "2",  # sailed, and sailed until it was lost
        '{"param":"customer","selector":"#q","type":"type"}',
        '{"selector":"#find","type":"click"}',
    ]


def test_transitions_as_json(rutter: Rutter) -> None:
    rows = rutter.json("transitions", "--top", "2")

    columns = {"from_action", "to_action", "count", "by_person", "by_agent"}
    assert [set(row) for row in rows] == [columns] * 2
    assert (rows[0]["count"], rows[0]["by_person"], rows[0]["by_agent"]) == (3, 1, 2)


def test_metrics_has_every_field_of_the_seed(rutter: Rutter) -> None:
    lines = squeezed(rutter("metrics").out)
    counted = rutter.json("metrics")

    assert tuple(counted) == (*SEED_METRICS, "models", "calibration")
    assert lines[0] == "Steps that Rutter did: 17. Of these, 17 worked (100.0%)."
    assert lines[1].startswith("Next steps that it predicted before they were done: ")
    lines = lines[lines.index("") + 1 :]
    assert [line.split()[0] for line in lines[:11]] == ["metric", *SEED_METRICS]
    assert lines[11:13] == [
        "steps by driver: 10 workflow, 0 prediction, 0 model; 100.0% took no model",
        "no language model was asked",
    ]
    # 6 recorded, 6 sailed, 4 until it was lost, 1 of the half: all confirmed.
    assert (counted["total_executions"], counted["successful_executions"]) == (17, 17)
    assert counted["average_decision_time_ms"] > 0


# -- three kinds of step ---------------------------------------------------------------------------


@pytest.fixture
def by_hand(tmp_path: Path) -> Rutter:
    """A step that was looked for elsewhere, one that read, and one that checked in vain."""
    with Ledger(tmp_path / "log.db") as ledger:
        ledger.write(shop_facts.run_of(None), *step_kinds.read_back(1), *step_kinds.read(3), ms=1)
        ledger.write(*step_kinds.checked(4), SessionEnded("failed", "verification_failed"), ms=1)
    return Rutter(tmp_path)


def test_each_kind_of_step_is_shown_as_what_it_is(by_hand: Rutter) -> None:
    out = by_hand("--verbose", "show", "last").out
    lines = squeezed(out)

    assert "[OK] 1 click #save confirmed: as_recorded 12 ms" in lines
    look = f"    [OK]     -  look at {step_kinds.LOOK.url} for 'Order 7'  confirmed: as_recorded"
    assert any(line.startswith(look) for line in out.splitlines())
    assert "[OK] 3 read order_number from 'Number' answered 4 ms" in lines
    assert "observation: PLAN -> OBSERVE -> COMMIT" in lines
    assert any(
        line.startswith("[FAIL] 4 check that the page shows 'Order sent' and") for line in lines
    )
    looked = "vision: VERIFIED by scripted eyes-2 (it says \\U0001f6a2); "
    assert any(line.startswith(looked) and "it changed nothing" in line for line in lines)
    ended = lines.index("result: order_number = 1007")
    assert lines[ended + 1] == "state: RETENTION_OFFER"
    assert lines[ended + 3].startswith("asked: 1 model call, ")
    assert out.isascii()


def test_a_look_elsewhere_is_under_its_step_in_the_json_too(by_hand: Rutter) -> None:
    saved, read, checked = by_hand.json("show", "last")["steps"]

    assert [look["step"] for look in saved["read_backs"]] == [2]
    assert (read["kind"], read["verdict"]) == ("observation", "answered")
    assert (checked["kind"], checked["confidence"]) == ("verification", 0.65)
    assert by_hand.json("sessions")[0]["done"] == 3


# -- what language models were asked ---------------------------------------------------------------


@pytest.fixture
def advised(tmp_path: Path) -> Rutter:
    """A step that a model repaired, and a question that the run was stopped over."""
    with Ledger(tmp_path / "log.db") as ledger:
        ledger.write(shop_facts.run_of(None), *step_kinds.repaired(), ms=1)
        ledger.write(AdviceRequested("a3", "plan", "ollama", "m:7b"), AdviceLost("a3"))
        ledger.write(RunStopped("cancelled", "", "enough", 1), SessionEnded("cancelled"))
    return Rutter(tmp_path)


def test_advice_is_shown_at_the_step_that_it_led_to(advised: Rutter) -> None:
    out = advised("--verbose", "show", "last").out
    lines = squeezed(out)

    at = lines.index("[OK] 2 click #save confirmed: as_recorded 5 ms")
    assert lines[at + 2 : at + 4] == [
        "advice: repair (it is gone), anthropic m: failed: overloaded: busy; "
        "about 1100 tokens, $0.00, 20 ms",
        "advice: repair, anthropic m-2 (try 2): click #save, which leads to COMPLETE, "
        "certainty 0.9; without picture; because 'it is \\U0001f6a2 now'; "
        "1200 tokens in (1000 cached), 80 out, $0.0048, 700 ms",
    ]
    assert "advice that led to no step: plan, ollama m:7b: lost; asked, cost unknown" in lines
    assert "asked: 3 model calls, 1280 tokens, $0.0048 and 1 call of unknown cost" in lines
    assert out.isascii()


def test_advice_is_in_the_json_of_a_session(advised: Rutter) -> None:
    told = advised.json("show", "last")

    totals = ("model_calls", "tokens", "cost_microdollars", "unpriced")
    assert [told[name] for name in totals] == [3, 1_280, 4_800, 1]
    assert [call["ended"] for call in told["steps"][1]["advice"]] == ["failed", "called"]
    [row] = advised.json("sessions")
    assert [row[name] for name in totals] == [3, 1_280, 4_800, 1]


def test_metrics_tell_what_models_cost(advised: Rutter) -> None:
    lines = squeezed(advised("metrics").out)
    lines = lines[lines.index("") + 1 :]
    models = advised.json("metrics")["models"]

    assert lines[11:17] == [
        "steps by driver: 0 workflow, 0 prediction, 1 model; 0.0% took no model",
        "provider model calls failed in out cached unpriced cost ms",
        "anthropic m 1 1 0 0 0 0 $0.00 20",
        "anthropic m-2 1 0 1200 80 1000 0 $0.0048 700",
        "ollama m:7b 1 1 0 0 0 1 $0.00 0",
        "all 3 2 1200 80 1000 1 $0.0048 720",
    ]
    assert (models["calls"], models["hit_rate"]) == (3, 0.0)
    assert [row["provider"] for row in models["providers"]] == ["anthropic", "anthropic", "ollama"]


# -- around them -----------------------------------------------------------------------------------


@for_each("arguments", READING)
def test_flags_stand_before_or_after_the_command(
    rutter: Rutter, arguments: tuple[str, ...]
) -> None:
    assert rutter("--json", *arguments) == rutter(*arguments, "--json")


@for_each("arguments", READING)
def test_reading_says_nothing_on_stderr_and_changes_nothing(
    rutter: Rutter, arguments: tuple[str, ...]
) -> None:
    before = (rutter.data / "log.db").read_bytes()
    ended = rutter(*arguments)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.isascii()
    assert (rutter.data / "log.db").read_bytes() == before


@for_each("arguments", READING)
def test_without_a_log_every_reading_command_says_so_and_makes_nothing(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ended = Rutter(tmp_path)(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.complaint == (
        f"rutter: there is no log at {tmp_path / 'log.db'} "
        "-> record something first, or name --data"
    )
    assert list(tmp_path.iterdir()) == []


@for_each(
    "arguments, said, as_json",
    [
        (
            ("workflows",),
            "no workflows yet; record one: rutter record NAME --url URL (or --script FILE); or let "
            "a model find the way: rutter run NAME --goal TEXT --url URL",
            [],
        ),
        (("sessions",), "no sessions yet", []),
        (("transitions",), "nothing learned yet", []),
    ],
)
def test_an_empty_log_is_told_in_words(
    tmp_path: Path, arguments: tuple[str, ...], said: str, as_json: object
) -> None:
    async def touch() -> None:
        await (await SqliteLog.open(tmp_path / "log.db")).close()

    asyncio.run(touch())
    empty = Rutter(tmp_path)

    assert empty(*arguments).out == f"{said}\n"
    assert empty.json(*arguments) == as_json
    assert empty("show", "last").code == 2


def test_projections_that_were_deleted_are_rebuilt(rutter: Rutter) -> None:
    before = rutter.json("sessions")
    for path in rutter.data.glob("projections.db*"):
        path.unlink()

    assert rutter.json("sessions") == before


def test_projections_of_another_version_are_rebuilt(rutter: Rutter) -> None:
    before = rutter.json("transitions")
    with ProjectionStore(rutter.data / "projections.db") as store:
        store.db.execute("PRAGMA user_version=0")
        store.db.execute("UPDATE transitions_first_order SET count = 99")

    assert rutter.json("transitions") == before


def test_projections_that_are_no_database_are_named(rutter: Rutter, tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes((rutter.data / "log.db").read_bytes())
    (tmp_path / "projections.db").write_text("not a database, and longer than its header is")
    ended = Rutter(tmp_path)("sessions")

    assert ended.code == 8
    assert ended.complaint.endswith("-> delete it: it is rebuilt from the log")
