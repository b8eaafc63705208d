"""The parser knows every command and flag of `rutter`, as `commands.toml` lists them, and which
function does what a command says."""

import argparse
import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

import msgspec

from rutter.events.jobs import Overlap
from rutter.events.triggers import Missed
from rutter.pipeline.cli.completion import SHELLS
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.secret_sources import SOURCES
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import PREDICTORS
from rutter.pipeline.sessions.service_file import PLACES, bundled

DOES = "Does work in a browser that it was shown once."
EPILOG = """exit codes: 0 done and verified, 1 replay diverged, 2 bad input, 3 lost, 4 denied,
5 needs a person, 6 not verified, 7 interrupted, 8 environment"""
FIRST = f"""{DOES}

  rutter demo                                   see it work, on a site that comes along
  rutter record NAME --url https://your.site    show it a workflow in a window
  rutter run NAME                               have it done

All commands: rutter --help"""
LISTED = Path(__file__).with_name("commands.toml")
USAGE = re.compile(r"(?P<names>(?:--[\w-]+(?:, )?)+|\w+)(?: (?P<value>.+?))?(?P<many> \.\.\.)?")
# What the list calls <so>: the code is who knows it.
KNOWN = {
    "<SOURCES>": SOURCES,
    "<PLACES>": ", ".join(PLACES),
    "<PACKS>": ", ".join(bundled()),
    "<SHELLS>": f"{{{','.join(SHELLS)}}}",
    "<PREDICTORS>": f"{{{','.join(PREDICTORS)}}}",
    "<OVERLAP>": f"{{{','.join(get_args(Overlap))}}}",
    "<MISSED>": f"{{{','.join(get_args(Missed))}}}",
}

Do = Callable[[Options, Settings, Terminal], int | None]  # nothing: it is done
# `log verify` is `verify` in log.py, and so on, but for these. What has a list, is that by itself.
FOUND_IN = {
    "workflows list": "workflows.list_",
    "workflows suggest": "workflows_suggest.suggest",
    "init": "config.init",
    "config": "config.show",
    "config set": "config.set_key",
    "open": "open.open_pages",
    "stop": "serve.stop",
    "pause": "serve.pause",
    "resume": "serve.resume",
    "schedule list": "schedule.list_schedules",
    "schedule set": "schedule.set_schedule",
    "schedule drop": "schedule.drop_schedule",
    "hook list": "schedule.list_hooks",
    "hook set": "schedule.set_hook",
    "hook drop": "schedule.drop_hook",
    "tools list": "tools.list_",
    "log": "log.usage",
    "log tidy": "log.tidy_up",
    "log erase": "log_erase.erase",
    "log import": "log.import_",
    "models list": "models.list_",
}


class ListedFlag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A flag has what is seldom said of one. `one_of`: of all that say so, one alone may be given,
    or must."""

    type: Literal["", "text", "int", "path", "count", "times"] = ""
    default: str | int | None = None
    dest: str = ""
    required: bool = False
    one_of: Literal["", "optional", "required"] = ""


class ListedCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command, or flags that several share: a group of their own if they say what `about`."""

    about: str = ""
    epilog: str = ""
    flags: dict[str, str] = {}
    more: dict[str, ListedFlag] = {}


Listed = Mapping[str, ListedCommand]


@cache  # hundreds of flags, the same for every command line
def parser() -> argparse.ArgumentParser:
    shared, listed = _shared(), _listed()
    top = CommandParser(
        prog="rutter",
        usage="rutter COMMAND ...",
        description="\n".join((DOES, *_in_groups(listed))),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_shared(top=True)],
    )
    top.set_defaults(do=_say_first)
    top.add_argument(
        "--version", action="version", version=f"rutter {metadata.version('rutter-agent')}"
    )
    below: dict[str, Any] = {"": top.add_subparsers(prog="rutter", help=argparse.SUPPRESS)}
    for name, command in listed.items():
        if name.startswith("@"):
            continue
        above, _, own = name.rpartition(" ")
        listed_above = {"help": command.about} if above else {}  # the others stand in their groups
        it = below[above].add_parser(
            own, description=command.about, parents=[shared], **listed_above
        )
        if not above:
            it.epilog, it.formatter_class = command.epilog, argparse.RawDescriptionHelpFormatter
        it.set_defaults(do=partial(_do, name))
        _add_flags(it, command, listed)
        if inner := [each.split()[1] for each in listed if each.startswith(f"{name} ")]:
            below[name] = it.add_subparsers(metavar="|".join(inner))
    return top


