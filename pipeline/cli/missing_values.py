"""The command line asks for values that a run still needs, where there is a terminal (A4)."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence

from rutter.events.errors import BadInput
from rutter.events.runtime import SessionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.secret_sources import read_origins, read_secrets
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.config.tables import configured_pairs
from rutter.pipeline.logins.sealing_key import Ask
from rutter.pipeline.logins.session_logins import SessionLogins, carry
from rutter.pipeline.sessions.start import Bound


def ask_unbound(
    workflow: Workflow, values: Mapping[str, str], secrets: Mapping[str, str], terminal: Terminal
) -> tuple[dict[str, str], dict[str, str]]:
    """The values and secrets with what the person at the terminal adds, each by its name.

    With nobody there, or with something else wrong, they come back as they are: what is missing is
    then refused by name.
    """
    given, locked = dict(values), dict(secrets)
    if not terminal.interactive or not workflow.complete or set(values) - set(workflow.parameters):
        return given, locked
    for name in workflow.parameters:
        if name not in given:
            given[name] = _asked(name, terminal.ask, f"{name}: ")
    for name in workflow.secrets:
        if name not in locked:
            locked[name] = _asked(name, terminal.ask_secret, f"{name} (secret): ")
    return given, locked


def _asked(name: str, ask: Callable[[str], str], question: str) -> str:
    try:
        return ask(question)
    except EOFError as error:
        raise BadInput(f"it needs {name}", "type it, or give it as a flag") from error


def bind_secrets(
    pairs: Sequence[str], settings: Settings, terminal: Terminal, needed: Iterable[str] = ()
) -> Bound:
    """What `--secret` says; what it leaves out and is needed comes from the configuration."""
    given = configured_pairs(pairs, settings.config.secrets, needed)
    homes = read_origins(given)
    return Bound(
        read_secrets(given, environment(), terminal.ask_secret),
        tuple((name, origin) for name, origins in homes.items() for origin in origins),
    )


def passphrase(terminal: Terminal) -> Ask | None:
    """Who types the passphrase of kept logins; nobody, where there is no terminal."""

    def ask(question: str) -> str:
        return _asked("a passphrase", terminal.ask_secret, question)

    return ask if terminal.interactive else None


def carried(
    options: argparse.Namespace, started: SessionStarted, settings: Settings, terminal: Terminal
) -> SessionLogins | None:
    """The kept logins of a session that a command starts, unless it is to have none."""
    return None if options.no_login else carry(started, settings, passphrase(terminal))
