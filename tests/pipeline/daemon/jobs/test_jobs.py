"""Given a daemon that takes on jobs: which of them run, and what is said of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput, BrowserGone
from rutter.events.jobs import JobEnded, JobQueued, JobStarted, RunFree, RunWorkflow
from rutter.events.memory_log import MemoryLog
from rutter.events.runtime import SessionEnded
from rutter.events.upcast import with_causes
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.daemon.jobs.jobs import (
    Conflict,
    Job,
    JobLimits,
    Jobs,
    NoSuchJob,
    QueueFull,
    ends_of_the_interrupted,
)

pytestmark = pytest.mark.anyio

ORDER = RunWorkflow("order", values={"customer": "Aurora"})


class Sea:
    """Where jobs are run: each waits until it is let go, and ends as it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.let_go: dict[str, anyio.Event] = {}
        self.ends: dict[str, SessionEnded | BrowserGone] = {}
        self.changed = anyio.Event()

    async def begin(self, queued: JobQueued, session: str) -> SessionEnded:
        self.begun.append(queued.job)
        self.let_go.setdefault(queued.job, anyio.Event())
        self.changed.set()
        self.changed = anyio.Event()
        await self.let_go[queued.job].wait()
        end = self.ends.get(queued.job, SessionEnded("completed"))
        if isinstance(end, BrowserGone):
            raise end
        return end

    async def until_begun(self, count: int) -> None:
        while len(self.begun) < count:
            await self.changed.wait()

    def release(self, job: Job) -> None:
        self.let_go.setdefault(job.name, anyio.Event()).set()


class Daemon:
    """Jobs over a log that is a list."""

    def __init__(self, sea: Sea, limits: JobLimits, log: list[AnyEvent] | None = None) -> None:
        self.log: list[AnyEvent] = []
        self.sea = sea
        self._ids = 0
        self.jobs = Jobs(self.say, sea.begin, self.new_id, limits)
        for event in log or ():
            self._append(event)

    async def say(self, event: AnyEvent) -> None:
        await anyio.lowlevel.checkpoint()
        self._append(event)

    def _append(self, event: AnyEvent) -> None:
        self.log.append(event)
        seq = len(self.log)
        self.jobs.hear(Envelope(seq, "process", seq, seq, "runtime", 0, event, b""))

    def new_id(self, what: str) -> str:
        self._ids += 1
        return f"{what}-{self._ids}"


@asynccontextmanager
async def serving(
    *, waiting: int = 10, running: int = 2, per_workflow: int = 1, log: list[AnyEvent] | None = None
) -> AsyncIterator[Daemon]:
    daemon = Daemon(Sea(), JobLimits(waiting, running, per_workflow), log)
    async with anyio.create_task_group() as group:
        group.start_soon(daemon.jobs.work)
        yield daemon
        group.cancel_scope.cancel()


async def test_a_job_runs_and_ends_as_its_session_did() -> None:
    async with serving() as daemon:
        job = await daemon.jobs.submit(ORDER, by="person")
        daemon.sea.ends[job.name] = SessionEnded("failed", "lost", "no way")
        daemon.sea.release(job)
        ended = (await daemon.jobs.ended(job.name)).ended
    assert ended is not None
    assert (ended.reason, ended.failure, ended.detail) == ("failed", "lost", "no way")
    assert [type(each) for each in daemon.log] == [JobQueued, JobStarted, JobEnded]


async def test_no_more_run_at_once_than_may_and_in_the_order_in_which_they_came() -> None:
    async with serving(running=2) as daemon:
        jobs = [await daemon.jobs.submit(RunFree(f"/{n}"), by="person") for n in range(4)]
        await daemon.sea.until_begun(2)
        assert daemon.sea.begun == [jobs[0].name, jobs[1].name]
        daemon.sea.release(jobs[1])
        await daemon.sea.until_begun(3)
        assert daemon.sea.begun[2] == jobs[2].name


async def test_a_full_line_takes_no_more_and_says_so() -> None:
    async with serving(waiting=1, running=1) as daemon:
        await daemon.jobs.submit(RunFree("/1"), by="person")
        await daemon.sea.until_begun(1)
        await daemon.jobs.submit(RunFree("/2"), by="person")
        with pytest.raises(QueueFull, match="try again later"):
            await daemon.jobs.submit(RunFree("/3"), by="person")