class CommandParser(argparse.ArgumentParser):
    """A command line that cannot be read is told what it is like, or where to look."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, more = self.parse_known_args(args, namespace)
        if more:
            below = self._typed(sys.argv[1:] if args is None else list(map(str, args)))
            self.error(f"there is no {more[0]} here{_like(more[0], below._option_string_actions)}")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"there is no command {value!r}{_like(value, action.choices)}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rutter: {message}\nsee: {self.prog} --help\n")

    def _typed(self, words: Sequence[str]) -> argparse.ArgumentParser:
        """The parser of the command that is called."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for own in (each for each in words if each in action.choices):
                    below: CommandParser = action.choices[own]
                    return below._typed(words)
        return self


def _like(typed: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(typed, sorted(set(known)), n=1)
    return f" -> did you mean {near[0]}?" if near else ""


def _in_groups(listed: Listed) -> Iterator[str]:
    for about, names in listed["@groups"].flags.items():
        yield f"\n{about}:"
        for name in names.split():
            yield f"  {name:<13}{listed[name].about}"


def _say_first(options: Options, settings: Settings, terminal: Terminal) -> None:
    terminal.say(FIRST)


def found(command: str) -> Do:
    """What does a command. Its module is imported when it is asked for: no command pays for what
    the others need."""
    group, _, own = command.partition(" ")
    there = FOUND_IN.get(command) or FOUND_IN.get(f"{command} list") or f"{group}.{own or group}"
    module, _, function = there.partition(".")
    does: Do = getattr(import_module(f"{__package__}.{module}"), function)
    return does


def _do(command: str, options: Options, settings: Settings, terminal: Terminal) -> int | None:
    return found(command)(options, settings, terminal)


def _listed() -> Listed:
    text = LISTED.read_text("utf-8")
    for word, said in KNOWN.items():
        text = text.replace(word, said)
    return msgspec.toml.decode(text, type=dict[str, ListedCommand])


def _add_flags(it: argparse._ActionsContainer, command: ListedCommand, listed: Listed) -> None:
    one: argparse._ActionsContainer | None = None
    for usage, text in command.flags.items():
        if usage.startswith("@"):
            shared = listed[usage]
            _add_flags(it.add_argument_group(shared.about) if shared.about else it, shared, listed)
            continue
        more, into = command.more.get(usage, ListedFlag()), it
        if more.one_of:
            required = more.one_of == "required"
            into = one = one or it.add_mutually_exclusive_group(required=required)
        _add_flag(into, usage, text, more)


def _add_flag(it: argparse._ActionsContainer, usage: str, text: str, more: ListedFlag) -> None:
    said: dict[str, Any] = {"help": text or None}
    if usage.startswith("["):
        usage, said["nargs"] = usage[1:-1], "?"
    said_so = USAGE.fullmatch(usage)
    assert said_so is not None, usage
    names, value = said_so["names"].split(", "), said_so["value"]
    if value is None and names[0].startswith("--"):
        it.add_argument(*names, action="store_true", **said)
        return
    if value is not None and value.startswith("{"):
        said["choices"] = value[1:-1].split(",")
    elif value is not None:
        said |= {"metavar": value, "type": _type_of(value)}
    if more.type:
        said["type"] = TYPES[more.type]
    if said_so["many"]:
        said |= {"action": "append", "default": []}
    given = {"default": more.default, "dest": more.dest or None, "required": more.required or None}
    said |= {name: each for name, each in given.items() if each is not None}
    it.add_argument(*names, **said)


def _type_of(value: str) -> Callable[[str], Any] | None:
    if value.startswith(("FILE", "DIR")):
        return Path
    return float if value == "P" else int if value in ("N", "K", "STEP") else None


def _count(text: str) -> int:
    return _at_least(1, int(text), "it")


def times(text: str) -> int:
    return _at_least(2, int(text), "what was done once is no habit: it")


def _at_least(least: int, number: int, what: str) -> int:
    if number < least:
        raise argparse.ArgumentTypeError(f"{what} is at least {least}")
    return number


TYPES: Mapping[str, Callable[[str], Any] | None] = {
    "text": None,
    "int": int,
    "path": Path,
    "count": _count,
    "times": times,
}


def _shared(*, top: bool = False) -> argparse.ArgumentParser:
    """Flags that stand before or after the command; the later one wins."""
    default = None if top else argparse.SUPPRESS
    flags = argparse.ArgumentParser(add_help=False)
    flags.add_argument("--data", metavar="DIR", default=default, help="where the log is")
    flags.add_argument("--config", metavar="FILE", default=default, help="a configuration")
    off = False if top else argparse.SUPPRESS
    flags.add_argument("--json", action="store_true", default=off, help="for machines")
    flags.add_argument("--verbose", action="store_true", default=off, help="every phase, on stderr")
    return flags
