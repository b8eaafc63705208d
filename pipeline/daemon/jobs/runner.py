"""The runner makes a session of a job and runs it to its end."""

from collections.abc import Callable

import anyio
import msgspec

from rutter.actors.world.browser.screen import OpensWindows
from rutter.events.causes import OTHER
from rutter.events.errors import BadInput, PolicyDenied
from rutter.events.jobs import JobQueued, Run, RunGoal, RunWorkflow
from rutter.events.runtime import SessionEnded
from rutter.pipeline.app import App
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs.approvals import Questions
from rutter.pipeline.logins.session_logins import without_paths
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.attendant import Attendant
from rutter.pipeline.sessions.models import is_on
from rutter.pipeline.sessions.request import RunRequest, request_of
from rutter.pipeline.sessions.start import StartedSession, check_session, start_session
from rutter.pipeline.tools.agent_hosts import check_agents_reach

AGENT = "agent"
# Of one job: it is in the log for good, and in memory for as long as it is told of.
MAX_RUN_BYTES = 64 * 1024


def check_run(run: Run, settings: Settings, *, agent: bool) -> None:
    """What is refused before it is taken on: more than can be kept, a model where none may lead, a
    host that an agent may not name, what is not there or not bound, a value that holds a secret."""
    if len(msgspec.json.encode(run)) > MAX_RUN_BYTES:
        raise BadInput(
            f"there is more in this job than {MAX_RUN_BYTES} bytes", "give shorter values"
        )
    if isinstance(run, RunGoal) and not is_on(settings.config):
        raise PolicyDenied(
            "policy_denied: no language model may lead a run (Mode B is off)",
            "turn it on in the configuration: agent.internal.enabled = true",
        )
    if agent and not isinstance(run, RunWorkflow):
        check_agents_reach(settings.policy, run.url)
    elif agent and isinstance(run, RunWorkflow) and run.row is not None:
        raise PolicyDenied(
            "policy_denied: the rows of a file are a person's to run", "leave out row"
        )
    with without_paths(settings), Tables(settings) as tables:
        check_session(_request(run, agent=agent), tables)


def _request(run: Run, *, agent: bool, headed: bool = False) -> RunRequest:
    """Where an agent chose the way, it has nobody's login: a workflow is what a person recorded."""
    no_login = agent and not isinstance(run, RunWorkflow)
    return msgspec.structs.replace(request_of(run), no_login=no_login, headed=headed)


class JobRunner:
    """A job's session begins here (`rutter.pipeline.daemon.jobs.jobs.Begin`)."""

    def __init__(
        self,
        app: App,
        browser: OpensWindows,
        settings: Settings,
        questions: Questions,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._app = app
        self._browser = browser
        self._settings = settings
        self._questions = questions
        self._warn = warn
        self.stopping = False

    async def __call__(self, job: JobQueued, session: str) -> SessionEnded:
        settings = self._settings
        if self.stopping:
            return SessionEnded("interrupted", "", "the daemon stopped before it began", OTHER)
        agent = job.by == AGENT
        if agent and not isinstance(job.run, RunWorkflow):
            check_agents_reach(settings.policy, job.run.url)
        request = _request(job.run, agent=agent, headed=not settings.headless)
        beside = self._app.running()

        def start() -> StartedSession:
            who = Attendant(warn=self._warn)
            with Tables(settings) as tables:
                return start_session(request, tables, who, under_way=beside)

        with without_paths(settings):
            leaving = await anyio.to_thread.run_sync(start)
        return await leaving.run(
            self._app, self._browser, session, self._questions.of(session, leaving.started)
        )