async def test_the_same_key_is_the_same_job_also_when_both_come_at_once() -> None:
    async with serving() as daemon:
        found: list[Job] = []

        async def submit() -> None:
            found.append(await daemon.jobs.submit(ORDER, by="agent", key="k"))

        async with anyio.create_task_group() as group:
            group.start_soon(submit)
            group.start_soon(submit)
        assert found[0].name == found[1].name
        assert len([each for each in daemon.log if isinstance(each, JobQueued)]) == 1


async def test_the_same_key_for_something_else_is_refused() -> None:
    async with serving() as daemon:
        await daemon.jobs.submit(ORDER, by="agent", key="k")
        with pytest.raises(Conflict):
            await daemon.jobs.submit(RunFree("/"), by="agent", key="k")


async def test_what_cannot_begin_ends_as_refused_with_the_reason() -> None:
    async with serving() as daemon:
        job = await daemon.jobs.submit(ORDER, by="person")
        daemon.sea.ends[job.name] = BrowserGone("no browser", "run: rutter doctor")
        daemon.sea.release(job)
        ended = (await daemon.jobs.ended(job.name)).ended
    assert ended is not None
    assert (ended.reason, ended.detail) == ("refused", "no browser; run: rutter doctor")


async def test_one_that_waits_can_be_cancelled_and_never_begins() -> None:
    async with serving(running=1) as daemon:
        first = await daemon.jobs.submit(RunFree("/1"), by="person")
        await daemon.sea.until_begun(1)
        second = await daemon.jobs.submit(RunFree("/2"), by="person")
        third = await daemon.jobs.submit(RunFree("/3"), by="person")
        cancelled = await daemon.jobs.cancel(second.name, "person")
        assert cancelled.ended is not None
        assert cancelled.ended.reason == "cancelled"
        daemon.sea.release(first)
        await daemon.sea.until_begun(2)
        assert daemon.sea.begun == [first.name, third.name]


async def test_after_a_restart_what_waited_is_run_and_what_ran_is_not() -> None:
    before: list[AnyEvent] = [
        JobQueued("a", ORDER, "person"),
        JobStarted("a", "run-a"),
        JobQueued("b", RunFree("/b"), "person", key="k"),
        JobQueued("c", RunFree("/c"), "person"),
        JobEnded("c", "cancelled"),
    ]
    async with serving(log=before) as daemon:
        await daemon.sea.until_begun(1)
        assert daemon.sea.begun == ["b"]
        assert [job.name for job in daemon.jobs.running()] == ["a", "b"]
        again = await daemon.jobs.submit(RunFree("/b"), by="person", key="k")
        assert again.name == "b"


async def test_a_job_that_nobody_knows_is_said_so() -> None:
    async with serving() as daemon:
        with pytest.raises(NoSuchJob, match="GET /jobs"):
            daemon.jobs.find("job-99")
        with pytest.raises(BadInput):
            await daemon.jobs.cancel("job-99", "person")


# -- overlap ---------------------------------------------------------------------------------------


async def test_of_one_workflow_one_runs_at_a_time_and_others_pass_those_that_wait() -> None:
    async with serving(running=3) as daemon:
        first = await daemon.jobs.submit(ORDER, by="person")
        again = await daemon.jobs.submit(RunWorkflow("order"), by="person")
        other = await daemon.jobs.submit(RunWorkflow("refund"), by="person")
        await daemon.sea.until_begun(2)
        assert daemon.sea.begun == [first.name, other.name]
        daemon.sea.release(first)
        await daemon.sea.until_begun(3)
        assert daemon.sea.begun[2] == again.name


async def test_so_many_of_one_workflow_as_are_allowed() -> None:
    async with serving(running=3, per_workflow=2) as daemon:
        jobs = [await daemon.jobs.submit(ORDER, by="person") for _ in range(3)]
        await daemon.sea.until_begun(2)
        assert daemon.jobs.waiting() == [jobs[2]]


