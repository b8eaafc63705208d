"""`rutter approvals` lists what waits for a person, and takes their answer."""

import asyncio

from rutter.actors.answers import PersonAnswer, TerminalPerson
from rutter.events.errors import BadInput
from rutter.pipeline.cli.daemon_client import DaemonClient, require_daemon
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings


def approvals(options: Options, settings: Settings, terminal: Terminal) -> None:
    """What waits for a person, and their answers."""
    daemon = require_daemon(settings)
    asked = daemon.request("GET", "/approvals")
    terminal.answer(asked)
    if not asked:
        terminal.say("nothing waits for you")
    for each in asked:
        terminal.say(f"{each['session']}  {each['kind']}: {each['question']}")
        if options.answer:
            answer_at_terminal(daemon, each, terminal)


def answer_at_terminal(daemon: DaemonClient, asked: dict[str, str], terminal: Terminal) -> None:
    """Asks the person here, and tells the daemon what they said."""
    if not terminal.interactive:
        raise BadInput("nobody is at this terminal", "answer where somebody is")
    answer: PersonAnswer = asyncio.run(
        TerminalPerson(terminal.ask).put(asked["question"], asked.get("phrase", ""))
    )
    daemon.request("POST", f"/approvals/{asked['session']}/{asked['approval']}", answer)
