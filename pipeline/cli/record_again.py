"""`record NAME --from-step N` and `workflows edit NAME --target N` run a workflow up to that step,
where a person goes on in the window."""

import msgspec

from rutter.events.errors import BadInput
from rutter.pipeline.cli.session_end import report
from rutter.pipeline.cli.session_run import attendant, run_here
from rutter.pipeline.cli.terminal import LiveSteps, Terminal
from rutter.pipeline.config.settings import Settings, check_display, environment
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import StartedSession, start_session

IN_A_WINDOW = "do this where there is a screen"


def record_again(
    request: RunRequest, number: int, settings: Settings, terminal: Terminal, *, only: bool = False
) -> int:
    """The steps before it are run, with this run's values; then a person does the rest, or with
    `only` that step alone. It is the next version, and everything else of it stays."""
    check_display(environment(), IN_A_WINDOW)
    settings = msgspec.structs.replace(settings, headless=False)
    request = msgspec.structs.replace(request, headed=True, no_model=True, flags=True)
    with Tables(settings) as tables:
        session = start_session(request, tables, attendant(terminal))
        session = _from_step(session, number, only=only)
        what = f"recording {request.name} from step {number}"
        terminal.note(_told(session, number, only=only))
        live = LiveSteps(terminal)
        story = run_here(session, tables, terminal, what, answers=None, live=live)
    which = f"step {number}" if only else f"step {number} and what follows"
    return report(story, settings, terminal, done=f"recorded {which} of {request.name} again")


def _from_step(session: StartedSession, number: int, *, only: bool) -> StartedSession:
    started = session.started
    if not 1 <= number <= len(started.steps):
        raise BadInput(
            f"{started.name!r} has no step {number}", f"it has steps 1 to {len(started.steps)}"
        )
    own = msgspec.structs.replace(started.settings, pictures=True, seeks_proof=False)
    started = msgspec.structs.replace(
        started,
        purpose="record",
        settings=own,
        models=None,
        by_hand_from=number - 1,
        by_hand_only=only,
    )
    return session._replace(started=started, models={}, vision=None)


def _told(session: StartedSession, number: int, *, only: bool) -> str:
    before = f"Rutter does steps 1 to {number - 1}. " if number > 1 else ""
    rest = (
        "do step {} in the window: it is really done; nothing behind it is"
        if only
        else ("go on in the window from step {}")
    )
    return f"{before}Then {rest.format(number)}."
