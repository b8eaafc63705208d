"""`rutter serve`, and the commands that talk to it: stop, pause, resume, approvals."""

import argparse
import asyncio

from actors.answers import Answer, TerminalPerson
from events.errors import BadInput
from pipeline.cli.terminal import Terminal
from pipeline.cli.through import Through, require_daemon
from pipeline.exit_codes import Exit
from pipeline.known import find_session
from pipeline.settings import Settings

EPILOG = """examples:
  rutter serve                            on http://127.0.0.1:8080, warm and waiting
  rutter serve --port 0                   on any port that is free
  rutter serve --json 2> daemon.log       its own log as JSON lines
  rutter serve --bind 0.0.0.0             other machines may reach it, with a token

tokens are in the data directory: person.token opens everything, agent.token what an agent may"""


def add_serve(it: argparse.ArgumentParser) -> None:
    it.epilog, it.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    it.add_argument("--port", type=int, metavar="N", help="(default 8080; 0: any that is free)")
    it.add_argument(
        "--bind", metavar="ADDRESS", help="listens there, also where other machines reach it"
    )
    it.add_argument(
        "--headed", action="store_true", help="in windows that you can watch and take over"
    )
    it.set_defaults(do=serve)


def serve(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Until Ctrl-C or SIGTERM."""
    # Here and not above: a command that only reads need not know how to serve.
    from pipeline.daemon.logbook import Logbook, to_stderr
    from pipeline.daemon.own_sessions import run_apart
    from pipeline.daemon.serving import serve_until_stopped

    if options.port is not None and not 0 <= options.port <= 65_535:
        raise BadInput(f"{options.port} is no port", "give one from 0 to 65535")
    logbook = Logbook(to_stderr, as_json=terminal.as_json or not terminal.err.is_terminal)

    async def run() -> None:
        logbook.take_over()
        await serve_until_stopped(
            settings,
            host=options.bind or "",
            port=options.port,
            exposed=options.bind is not None,
            logbook=logbook,
            ready=lambda url: _ready(url, settings, terminal),
        )

    run_apart(run())
    return Exit.DONE


def _ready(url: str, settings: Settings, terminal: Terminal) -> None:
    if terminal.as_json:
        terminal.json({"url": url, "data": str(settings.data)})
    terminal.say(f"[OK] serving on {url}; tokens in {settings.data}; Ctrl-C stops it")


# -- talking to it ---------------------------------------------------------------------------------


def add_session(it: argparse.ArgumentParser, word: str) -> None:
    it.add_argument("session", help="its name, the end of it, or 'last'")
    it.set_defaults(do=lambda options, settings, terminal: _tell(word, options, settings, terminal))


def _tell(word: str, options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    daemon = require_daemon(settings)
    session = find_session(settings, options.session)
    told = daemon.request("POST", f"/sessions/{session}/{word}")
    if terminal.as_json:
        terminal.json(told)
    terminal.say(f"[OK] {session}: {told['reason']} {told.get('detail', '')}".rstrip())
    return Exit.DONE


def add_approvals(it: argparse.ArgumentParser) -> None:
    it.add_argument("--answer", action="store_true", help="asks you each of them, one by one")
    it.set_defaults(do=approvals)


def approvals(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """What waits for a person, and their answers."""
    daemon = require_daemon(settings)
    asked = daemon.request("GET", "/approvals")
    if terminal.as_json:
        terminal.json(asked)
        return Exit.DONE
    if not asked:
        terminal.say("nothing waits for you")
    for each in asked:
        terminal.say(f"{each['session']}  {each['kind']}: {each['question']}")
        if options.answer:
            answer_at_terminal(daemon, each, terminal)
    return Exit.DONE


def answer_at_terminal(daemon: Through, asked: dict[str, str], terminal: Terminal) -> None:
    """Asks the person here, and tells the daemon what they said."""
    if not terminal.interactive:
        raise BadInput("nobody is at this terminal", "answer where somebody is")
    answer: Answer = asyncio.run(
        TerminalPerson(terminal.ask).put(asked["question"], asked.get("phrase", ""))
    )
    daemon.request("POST", f"/approvals/{asked['session']}/{asked['approval']}", answer)
