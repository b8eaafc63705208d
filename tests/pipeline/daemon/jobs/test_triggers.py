"""Given a pipeline and its log: what sets off runs is in it, and the next process knows it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from rutter.events.envelope import Envelope
from rutter.events.jobs import JobQueued, RunWorkflow
from rutter.events.runtime import SessionEnded
from rutter.events.triggers import ScheduleSet
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.daemon.jobs import hooks, jobs, schedules
from rutter.pipeline.daemon.jobs.hooks import Hooks, HookWish
from rutter.pipeline.daemon.jobs.jobs import JobLimits, Jobs, ends_of_the_interrupted, fold
from rutter.pipeline.daemon.jobs.schedules import Schedules, ScheduleWish
from tests.support.log_checks import Replayed

pytestmark = pytest.mark.anyio

ORDER = RunWorkflow("order")
HOURLY = ScheduleWish("0 * * * *", ORDER)
NOON_NS = 1_773_662_400_000_000_000


class SetClock(CountingClock):
    def set_back(self, now_ns: int) -> None:
        self._now_ns = now_ns


class Daemon:
    def __init__(self, app: App, clock: SetClock) -> None:
        self.jobs = Jobs(app.say_process, begin, clock.new_id, JobLimits())
        self.schedules = Schedules(app.say_process, self.jobs, clock, no_rows)
        self.hooks = Hooks(app.say_process, self.jobs)
        self._more = anyio.Event()

    def hear(self, envelope: Envelope) -> None:
        for each in (self.jobs, self.schedules, self.hooks):
            each.hear(envelope)
        self._more.set()
        self._more = anyio.Event()

    async def until_ticks(self, count: int) -> None:
        while len(self.ticks()) < count:
            await self._more.wait()

    def ticks(self) -> list[str]:
        return [each.queued.key for each in self.jobs.all() if each.queued.trigger == "schedule"]


async def no_rows(told: ScheduleSet, key: str) -> None:
    raise AssertionError("no schedule here has rows")


async def begin(queued: JobQueued, session: str) -> SessionEnded:
    return SessionEnded("completed")


@asynccontextmanager
async def serving(path: Path, replayed: Replayed, clock: SetClock) -> AsyncIterator[Daemon]:
    async with App.open(await replayed.sqlite(path), clock=clock) as app:
        daemon = Daemon(app, clock)
        for of, each in ((jobs, daemon.jobs), (schedules, daemon.schedules), (hooks, daemon.hooks)):
            await fold(app.log, of.KINDS, each.hear)
        app.listen(daemon.hear)
        for ended in await ends_of_the_interrupted(app.log, daemon.jobs):
            await app.say_process(ended)
        async with anyio.create_task_group() as group:
            group.start_soon(daemon.jobs.work)
            group.start_soon(daemon.schedules.run)
            yield daemon
            group.cancel_scope.cancel()


async def test_schedules_and_hooks_outlive_their_process_and_their_log_replays(
    tmp_path: Path, replayed: Replayed
) -> None:
    path, clock = tmp_path / "log.db", SetClock(NOON_NS)
    async with serving(path, replayed, clock) as daemon:
        await daemon.schedules.set(
            "hourly", ScheduleWish("0 * * * *", ORDER, overlap="allow"), by="person"
        )
        token = await daemon.hooks.set("shop", HookWish(ORDER, ("customer",)), by="person")
        await daemon.until_ticks(2)
        job = await daemon.hooks.fire("shop", token, {"customer": "Aurora"}, key="k")
        await daemon.jobs.ended(job.name)
        before = daemon.ticks()
    clock.set_back(NOON_NS)
    async with serving(path, replayed, clock) as daemon:
        assert daemon.hooks.admits("shop", token)
        again = await daemon.hooks.fire("shop", token, {"customer": "Aurora"}, key="k")
        assert again.name == job.name
        await daemon.until_ticks(len(before) + 1)
        ticks = daemon.ticks()
        assert before[0].startswith("hourly@2026-03-16T")  # how many passed unseen is the clock's
        assert ticks[: len(before)] == before
        assert len(ticks) == len(set(ticks))
    assert token.encode() not in path.read_bytes()


async def test_what_was_dropped_stays_dropped(tmp_path: Path, replayed: Replayed) -> None:
    path, clock = tmp_path / "log.db", SetClock(NOON_NS)
    async with serving(path, replayed, clock) as daemon:
        await daemon.schedules.set("hourly", HOURLY, by="person")
        await daemon.hooks.set("shop", HookWish(ORDER), by="person")
        await daemon.schedules.drop("hourly", "person")
        await daemon.hooks.drop("shop", "person")
    async with serving(path, replayed, clock) as daemon:
        assert daemon.schedules.all() == ()
        assert daemon.hooks.all() == ()
