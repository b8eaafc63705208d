"""`rutter serve` runs the daemon; `stop`, `pause` and `resume` talk to it."""

import argparse

from rutter.events.errors import BadInput
from rutter.pipeline.cli.daemon_client import require_daemon
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import find_session

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


def serve(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    """Until Ctrl-C or SIGTERM."""
    # Here and not above: a command that only reads need not know how to serve.
    from rutter.pipeline.daemon.browsers.process_groups import run_apart
    from rutter.pipeline.daemon.notify.service_log import Logbook, to_stderr
    from rutter.pipeline.daemon.serve import serve_until_stopped

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


def _ready(url: str, settings: Settings, terminal: Terminal) -> None:
    terminal.answer({"url": url, "data": str(settings.data)})
    terminal.say(f"[OK] serving on {url}; tokens in {settings.data}; Ctrl-C stops it")


# -- talking to it ---------------------------------------------------------------------------------


def add_session(it: argparse.ArgumentParser, word: str) -> None:
    it.add_argument("session", help="its name, the end of it, or 'last'")
    it.set_defaults(do=lambda options, settings, terminal: _tell(word, options, settings, terminal))


def _tell(word: str, options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    daemon = require_daemon(settings)
    session = find_session(settings, options.session)
    told = daemon.request("POST", f"/sessions/{session}/{word}")
    terminal.answer(told)
    terminal.say(f"[OK] {session}: {told['reason']} {told.get('detail', '')}".rstrip())
