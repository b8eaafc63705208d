"""`rutter run` runs a workflow, or works towards a goal."""

import argparse
import asyncio
import shlex

from rutter.events.run_settings import ModelUse
from rutter.events.workflow import Workflow
from rutter.pipeline.cli import run_rows
from rutter.pipeline.cli.daemon_client import DaemonClient, through_daemon
from rutter.pipeline.cli.missing_values import ask_unbound, bind_secrets, passphrase
from rutter.pipeline.cli.patience_option import read_patience
from rutter.pipeline.cli.results import hand_out_after
from rutter.pipeline.cli.run_by_daemon import run_of, run_through_daemon
from rutter.pipeline.cli.service_options import read_given
from rutter.pipeline.cli.session_end import report, tell_repaired
from rutter.pipeline.cli.session_run import open_command_pipeline, person
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.cli.threshold_options import read_sureness
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import all_workflows, project
from rutter.pipeline.sessions.models import closing
from rutter.pipeline.sessions.start import Wish, depart
from rutter.replay.story.told_session import Story


def run(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Sails a workflow alone, freely wherever what was learned is sure, or looks for the way to a
    goal."""
    run_rows.check_flags(options)
    if options.rows is not None:
        return run_rows.run_rows(options, wished(options), settings, terminal)
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
    started, course, models = leaving.started, leaving.course, leaving.models
    answers = person(terminal, options.answers)
    what = f"sailing {course.name or wish.name or wish.url}"
    if course.leads and not terminal.err.is_terminal:
        terminal.note(_begins(course.goal, started.models))  # there is no moving line that says so

    async def run_in_browser() -> Story:
        async with closing(models), open_command_pipeline(settings, terminal) as opened:
            return await opened.run_in_browser(
                started,
                answers=answers,
                secrets=leaving.secrets,
                what=what,
                models=models,
                vision=leaving.vision,
                logins=leaving.logins,
            )

    story = asyncio.run(run_in_browser())
    code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run, sure=sure)
    hand_out_after(story, options, settings, terminal)
    _tell_learned(story, options, settings, terminal, course.workflow)
    return code


def _through(
    daemon: DaemonClient, options: argparse.Namespace, settings: Settings, terminal: Terminal
) -> int:
    """A daemon holds the data directory: it sails, and this command watches."""
    handed_in = run_of(options)
    what = f"sailing {options.name or options.url or options.goal} in the daemon"
    story = run_through_daemon(daemon, handed_in, settings, terminal, what)
    code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run)
    hand_out_after(story, options, settings, terminal)
    return code


def _begins(goal: str, models: ModelUse | None) -> str:
    if models is None:
        return f"going the service's own way to: {goal}"
    return f"asking {models.models[0].provider} {models.models[0].model} for: {goal}"


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
