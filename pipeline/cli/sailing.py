"""`rutter record` and `rutter run`: the commands that sail."""

import argparse
import asyncio
import shlex
from pathlib import Path

from events.run_settings import Minds
from events.workflow import Workflow
from pipeline import exit_codes, launch
from pipeline.cli import rows
from pipeline.cli.binding import ask_unbound, bind_secrets, carried, passphrase
from pipeline.cli.comparing import kept_as, tell_compared
from pipeline.cli.ending import report, tell_repaired, tell_unproven
from pipeline.cli.given import read_given
from pipeline.cli.handing_in import run_of, sail_through
from pipeline.cli.hosts import settle_hosts
from pipeline.cli.patience import read_patience
from pipeline.cli.results import hand_out_after
from pipeline.cli.sureness import read_sureness
from pipeline.cli.terminal import Terminal
from pipeline.cli.through import Through, through_daemon
from pipeline.cli.voyage import open_voyage, person
from pipeline.departing import Wish, depart
from pipeline.known import all_workflows, project
from pipeline.minds import closing
from pipeline.recorder import prepare, read_script
from pipeline.secret_sources import read_pairs
from pipeline.settings import Settings
from replay.story.session_story import Story


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
        started,
        settings.config.knobs,
        settings.config.sureness,
        headed=options.headed,
        patience_ms=read_patience(options),
    )
    started = kept_as(started, options, settings)
    answers = person(terminal, options.answers)
    logins = carried(options, started, settings, terminal)

    async def sail() -> Story:
        async with open_voyage(settings, terminal) as voyage:
            return await voyage.sail(
                started,
                answers=answers,
                secrets=secrets,
                typed=script.typed,
                what=f"recording {options.name}",
                logins=logins,
            )

    story = asyncio.run(sail())
    code = report(story, settings, terminal, done=f"recorded {options.name}")
    if code == exit_codes.Exit.DONE:
        tell_compared(story.session, settings, terminal)
        workflow = settle_hosts(
            options.name,
            story.session,
            settings,
            terminal,
            named=options.allow,
            consent=options.confirm_hosts,
        )
        tell_unproven(workflow, story, settings, terminal)
    return code


def run(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Sails a workflow alone, freely wherever what was learned is sure, or looks for the way to a
    goal."""
    rows.check_flags(options)
    if options.rows is not None:
        return rows.run_rows(options, wished(options), settings, terminal)
    daemon = through_daemon(settings)
    if daemon is not None:
        return _through(daemon, options, settings, terminal)
    wish = wished(options)
    sure = read_sureness(options, settings.config)
    leaving = depart(
        wish,
        settings,
        lambda needed: bind_secrets(options.secret, settings, terminal, needed),
        fill=lambda flow, values, secrets: ask_unbound(flow, values, secrets, terminal),
        sure=sure,
        warn=terminal.note,
        ask=passphrase(terminal),
    )
    started, course, minds = leaving.started, leaving.course, leaving.minds
    answers = person(terminal, options.answers)
    what = f"sailing {course.name or wish.name or wish.url}"
    if course.leads and not terminal.err.is_terminal:
        terminal.note(_begins(course.goal, started.minds))  # there is no moving line that says so

    async def sail() -> Story:
        async with closing(minds), open_voyage(settings, terminal) as voyage:
            return await voyage.sail(
                started,
                answers=answers,
                secrets=leaving.secrets,
                what=what,
                minds=minds,
                vision=leaving.vision,
                logins=leaving.logins,
            )

    story = asyncio.run(sail())
    code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run, sure=sure)
    hand_out_after(story, options, settings, terminal)
    _tell_learned(story, options, settings, terminal, course.workflow)
    return code


def _through(
    daemon: Through, options: argparse.Namespace, settings: Settings, terminal: Terminal
) -> int:
    """A daemon holds the data directory: it sails, and this command watches."""
    handed_in = run_of(options)
    what = f"sailing {options.name or options.url or options.goal} in the daemon"
    story = sail_through(daemon, handed_in, settings, terminal, what)
    code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run)
    hand_out_after(story, options, settings, terminal)
    return code


def _begins(goal: str, minds: Minds | None) -> str:
    if minds is None:
        return f"going the service's own way to: {goal}"
    return f"asking {minds.minds[0].provider} {minds.minds[0].model} for: {goal}"


def _done(story: Story) -> str:
    if story.version:
        return f"sailed {story.name} version {story.version}"
    return f"came to the goal of {story.name}" if story.name else "sailed freely"


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


def wished(options: argparse.Namespace) -> Wish:
    """What the flags of `rutter run` ask for."""
    return Wish(
        name=options.name or "",
        goal=options.goal,
        url=options.url or "",
        free=options.free,
        values=read_pairs(options.set, "--set"),
        allow=tuple(options.allow),
        after=options.after or "",
        dry_run=options.dry_run,
        screenshots=bool(options.screenshots),
        headed=options.headed,
        patience_ms=read_patience(options),
        no_model=options.no_model,
        no_login=options.no_login,
        given=read_given(options),
    )


def pictured(options: argparse.Namespace, settings: Settings) -> bool:
    return bool(options.screenshots) or settings.config.flag("run.screenshots")
