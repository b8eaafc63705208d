"""`rutter completion SHELL` tells a shell what it needs so that TAB knows commands, flags and
names.

The shell then asks this program, which answers from the log: workflows after `run`, sessions after
`show`. A TAB is no place for an error: where nothing can be read, nothing is offered.
"""

import argparse
from collections.abc import Callable, Iterator

from rutter.events.errors import RutterError
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config import settings
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import project

SHELLS = ("bash", "zsh", "fish")
ASKED = "_ARGCOMPLETE"  # the shell's function sets it when TAB was pressed
RECENT = 50  # sessions that are offered; the rest is found with: rutter sessions
Completer = Callable[..., list[str]]


def completion(options: argparse.Namespace, _: Settings, terminal: Terminal) -> None:
    from argcomplete.shell_integration import shellcode  # no other command needs it

    terminal.say(shellcode(["rutter"], shell=options.shell).rstrip("\n"))


def answer_tab(top: argparse.ArgumentParser) -> None:
    """Where a shell asks what could stand here, says it and ends; else does nothing."""
    if ASKED not in settings.environment():
        return
    import argcomplete

    for name, it in _commands(top):
        for action in it._actions:
            completer = _completer(name, action)
            if completer is not None:
                action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(top)


def _commands(it: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name, each in commands_of(it):
        yield name, each
        yield from _commands(each)


def commands_of(it: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Those right below it."""
    for action in it._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _completer(command: str, action: argparse.Action) -> Completer | None:
    if action.dest in ("session", "after"):
        return _sessions
    new = command in ("record", "add")  # what is named there is not known yet
    if action.dest in ("name", "workflow", "old") and not new:
        return _workflows
    return _parameters if action.dest == "set" else None


def _workflows(*, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    return _read(parsed_args, "SELECT DISTINCT name FROM workflows ORDER BY name")


def _parameters(*, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Of the workflow that was named before: `customer=`, to be gone on with."""
    name = getattr(parsed_args, "workflow", None) or getattr(parsed_args, "name", None)
    of = "SELECT parameters FROM workflows WHERE name = ? ORDER BY version DESC LIMIT 1"
    return [f"{each}=" for row in _read(parsed_args, of, str(name)) for each in row.split()]


def _sessions(*, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    recent = f"SELECT session FROM sessions ORDER BY seq DESC LIMIT {RECENT}"
    return ["last", *_read(parsed_args, recent)]


def _read(options: argparse.Namespace, wanted: str, *of: str) -> list[str]:
    data, config = getattr(options, "data", None), getattr(options, "config", None)
    try:
        with project(settings.load(data, headless=True, config=config)) as store:
            return [str(name) for (name,) in store.db.execute(wanted, of)]
    except (RutterError, OSError):
        return []
