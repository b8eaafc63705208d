"""`rutter forget` as people type it: what a session or a workflow taught no longer counts."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.predictor import SessionForgotten, WorkflowDeleted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import load
from rutter.pipeline.queries.workflows_and_sessions import Tables, latest_workflow, project
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.earlier_run import unsettled
from tests.support import command_fixtures
from tests.support.command_shell import Rutter, refused
from tests.support.data_directories import held
from tests.support.scripted_shop import AURORA, ORDER, effectors, shop
from tests.support.shop_sessions import YES, NextClock, break_off, open_app, record_order

rutter = command_fixtures.with_orders

# What `logbook.keep` leaves.
RECORDED, SAILED, LOST, HALF = "record-0002", "run-0003", "run-0004", "record-0005"


def said(rutter: Rutter) -> list[SessionForgotten | WorkflowDeleted]:
    """Everything about forgetting that the log holds, in its order."""
    with SqliteReader(rutter.data / "log.db") as reader:
        found = reader.read(kinds=["SessionForgotten", "WorkflowDeleted"])
        events = [envelope.event for envelope in found]
    return [each for each in events if isinstance(each, SessionForgotten | WorkflowDeleted)]


def counts(rutter: Rutter) -> list[int]:
    return [row["count"] for row in rutter.json("transitions")]


def forgotten(rutter: Rutter) -> set[str]:
    rows = rutter.json("sessions")
    return {row["session"] for row in rows if row["forgotten_ns"] is not None}


def workflows(rutter: Rutter) -> list[tuple[str, int]]:
    return [(row["name"], row["version"]) for row in rutter.json("workflows")]


# -- a session -------------------------------------------------------------------------------------


def test_what_a_session_taught_is_unlearned_and_told(rutter: Rutter) -> None:
    before = counts(rutter)
    ended = rutter("forget", SAILED, "--why", "only tried it")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        f"[OK] forgot {SAILED}: 6 transitions, 1 verified run",
        "     the model is generation 1 now",
        "     the log still has what happened; that goes with: "
        f"rutter --data {rutter.data} log erase {SAILED} --why TEXT",
    ]
    assert said(rutter) == [SessionForgotten(SAILED, "only tried it")]
    assert (before, counts(rutter)) == ([3, 3, 3, 2, 2], [2, 2, 2, 1, 1])
    assert workflows(rutter) == [("half", 1), ("order", 1)]


def test_the_workflow_that_it_recorded_is_no_longer_known(rutter: Rutter) -> None:
    ended = rutter("forget", "0002")

    assert "no longer known: order version 1" in ended.out
    assert workflows(rutter) == [("half", 1)]
    refused(rutter("run", "order", "--set", "customer=Ann"), "there is no workflow 'order'")


def test_a_version_that_a_person_made_of_it_stays_and_is_named(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--param", "5=quantity")
    ended = rutter("forget", RECORDED)

    assert "still known, from elsewhere: order version 2" in ended.out
    assert f"rutter --data {rutter.data} forget --workflow order" in ended.out
    assert workflows(rutter) == [("half", 1), ("order", 2)]


def test_what_is_recorded_anew_gets_the_next_number(rutter: Rutter) -> None:
    rutter("forget", RECORDED)
    asyncio.run(record_again(rutter.data / "log.db"))

    assert workflows(rutter) == [("half", 1), ("order", 2)]


async def record_again(path: Path) -> None:
    log = await SqliteLog.open(path)
    async with open_app(log, clock=NextClock()) as app:
        await record_order(app, log)


def test_it_is_marked_wherever_it_is_shown(rutter: Rutter, tmp_path: Path) -> None:
    rutter("forget", SAILED, "--why", "a <b>trial</b>")

    assert forgotten(rutter) == {SAILED}
    [line] = [line for line in rutter("sessions").out.splitlines() if SAILED in line]
    assert line.endswith("completed, forgotten")
    last = "forgotten (a <b>trial</b>): what it taught no longer counts"
    assert rutter("show", SAILED).out.splitlines()[-2] == last
    assert rutter.json("show", SAILED)["forgotten"] == "a <b>trial</b>"
    assert "forgotten" not in rutter.json("show", RECORDED)
    assert "forgotten" not in rutter.json("show", SAILED, "--at", "5")
    rutter("report", SAILED, "--out", tmp_path / "run.html")
    assert "Forgotten (a &lt;b&gt;trial&lt;/b&gt;)" in (tmp_path / "run.html").read_text()


def test_for_machines(rutter: Rutter) -> None:
    assert rutter.json("forget", RECORDED) == {
        "sessions": [RECORDED],
        "transitions": 6,
        "runs": 0,
        "versions": ["order version 1"],
        "kept": [],
        "generation": 1,
        "workflow": "",
        "dry_run": False,
    }
    assert rutter.json("forget", "--workflow", "order")["generation"] == 3


def test_a_session_that_taught_nothing_can_be_forgotten_too(rutter: Rutter) -> None:
    rutter("log", "erase", SAILED, "--why", "private")

    assert f"forgot {SAILED}: it had taught nothing" in rutter("forget", SAILED).out
    assert forgotten(rutter) == {SAILED}


def test_what_it_may_have_done_is_not_forgotten(tmp_path: Path) -> None:
    """What counts in predictions is one thing, what happened another: nothing is done twice."""
    rutter = Rutter(tmp_path / "data")
    asyncio.run(break_off(rutter.data / "log.db"))
    assert rutter("forget", "cut").code == 0
    settings = load(str(rutter.data), headless=True)
    with project(settings) as store:
        flow = latest_workflow(store, "order")

    with Tables(settings) as tables:
        assert [each.session for each in unsettled(flow, {}, tables)[:1]] == ["cut"]


# -- a workflow ------------------------------------------------------------------------------------


def test_a_workflow_goes_with_every_session_that_had_to_do_with_it(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--param", "5=quantity")
    ended = rutter("forget", "--workflow", "order", "--why", "the shop is gone")

    assert ended.out.splitlines()[:6] == [
        "[OK] forgot workflow order: 3 sessions, 16 transitions, 2 workflow versions, "
        "1 verified run",
        f"     {RECORDED}",
        f"     {SAILED}",
        f"     {LOST}",
        "     no longer known: order version 1, order version 2",
        "     the model is generation 3 now",
    ]
    why = "the shop is gone"
    gone = [SessionForgotten(each, why) for each in (RECORDED, SAILED, LOST)]
    assert said(rutter) == [*gone, WorkflowDeleted("order")]
    assert forgotten(rutter) == {RECORDED, SAILED, LOST}
    assert workflows(rutter) == [("half", 1)]
    assert counts(rutter) == []  # the one step of `half` followed nothing


def test_it_is_found_under_every_name_that_it_had(rutter: Rutter) -> None:
    rutter("workflows", "rename", "order", "buy")
    rutter("workflows", "rename", "buy", "purchase")

    assert rutter.json("forget", "--workflow", "purchase")["sessions"] == [RECORDED, SAILED, LOST]
    assert workflows(rutter) == [("half", 1)]


def test_another_that_got_its_old_name_is_left_alone(rutter: Rutter) -> None:
    rutter("workflows", "rename", "order", "buy")
    rutter("workflows", "rename", "half", "order")

    assert rutter.json("forget", "--workflow", "buy")["sessions"] == [RECORDED, SAILED, LOST]
    assert workflows(rutter) == [("order", 1)]
    assert rutter.json("forget", "--workflow", "order")["sessions"] == [HALF]


def test_one_that_was_deleted_can_still_be_forgotten(rutter: Rutter) -> None:
    rutter("workflows", "delete", "order")

    found = rutter.json("forget", "--workflow", "order")
    assert (found["sessions"], found["versions"]) == ([RECORDED, SAILED, LOST], [])
    assert said(rutter)[-1] == SessionForgotten(LOST)


def test_what_was_cut_short_goes_on_where_it_was(rutter: Rutter) -> None:
    """As a process that is killed between two of its facts leaves it."""
    rutter("forget", RECORDED)

    found = rutter.json("forget", "--workflow", "order")
    assert (found["sessions"], found["generation"]) == ([SAILED, LOST], 3)


# -- looking first ---------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_go_and_changes_nothing(rutter: Rutter) -> None:
    before = rutter.json("log")["events"]
    with held(rutter.data / "writer.lock"):  # it needs nobody's leave
        ended = rutter("forget", "--workflow", "order", "--dry-run")
        found = rutter.json("forget", SAILED, "--dry-run")

    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0].startswith("[OK] would forget workflow order: 3 sessions, 16 transitions")
    assert lines[-1] == "     nothing was changed; the model would be generation 3"
    assert (found["transitions"], found["generation"], found["dry_run"]) == (6, 1, True)
    assert (rutter.json("log")["events"], forgotten(rutter)) == (before, set())


# -- what cannot be forgotten ----------------------------------------------------------------------


def test_what_is_not_there_cannot_be_forgotten(rutter: Rutter) -> None:
    before = rutter.json("log")["events"]
    for arguments, what in (
        (("nobody",), "there is no session 'nobody' -> see: rutter sessions"),
        (("record",), "there is no session 'record'"),
        (("",), "several sessions end in ''"),
        (("process-0001",), "there is no session 'process-0001'"),
        (("--workflow", "refund"), "there is no workflow 'refund' -> it knows: half, order"),
        (("--workflow", ""), "there is no workflow ''"),
    ):
        refused(rutter("forget", *arguments), what)
        refused(rutter("forget", *arguments, "--dry-run"), what)
    assert rutter.json("log")["events"] == before


@pytest.mark.parametrize("arguments", [(), (SAILED, "--workflow", "order")])
def test_it_is_a_session_or_a_workflow(rutter: Rutter, arguments: tuple[str, ...]) -> None:
    assert rutter("forget", *arguments).code == 2
    assert said(rutter) == []


def test_what_is_forgotten_stays_so(rutter: Rutter) -> None:
    rutter("forget", SAILED)
    rutter("forget", "--workflow", "half")
    before = said(rutter)

    refused(rutter("forget", SAILED), f"{SAILED} is forgotten already -> see: rutter sessions")
    refused(rutter("forget", "--workflow", "half"), "'half' is forgotten already")
    assert said(rutter) == before


def test_no_log_is_made_where_there_is_none(tmp_path: Path) -> None:
    nowhere = Rutter(tmp_path / "nowhere")
    for arguments in (("last",), ("--workflow", "order"), ("--workflow", "order", "--dry-run")):
        refused(nowhere("forget", *arguments), "there is no log at")
    assert not nowhere.data.exists()


def test_another_writer_is_waited_for_by_the_person(rutter: Rutter) -> None:
    with held(rutter.data / "writer.lock"):
        ended = rutter("forget", SAILED)

    assert ended.code == 8
    assert "is in use by process 4711" in ended.complaint
    assert said(rutter) == []


# -- what a process left behind --------------------------------------------------------------------


def test_a_session_that_was_left_open_is_closed_first(rutter: Rutter) -> None:
    """Closing it teaches what was recorded until then; that is forgotten with the rest."""
    leave_open(rutter.data / "log.db")
    ended = rutter("forget", "left")

    assert ended.code == 0, ended
    assert "no longer known: order version 2" in ended.out
    [row] = [row for row in rutter.json("sessions") if row["session"] == "left"]
    assert row["reason"] == "interrupted"
    assert workflows(rutter) == [("half", 1), ("order", 1)]


def leave_open(path: Path) -> None:
    """The recording as a process that was killed in the middle of it leaves it: whole turns."""
    asyncio.run(record_left(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        looks = "SELECT max(seq) FROM events WHERE session = 'left' AND kind = 'PageObserved'"
        db.execute(f"DELETE FROM events WHERE seq >= ({looks})")


async def record_left(path: Path) -> None:
    log = await SqliteLog.open(path)
    async with open_app(log, clock=NextClock()) as app:
        started = session_started.recording("order", ORDER, AURORA, ())
        made = effectors(shop(), started, answers=ScriptedPerson(otherwise=YES))
        await app.run_session(started, made, name="left")


# -- after it --------------------------------------------------------------------------------------


def test_the_log_is_whole_and_the_tables_are_the_same_when_rebuilt(rutter: Rutter) -> None:
    rutter("forget", SAILED)
    rutter("forget", "--workflow", "half")
    tables = [rutter.json(each) for each in ("workflows", "sessions", "transitions")]

    assert rutter("log", "verify").code == 0
    assert "no divergence" in rutter("replay").out
    rutter("log", "rebuild")
    assert [rutter.json(each) for each in ("workflows", "sessions", "transitions")] == tables


def test_it_is_carried_along_with_the_log(rutter: Rutter, tmp_path: Path) -> None:
    rutter("forget", SAILED)
    assert rutter("log", "backup", tmp_path / "copy").code == 0
    assert rutter("log", "export", tmp_path / "all.rutter").code == 0
    elsewhere = Rutter(tmp_path / "elsewhere")
    assert elsewhere("log", "import", tmp_path / "all.rutter").code == 0

    for other in (Rutter(tmp_path / "copy"), elsewhere):
        assert (forgotten(other), counts(other)) == ({SAILED}, [2, 2, 2, 1, 1])
