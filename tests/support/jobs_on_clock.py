"""Jobs, schedules and hooks run over a log that is a list, on a clock that can be set."""

import asyncio

import anyio
import anyio.lowlevel
import msgspec

from rutter.events.envelope import Envelope
from rutter.events.jobs import JobEnded, JobQueued
from rutter.events.runtime import SessionEnded
from rutter.events.triggers import ScheduleSet
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock
from rutter.pipeline.daemon.jobs.cron import SECOND_NS
from rutter.pipeline.daemon.jobs.hooks import Hooks
from rutter.pipeline.daemon.jobs.jobs import JobLimits, Jobs
from rutter.pipeline.daemon.jobs.schedules import Schedules, by

MONDAY_NS = 1_773_619_200 * SECOND_NS  # 2026-03-16T00:00:00Z


class WallClock(Clock):
    """A clock goes with the loop; whoever sets it moves it, and wakes nobody."""

    def __init__(self, start_ns: int = MONDAY_NS) -> None:
        self._offset_ns = start_ns - round(asyncio.get_running_loop().time() * SECOND_NS)
        self._ids = 0

    def now_ns(self) -> int:
        return self._offset_ns + round(asyncio.get_running_loop().time() * SECOND_NS)

    def set_ahead(self, seconds: int) -> None:
        self._offset_ns += seconds * SECOND_NS

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}-{self._ids}"


class Deck:
    """Daemons follow one another on the same log: `restart` makes the next one."""

    def __init__(self, clock: WallClock, limits: JobLimits | None = None) -> None:
        self.clock = clock
        self.log: list[Envelope] = []
        self.holding = False  # runs go on until they are let go
        self.let_go = anyio.Event()
        self._limits = limits or JobLimits()
        self.restart()

    def restart(self, *, jobs_known: bool = True) -> None:
        """Without `jobs_known` they are all so old that only the log has them."""
        self.jobs = Jobs(self.say, self._begin, self.clock.new_id, self._limits)
        self.schedules = Schedules(self.say, self.jobs, self.clock, self._run_rows)
        self.hooks = Hooks(self.say, self.jobs)
        for envelope in self.log:
            self.schedules.hear(envelope)
            self.hooks.hear(envelope)
            if jobs_known:
                self.jobs.hear(envelope)

    async def say(self, event: AnyEvent) -> None:
        seq = len(self.log) + 1
        now = self.clock.now_ns()
        self.log.append(Envelope(seq, "process", seq, now, "runtime", 0, event, b""))
        await anyio.lowlevel.checkpoint()  # it is numbered before it is on disk
        self._tell(self.log[seq - 1])

    def _tell(self, envelope: Envelope) -> None:
        for each in (self.jobs, self.schedules, self.hooks):
            each.hear(envelope)

    async def _run_rows(self, told: ScheduleSet, key: str) -> None:
        """Two rows, one after the other."""
        for row in ("1", "2"):
            run = msgspec.structs.replace(told.run, values={"row": row})
            name = f"{key}#{row}"
            job = await self.jobs.submit(run, by=by(told), trigger="schedule", key=name)
            await self.jobs.ended(job.name)

    async def _begin(self, queued: JobQueued, session: str) -> SessionEnded:
        if self.holding:
            await self.let_go.wait()
        return SessionEnded("completed")

    # -- what came of it -----------------------------------------------------------------------

    def queued(self) -> list[JobQueued]:
        return [each.event for each in self.log if isinstance(each.event, JobQueued)]

    def ends(self) -> list[JobEnded]:
        return [each.event for each in self.log if isinstance(each.event, JobEnded)]

    def ticks(self) -> list[str]:
        """Of all schedules together, as they were run."""
        return [each.key.rpartition("@")[2] for each in self.queued() if each.key]

    async def sail(self, seconds: float) -> None:
        """The daemon is up for so long."""
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                group.start_soon(self.jobs.work)
                group.start_soon(self.schedules.run)
