"""`rutter record NAME` records a workflow: by a script, or of what a person does in a window."""

from pathlib import Path

import msgspec

from rutter.pipeline.cli import record_by_hand
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.recorded_again import tell_compared
from rutter.pipeline.cli.recorded_hosts import settle_hosts
from rutter.pipeline.cli.session_end import report, tell_unproven
from rutter.pipeline.cli.session_run import attendant, logins_of, run_here
from rutter.pipeline.cli.terminal import LiveSteps, Options, Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions import session_policy, session_started
from rutter.pipeline.sessions.attendant import bind_secrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import StartedSession, configured, terms_of
from rutter.pipeline.workflows.recorder_import import prepare, read_script


def record(options: Options, settings: Settings, terminal: Terminal) -> int:
    request, live = read_request(options, settings.config), None
    if options.url:
        live = LiveSteps(terminal)
        settings = record_by_hand.in_a_window(options, settings)
        # A person waits as long as they like.
        request = msgspec.structs.replace(request, headed=True, patience_ms=0)
    what, named = f"recorded {options.name}", options.allow
    with Tables(settings) as tables:
        if live is None:
            session = _scripted(options, request, settings, terminal)
        else:
            session = record_by_hand.watched(options, request, settings, terminal)
            named = (session_policy.host_typed(options.url), *named)
        started = session_started.kept_as(
            configured(session.started, request, settings),
            replace=options.replace,
            pictures=settings.config.flag("record.pictures"),
        )
        logins = logins_of(request, started, settings, terminal)
        story = run_here(
            session._replace(started=started, logins=logins),
            tables,
            terminal,
            f"recording {options.name}",
            answers=options.answers,
            live=live,
        )
    code = report(story, settings, terminal, done=what)
    if code == Exit.DONE:
        tell_compared(story.session, settings, terminal)
        workflow = settle_hosts(
            options.name,
            story.session,
            settings,
            terminal,
            named=named,
            consent=options.confirm_hosts,
        )
        if live is not None:
            record_by_hand.tell_next_steps(workflow, settings, terminal)
        tell_unproven(workflow, story, settings, terminal)
    return code


def _scripted(
    options: Options, request: RunRequest, settings: Settings, terminal: Terminal
) -> StartedSession:
    parameters = read_pairs(options.param, "--param")
    bound = bind_secrets(request.secrets, settings, attendant(terminal))
    script = prepare(read_script(Path(options.script)), parameters, bound.secrets)
    started = session_started.recording(
        options.name, script.steps, parameters, bound.secrets, **terms_of(request, settings, bound)
    )
    return StartedSession(started, bound.secrets, typed=script.typed)
