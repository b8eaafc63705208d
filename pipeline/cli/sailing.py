"""`rutter record` and `rutter run`: the commands that sail."""

import argparse
import asyncio
import shlex
from pathlib import Path

import msgspec

from actors.egress.rules import EVERYWHERE
from actors.minds.prices import Counsel
from actors.place import origin_of
from events.errors import BadInput
from events.runtime import SessionStarted
from events.workflow import Minds, Workflow
from pipeline import exit_codes, fork, launch
from pipeline.cli import continuing, goals
from pipeline.cli.binding import Bound, ask_unbound, bind_secrets
from pipeline.cli.ending import report, tell_repaired, tell_unproven
from pipeline.cli.given import read_given
from pipeline.cli.hosts import settle_hosts
from pipeline.cli.reading import all_workflows, project
from pipeline.cli.sureness import read_sureness
from pipeline.cli.terminal import Terminal
from pipeline.cli.voyage import open_voyage, person
from pipeline.minds import closing, minds_of, open_minds, vision_of
from pipeline.recorder import prepare, read_script
from pipeline.secret_sources import read_pairs
from pipeline.settings import Settings
from replay.story import Story


def record(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Records a workflow from a DevTools Recorder script."""
    parameters = read_pairs(options.param, "--param")
    secrets, origins = bind_secrets(options.secret, settings, terminal)
    script = prepare(read_script(Path(options.script)), parameters, secrets)
    started = launch.recording(
        options.name,
        script.steps,
        parameters,
        secrets,
        allow=options.allow,
        policy=settings.policy,
        screenshots=pictured(options, settings),
        given=read_given(options),
        origins=origins,
    )
    started = launch.configured(
        started, settings.config.knobs, settings.config.sureness, headed=options.headed
    )
    answers = person(terminal, options.answers)

    async def sail() -> Story:
        async with open_voyage(settings, terminal) as voyage:
            return await voyage.sail(
                started,
                answers=answers,
                secrets=secrets,
                typed=script.typed,
                what=f"recording {options.name}",
            )

    story = asyncio.run(sail())
    code = report(story, settings, terminal, done=f"recorded {options.name}")
    if code == exit_codes.Exit.DONE:
        workflow = settle_hosts(
            options.name,
            story.session,
            settings,
            terminal,
            named=options.allow,
            consent=options.confirm_hosts,
        )
        tell_unproven(workflow, settings, terminal)
    return code


def run(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Sails a workflow alone, freely wherever what was learned is sure, or looks for the way to a
    goal."""
    values = read_pairs(options.set, "--set")
    sure = read_sureness(options, settings.config)
    given = read_given(options)
    course = goals.chosen(options, settings, given)
    workflow = course.workflow
    needed = workflow.secrets if workflow is not None else goals.secrets_in(given.service)
    bound = bind_secrets(options.secret, settings, terminal, needed)
    if workflow is None and options.after:
        kind = "a free run" if options.free else "a run to a new goal"
        raise BadInput(f"{kind} continues nothing", "leave out --from, or name the workflow")
    minds = _minds(options, settings, terminal, needed=course.leads and not goals.ways_of(given))
    pinned = minds_of(settings.config, minds)
    if workflow is not None:
        started, bound = _of_workflow(options, settings, terminal, workflow, values, bound, given)
    elif course.leads:
        started = _to_goal(options, settings, course, values, bound, given, pinned)
    else:
        started = _free(options, settings, course.goal, values, bound, given)
    started = msgspec.structs.replace(started, minds=pinned)
    started = launch.configured(started, settings.config.knobs, sure, headed=options.headed)
    answers = person(terminal, options.answers)
    what = f"sailing {course.name or options.name or options.url}"
    if course.leads and not terminal.err.is_terminal:
        terminal.note(_begins(course.goal, pinned))  # there is no moving line that says so

    async def sail() -> Story:
        async with closing(minds), open_voyage(settings, terminal) as voyage:
            return await voyage.sail(
                started,
                answers=answers,
                secrets=bound.secrets,
                what=what,
                minds=minds,
                vision=vision_of(settings.config, minds),
            )

    story = asyncio.run(sail())
    code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run, sure=sure)
    _tell_learned(story, options, settings, terminal, workflow)
    return code


def _begins(goal: str, minds: Minds | None) -> str:
    if minds is None:
        return f"going the service's own way to: {goal}"
    return f"asking {minds.minds[0].provider} {minds.minds[0].model} for: {goal}"


def _done(story: Story) -> str:
    if story.version:
        return f"sailed {story.name} version {story.version}"
    return f"came to the goal of {story.name}" if story.name else "sailed freely"


