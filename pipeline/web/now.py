"""Now is what runs, what waits for a person, what failed since yesterday, and what the clock starts
next."""

from typing import Any

import msgspec

from rutter.events.jobs import Run, RunFree, RunGoal, RunWorkflow
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.queries.workflows_and_sessions import project
from rutter.pipeline.web.asked_questions import asked_questions
from rutter.pipeline.web.found_runs import OUTCOMES
from rutter.pipeline.web.page_words import DAY
from rutter.pipeline.web.seen_run import SeenRun, see

FAILURES = 8  # with their sentence; the others are behind a link
DUE = 6


class DueRun(msgspec.Struct, frozen=True):
    """A due run is what the clock starts next, and when."""

    schedule: str
    what: str
    at_ns: int


def now_of(daemon: Daemon) -> dict[str, Any]:
    settings, now_ns = daemon.settings, daemon.app.clock.now_ns()
    running = [see(settings, session) for session in daemon.app.running()]
    since = now_ns - DAY * 10**9
    failed = f"(({OUTCOMES['failed']}) OR ({OUTCOMES['needs_person']})) AND ended_ns >= ?"
    with project(settings) as store:
        newest = f"SELECT session FROM sessions WHERE {failed} ORDER BY seq DESC LIMIT ?"
        names = [row["session"] for row in store.rows(newest, since, FAILURES + 1)]
        done = "SELECT count(*) AS runs FROM sessions WHERE reason = 'completed' AND ended_ns >= ?"
        went_well = store.rows(done, since)[0]["runs"]
    return {
        "running": running,
        "questions": asked_questions(daemon),
        "asking": {each.session for each in daemon.questions.pending()},
        "queued": [(job.name, _what(job.queued.run)) for job in daemon.jobs.waiting()],
        "failed": _seen(daemon, names[:FAILURES]),
        "more_failed": len(names) > FAILURES,
        "went_well": went_well,
        "due": _due(daemon, now_ns),
    }


def _seen(daemon: Daemon, names: list[str]) -> list[SeenRun]:
    return [see(daemon.settings, name) for name in names]


def _due(daemon: Daemon, now_ns: int) -> list[DueRun]:
    found = [(each.next_ns(now_ns), each) for each in daemon.schedules.all()]
    soonest = sorted((at, each.name, each) for at, each in found if at is not None)
    return [DueRun(name, _what(each.told.run), at) for at, name, each in soonest[:DUE]]


def _what(run: Run) -> str:
    match run:
        case RunWorkflow(workflow=name):
            return name
        case RunGoal(goal=goal):
            return goal
        case RunFree(url=url):
            return f"a free run from {url}"
