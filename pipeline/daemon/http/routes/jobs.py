"""Routes take jobs and approvals: what is to be run, and what a person is asked."""

from functools import partial
from typing import Annotated, Any, Literal

import anyio
import msgspec
from litestar.params import HeaderParameter, JSONBody

from rutter.actors.answers import PersonAnswer
from rutter.events.jobs import JobEnd, Run, RunGoal
from rutter.events.predictor import (
    SessionForgotten,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.http.routes.common import (
    Approval,
    Asked,
    Flag,
    HowMany,
    JobName,
    Session,
    by_agent,
    daemon_of,
    delete,
    get,
    post,
)
from rutter.pipeline.daemon.jobs.approvals import PendingQuestion
from rutter.pipeline.daemon.jobs.jobs import Job
from rutter.pipeline.daemon.jobs.runner import AGENT, check_run
from rutter.pipeline.output.result_files import results_of
from rutter.pipeline.runtime.cut_short import cut_short_by
from rutter.pipeline.workflows.edit import check_workflow
from rutter.replay.story.results import as_json

WAIT_S = 20.0  # then whoever waits asks again: no answer takes for ever
Change = WorkflowLearned | WorkflowDeleted | WorkflowRenamed | SessionForgotten
KEY = Annotated[
    str,
    HeaderParameter(
        name="Idempotency-Key",
        max_length=200,
        pattern=r"^[\x21-\x7e]*$",
        description="the caller's own name for it: the same one again is the same job",
    ),
]


class JobTold(msgspec.Struct, frozen=True, omit_defaults=True):
    """The log tells this of a job. `reason`, `failure` and `detail` are how it ended; `results` is
    what it read and downloaded, where one job that has ended is asked for."""

    job_id: str
    status: Literal["queued", "running", "ended"]
    run: Run
    by: str
    trigger: str
    queued_ns: int
    session: str = ""
    reason: JobEnd | None = None
    failure: str = ""
    detail: str = ""
    results: dict[str, Any] = {}


def told(job: Job) -> JobTold:
    asked = job.queued
    one = JobTold(
        job.name, job.status, asked.run, asked.by, asked.trigger, job.queued_ns, job.session
    )
    if (ended := job.ended) is None:
        return one
    how = {name: getattr(ended, name) for name in ("reason", "failure", "detail")}
    return msgspec.structs.replace(one, session=ended.session or job.session, **how)


async def _taken_on(request: Asked, run: Run, key: str) -> JobTold:
    daemon, agent = daemon_of(request), by_agent(request)
    await anyio.to_thread.run_sync(lambda: check_run(run, daemon.settings, agent=agent))
    by = AGENT if agent else "person"
    return told(await daemon.jobs.submit(run, by=by, key=key))


@post("/jobs", summary="Runs something", status_code=202)
async def submit(request: Asked, data: JSONBody[Run], key: KEY = "") -> JobTold:
    """Taken on durably, and run as soon as there is room."""
    return await _taken_on(request, data, key)


@post("/api/wraith", summary="Runs to a goal (agent_run)", status_code=202)
async def wraith(request: Asked, data: JSONBody[RunGoal], key: KEY = "") -> JobTold:
    """`policy_denied` while Mode B is off."""
    return await _taken_on(request, data, key)


@get("/jobs", summary="What was taken on, newest first", sync_to_thread=False)
def jobs(request: Asked, last: HowMany = 100) -> list[JobTold]:
    return [told(each) for each in reversed(daemon_of(request).jobs.all()[-last:])]


@get("/jobs/{job:str}", summary="One of them")
async def job(request: Asked, job: JobName, wait: Flag = False) -> JobTold:
    """With `wait`, once its session is in the log or it has ended, or after a while."""
    daemon = daemon_of(request)
    found = daemon.jobs.find(job)
    if wait and found.status != "ended":
        with anyio.move_on_after(WAIT_S):
            await _in_log(daemon, job)
        found = daemon.jobs.find(job)
    one = told(found)
    if found.status != "ended" or not one.session:
        return one
    settings = daemon.settings
    brought = await anyio.to_thread.run_sync(
        lambda: as_json(results_of(settings, one.session)), limiter=daemon.looking_back
    )
    return msgspec.structs.replace(one, results=brought)


async def _in_log(daemon: Daemon, job: str) -> None:
    """Until the first event of its session is there, or none is going to be."""
    begun = await daemon.jobs.begun(job)
    async with cut_short_by(partial(daemon.jobs.ended, job)):
        async for _ in daemon.feed.follow(begun.session):
            break


@delete("/jobs/{job:str}", summary="Calls one off", status_code=200)
async def cancel(request: Asked, job: JobName) -> JobTold:
    """One that waits never begins; one that runs is stopped, in a true state."""
    daemon = daemon_of(request)
    found = await daemon.jobs.cancel(job, "the person")
    if found.status == "running" and found.session in daemon.app.running():
        await daemon.app.stop(found.session, "the person")
        found = await daemon.jobs.ended(job)
    return told(found)


# -- approvals -------------------------------------------------------------------------------------


@get("/approvals", summary="What waits for a person", sync_to_thread=False)
def approvals(request: Asked) -> tuple[PendingQuestion, ...]:
    return daemon_of(request).questions.pending()


@post("/approvals/{session:str}/{approval:str}", summary="Answers one, once", status_code=200)
async def answer(
    request: Asked, session: Session, approval: Approval, data: JSONBody[PersonAnswer]
) -> dict[str, Any]:
    """For the person alone. What is a final confirmation must be typed out in `phrase`."""
    asked = daemon_of(request).questions.answer(session, approval, data)
    return {"session": session, "approval": approval, "question": asked.question}


@post(
    "/changes",
    summary="Changes what is known: a workflow, or what a session taught",
    status_code=204,
)
async def change(request: Asked, data: JSONBody[Change]) -> None:
    """For the person alone. It is a fact in the log, and counts from the next turn on."""
    if isinstance(data, WorkflowLearned):
        check_workflow(data.workflow)
    await daemon_of(request).app.say_process(data)


ROUTES = [change, submit, wraith, jobs, job, cancel, approvals, answer]
