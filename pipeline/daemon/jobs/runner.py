"""The runner makes a session of a job and runs it to its end."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import anyio
import msgspec

from rutter.actors.world.browser.screen import OpensWindows
from rutter.actors.world.secrets.redaction import check_secrets
from rutter.events.errors import BadInput, PolicyDenied
from rutter.events.jobs import JobQueued, Run, RunFree, RunGoal, RunWorkflow
from rutter.events.runtime import SessionEnded
from rutter.events.workflow import Criteria
from rutter.pipeline.app import App
from rutter.pipeline.config.secret_sources import read_origins, read_secrets
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.config.tables import configured_pairs
from rutter.pipeline.daemon.jobs.approvals import Questions
from rutter.pipeline.logins.session_logins import without_paths
from rutter.pipeline.sessions.models import closing, is_on
from rutter.pipeline.sessions.service_file import bundled, indicator, read_service
from rutter.pipeline.sessions.session_started import NOTHING, Given
from rutter.pipeline.sessions.start import Bound, Wish, depart
from rutter.pipeline.tools.agent_hosts import check_agents_reach

AGENT = "agent"
# Of one job: it is in the log for good, and in memory for as long as it is told of.
MAX_RUN_BYTES = 64 * 1024


def bind_configured(settings: Settings, needed: Iterable[str]) -> Bound:
    """Secrets as the configuration says where they are: nobody is there to type one."""
    names = tuple(needed)
    unknown = sorted(set(names) - settings.config.secrets.keys())
    if unknown:
        raise BadInput(
            f"the configuration does not say where the secret {unknown[0]!r} is",
            f"add [secrets.{unknown[0]}] with its source to the configuration",
        )
    given = configured_pairs((), settings.config.secrets, names)
    homes = read_origins(given)
    return Bound(
        read_secrets(given, environment(), _nobody),
        tuple((name, origin) for name, origins in homes.items() for origin in origins),
    )


def _nobody(question: str) -> str:
    raise BadInput(f"nobody is here to type {question}", "give the secret another source")


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
    with without_paths(settings):
        leaving = depart(
            _wish(run, agent=agent),
            settings,
            lambda needed: bind_configured(settings, needed),
            open_nobody=True,
        )
    assert not leaving.models
    # Before it is taken on: what a job is given is in the log from then on.
    check_secrets(leaving.started, leaving.secrets)


def _wish(run: Run, *, agent: bool) -> Wish:
    """Where an agent chose the way, it has nobody's login: a workflow is what a person recorded."""
    no_login = agent and not isinstance(run, RunWorkflow)
    return msgspec.structs.replace(wish_of(run), no_login=no_login)


def wish_of(run: Run) -> Wish:
    match run:
        case RunWorkflow(workflow=name, version=version, values=values, dry_run=dry, row=row):
            if not name:
                raise BadInput("which workflow?", "name one: GET /workflows lists them")
            return Wish(name, version=version, values=values, dry_run=dry, row=row)
        case RunFree(url=url, values=values, success=success, dry_run=dry):
            given = Given(criteria=_criteria(success))
            return Wish(free=True, url=url, values=values, dry_run=dry, given=given)
        case RunGoal():
            return Wish(
                run.name,
                goal=run.goal,
                url=run.url,
                values=run.values,
                dry_run=run.dry_run,
                given=_given(run),
            )


def _criteria(success: Sequence[str]) -> Criteria | None:
    signs = []
    for each in success:
        where, _, says = each.partition("=")
        signs.append(indicator(where, says, f"success {each}"))
    return Criteria(tuple(signs)) if signs else None


def _given(run: RunGoal) -> Given:
    """A service by the name of one that comes along: no file is read because a request says so."""
    typed = _criteria(run.success)
    if not run.service:
        return Given(criteria=typed) if typed else NOTHING
    if run.service not in bundled():
        raise BadInput(
            f"there is no service {run.service!r}", f"it is one of: {', '.join(bundled())}"
        )
    known = read_service(Path(run.service))
    named = known.criteria or Criteria()
    success = (*(typed.success if typed else ()), *named.success)
    return Given(service=known.service, criteria=Criteria(success, named.failure))


class JobRunner:
    """What a job's session is begun with (`rutter.pipeline.daemon.jobs.jobs.Begin`)."""

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
            return SessionEnded("interrupted", "", "the daemon stopped before it began")
        agent = job.by == AGENT
        if agent and not isinstance(job.run, RunWorkflow):
            check_agents_reach(settings.policy, job.run.url)
        wish = msgspec.structs.replace(_wish(job.run, agent=agent), headed=not settings.headless)
        beside = self._app.running()
        with without_paths(settings):
            leaving = await anyio.to_thread.run_sync(
                lambda: depart(
                    wish,
                    settings,
                    lambda needed: bind_configured(settings, needed),
                    warn=self._warn,
                    under_way=beside,
                )
            )
        async with closing(leaving.models):
            return await self._app.run_in_browser(
                leaving.started,
                self._browser,
                answers=self._questions.of(session),
                secrets=leaving.secrets,
                name=session,
                models=leaving.models,
                vision=leaving.vision,
                logins=leaving.logins,
            )