async def test_what_may_overlap_runs_beside_the_others_and_not_above_the_limit_of_all() -> None:
    async with serving(running=2) as daemon:
        jobs = [
            await daemon.jobs.submit(ORDER, by="person", overlap=each)
            for each in ("queue", "queue", "allow", "allow")
        ]
        await daemon.sea.until_begun(2)
        assert daemon.sea.begun == [jobs[0].name, jobs[2].name]


async def test_what_is_skipped_is_taken_on_and_ended_and_never_begins() -> None:
    async with serving(running=3) as daemon:
        first = await daemon.jobs.submit(ORDER, by="person")
        await daemon.sea.until_begun(1)
        skipped = await daemon.jobs.submit(ORDER, by="hook x", overlap="skip")
        assert skipped.ended == with_causes(
            JobEnded(skipped.name, "skipped", detail="job-1 is running")
        )
        daemon.sea.release(first)
        await daemon.jobs.ended(first.name)
        taken = await daemon.jobs.submit(ORDER, by="hook x", overlap="skip")
        assert taken.ended is None
        await daemon.sea.until_begun(2)
        assert daemon.sea.begun == [first.name, taken.name]


async def test_of_two_that_come_at_once_and_would_be_skipped_one_is_run() -> None:
    async with serving(running=3) as daemon:
        found: list[Job] = []

        async def submit() -> None:
            found.append(await daemon.jobs.submit(ORDER, by="hook x", overlap="skip"))

        async with anyio.create_task_group() as group:
            group.start_soon(submit)
            group.start_soon(submit)
        assert sorted(each.queued.skipped for each in found) == ["", "job-1 is queued"]


async def test_what_was_to_be_skipped_when_the_process_died_is_not_run_by_the_next() -> None:
    before: list[AnyEvent] = [
        JobQueued("a", ORDER, "person"),
        JobQueued("b", ORDER, "schedule s", "schedule", "s@1", "skip", "a is queued"),
    ]
    async with serving(log=before) as daemon:
        await daemon.sea.until_begun(1)
        ends = await ends_of_the_interrupted(MemoryLog(), daemon.jobs)
        assert with_causes(JobEnded("b", "skipped", detail="a is queued")) in ends
        assert daemon.sea.begun == ["a"]
        assert daemon.jobs.waiting() == []


async def test_after_a_restart_one_that_may_overlap_still_may() -> None:
    before: list[AnyEvent] = [
        JobQueued("a", ORDER, "person"),
        JobQueued("b", ORDER, "person", overlap="allow"),
    ]
    async with serving(log=before) as daemon:
        await daemon.sea.until_begun(2)


async def test_the_line_is_not_longer_than_it_may_be_when_many_come_at_once() -> None:
    async with serving(waiting=2, running=1) as daemon:
        first = await daemon.jobs.submit(RunFree("/"), by="person")
        await daemon.sea.until_begun(1)
        refused: list[QueueFull] = []

        async def submit(number: int) -> None:
            try:
                await daemon.jobs.submit(RunFree(f"/{number}"), by="person")
            except QueueFull as busy:
                refused.append(busy)

        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(submit, number)
        assert len(refused) == 3
        assert len(daemon.jobs.waiting()) == 2
        assert daemon.sea.begun == [first.name]


async def test_the_keys_of_one_way_in_are_not_those_of_another() -> None:
    async with serving() as daemon:
        by_api = await daemon.jobs.submit(ORDER, by="agent", key="s@2026")
        by_clock = await daemon.jobs.submit(ORDER, by="s", trigger="schedule", key="s@2026")
        assert by_api.name != by_clock.name


async def test_one_that_is_just_beginning_is_not_cancelled_behind_its_back() -> None:
    async with serving() as daemon:
        job = await daemon.jobs.submit(ORDER, by="person")
        cancelled = await daemon.jobs.cancel(job.name, "person")
        ended = [each for each in daemon.log if isinstance(each, JobEnded)]
        begun = cancelled.status == "running"
        assert begun == (not ended)


async def test_who_goes_away_before_it_is_on_disk_leaves_nothing_that_waits_for_ever() -> None:
    async with serving() as daemon:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await daemon.jobs.submit(ORDER, by="agent", key="k")
        job = await daemon.jobs.submit(ORDER, by="agent", key="k")
        assert job.queued_ns > 0
