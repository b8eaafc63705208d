"""Turns a run request into a `SessionStarted` and the secrets, models and logins it needs. The
command line and the daemon start from here alike: whoever asks, the same rules hold, and nothing
was opened yet."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec

from rutter.actors.answers import Answers
from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.policy.hosts import EVERYWHERE
from rutter.actors.vision import Vision
from rutter.actors.world.browser.screen import OpensWindows
from rutter.actors.world.models.prices import PricedModel, PricedReader
from rutter.actors.world.secrets.redaction import check_secrets
from rutter.events.action import Action
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.run_settings import ModelUse
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import going_by
from rutter.pipeline.logins.session_logins import SessionLogins, carry, check_carried
from rutter.pipeline.output.proof_words import is_unread
from rutter.pipeline.queries.workflows_and_sessions import Tables, known_workflows
from rutter.pipeline.sessions import (
    earlier_run,
    fork,
    session_policy,
    session_started,
    workflow_choice,
)
from rutter.pipeline.sessions.attendant import (
    NOBODY,
    Attendant,
    BoundSecrets,
    ask_unbound,
    bind_configured,
    bind_secrets,
)
from rutter.pipeline.sessions.models import closing, models_of, open_models, vision_of
from rutter.pipeline.sessions.picture_readers import ghost_of, open_readers
from rutter.pipeline.sessions.request import RunRequest, read_given
from rutter.pipeline.sessions.session_started import Given, SessionTerms


class StartedSession(NamedTuple):
    """A session is started like this. `secrets` and what was `typed` are in no event, nor is what
    `logins` hold. `models` and `readers` of pictures are open: `run` lets go of them."""

    started: SessionStarted
    secrets: Mapping[str, str] = {}
    models: Mapping[str, PricedModel] = {}
    vision: Vision | None = None
    logins: SessionLogins | None = None
    typed: Sequence[str] = ()
    readers: Mapping[str, PricedReader] = {}

    async def run(
        self,
        app: App,
        browser: OpensWindows,
        name: str,
        answers: Answers,
        *,
        on_listening: Callable[[], None] | None = None,
        bar_words: Callable[[Action, str], str] | None = None,
    ) -> SessionEnded:
        attended = answers.who != "nobody"
        async with closing({**self.readers, **self.models}):
            return await app.run_in_browser(
                msgspec.structs.replace(self.started, attended=attended),
                browser,
                answers=answers,
                secrets=self.secrets,
                typed=self.typed,
                name=name,
                vision=self.vision,
                on_listening=on_listening,
                bar_words=bar_words,
                models=self.models,
                logins=self.logins,
                readers=self.readers,
            )


class _Chosen(NamedTuple):
    """A request comes to this, with what is bound for it. Each start is made of it."""

    request: RunRequest
    tables: Tables
    course: workflow_choice.Course
    bound: BoundSecrets
    terms: SessionTerms

    @property
    def leads(self) -> bool:
        """Whether a language model has to find the way."""
        return self.course.leads and not workflow_choice.has_scripts(self.terms["given"])


def start_session(
    request: RunRequest,
    tables: Tables,
    who: Attendant = NOBODY,
    *,
    bound: BoundSecrets | None = None,
    under_way: Collection[str] = (),
) -> StartedSession:
    """Raises what is wrong with the request. `bound` are secrets that were read before, for all
    rows of a file. `under_way` are the sessions that run beside it: it goes on with none of
    them."""
    config = tables.settings.config
    chosen = _chosen(request, tables, who, bound)
    # A key that is missing is said now, before any browser.
    models = {} if request.no_model else open_models(config, needed=chosen.leads, warn=who.warn)
    started, secrets = _started(chosen, models_of(config, models), who)
    if request.row is not None:  # what was left open keeps a row from being run (`rows.ledger`)
        started = msgspec.structs.replace(started, row=request.row)
    elif (workflow := chosen.course.workflow) is not None and not request.after:
        left = earlier_run.unsettled(workflow, started.values, tables, under_way)
        started = _after(started, left)
    logins = logins_of(request, started, tables.settings, who)
    vision, readers = vision_of(config, models), open_readers(config, started, models)
    return StartedSession(started, secrets, models, vision, logins, readers=readers)


def logins_of(
    request: RunRequest, started: SessionStarted, settings: Settings, who: Attendant
) -> SessionLogins | None:
    """The kept logins of a session, unless it is to have none."""
    return None if request.no_login else carry(started, settings, who.passphrase)


def check_session(request: RunRequest, tables: Tables) -> SessionStarted:
    """Raises what is wrong with the request, as far as it can be known with nothing opened and
    nobody there: what it is given is in the log as soon as a job is taken on."""
    settings = tables.settings
    chosen = _chosen(request, tables, NOBODY, None)
    started, secrets = _started(chosen, models_of(settings.config), NOBODY)
    if not request.no_login:
        check_carried(started, settings)
    check_secrets(started, secrets)
    return started


def start_tools(request: RunRequest, tables: Tables, bound: BoundSecrets) -> StartedSession:
    """A session that calls of tools drive. Where a person typed it, they said of each secret where
    it belongs: what was recorded elsewhere tells them nothing."""
    terms = terms_of(request, tables.settings, bound)
    terms["screenshots"] = request.screenshots
    terms = _unbound(terms, request, tables, BoundSecrets({}) if request.flags else bound)
    started = session_started.tool_session(
        request.url,
        request.values,
        bound.secrets,
        goal=request.goal or "",
        max_turns=request.max_turns,
        **terms,
    )
    started = configured(started, request, tables.settings)
    readers = open_readers(tables.settings.config, started)
    return StartedSession(started, bound.secrets, readers=readers)


def configured(started: SessionStarted, request: RunRequest, settings: Settings) -> SessionStarted:
    """The start with what the configuration says of every run, and what was said of this one. The
    waits of a session of tools are bound by what a call may take."""
    config, patience_ms = settings.config, request.patience_ms
    knobs = config.knobs
    if patience_ms:
        longer = {name: max(knobs[name], patience_ms) for name in ("place_ms", "answer_ms")}
        knobs |= longer | {"resolve_ms": patience_ms}
    if started.purpose == "tools":
        knobs = {name: said for name, said in knobs.items() if not name.endswith("_ms")}
    if started.purpose == "record":  # it shows what there is: nothing of it is proven yet
        del knobs["proof"]
    ghost = ghost_of(config, allowed=request.allow_ghost, models=not request.no_model)
    own = msgspec.structs.replace(started.settings, ghost=ghost, **knobs)
    started = msgspec.structs.replace(started, settings=own, headed=request.headed)
    return going_by(started, request.sure or config.sureness)


def _chosen(
    request: RunRequest, tables: Tables, who: Attendant, bound: BoundSecrets | None
) -> _Chosen:
    settings, given = tables.settings, read_given(request)
    course = workflow_choice.chosen(request, tables, given)
    workflow = course.workflow
    needed = workflow.secrets if workflow else workflow_choice.secrets_in(given.service)
    if bound is None and request.flags:
        bound = bind_secrets(request.secrets, settings, who, needed)
    elif bound is None:
        bound = bind_configured(settings, needed)
    if workflow is None and request.after:
        kind = "a free run" if request.free else "a run to a new goal"
        raise BadInput(f"{kind} continues nothing", "leave out --from, or name the workflow")
    return _Chosen(request, tables, course, bound, terms_of(request, settings, bound, given))


def terms_of(
    request: RunRequest, settings: Settings, bound: BoundSecrets, given: Given | None = None
) -> SessionTerms:
    """What the request and the configuration say that does not depend on what is run."""
    return SessionTerms(
        allow=request.allow,
        policy=settings.policy,
        dry_run=request.dry_run,
        screenshots=request.screenshots or settings.config.flag("run.screenshots"),
        given=given or read_given(request),
        origins=bound.origins,
    )


def _started(
    chosen: _Chosen, models: ModelUse | None, who: Attendant
) -> tuple[SessionStarted, dict[str, str]]:
    request, secrets = chosen.request, chosen.bound.secrets
    if chosen.course.workflow is not None:
        started, secrets = _of_workflow(chosen, chosen.course.workflow, who)
    else:
        started = _to_goal(chosen, models) if chosen.course.leads else _free(chosen)
    started = msgspec.structs.replace(started, models=models)
    return configured(started, request, chosen.tables.settings), secrets


def _of_workflow(
    chosen: _Chosen, workflow: Workflow, who: Attendant
) -> tuple[SessionStarted, dict[str, str]]:
    request, tables = chosen.request, chosen.tables
    before = earlier_run.named(request.after, workflow, tables) if request.after else []
    kept = earlier_run.values_of(before, workflow) if before else {}
    bound = chosen.bound.secrets
    values, secrets = ask_unbound(workflow, {**kept, **request.values}, bound, who)
    proof = is_unread(workflow) and not _was_verified(workflow, tables)
    started = session_started.run_of(workflow, values, secrets, seeks_proof=proof, **chosen.terms)
    return _after(started, before), secrets


def _was_verified(workflow: Workflow, tables: Tables) -> bool:
    """Whether a run of this very version was completed. The first one looks where its results
    show: that is what it can propose to look for."""
    found = tables.now().db.execute(
        "SELECT 1 FROM sessions WHERE name = ? AND version = ? AND purpose = 'run' "
        "AND reason = 'completed' LIMIT 1",
        (workflow.name, workflow.version),
    )
    return found.fetchone() is not None


def _after(started: SessionStarted, before: list[Envelope]) -> SessionStarted:
    """E7: what may have happened is looked for or asked about before it is done again."""
    return fork.continuing(started, before) if before else started


def _to_goal(chosen: _Chosen, models: ModelUse | None) -> SessionStarted:
    request, course = chosen.request, chosen.course
    return session_started.goal_run(
        course.name,
        course.goal,
        request.url,
        request.values,
        chosen.bound.secrets,
        models=models,
        limits=chosen.tables.settings.config.limits,
        **_unbound(chosen.terms, request, chosen.tables, chosen.bound),
    )


def _free(chosen: _Chosen) -> SessionStarted:
    request = chosen.request
    if not request.url:
        raise BadInput("a free run needs a place to start", "add --url URL")
    return session_started.free_run(
        request.url,
        request.values,
        chosen.bound.secrets,
        limits=chosen.tables.settings.config.limits,
        goal=chosen.course.goal,
        **_unbound(chosen.terms, request, chosen.tables, chosen.bound),
    )


def _unbound(
    terms: SessionTerms, request: RunRequest, tables: Tables, bound: BoundSecrets
) -> SessionTerms:
    """The terms of a session that no workflow binds: it may go wherever any may, and type a secret
    where that was recorded."""
    found = terms.copy()
    everywhere = [EVERYWHERE] if tables.settings.config.everywhere else []
    found["allow"] = (*request.allow, *everywhere)
    found["origins"] = (*terms["origins"], *recorded_homes(bound, tables, request.url))
    return found


def recorded_homes(bound: BoundSecrets, tables: Tables, url: str) -> list[tuple[str, str]]:
    """Which secrets any known workflow typed on the origin where the run begins: that was recorded
    too. Elsewhere somebody is asked. What was told with them holds instead, here or in the
    configuration."""
    told = {name for name, _ in (*bound.origins, *tables.settings.policy.secret_origins)}
    untold = bound.secrets.keys() - told
    if not url or not untold:
        return []
    flows, here = known_workflows(tables), origin_of(url)
    found = dict.fromkeys(each for flow in flows for each in session_policy.secret_origins(flow))
    return [each for each in found if each[0] in untold and each[1] == here]
