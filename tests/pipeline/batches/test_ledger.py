"""What the log says of a file's rows while a daemon has some of them."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from rutter.events.errors import BadInput
from rutter.events.jobs import JobEnded, JobQueued, JobStarted, RunWorkflow
from rutter.events.rows import BatchRow
from rutter.pipeline.batches.ledger import Ledger, read_ledger
from rutter.pipeline.batches.row_values import BoundRow
from rutter.pipeline.batches.scheduler import BatchRun
from rutter.pipeline.batches.sheet import Cells
from rutter.pipeline.cli.daemon_client import DaemonClient
from rutter.pipeline.cli.row_runs import DaemonRows
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import load
from rutter.pipeline.sessions.request import RunRequest
from rutter.replay.story.batch_rows import RowRun, RowState
from tests.support.shop_with_rows import Shop, rows_of, say


def row(number: int, digest: str) -> BoundRow:
    return BoundRow(Cells(number, number + 1, ()), {}, digest)


def ledger(under_way: dict[str, BatchRow], runs: list[RowRun] | None = None) -> Ledger:
    return Ledger("b", 0, runs or [], {}, under_way)


def test_a_row_that_moved_still_has_its_job() -> None:
    known = ledger({"job-1": BatchRow("b", 1, "D")})
    assert known.taken_on([row(1, "new"), row(2, "D")]) == {2: "job-1"}


def test_a_job_is_first_of_all_for_the_row_of_its_number_and_for_one_alone() -> None:
    known = ledger({"job-2": BatchRow("b", 2, "D")})
    assert known.taken_on([row(1, "D"), row(2, "D"), row(3, "D")]) == {2: "job-2"}


def test_of_two_that_bind_the_same_the_one_that_is_not_done_has_the_job() -> None:
    """A line was put in above both: the one that was done counts for the second row now."""
    done = RowRun("run-1", BatchRow("b", 1, "D"), "completed")
    known = ledger({"job-2": BatchRow("b", 2, "D")}, [done])
    rows = [row(1, "new"), row(2, "D"), row(3, "D")]
    told = known.told(rows)
    assert (told[2].outcome, told[3].outcome) == ("done", "not run")
    left = BatchRun(rows, told).left()
    assert known.taken_on(left) == {3: "job-2"}


def test_a_row_that_changed_has_no_job() -> None:
    assert ledger({"job-1": BatchRow("b", 1, "D")}).taken_on([row(1, "other")]) == {}


def test_a_job_under_an_older_name_of_the_workflow_is_the_rows_own(shop: Shop) -> None:
    settings = load(str(shop.rutter.data))
    batch = read_ledger(settings, "order", shop.file).batch
    queued = JobQueued("job-1", RunWorkflow("order", row=BatchRow(batch, 1, "D")), "person")
    asyncio.run(say(shop, queued))
    assert shop.rutter("workflows", "rename", "order", "buy").code == 0
    known = read_ledger(settings, "buy", shop.file, served=True)
    assert known.batch != batch
    assert known.taken_on([row(2, "D")]) == {2: "job-1"}
    asyncio.run(say(shop, JobStarted("job-1", "run-1")))
    assert read_ledger(settings, "buy", shop.file, served=True).taken_on([row(2, "D")])
    asyncio.run(say(shop, JobEnded("job-1", "refused")))
    assert read_ledger(settings, "buy", shop.file, served=True).taken_on([row(2, "D")]) == {}


class Watched(DaemonClient):
    """A daemon that says of every job that it could not begin, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def request(self, method: str, path: str, *_: Any, **__: Any) -> dict[str, str]:
        self.asked.append((method, path))
        return {"job_id": "job-new", "status": "ended", "reason": "refused", "detail": "no"}


class Silent:
    def begun(self, row: BoundRow) -> None: ...

    def ended(self, row: BoundRow, told: RowState) -> None: ...


def test_what_the_daemon_has_is_awaited_and_not_handed_in_again(tmp_path: Path) -> None:
    daemon, known = Watched(), ledger({"job-1": BatchRow("b", 1, "D")})
    rows = [row(1, "new"), row(2, "D")]
    handed = DaemonRows(
        daemon, known, RunRequest("order"), Silent(), load(str(tmp_path)), cast("Terminal", None)
    )
    asyncio.run(handed.run_rows(BatchRun(rows, known.told(rows))))
    assert daemon.asked == [
        ("POST", "/jobs"),
        ("GET", "/jobs/job-new?wait=true"),
        ("GET", "/jobs/job-1?wait=true"),
    ]


def test_what_a_dead_daemon_took_on_is_not_begun_anew_beside_it(shop: Shop) -> None:
    shop.write(*rows_of(1))
    settings = load(str(shop.rutter.data))
    batch = read_ledger(settings, "order", shop.file).batch
    run = RunWorkflow("order", row=BatchRow(batch, 1, "D"))
    asyncio.run(say(shop, JobQueued("job-1", run, "person")))
    with pytest.raises(BadInput, match="took on 1 of its rows"):
        read_ledger(settings, "order", shop.file, afresh=True)
    ended = shop.run("--afresh")
    assert (ended.code, shop.orders) == (2, [])
