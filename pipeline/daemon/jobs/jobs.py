"""Jobs are taken on durably, run in order, so many at once, and ended truly.

The state of every job is the fold of its events, in the daemon as after a restart. What was
waiting when a process died is run by the next one; what was running is not: its session was
interrupted, and whether it is to be run again is a person's to say (E7).

Of one workflow only so many run at once: the rest wait, in order, and others pass them. Whoever
starts one may say otherwise: beside the others (`allow`), or not at all while there is another
(`skip`), which is on the record too.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal

import anyio
import msgspec

from rutter.events.causes import OTHER
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import BadInput, RutterError
from rutter.events.jobs import JobEnded, JobQueued, JobStarted, Overlap, Run, RunWorkflow, Trigger
from rutter.events.log import EventLog
from rutter.events.runtime import SessionEnded
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.config.reader import Config

KINDS = (kind(JobQueued), kind(JobStarted), kind(JobEnded))
KEPT = 10_000  # jobs that can be asked about; of older ones the log knows

Status = Literal["queued", "running", "ended"]
Begin = Callable[[JobQueued, str], Awaitable[SessionEnded]]  # a job, the name of its session


class QueueFull(BadInput):
    """The line is full."""

    code = "busy"


class Conflict(BadInput):
    """The same key, for something else."""

    code = "conflict"


class NoSuchJob(BadInput):
    """Nobody knows it, or not any more."""

    code = "no_such_job"


class Job(msgspec.Struct, frozen=True):
    queued: JobQueued
    queued_ns: int
    status: Status = "queued"
    session: str = ""
    ended: JobEnded | None = None

    @property
    def name(self) -> str:
        return self.queued.job


class JobLimits(msgspec.Struct, frozen=True):
    """So many may wait, so many run at once, and so many of them of one workflow."""

    waiting: int = 100
    running: int = 4
    per_workflow: int = 1


def limits_of(config: Config) -> JobLimits:
    fields = JobLimits.__struct_fields__
    return JobLimits(**{name: config.number(f"jobs.{name}") for name in fields})


def lane_of(run: Run) -> bytes:
    """What two runs have in common that are of one kind: their workflow, whatever its values.
    Others have no name, so they are of one kind when they are the same."""
    if isinstance(run, RunWorkflow):
        return b"workflow " + run.workflow.encode("utf-8", "surrogatepass")
    return msgspec.json.encode(run, order="deterministic")


class Jobs:
    """Made before the first event is heard; `work` runs them."""

    _resting = False

    def __init__(
        self,
        say: Callable[[AnyEvent], Awaitable[None]],
        begin: Begin,
        new_id: Callable[[str], str],
        limits: JobLimits,
    ) -> None:
        self._say = say
        self._begin = begin
        self._new_id = new_id
        self._limits = limits
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        # One caller's keys are not another's: an agent learns nothing of the person's, and cannot
        # have taken one before them.
        self._keys: dict[tuple[str, Trigger, str], str] = {}
        self._taken: dict[str, bytes] = {}  # those that we run, and which lane each of them is in
        self._called_off: set[str] = set()
        self._changed = anyio.Event()

    # -- the fold ------------------------------------------------------------------------------

    def hear(self, envelope: Envelope) -> None:
        """A durable event: what a job is, is what the log says of it."""
        event = envelope.event
        match event:
            case JobQueued(job=job):
                self._take(Job(event, envelope.at_ns))
                self._drop_old()
            case JobStarted(job=job, session=session) if job in self._jobs:
                self._jobs[job] = msgspec.structs.replace(
                    self._jobs[job], status="running", session=session
                )
            case JobEnded(job=job) if job in self._jobs:
                self._jobs[job] = msgspec.structs.replace(
                    self._jobs[job], status="ended", ended=event
                )
                self._called_off.discard(job)
            case _:
                return
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _take(self, job: Job) -> None:
        self._jobs[job.name] = job
        if job.queued.key:
            self._keys[_key_of(job.queued)] = job.name

    def _drop(self, name: str) -> None:
        queued = self._jobs.pop(name).queued
        self._keys.pop(_key_of(queued), None)

    def _drop_old(self) -> None:
        over = max(0, len(self._jobs) - KEPT)
        if over:
            ended = [each for each in self._jobs if self._jobs[each].status == "ended"]
            for name in ended[:over]:
                self._drop(name)

    # -- for callers ---------------------------------------------------------------------------

    async def submit(
        self,
        run: Run,
        *,
        by: str,
        trigger: Trigger = "api",
        key: str = "",
        overlap: Overlap = "queue",
    ) -> Job:
        """Takes a job on; on disk when this returns. One that is skipped is taken on and ended, so
        that it can be seen."""
        known = self._keys.get((by, trigger, key)) if key else None
        if known is not None:
            if self._jobs[known].queued.run != run:
                raise Conflict(f"the key {key!r} was used for another job", "give another key")
            return await self._until(known, lambda job: job.queued_ns > 0)
        why = self._in_the_way(run) if overlap == "skip" else ""
        if not why and len(self.waiting()) >= self._limits.waiting:
            why = f"{self._limits.waiting} jobs are waiting"
            if trigger != "schedule":  # which has nobody to tell but the log
                raise QueueFull(why, "try again later")
        job = await self._queue(JobQueued(self._new_id("job"), run, by, trigger, key, overlap, why))
        if not why:
            return job
        await self._say(_skipped(job))
        return await self.ended(job.name)

    async def refuse(
        self, run: Run, end: Literal["skipped", "refused"], why: str, *, by: str, key: str
    ) -> None:
        """What is due and cannot be run is on the record as a job that ended at once."""
        queued = JobQueued(self._new_id("job"), run, by, "schedule", key, "skip", why)
        job = await self._queue(queued)
        await self._say(JobEnded(job.name, end, detail=why, cause=OTHER))

    async def _queue(self, queued: JobQueued) -> Job:
        # Known from here on: of two that come at once the second sees the first.
        self._take(Job(queued, 0))
        try:
            await self._say(queued)
        except BaseException:
            if self._jobs[queued.job].queued_ns == 0:  # it may still come; then it is heard
                self._drop(queued.job)
                self._tell()
            raise
        return await self._until(queued.job, lambda job: job.queued_ns > 0)

    def _in_the_way(self, run: Run) -> str:
        lane = lane_of(run)
        for job in self._jobs.values():
            if job.status != "ended" and not job.queued.skipped and lane_of(job.queued.run) == lane:
                return f"{job.name} is {job.status}"
        return ""

    async def begun(self, name: str) -> Job:
        """Once it runs, or has ended without that."""
        return await self._until(name, lambda job: job.status != "queued")

    async def ended(self, name: str) -> Job:
        return await self._until(name, lambda job: job.status == "ended")

    async def _until(self, name: str, is_so: Callable[[Job], bool]) -> Job:
        while True:
            changed = self._changed
            job = self.find(name)
            if is_so(job):
                return job
            await changed.wait()

    def find(self, name: str) -> Job:
        job = self._jobs.get(name)
        if job is None:
            raise NoSuchJob(f"there is no job {name!r}", "see: GET /jobs")
        return job

    def all(self) -> tuple[Job, ...]:
        return tuple(job for job in self._jobs.values() if job.queued_ns)

    def waiting(self) -> list[Job]:
        """Those that are yet to be run, in order."""
        queued = (job for job in self._jobs.values() if job.status == "queued")
        return [job for job in queued if not job.queued.skipped]

    def running(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.status == "running"]

    async def cancel(self, name: str, by: str) -> Job:
        """One that waits never begins; one that runs is for its session to stop."""
        job = self.find(name)
        if name in self._taken:  # it may be just about to say so
            return await self._until(name, lambda job: job.status != "queued")
        if job.status == "queued" and not job.queued.skipped and name not in self._called_off:
            self._called_off.add(name)
            await self._say(JobEnded(name, "cancelled", detail=f"cancelled by {by}", cause=OTHER))
        return job if job.status == "running" else await self.ended(name)

    # -- running them --------------------------------------------------------------------------

    async def work(self) -> None:
        """Runs what waits, in order, until cancelled."""
        taken = self._taken
        async with anyio.create_task_group() as group:
            while True:
                changed = self._changed
                for job in self.waiting():
                    if self._resting or len(taken) >= self._limits.running:
                        break
                    if self._may_run(job):
                        taken[job.name] = lane_of(job.queued.run)
                        group.start_soon(self._run, job)
                await changed.wait()

    async def rest(self) -> None:
        """Begins nothing more, and returns when nothing runs: what waits is the next process's."""
        self._resting = True
        while self._taken:
            await self._changed.wait()

    def _may_run(self, job: Job) -> bool:
        if not job.queued_ns or job.name in self._taken or job.name in self._called_off:
            return False
        beside = list(self._taken.values()).count(lane_of(job.queued.run))
        return job.queued.overlap == "allow" or beside < self._limits.per_workflow

    async def _run(self, job: Job) -> None:
        name = job.name
        session = self._new_id("run")
        try:
            await self._say(JobStarted(name, session))
            end = await self._outcome(job, session)
            await self._say(end)
            with suppress(NoSuchJob):  # so old by now that it is known no more
                await self.ended(name)
        finally:
            del self._taken[name]
            self._tell()

    async def _outcome(self, job: Job, session: str) -> JobEnded:
        try:
            ended = await self._begin(job.queued, session)
        except RutterError as error:
            return JobEnded(job.name, "refused", "", str(error), session, OTHER)
        return JobEnded(job.name, ended.reason, ended.failure, ended.detail, session, ended.cause)


