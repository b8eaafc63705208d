"""`rutter fork` starts a new session from a step of an old one."""

import argparse
import asyncio

import msgspec

from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.missing_values import bind_secrets, carried
from rutter.pipeline.cli.session_end import report as tell_end
from rutter.pipeline.cli.session_run import open_command_pipeline, person
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.cli.threshold_options import read_sureness
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import going_by
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.pipeline.sessions.fork import fork_of
from rutter.replay.story.told_session import Story


def fork(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Sails the first steps of an old session again, live, and goes on from there."""
    sure = read_sureness(options, settings.config)
    session = find_session(settings, options.session)
    with SqliteReader(settings.directory.log) as reader:
        events = list(reader.read(session=session))
    start = events[0].event if events else None
    flow = start.workflow if isinstance(start, SessionStarted) else None
    needed = flow.secrets if flow is not None else ()
    secrets, _ = bind_secrets(options.secret, settings, terminal, needed)
    started = fork_of(
        events,
        options.at,
        values=read_pairs(options.set, "--set"),
        secrets=secrets,
        allow=options.allow,
        free=options.free,
        policy=settings.policy,
    )
    started = going_by(msgspec.structs.replace(started, headed=options.headed), sure)
    answers = person(terminal, options.answers)
    logins = carried(options, started, settings, terminal)

    async def run_in_browser() -> Story:
        async with open_command_pipeline(settings, terminal) as opened:
            what = f"forking {session} at step {options.at}"
            return await opened.run_in_browser(
                started, answers=answers, secrets=secrets, what=what, logins=logins
            )

    done = f"forked {session} at step {options.at}"
    return tell_end(asyncio.run(run_in_browser()), settings, terminal, done=done)