def _minds(
    options: argparse.Namespace, settings: Settings, terminal: Terminal, *, needed: bool
) -> dict[str, Counsel]:
    """Who may be asked in this run. A key that is missing is said now, before any browser."""
    if options.no_model:
        return {}
    return open_minds(settings.config, needed=needed, warn=terminal.note)


def _tell_learned(
    story: Story,
    options: argparse.Namespace,
    settings: Settings,
    terminal: Terminal,
    sailed: Workflow | None,
) -> None:
    """What the way to a goal is called from now on, if it was found; what was repaired of one."""
    if not settings.directory.log.exists():
        return
    with project(settings) as store:
        mine = [each for each in all_workflows(store) if each.session == story.session]
    for flow in mine:
        if sailed is not None:
            tell_repaired(sailed, flow, terminal)
        else:
            again = settings.command(_again(flow, options))
            terminal.say(f"     learned as {flow.name}; from now on without a model: {again}")


def _again(flow: Workflow, options: argparse.Namespace) -> str:
    """The command that sails it as it was found: with what it was given, as far as that is of it.
    What it knows of its service and of its end is kept with it."""
    sources = {each.partition("=")[0]: each for each in options.secret}
    values = {each.partition("=")[0]: each for each in options.set}
    words = ["run", shlex.quote(flow.name)]
    for flag, names, given in (
        ("--set", flow.parameters, values),
        ("--secret", flow.secrets, sources),
    ):
        words += [f"{flag} {_quoted(given.get(name, f'{name}=...'))}" for name in names]
    if options.answers is not None:
        words.append(f"--answers {shlex.quote(str(options.answers))}")
    return " ".join(words)


def _quoted(pair: str) -> str:
    return pair if pair.endswith("=...") else shlex.quote(pair)


def _of_workflow(
    options: argparse.Namespace,
    settings: Settings,
    terminal: Terminal,
    workflow: Workflow,
    values: dict[str, str],
    bound: Bound,
    given: launch.Given,
) -> tuple[SessionStarted, Bound]:
    before = continuing.named(options.after, workflow, settings) if options.after else []
    if before:
        values = {**continuing.values_of(before, workflow), **values}
    values, secrets = ask_unbound(workflow, values, bound.secrets, terminal)
    before = before or continuing.unsettled(workflow, values, settings)
    started = launch.run_of(
        workflow,
        values,
        secrets,
        allow=options.allow,
        policy=settings.policy,
        dry_run=options.dry_run,
        screenshots=pictured(options, settings),
        given=given,
        origins=bound.origins,
    )
    if before:
        # E7: what may have happened is looked for or asked about before it is done again.
        started = fork.continuing(started, before)
    return started, Bound(secrets, bound.origins)


def _to_goal(
    options: argparse.Namespace,
    settings: Settings,
    course: goals.Course,
    values: dict[str, str],
    bound: Bound,
    given: launch.Given,
    minds: Minds | None,
) -> SessionStarted:
    url = options.url or ""
    homes = recorded_homes(bound, settings, url) if url else []
    return launch.goal_run(
        course.name,
        course.goal,
        url,
        values,
        bound.secrets,
        minds=minds,
        limits=settings.config.limits,
        allow=allowed(options, settings),
        policy=settings.policy,
        dry_run=options.dry_run,
        screenshots=pictured(options, settings),
        given=given,
        origins=(*bound.origins, *homes),
    )


def pictured(options: argparse.Namespace, settings: Settings) -> bool:
    return bool(options.screenshots) or settings.config.flag("run.screenshots")


def _free(
    options: argparse.Namespace,
    settings: Settings,
    goal: str,
    values: dict[str, str],
    bound: Bound,
    given: launch.Given,
) -> SessionStarted:
    if not options.url:
        raise BadInput("a free run needs a place to start", "add --url URL")
    return launch.free_run(
        options.url,
        values,
        bound.secrets,
        allow=allowed(options, settings),
        policy=settings.policy,
        dry_run=options.dry_run,
        screenshots=pictured(options, settings),
        given=given,
        origins=(*bound.origins, *recorded_homes(bound, settings, options.url)),
        limits=settings.config.limits,
        goal=goal,
    )


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
    found = [each for flow in flows for each in launch.secret_origins(flow)]
    homes = [each for each in dict.fromkeys(found) if each[0] in bound.secrets.keys() - told]
    return [(name, origin) for name, origin in homes if origin == here]


def allowed(options: argparse.Namespace, settings: Settings) -> list[str]:
    """What a session that no workflow binds may go to beside where it begins."""
    return [*options.allow, *([EVERYWHERE] if settings.config.everywhere else [])]
