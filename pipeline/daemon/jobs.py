"""Jobs: taken on durably, run in order, so many at once, ended truly.

The state of every job is the fold of its events, in the daemon as after a restart. What was
waiting when a process died is run by the next one; what was running is not: its session was
interrupted, and whether it is to be run again is a person's to say (E7).
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Literal

import anyio
import anyio.abc
import msgspec

from events.envelope import Envelope, kind
from events.errors import BadInput, RutterError
from events.jobs import JobEnded, JobQueued, JobStarted, Run, Trigger
from events.log import EventLog
from events.runtime import SessionEnded
from events.vocabulary import AnyEvent

KINDS = (kind(JobQueued), kind(JobStarted), kind(JobEnded))
KEPT = 10_000  # jobs that can be asked about; of older ones the log knows

Status = Literal["queued", "running", "ended"]
Begin = Callable[[JobQueued, str], Awaitable[SessionEnded]]  # a job, the name of its session


class Busy(BadInput):
    """The line is full."""


class Conflict(BadInput):
    """The same key, for something else."""


class NoSuchJob(BadInput):
    """Nobody knows it, or not any more."""


class Job(msgspec.Struct, frozen=True):
    queued: JobQueued
    queued_ns: int
    status: Status = "queued"
    session: str = ""
    ended: JobEnded | None = None

    @property
    def name(self) -> str:
        return self.queued.job


class Limits(msgspec.Struct, frozen=True):
    """So many may wait, and so many run at once."""

    waiting: int = 100
    running: int = 4


class Jobs:
    """Made before the first event is heard; `work` runs them."""

    def __init__(
        self,
        say: Callable[[AnyEvent], Awaitable[None]],
        begin: Begin,
        new_id: Callable[[str], str],
        limits: Limits,
    ) -> None:
        self._say = say
        self._begin = begin
        self._new_id = new_id
        self._limits = limits
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._keys: dict[str, str] = {}
        self._changed = anyio.Event()
        self._group: anyio.abc.TaskGroup | None = None

    # -- the fold ------------------------------------------------------------------------------

    def hear(self, envelope: Envelope) -> None:
        """A durable event: what a job is, is what the log says of it."""
        event = envelope.event
        match event:
            case JobQueued(job=job, key=key):
                self._jobs[job] = Job(event, envelope.at_ns)
                if key:
                    self._keys[key] = job
                self._drop_old()
            case JobStarted(job=job, session=session) if job in self._jobs:
                self._jobs[job] = msgspec.structs.replace(
                    self._jobs[job], status="running", session=session
                )
            case JobEnded(job=job) if job in self._jobs:
                self._jobs[job] = msgspec.structs.replace(
                    self._jobs[job], status="ended", ended=event
                )
            case _:
                return
        self._changed.set()
        self._changed = anyio.Event()

    def _drop_old(self) -> None:
        over = len(self._jobs) - KEPT
        for name in [each for each in self._jobs if self._jobs[each].status == "ended"][:over]:
            key = self._jobs.pop(name).queued.key
            self._keys.pop(key, None)

    # -- for callers ---------------------------------------------------------------------------

    async def submit(self, run: Run, *, by: str, trigger: Trigger = "api", key: str = "") -> Job:
        """Takes a job on; on disk when this returns."""
        known = self._keys.get(key) if key else None
        if known is not None:
            job = self._jobs[known]
            if job.queued.run != run:
                raise Conflict(f"the key {key!r} was used for another job", "give another key")
            return job
        if len(self.waiting()) >= self._limits.waiting:
            raise Busy(f"{self._limits.waiting} jobs are waiting", "try again later")
        name = self._new_id("job")
        if key:
            self._keys[key] = name  # from here on: two that come at once are one
            self._jobs[name] = Job(JobQueued(name, run, by, trigger, key), 0)
        await self._say(JobQueued(name, run, by, trigger, key))
        return await self._until(name, lambda job: job.queued_ns > 0)

    async def ended(self, name: str) -> Job:
        return await self._until(name, lambda job: job.status == "ended")

    async def _until(self, name: str, is_so: Callable[[Job], bool]) -> Job:
        while True:
            changed = self._changed
            job = self._jobs.get(name)
            if job is not None and is_so(job):
                return job
            await changed.wait()

    def find(self, name: str) -> Job:
        job = self._jobs.get(name)
        if job is None:
            raise NoSuchJob(f"there is no job {name!r}", "see: GET /jobs")
        return job

    def all(self) -> tuple[Job, ...]:
        return tuple(self._jobs.values())

    def waiting(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.status == "queued"]

    def running(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.status == "running"]

    async def cancel(self, name: str, by: str) -> Job:
        """One that waits never begins; one that runs is for its session to stop."""
        job = self.find(name)
        if job.status == "queued":
            await self._say(JobEnded(name, "cancelled", detail=f"cancelled by {by}"))
            return await self.ended(name)
        return job

    # -- running them --------------------------------------------------------------------------

    async def work(self) -> None:
        """Runs what waits, in order, until cancelled."""
        taken: set[str] = set()
        async with anyio.create_task_group() as group:
            while True:
                changed = self._changed
                due = [job for job in self.waiting() if job.queued_ns and job.name not in taken]
                room = self._limits.running - len(taken)
                for job in due[: max(0, room)]:
                    taken.add(job.name)
                    group.start_soon(self._run, job, taken)
                await changed.wait()

    async def _run(self, job: Job, taken: set[str]) -> None:
        name = job.name
        session = self._new_id("run")
        try:
            await self._say(JobStarted(name, session))
            end = await self._outcome(job, session)
            await self._say(end)
            await self.ended(name)
        finally:
            taken.discard(name)
            self._changed.set()
            self._changed = anyio.Event()

    async def _outcome(self, job: Job, session: str) -> JobEnded:
        try:
            ended = await self._begin(job.queued, session)
        except RutterError as error:
            return JobEnded(job.name, "refused", "", str(error), session)
        return JobEnded(job.name, ended.reason, ended.failure, ended.detail, session)


async def fold_jobs(log: EventLog, jobs: Jobs) -> None:
    async for envelope in log.read(kinds=KINDS):
        jobs.hear(envelope)


async def ends_of_the_interrupted(log: EventLog, jobs: Jobs) -> list[JobEnded]:
    """What became of jobs that a dead process was running: what their sessions say."""
    ends = []
    for job in jobs.running():
        ended: SessionEnded | None = None
        async for envelope in log.read(session=job.session, kinds=[kind(SessionEnded)]):
            if isinstance(envelope.event, SessionEnded):
                ended = envelope.event
        if ended is None:
            detail = "the process that was to run it died before it began"
            ends.append(JobEnded(job.name, "interrupted", "", detail, job.session))
        else:
            said = ended.reason, ended.failure, ended.detail
            ends.append(JobEnded(job.name, *said, job.session))
    return ends
