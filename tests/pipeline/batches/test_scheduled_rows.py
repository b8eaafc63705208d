"""The rows of a schedule are run when it is due, in a shop that counts: as `run --rows` does."""

from typing import Any, cast

import anyio
import msgspec
import pytest

from rutter.events.jobs import JobEnded, JobQueued, RunWorkflow
from rutter.events.triggers import ScheduleSet
from rutter.pipeline.app import App
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import load
from rutter.pipeline.daemon.jobs import jobs as jobs_
from rutter.pipeline.daemon.jobs.approvals import Questions
from rutter.pipeline.daemon.jobs.jobs import JobLimits, Jobs, fold
from rutter.pipeline.daemon.jobs.runner import JobRunner
from rutter.pipeline.daemon.jobs.scheduled_rows import ScheduledRows
from tests.support.scripted_rows import open_rehearsed
from tests.support.shop_with_rows import Shop, rows_of

pytestmark = pytest.mark.anyio

KEY = "orders@2026-03-16T07:00:00Z"


def schedule(shop: Shop, **more: Any) -> ScheduleSet:
    run = RunWorkflow("order")
    return ScheduleSet("orders", "0 7 * * *", run, "person", rows=str(shop.file), **more)


async def due(shop: Shop, *told: ScheduleSet, key: str = KEY) -> list[JobQueued | JobEnded]:
    """What the log says of jobs, once these were due at one time."""
    settings = load(str(shop.rutter.data), env={})
    async with open_rehearsed(settings, Terminal()) as opened, anyio.create_task_group() as group:
        app = cast("App", cast("Any", opened.app)._app)
        begin = JobRunner(opened.app, cast("Any", None), settings, Questions())
        jobs = Jobs(app.say_process, begin, app.clock.new_id, JobLimits())
        await fold(app.log, jobs_.KINDS, jobs.hear)
        app.listen(jobs.hear)
        group.start_soon(jobs.work)
        rows = ScheduledRows(settings, jobs)
        async with anyio.create_task_group() as ticks:
            for each in told:
                ticks.start_soon(rows, each, key)
        await jobs.rest()
        said = [each.event async for each in app.log.read(kinds=jobs_.KINDS)]
        group.cancel_scope.cancel()
    return [each for each in said if isinstance(each, JobQueued | JobEnded)]


async def test_each_row_is_run_that_is_not_done_yet(shop: Shop) -> None:
    shop.write(*rows_of(3, bad=(2,)))
    told = await due(shop, schedule(shop))
    assert len(shop.orders) == 2
    assert shop.outcomes() == ["done", "failed", "done"]
    keys = [each.key for each in told if isinstance(each, JobQueued)]
    assert keys == [f"{KEY}#{number}" for number in (1, 2, 3)]

    shop.write(*rows_of(4))
    await due(shop, schedule(shop), key="orders@2026-03-17T07:00:00Z")
    assert len(shop.orders) == len(set(shop.orders)) == 4
    assert shop.outcomes() == ["done"] * 4

    await due(shop, schedule(shop, afresh=True), key="orders@2026-03-18T07:00:00Z")
    assert sorted(shop.orders) == sorted([*set(shop.orders)] * 2)


async def test_what_keeps_it_from_being_run_is_on_the_record(shop: Shop) -> None:
    shop.write("Aurora Shipping", header="customer")
    *_, refused = await due(shop, schedule(shop))
    assert isinstance(refused, JobEnded)
    assert refused.reason == "refused"
    assert "lacks the column quantity" in refused.detail

    gone = msgspec.structs.replace(schedule(shop), rows=str(shop.file.with_name("gone.csv")))
    *_, refused = await due(shop, gone)
    assert isinstance(refused, JobEnded)
    assert "No such file" in refused.detail
    assert shop.orders == []


async def test_while_its_rows_are_run_it_is_skipped(shop: Shop) -> None:
    shop.write(*rows_of(2))
    told = await due(shop, schedule(shop), schedule(shop))
    assert len(shop.orders) == 2
    ends = [each for each in told if isinstance(each, JobEnded)]
    assert [each.reason for each in ends] == ["skipped", "completed", "completed"]
    assert ends[0].detail == "its rows are still being run"