def _key_of(queued: JobQueued) -> tuple[str, Trigger, str]:
    return queued.by, queued.trigger, queued.key


def _skipped(job: Job) -> JobEnded:
    return JobEnded(job.name, "skipped", detail=job.queued.skipped, cause=OTHER)


async def fold(log: EventLog, kinds: Sequence[str], hear: Callable[[Envelope], None]) -> None:
    """What the log says of jobs, or of what sets them off."""
    async for envelope in log.read(kinds=kinds):
        hear(envelope)


async def ends_of_the_interrupted(log: EventLog, jobs: Jobs) -> list[JobEnded]:
    """What became of jobs that a dead process was running: what their sessions say. What it was
    about to skip is skipped."""
    skipped = [job for job in jobs.all() if job.queued.skipped and job.status == "queued"]
    ends = [_skipped(job) for job in skipped]
    for job in jobs.running():
        ended: SessionEnded | None = None
        async for envelope in log.read(session=job.session, kinds=[kind(SessionEnded)]):
            if isinstance(envelope.event, SessionEnded):
                ended = envelope.event
        if ended is None:
            detail = "the process that was to run it died before it began"
            ends.append(JobEnded(job.name, "interrupted", "", detail, job.session, OTHER))
        else:
            said = ended.reason, ended.failure, ended.detail, job.session, ended.cause
            ends.append(JobEnded(job.name, *said))
    return ends
