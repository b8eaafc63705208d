"""The manual has a page for every command, made of its flags: `python -m rutter.pipeline.cli.manual
docs/commands`.

The pages are written from the parser and not from its `--help`, which each Python prints in its own
way. A test holds them against what is committed.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rutter.pipeline.cli.completion import commands_of
from rutter.pipeline.cli.parser import parser

# Where a command is explained at length.
ABOUT = {
    "record": ("recording", "optional-steps", "secrets", "policy"),
    "results": ("results", "workflows"),
    "run": ("results", "rows", "healing", "at-most-once", "free-runs", "models", "exit-codes"),
    "login": ("logins", "secrets"),
    "workflows": ("workflows", "optional-steps", "checks"),
    "forget": ("workflows", "log"),
    "export": ("workflows",),
    "init": ("configuration",),
    "config": ("configuration",),
    "show": ("hindsight",),
    "sessions": ("hindsight",),
    "replay": ("hindsight",),
    "report": ("hindsight",),
    "fork": ("hindsight",),
    "metrics": ("free-runs",),
    "serve": ("daemon", "live-view", "triggers"),
    "stop": ("daemon", "pausing"),
    "pause": ("pausing",),
    "resume": ("pausing",),
    "schedule": ("triggers",),
    "hook": ("triggers",),
    "approvals": ("daemon", "policy"),
    "tools": ("tools",),
    "mcp": ("mcp",),
    "trace": ("traces",),
    "log": ("log",),
    "models": ("models",),
}
HERE = Path(__file__).resolve().parents[2]


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.md"):
        if stale.read_text(encoding="utf-8").startswith(("# rutter ", "# Commands")):
            stale.unlink()
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Each file's name and text; README.md lists them."""
    commands = dict(commands_of(parser()))
    made = {f"{name}.md": "\n".join(_page(name, it)) + "\n" for name, it in commands.items()}
    made["README.md"] = "\n".join(_index(commands)) + "\n"
    return made


def _index(commands: dict[str, argparse.ArgumentParser]) -> Iterator[str]:
    yield from ("# Commands", "", "`rutter COMMAND --help` says the same at the terminal.", "")
    yield from ("| command | does |", "|---|---|")
    for name, it in commands.items():
        yield f"| [rutter {name}]({name}.md) | {_cell(it.description or '')} |"


def _page(name: str, it: argparse.ArgumentParser) -> Iterator[str]:
    yield from (f"# rutter {name}", "", f"{it.description}.", "")
    yield from ("## Synopsis", "", *(f"    {line}" for line in _synopsis(f"rutter {name}", it)), "")
    yield from _flags(it)
    for sub, each in commands_of(it):
        yield from (f"## rutter {name} {sub}", "", f"{each.description}.", "")
        yield from (*(f"    {line}" for line in _synopsis(f"rutter {name} {sub}", each)), "")
        yield from _flags(each)
    if it.epilog:
        yield from _examples(it.epilog)
    yield from ("## Exit codes", "")
    yield "0 when done. The others, and what to type next: [exit-codes.md](../exit-codes.md)."
    about = [each for each in ABOUT.get(name, ()) if (HERE / "docs" / f"{each}.md").exists()]
    if about:
        links = ", ".join(f"[{each}](../{each}.md)" for each in about)
        yield from ("", "## More", "", f"{links}.")


def _examples(epilog: str) -> Iterator[str]:
    """The examples as they are typed, and what is said below them."""
    first, _, rest = epilog.partition("\n\n")
    title, _, lines = first.partition("\n")
    yield from (f"## {title.rstrip(':').capitalize()}", "")
    yield from (f"    {line.removeprefix('  ')}" for line in lines.splitlines())
    yield ""
    if rest:
        yield from (rest, "")


def _synopsis(name: str, it: argparse.ArgumentParser) -> Iterator[str]:
    groups = {id(each): group for group in it._mutually_exclusive_groups for each in _in(group)}
    parts: list[str] = []
    done: set[int] = set()
    for action in _own(it):
        group = groups.get(id(action))
        if group is None:
            usage = _usage(action)
            parts.append(usage if action.required else f"[{usage}]")
        elif id(group) not in done:
            done.add(id(group))
            inner = " | ".join(_usage(each) for each in _in(group))
            parts.append(f"({inner})" if group.required else f"[{inner}]")
    line = name
    for part in parts:
        if len(line) + 1 + len(part) > 92:
            yield line
            line = " " * len(name)
        line += f" {part}"
    yield line


def _in(group: argparse._MutuallyExclusiveGroup) -> list[argparse.Action]:
    return [each for each in group._group_actions if each.help != argparse.SUPPRESS]


def _usage(action: argparse.Action) -> str:
    if not action.option_strings:
        return _metavar(action)
    flag = action.option_strings[-1]
    return flag if action.nargs == 0 else f"{flag} {_metavar(action)}"


def _flags(it: argparse.ArgumentParser) -> Iterator[str]:
    own = [each for each in _own(it) if not isinstance(each, argparse._SubParsersAction)]
    if not own:
        return
    yield from ("| flag | means |", "|---|---|")
    for action in own:
        flags = ", ".join(action.option_strings)
        value = "" if action.option_strings and action.nargs == 0 else _metavar(action)
        yield f"| `{' '.join(filter(None, (flags, value)))}` | {_cell(_help(action))} |"
    yield ""


def _own(it: argparse.ArgumentParser) -> list[argparse.Action]:
    """What this command alone takes: what all take stands on the first page."""
    everywhere = {"--help", "--data", "--config", "--json", "--verbose"}
    return [
        each
        for each in it._actions
        if each.help != argparse.SUPPRESS and not everywhere & set(each.option_strings)
    ]


def _metavar(action: argparse.Action) -> str:
    if action.metavar:
        return str(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(str(each) for each in action.choices) + "}"
    return action.dest.upper()


def _help(action: argparse.Action) -> str:
    said = action.help or ""
    return said % {**vars(action), "prog": "rutter"} if "%" in said else said


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


if __name__ == "__main__":
    main()
