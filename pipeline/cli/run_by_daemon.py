"""`rutter run` hands a run to the daemon where one holds the data directory: as a job, watched to
its end, and answered for by whoever sits here."""

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.jobs import Run
from rutter.events.person import QuestionPictured
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.cli.approvals import answer_at_terminal
from rutter.pipeline.cli.daemon_client import DaemonClient
from rutter.pipeline.cli.terminal import Options, RunProgress, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs.approvals import PendingQuestion, pending
from rutter.pipeline.queries.look_back import story_of
from rutter.replay.story.told_session import Story

# What a request cannot say: it is for who starts a pipeline of their own.
NOT_THERE = {
    "--secret": "secret",
    "--allow": "allow",
    "--answers": "answers",
    "--screenshots": "screenshots",
    "--headed": "headed",
    "--patience": "patience",
    "--from": "after",
    "--no-model": "no_model",
    "--no-login": "no_login",
    "--folder": "folder",
    "--failure": "failure",
    "--threshold": "threshold",
    "--suggest": "suggest",
    "--predictor": "predictor",
}
NOT_RUN = ("refused", "skipped")  # what such a job has said of a session is in no log


def check_for_daemon(options: Options) -> None:
    """Refuses what no job can say."""
    for flag, name in NOT_THERE.items():
        if getattr(options, name, None):
            raise BadInput(
                f"{flag} cannot be said to a daemon, and one holds this data directory",
                "leave it out (the daemon has its own configuration), or stop the daemon",
            )


def run_through_daemon(
    daemon: DaemonClient, run: Run, settings: Settings, terminal: Terminal, what: str
) -> Story:
    """The story of its session. Ctrl-C stops it there."""
    job = daemon.submit(run)
    session, asked = "", AskedThere()
    try:
        with RunProgress(terminal, what=what) as progress:
            session = _begun(daemon, job)
            for envelope in daemon.events(session):
                progress.hear(envelope)
                if (question := asked.of(envelope)) is not None:
                    _ask(question, daemon, settings, progress, terminal)
    except KeyboardInterrupt:
        terminal.note("stopping it")
        daemon.call_off(job)
        if not session:
            raise
    return story_of(settings, session)


def _begun(daemon: DaemonClient, job: str) -> str:
    """The name of its session, once there is one."""
    for told in daemon.followed(job):
        session = told.get("session")
        if told["status"] == "ended" and (not session or told["reason"] in NOT_RUN):
            raise BadInput(told.get("detail") or f"it was {told['reason']}", "see: rutter sessions")
        if session:
            return str(session)
    raise AssertionError("it is looked at until it has begun or ended")


class AskedThere:
    """A question is asked there when its picture was taken, if it has one."""

    def __init__(self) -> None:
        self._last: ApprovalRequested | None = None

    def of(self, envelope: Envelope) -> PendingQuestion | None:
        match envelope.event:
            case ApprovalRequested() as asked if not asked.framed:
                return pending(envelope.session, asked)
            case ApprovalRequested() as asked:
                self._last = asked
            case QuestionPictured(artifact=picture) if self._last is not None:
                return pending(envelope.session, self._last, picture)
            case _:
                pass
        return None


def _ask(
    asked: PendingQuestion,
    daemon: DaemonClient,
    settings: Settings,
    progress: RunProgress,
    terminal: Terminal,
) -> None:
    if not terminal.interactive:
        terminal.note(f"it waits for a person: {asked.question} -> rutter approvals --answer")
        return
    with progress.still():
        answer_at_terminal(daemon, asked, settings, terminal)
