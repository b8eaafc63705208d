"""`rutter run` runs a workflow, or works towards a goal."""

import shlex

from rutter.events.errors import LogFull
from rutter.events.workflow import Workflow
from rutter.pipeline.cli import run_rows
from rutter.pipeline.cli.daemon_client import through_daemon
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.results import hand_out_after
from rutter.pipeline.cli.run_by_daemon import check_for_daemon, run_through_daemon
from rutter.pipeline.cli.session_end import report, tell_repaired
from rutter.pipeline.cli.session_run import attendant, run_here
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import Tables, known_workflows
from rutter.pipeline.sessions.request import run_of_request
from rutter.pipeline.sessions.start import start_session
from rutter.replay.story.told_session import Story


def run(options: Options, settings: Settings, terminal: Terminal) -> int:
    """Runs a workflow alone, freely wherever what was learned is sure, or looks for the steps to a
    goal."""
    run_rows.check_flags(options)
    if options.rows is not None:
        return run_rows.run_rows(options, settings, terminal)
    daemon = through_daemon(settings)
    if daemon is not None:
        check_for_daemon(options)
    request = read_request(options, settings.config)
    with Tables(settings) as tables:
        if daemon is not None:
            what = f"running {options.name or options.url or options.goal} in the daemon"
            run_in_it = run_of_request(request)
            story = run_through_daemon(daemon, run_in_it, settings, terminal, what)
            tables.now()
            code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run)
            hand_out_after(story, options, settings, terminal)
            return code
        session = start_session(request, tables, attendant(terminal))
        started = session.started
        if started.driver == "model" and not terminal.err.is_terminal:
            # There is no moving line that says so.
            asked = started.models.models[0] if started.models is not None else None
            who = (
                f"asking {asked.provider} {asked.model} for"
                if asked
                else "following the service to"
            )
            terminal.note(f"{who}: {started.goal}")
        what = f"running {started.name or started.url}"
        story = run_here(session, tables, terminal, what, answers=options.answers)
        done, dry_run, sure = _done(story), options.dry_run, request.sure
        code = report(story, settings, terminal, done=done, dry_run=dry_run, sure=sure)
        hand_out_after(story, options, settings, terminal)
        _tell_learned(story, options, tables, terminal, started.workflow)
    return code


def _done(story: Story) -> str:
    if story.version:
        return f"{story.name}: done"
    return f"{story.name}: the goal is reached" if story.name else "the free run: done"


def _tell_learned(
    story: Story, options: Options, tables: Tables, terminal: Terminal, followed: Workflow | None
) -> None:
    """What the way to a goal is called from now on, if it was found; what was repaired of one. The
    run is over: tables that cannot be written now are made good by whoever looks next."""
    try:
        known = known_workflows(tables)
    except LogFull as full:
        terminal.note(str(full))
        return
    for flow in known:
        if flow.session != story.session:
            continue
        if followed is not None:
            tell_repaired(followed, flow, terminal)
        else:
            again = tables.settings.command(_again(flow, options))
            terminal.say_below(f"Learned as {flow.name}. From now on, without a model: {again}")


def _again(flow: Workflow, options: Options) -> str:
    """The command that runs it as it was found: with what it was given, as far as that is of it.
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
