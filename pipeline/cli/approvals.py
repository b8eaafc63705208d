"""`rutter approvals` lists what waits for a person, and takes their answer."""

import asyncio
from collections.abc import Iterator

import msgspec

from rutter.actors.answers import TerminalPerson
from rutter.events.errors import BadInput
from rutter.events.page import Artifact
from rutter.events.person import ApprovalAnswered
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.cli.daemon_client import DaemonClient, require_daemon
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs.approvals import PendingQuestion
from rutter.pipeline.output.answer_outcome import IN_WINDOW, AnswerOutcome


def approvals(options: Options, settings: Settings, terminal: Terminal) -> None:
    """What waits for a person, and their answers."""
    daemon = require_daemon(settings)
    asked = daemon.request("GET", "/approvals")
    terminal.answer(asked)
    if not asked:
        terminal.say("nothing waits for you")
    for each in msgspec.convert(asked, list[PendingQuestion]):
        terminal.say(f"{each.session}  {each.kind}: {each.question}")
        if options.answer:
            answer_at_terminal(daemon, each, settings, terminal)
            for said in _came_of(daemon, each):
                terminal.note(said)
        elif each.choices:
            terminal.say_below(*(f"{one.number}  {one.words}" for one in each.choices))


def answer_at_terminal(
    daemon: DaemonClient, asked: PendingQuestion, settings: Settings, terminal: Terminal
) -> None:
    """Asks the person here, and tells the daemon what they said."""
    if not terminal.interactive:
        raise BadInput("nobody is at this terminal", "answer where somebody is")
    if asked.picture:
        place = settings.directory.artifacts.path(Artifact(asked.picture, 0))
        terminal.note(f"picture: {place}")
    person = TerminalPerson(terminal.ask, terminal.note)
    if asked.kind == "choice":
        answer = asyncio.run(person.pick(asked.question, asked.choices, window=asked.window))
    else:
        answer = asyncio.run(person.put(asked.question, asked.phrase))
    daemon.request("POST", f"/approvals/{asked.session}/{asked.approval}", answer)


def _came_of(daemon: DaemonClient, asked: PendingQuestion) -> Iterator[str]:
    """What came of the answer, once it is known; nothing where something else is asked before."""
    outcome, answered = AnswerOutcome(), False
    for envelope in daemon.events(asked.session):
        said = outcome.of(envelope)
        if answered and isinstance(envelope.event, ApprovalRequested):
            return
        if isinstance(envelope.event, ApprovalAnswered):
            answered = envelope.event.approval == asked.approval
            if answered and asked.kind in IN_WINDOW:
                return
        if answered and said:
            yield said
            return
