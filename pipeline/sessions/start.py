"""Turns a run request into a `SessionStarted` and the secrets, models and logins it needs. The
command line and the daemon start from here alike: whoever asks, the same rules hold, and nothing
was opened yet."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.policy.hosts import EVERYWHERE
from rutter.actors.vision import Vision
from rutter.actors.world.models.prices import PricedModel
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.rows import BatchRow
from rutter.events.run_settings import ModelUse
from rutter.events.runtime import SessionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.logins.sealing_key import Ask
from rutter.pipeline.logins.session_logins import SessionLogins, carry, check_carried
from rutter.pipeline.output.proof_words import is_unread
from rutter.pipeline.queries.workflows_and_sessions import all_workflows, project
from rutter.pipeline.sessions import (
    earlier_run,
    fork,
    session_policy,
    session_started,
    workflow_choice,
)
from rutter.pipeline.sessions.models import models_of, open_models, vision_of
from rutter.pipeline.sessions.session_started import NOTHING, Given


class Wish(msgspec.Struct, frozen=True):
    """A workflow by its name, a goal, or a free run from an address."""

    name: str = ""
    version: int = 0
    goal: str | None = None
    url: str = ""
    free: bool = False
    values: Mapping[str, str] = {}
    allow: tuple[str, ...] = ()
    after: str = ""
    dry_run: bool = False
    screenshots: bool = False
    headed: bool = False
    patience_ms: int = 0
    no_model: bool = False
    no_login: bool = False
    given: Given = NOTHING
    row: BatchRow | None = None


class Bound(NamedTuple):
    """Secrets by name, and the origins that were given with them."""

    secrets: dict[str, str]
    origins: tuple[tuple[str, str], ...]


class Departure(NamedTuple):
    """`secrets` are in no event, nor is what `logins` hold. `models` are open: whoever runs it
    lets go of them."""

    started: SessionStarted
    secrets: dict[str, str]
    course: workflow_choice.Course
    models: dict[str, PricedModel]
    vision: Vision | None
    logins: SessionLogins | None = None


Bind = Callable[[Iterable[str]], Bound]
Values = Mapping[str, str]
Fill = Callable[[Workflow, Values, Values], tuple[dict[str, str], dict[str, str]]]


def as_given(
    workflow: Workflow, values: Values, secrets: Values
) -> tuple[dict[str, str], dict[str, str]]:
    """There is nobody to ask for what is missing: it is refused by name."""
    return dict(values), dict(secrets)


def depart(
    wish: Wish,
    settings: Settings,
    bind: Bind,
    *,
    fill: Fill = as_given,
    sure: Thresholds | None = None,
    warn: Callable[[str], None] = lambda _: None,
    open_nobody: bool = False,
    under_way: Collection[str] = (),
    ask: Ask | None = None,
) -> Departure:
    """Raises what is wrong with the wish. `bind` reads the secrets that are needed; `fill` may ask
    a person for what is not bound yet. `open_nobody`: it is only looked whether it would depart.
    `under_way` are the sessions that run beside it: it goes on with none of them. `ask` is who can
    type the passphrase of kept logins."""
    course = workflow_choice.chosen(wish, settings, wish.given)
    workflow = course.workflow
    needed = (
        workflow.secrets if workflow is not None else workflow_choice.secrets_in(wish.given.service)
    )
    bound = bind(needed)
    if workflow is None and wish.after:
        kind = "a free run" if wish.free else "a run to a new goal"
        raise BadInput(f"{kind} continues nothing", "leave out --from, or name the workflow")
    leads = course.leads and not workflow_choice.has_scripts(wish.given)
    # A key that is missing is said now, before any browser.
    without = wish.no_model or open_nobody
    models = {} if without else open_models(settings.config, needed=leads, warn=warn)
    pinned = models_of(settings.config, None if open_nobody else models)
    if workflow is not None:
        started, bound = _of_workflow(wish, settings, workflow, bound, fill)
        if wish.row is not None:  # what was left open keeps a row from being run (`rows.ledger`)
            started = msgspec.structs.replace(started, row=wish.row)
        elif not (wish.after or open_nobody):
            left = earlier_run.unsettled(workflow, started.values, settings, under_way)
            started = _after(started, left)
    elif course.leads:
        started = _to_goal(wish, settings, course, bound, pinned)
    else:
        started = _free(wish, settings, course.goal, bound)
    started = session_started.configured(
        msgspec.structs.replace(started, models=pinned),
        settings.config.knobs,
        sure or settings.config.sureness,
        headed=wish.headed,
        patience_ms=wish.patience_ms,
    )
    vision = vision_of(settings.config, models)
    return Departure(
        started,
        bound.secrets,
        course,
        models,
        vision,
        _logins(wish, started, settings, ask, open_nobody),
    )


def _logins(
    wish: Wish, started: SessionStarted, settings: Settings, ask: Ask | None, only_looked: bool
) -> SessionLogins | None:
    if wish.no_login:
        return None
    if only_looked:
        check_carried(started, settings)
        return None
    return carry(started, settings, ask)


def _of_workflow(
    wish: Wish, settings: Settings, workflow: Workflow, bound: Bound, fill: Fill
) -> tuple[SessionStarted, Bound]:
    before = earlier_run.named(wish.after, workflow, settings) if wish.after else []
    values = dict(wish.values)
    if before:
        values = {**earlier_run.values_of(before, workflow), **values}
    values, secrets = fill(workflow, values, bound.secrets)
    started = session_started.run_of(
        workflow,
        values,
        secrets,
        allow=wish.allow,
        policy=settings.policy,
        dry_run=wish.dry_run,
        screenshots=pictured(wish, settings),
        given=wish.given,
        origins=bound.origins,
        seeks_proof=is_unread(workflow) and not _was_verified(workflow, settings),
    )
    return _after(started, before), Bound(secrets, bound.origins)


def _was_verified(workflow: Workflow, settings: Settings) -> bool:
    """Whether a run of this very version was completed. The first one looks where its results
    show: that is what it can propose to look for."""
    with project(settings) as store:
        found = store.db.execute(
            "SELECT 1 FROM sessions WHERE name = ? AND version = ? AND purpose = 'run' "
            "AND reason = 'completed' LIMIT 1",
            (workflow.name, workflow.version),
        ).fetchone()
    return found is not None


def _after(started: SessionStarted, before: list[Envelope]) -> SessionStarted:
    """E7: what may have happened is looked for or asked about before it is done again."""
    return fork.continuing(started, before) if before else started


def _to_goal(
    wish: Wish,
    settings: Settings,
    course: workflow_choice.Course,
    bound: Bound,
    models: ModelUse | None,
) -> SessionStarted:
    homes = recorded_homes(bound, settings, wish.url) if wish.url else []
    return session_started.goal_run(
        course.name,
        course.goal,
        wish.url,
        wish.values,
        bound.secrets,
        models=models,
        limits=settings.config.limits,
        allow=allowed(wish.allow, settings),
        policy=settings.policy,
        dry_run=wish.dry_run,
        screenshots=pictured(wish, settings),
        given=wish.given,
        origins=(*bound.origins, *homes),
    )


def _free(wish: Wish, settings: Settings, goal: str, bound: Bound) -> SessionStarted:
    if not wish.url:
        raise BadInput("a free run needs a place to start", "add --url URL")
    return session_started.free_run(
        wish.url,
        wish.values,
        bound.secrets,
        allow=allowed(wish.allow, settings),
        policy=settings.policy,
        dry_run=wish.dry_run,
        screenshots=pictured(wish, settings),
        given=wish.given,
        origins=(*bound.origins, *recorded_homes(bound, settings, wish.url)),
        limits=settings.config.limits,
        goal=goal,
    )


def pictured(wish: Wish, settings: Settings) -> bool:
    return wish.screenshots or settings.config.flag("run.screenshots")


def allowed(hosts: Iterable[str], settings: Settings) -> list[str]:
    """What a session that no workflow binds may go to beside where it begins."""
    return [*hosts, *([EVERYWHERE] if settings.config.everywhere else [])]


def recorded_homes(bound: Bound, settings: Settings, url: str) -> list[tuple[str, str]]:
    """Which secrets any known workflow typed on the origin where the run begins: that was recorded
    too. Elsewhere somebody is asked. What was told with them holds instead, here or in the
    configuration."""
    here = origin_of(url)
    told = {name for name, _ in (*bound.origins, *settings.policy.secret_origins)}
    if not set(bound.secrets) - told or not settings.directory.log.exists():
        return []
    with project(settings) as store:
        flows = all_workflows(store)
    found = [each for flow in flows for each in session_policy.secret_origins(flow)]
    homes = [each for each in dict.fromkeys(found) if each[0] in bound.secrets.keys() - told]
    return [(name, origin) for name, origin in homes if origin == here]
