"""One run for each row of a file, in a shop that counts: what is done is done once."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGINT, SIGKILL
from typing import Any

import anyio.to_thread
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.jobs import JobEnded, JobQueued, RunWorkflow
from rutter.events.rows import BatchRow
from rutter.pipeline.batches.ledger import read_ledger
from rutter.pipeline.cli import row_runs
from rutter.pipeline.cli.session_run import CommandPipeline
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings, load
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import start_session
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.scripted_logs import keep_locked
from tests.support.scripted_rows import KILL, open_rehearsed
from tests.support.shop_sessions import YES
from tests.support.shop_with_rows import Shop, rows_of, say


def test_eight_rows_of_which_two_are_bad(shop: Shop) -> None:
    """Six orders, two reasons; the same command again runs only the two."""
    shop.write(*rows_of(8, bad=(3, 6)))
    ended = shop.run()
    assert ended.code == 3, ended
    assert len(shop.orders) == len(set(shop.orders)) == 6
    bad = [row for row in shop.table() if row["outcome"] != "done"]
    assert [(row["quantity"], row["outcome"]) for row in bad] == [("3", "failed"), ("6", "failed")]
    assert all("there is no link" in row["reason"] and row["session"] for row in bad)
    numbers = [row["order_number"] for row in shop.table() if row["outcome"] == "done"]
    assert sorted(numbers) == [str(1000 + at) for at in range(1, 7)]

    again = shop.run()
    assert (again.code, len(shop.orders)) == (3, 6)
    assert "6 done before, 2 to run" in again.err
    assert again.out.count("[FAIL] row") == 2

    shop.write(*rows_of(8))
    mended = shop.run()
    assert mended.code == 0, mended
    assert len(shop.orders) == len(set(shop.orders)) == 8
    assert shop.outcomes() == ["done"] * 8
    assert mended.out.count("[OK] row") == 2


# -- killed ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_with_an_order_on_its_way_no_row_is_done_twice(shop: Shop) -> None:
    """Nobody can know of that one row: it is not run again, and it is said what to do."""
    shop.write(*rows_of(6))
    assert shop.killed("after:3") == -SIGKILL
    assert len(shop.orders) == 3

    ended = shop.run()
    assert ended.code == 7, ended
    assert len(shop.orders) == len(set(shop.orders)) == 6
    assert shop.outcomes() == ["done", "done", "unknown", "done", "done", "done"]
    in_doubt = shop.table()[2]
    assert f"run order --from {in_doubt['session']}" in ended.out
    again = shop.run()
    assert len(shop.orders) == 6
    assert "5 done before, 1 unknown before, 0 to run" in " ".join(again.err.split())
    *told, last = [json.loads(line) for line in shop.run("--json").out.splitlines()]
    assert [(each["row"], each["outcome"]) for each in told] == [(3, "unknown")]
    assert (last["done"], last["unknown"]) == (5, 1)


@pytest.mark.slow
def test_killed_before_an_order_reached_the_shop_it_is_not_repeated_either(shop: Shop) -> None:
    """The intent is on disk, and nobody knows what became of it."""
    shop.write(*rows_of(4))
    assert shop.killed("before:2") == -SIGKILL
    ended = shop.run()
    assert len(shop.orders) == len(set(shop.orders)) == 3
    assert shop.outcomes() == ["done", "unknown", "done", "done"], ended


@pytest.mark.slow
def test_the_control_that_forgets_the_dead_run_orders_twice(shop: Shop) -> None:
    shop.write(*rows_of(4))
    assert shop.killed("after:2") == -SIGKILL
    ended = shop.run("--afresh")
    assert ended.code == 0, ended
    assert (len(shop.orders), len(set(shop.orders))) == (6, 4)


@pytest.mark.slow
def test_a_row_in_doubt_is_settled_by_the_run_that_continues_it(shop: Shop) -> None:
    """A person says that it was not done; then it is, and the row with it."""
    shop.write(*rows_of(2))
    assert shop.killed("before:1") == -SIGKILL
    assert shop.run().code == 7
    [session] = [row["session"] for row in shop.table() if row["outcome"] == "unknown"]
    asyncio.run(settle(shop, session))
    ended = shop.run()
    assert ended.code == 0, ended
    assert shop.outcomes() == ["done", "done"]
    assert len(shop.orders) == len(set(shop.orders)) == 2


@pytest.mark.slow
def test_what_another_command_did_while_this_one_waited_is_not_done_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows were read; then somebody else was quicker to take the directory."""

    @asynccontextmanager
    async def waited(settings: Settings, terminal: Terminal) -> AsyncIterator[CommandPipeline]:
        assert await anyio.to_thread.run_sync(shop.killed) == 0
        async with open_rehearsed(settings, terminal) as opened:
            yield opened

    shop.write(*rows_of(3))
    monkeypatch.setattr(row_runs, "open_pipeline", waited)
    ended = shop.run()
    assert ended.code == 0, ended
    assert len(shop.orders) == len(set(shop.orders)) == 3
    assert shop.outcomes() == ["done"] * 3


