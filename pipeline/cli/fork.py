"""`rutter fork` starts a new session from a step of an old one."""

import msgspec

from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.session_end import report as tell_end
from rutter.pipeline.cli.session_run import attendant, run_here
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import going_by
from rutter.pipeline.queries.workflows_and_sessions import Tables, find_session
from rutter.pipeline.sessions.attendant import bind_secrets
from rutter.pipeline.sessions.fork import fork_of
from rutter.pipeline.sessions.picture_readers import ghost_of_fork, open_readers
from rutter.pipeline.sessions.start import StartedSession, logins_of


def fork(options: Options, settings: Settings, terminal: Terminal) -> int:
    """Does the first steps of an old session again, live, and goes on from there."""
    request = read_request(options, settings.config)
    session = find_session(settings, options.session)
    with SqliteReader(settings.directory.log) as reader:
        events = list(reader.read(session=session))
    start = events[0].event if events else None
    flow = start.workflow if isinstance(start, SessionStarted) else None
    needed = flow.secrets if flow is not None else ()
    secrets, _ = bind_secrets(request.secrets, settings, attendant(terminal), needed)
    started = fork_of(
        events,
        options.at,
        values=request.values,
        secrets=secrets,
        allow=request.allow,
        free=request.free,
        policy=settings.policy,
    )
    started = msgspec.structs.replace(started, headed=request.headed)
    started = going_by(started, request.sure or settings.config.sureness)
    ghost = ghost_of_fork(settings.config, started.settings.ghost)
    own = msgspec.structs.replace(started.settings, ghost=ghost)
    started = msgspec.structs.replace(started, settings=own)
    logins = logins_of(request, started, settings, attendant(terminal))
    what = f"{session} at step {options.at}"
    readers = open_readers(settings.config, started)
    forked = StartedSession(started, secrets, logins=logins, readers=readers)
    with Tables(settings) as tables:
        story = run_here(forked, tables, terminal, f"forking {what}", answers=options.answers)
    return tell_end(story, settings, terminal, done=f"forked {what}")