def test_ctrl_c_before_a_row_has_begun_stops_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*arguments: Any, **more: Any) -> Any:
        os.kill(os.getpid(), SIGINT)
        return start_session(*arguments, **more)

    shop.write(*rows_of(2))
    monkeypatch.setattr(row_runs, "start_session", pressed)
    ended = shop.run()
    assert (ended.code, shop.orders) == (7, []), ended
    assert shop.outcomes() == ["cancelled", "not run"]


def test_ctrl_c_begins_no_other_row_and_leaves_a_true_state(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write(*rows_of(4))
    monkeypatch.setenv(KILL, "ctrl-c:2")
    ended = shop.run()
    assert ended.code == 7, ended
    assert len(shop.orders) == 2
    first, second, *others = shop.outcomes()
    assert (first, others) == ("done", ["not run", "not run"])
    assert second in ("done", "unknown"), "it was sent"
    monkeypatch.delenv(KILL)
    shop.run()
    assert len(shop.orders) == len(set(shop.orders)) == 4


async def settle(shop: Shop, session: str) -> None:
    """`rutter run order --from SESSION`, with a person who says yes."""
    settings = load(str(shop.rutter.data))
    with Tables(settings) as tables:
        leaving = start_session(RunRequest("order", after=session), tables)
    assert leaving.started.row is not None
    async with open_rehearsed(settings, Terminal()) as opened:
        person = ScriptedPerson(otherwise=YES)
        ended = await leaving.run(opened.app, opened.browser, "settled", person)
    assert ended.reason == "completed", ended


# -- what a row is ---------------------------------------------------------------------------------


def test_the_same_values_twice_are_two_rows(shop: Shop) -> None:
    shop.write("Aurora Shipping,5", "Aurora Shipping,5")
    assert shop.run().code == 0
    assert shop.orders == ["Aurora Shipping,5"] * 2
    assert shop.run().code == 0
    assert len(shop.orders) == 2


def test_a_changed_row_is_a_new_one_and_one_that_moved_is_not(shop: Shop) -> None:
    shop.write("Aurora Shipping,5", "Juniper Tankers,6")
    assert shop.run().code == 0
    shop.write("Fairlead Offshore,1", "Aurora Shipping,5", "Juniper Tankers,7")
    ended = shop.run()
    assert ended.code == 0, ended
    assert shop.orders[2:] == ["Fairlead Offshore,1", "Juniper Tankers,7"]
    assert "1 done before, 2 to run" in ended.err


def test_when_nothing_is_left_it_says_how_to_begin_anew(shop: Shop) -> None:
    shop.write("Aurora Shipping,5")
    assert shop.run().code == 0
    ended = shop.run("--resume")
    assert (ended.code, len(shop.orders)) == (0, 1)
    assert "--afresh" in ended.out
    assert shop.run("--afresh").code == 0
    assert len(shop.orders) == 2
    assert shop.run().code == 0, "that is the one that counts now"
    assert len(shop.orders) == 2


def test_what_was_only_tried_counts_for_nothing(shop: Shop) -> None:
    shop.write(*rows_of(2))
    tried = shop.run("--dry-run")
    assert (tried.code, shop.orders) == (0, []), tried
    assert shop.run().code == 0
    assert len(shop.orders) == 2


def test_what_was_only_tried_is_not_written_over_what_was_done(shop: Shop) -> None:
    shop.write(*rows_of(1))
    assert shop.run().code == 0
    done = shop.results.read_bytes()
    tried = shop.run("--dry-run")
    assert tried.code == 0, tried
    assert shop.results.read_bytes() == done
    assert shop.file.with_name("orders.dry-run.results.csv").exists()


def test_another_file_with_the_same_rows_is_run(shop: Shop) -> None:
    shop.write("Aurora Shipping,5")
    assert shop.run().code == 0
    other = shop.file.with_name("tuesday.csv")
    other.write_bytes(shop.file.read_bytes())
    assert shop.rutter("run", "order", "--rows", other).code == 0
    assert len(shop.orders) == 2
    assert other.with_name("tuesday.results.csv").exists()


def test_a_renamed_workflow_is_the_one_that_it_was(shop: Shop) -> None:
    shop.write("Aurora Shipping,5")
    assert shop.run().code == 0
    assert shop.rutter("workflows", "rename", "order", "buy").code == 0
    assert shop.rutter("run", "buy", "--rows", shop.file).code == 0
    assert len(shop.orders) == 1


# -- how it goes -----------------------------------------------------------------------------------


def test_three_failures_one_after_another_are_enough(shop: Shop) -> None:
    shop.write(*rows_of(9, bad=(2, 4, 5, 6)))
    ended = shop.run()
    assert ended.code == 3, ended
    assert shop.outcomes() == ["done", "failed", "done", *["failed"] * 3, *["not run"] * 3]
    assert "Stopped: 3 rows failed one after another." in ended.out
    on = shop.run("--max-failures-in-a-row", "0")
    assert (on.code, len(shop.orders)) == (3, 5)
    assert "not run" not in shop.outcomes()


def test_machines_read_a_line_for_each_row_and_one_for_all(shop: Shop) -> None:
    shop.write(*rows_of(3, bad=(2,)))
    ended = shop.run("--json")
    told = [json.loads(line) for line in ended.out.splitlines()]
    assert [(each["row"], each["outcome"]) for each in told[:-1]] == [
        (1, "done"),
        (2, "failed"),
        (3, "done"),
    ]
    assert told[0]["results"] == {"order_number": "1001"}
    assert told[-1] == {"rows": 3, "results": str(shop.results), "done": 2, "failed": 1}


def test_columns_that_bind_nothing_are_named_and_kept(shop: Shop) -> None:
    shop.write("Aurora Shipping,A-1,5,=1+1", header="customer,reference,quantity,outcome")
    ended = shop.run()
    assert ended.code == 0, ended
    assert "columns that bind nothing, kept in the results: reference, outcome" in ended.err
    header, row = shop.results.read_bytes().decode().split("\r\n")[:2]
    assert header == "customer,reference,quantity,outcome,outcome_2,reason,session,order_number"
    assert row.startswith("Aurora Shipping,A-1,5,'=1+1,done,,run-")


def test_what_is_the_same_in_every_row_is_set_once_and_columns_may_have_other_names(
    shop: Shop,
) -> None:
    shop.write("Aurora Shipping", "Juniper Tankers", header="Buyer")
    more = (
        "--map",
        "Buyer=customer",
        "--set",
        "quantity=9",
        "--results",
        shop.file.parent / "r.csv",
    )
    assert shop.run(*more).code == 0
    assert shop.orders == ["Aurora Shipping,9", "Juniper Tankers,9"]
    assert (shop.file.parent / "r.csv").exists()
    assert not shop.results.exists()


def test_side_by_side_only_as_many_as_the_configuration_lets(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write(*rows_of(5))
    ended = shop.run("--parallel", "3")
    assert (ended.code, shop.orders) == (4, [])
    assert "raise jobs.per_workflow" in ended.complaint
    monkeypatch.setenv("RUTTER_JOBS_PER_WORKFLOW", "3")
    ended = shop.run("--parallel", "3")
    assert ended.code == 0, ended
    assert len(shop.orders) == len(set(shop.orders)) == 5


def test_the_results_are_what_the_log_says_whatever_became_of_the_file(shop: Shop) -> None:
    shop.write(*rows_of(3))
    assert shop.run().code == 0
    first = shop.results.read_bytes()
    shop.results.unlink()
    assert shop.run().code == 0
    assert shop.results.read_bytes() == first
    assert len(shop.orders) == 3


def test_a_file_of_ones_own_is_not_written_over(shop: Shop) -> None:
    shop.write(*rows_of(1))
    shop.results.write_text("my,own\nnotes,here\n")
    ended = shop.run()
    assert (ended.code, shop.orders) == (2, [])
    assert "holds no results of rows" in ended.complaint
    assert "own" in shop.results.read_text()
    ended = shop.run("--results", shop.file)
    assert "holds the rows themselves" in ended.complaint


def test_a_device_or_a_pipe_is_no_place_for_results(shop: Shop) -> None:
    """As root, a device would be replaced by a file; of a pipe nobody reads, it would be waited."""
    shop.write(*rows_of(1))
    pipe = shop.file.with_name("pipe")
    os.mkfifo(pipe)
    for place in (Path("/dev/null"), pipe):
        ended = shop.run("--results", place)
        assert (ended.code, shop.orders) == (2, [])
        assert f"{place} is no ordinary file" in ended.complaint
        assert not place.is_file()


def test_a_folder_that_cannot_be_written_to_is_said_before_anything_is_run(shop: Shop) -> None:
    shop.write(*rows_of(1))
    ended = shop.run("--results", shop.file.parent / "none" / "r.csv")
    assert (ended.code, shop.orders) == (2, [])
    assert "there is no folder" in ended.complaint
    folder = shop.file.parent / "shut"
    folder.mkdir()
    draft = f".r.csv.{os.getpid()}.{threading.get_ident()}"
    (folder / draft).mkdir()  # as good as a disk that takes nothing
    ended = shop.run("--results", folder / "r.csv")
    assert (ended.code, shop.orders) == (8, [])
    assert "cannot be written" in ended.complaint


@for_each(
    "arguments, complaint",
    [
        (("run", "order", "--parallel", "2"), "--parallel is for --rows"),
        (("run", "order", "--max-failures-in-a-row", "0"), "--max-failures-in-a-row is for"),
        (("run", "order", "--afresh"), "--afresh is for --rows"),
        (("run", "--rows", "x.csv"), "which workflow?"),
        (("run", "order", "--rows", "x.csv", "--free"), "--free does not go with --rows"),
        (("run", "order", "--rows", "x.csv", "--from", "last"), "--from does not go with"),
        (("run", "order", "--rows", "x.csv", "--resume", "--afresh"), "say two things"),
        (("run", "order", "--rows", "x.csv", "--parallel", "0"), "--parallel is at least 1"),
        (("run", "order", "--rows", "none.csv"), "none.csv cannot be read"),
        (("run", "nothing", "--rows", "x.csv"), "there is no workflow 'nothing'"),
    ],
)
def test_what_does_not_go_together_is_refused(
    shop: Shop, arguments: tuple[str, ...], complaint: str
) -> None:
    ended = shop.rutter(*arguments)
    assert (ended.code, shop.orders) == (2, [])
    assert complaint in ended.complaint


@for_each(
    "rows, more, complaint",
    [
        ("user,pin\nmate,x\n", (), "secrets never come from a file of rows"),
        ("user,code\nmate,x\n", ("--map", "code=pin"), "secrets never come from a file of rows"),
        ("user\nmate\nmate of 0000\n", (), "row 2 (line 3): 'user' holds the secret 'pin'"),
        ("user\nmate\n", ("--set", "pin=x"), "'sign-in' has no parameter 'pin'"),
    ],
)
def test_no_secret_comes_from_a_file(
    tmp_path: Path, rows: str, more: tuple[str, ...], complaint: str
) -> None:
    rutter = Rutter(tmp_path / "data")
    keep_locked(rutter.data / "log.db")
    file, pin = tmp_path / "rows.csv", tmp_path / "pin"
    file.write_text(rows)
    pin.write_text("0000")
    ended = rutter("run", "sign-in", "--rows", file, "--secret", f"pin=file:{pin}", *more)
    assert ended.code == 2
    assert complaint in ended.complaint
    missing = rutter("run", "sign-in", "--rows", file)
    assert missing.code == 2
    assert not file.with_name("rows.results.csv").exists()


# -- beside a daemon -------------------------------------------------------------------------------


def test_what_a_daemon_took_on_and_did_not_begin_is_not_run_beside_it(shop: Shop) -> None:
    """The next one that is started runs it: here it would be done twice."""
    shop.write(*rows_of(2))
    settings = load(str(shop.rutter.data))
    ledger = read_ledger(settings, "order", shop.file)
    row = BatchRow(ledger.batch, 1, "x")
    run = RunWorkflow("order", row=row)
    asyncio.run(say(shop, JobQueued("job-1", run, "person")))
    ended = shop.run()
    assert (ended.code, shop.orders) == (2, [])
    assert "a daemon that does not run any more took on 1 of its rows" in ended.complaint
    served = read_ledger(settings, "order", shop.file, served=True)
    assert (served.runs, served.jobs) == ([], {})

    asyncio.run(say(shop, JobEnded("job-1", "refused", "", "no password")))
    assert read_ledger(settings, "order", shop.file).jobs == {(1, "x"): 1}
    assert shop.run().code == 0
    assert len(shop.orders) == 2
