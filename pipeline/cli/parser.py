"""The parser knows every command and flag of `rutter`, with examples."""

import argparse
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from rutter.pipeline.cli import (
    approvals,
    completion,
    config,
    demo,
    doctor,
    export,
    forget,
    fork,
    log,
    login,
    mcp,
    metrics,
    models,
    record,
    replay,
    report,
    results,
    run,
    run_rows,
    schedule,
    serve,
    sessions,
    show,
    tools,
    trace,
    transitions,
    workflows,
)
from rutter.pipeline.cli.examples import EXAMPLES
from rutter.pipeline.cli.options import (
    SESSION,
    add_many,
    add_patience,
    add_run_flags,
    add_service,
    add_set,
    add_thresholds,
    add_without_login,
)
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings

EPILOG = """examples:
  rutter demo
  rutter record order --script order.json --allow 127.0.0.1:8000 \\
      --param customer="Aurora Shipping" --secret password=env:SHOP_PASSWORD
  rutter run order --set customer="Juniper Tankers" --secret password=env:SHOP_PASSWORD
  rutter run --goal "cancel my subscription" --url https://stream.example --service streaming
  rutter show last

exit codes: 0 done and verified, 1 replay diverged, 2 bad input, 3 lost, 4 denied,
5 needs a person, 6 not verified, 7 interrupted, 8 environment"""

Do = Callable[[argparse.Namespace, Settings, Terminal], int | None]  # nothing: it is done
Flags = Callable[[argparse.ArgumentParser], None]
Add = Callable[[argparse.ArgumentParser, argparse.ArgumentParser], None]


class _Command(NamedTuple):
    """A command's `add` takes its own parser, and the flags that commands below it share."""

    name: str
    text: str
    add: Add


@cache  # hundreds of flags, the same for every command line
def parser() -> argparse.ArgumentParser:
    shared = _shared()
    top = argparse.ArgumentParser(
        prog="rutter",
        description="Learns a browser workflow by watching it once, then sails it alone.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_shared(top=True)],
    )
    top.add_argument(
        "--version", action="version", version=f"rutter {metadata.version('rutter-agent')}"
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for each in COMMANDS:
        it = commands.add_parser(each.name, help=each.text, description=each.text, parents=[shared])
        it.epilog = EXAMPLES.get(each.name)
        it.formatter_class = argparse.RawDescriptionHelpFormatter
        each.add(it, shared)
    return top


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it is at least 1")
    return number


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


def _record(it: argparse.ArgumentParser) -> None:
    it.add_argument("name", help="what to call the workflow")
    how = it.add_mutually_exclusive_group(required=True)
    how.add_argument("--url", help="opens a window there to work in; closing it ends the recording")
    how.add_argument("--script", metavar="FILE", help="a Chrome DevTools Recorder JSON")
    add_many(it, "--param", "NAME=VALUE", "every typed VALUE becomes the parameter NAME")
    it.add_argument(
        "--confirm-hosts",
        action="store_true",
        help="its runs may use every host that the recording spoke to",
    )
    it.add_argument(
        "--replace",
        action="store_true",
        help="in place of what is known under this name, not merged with it",
    )
    add_service(it, ends=False)
    add_run_flags(it)
    add_patience(it)
    add_without_login(it)
    it.set_defaults(do=record.record)


def _run(it: argparse.ArgumentParser) -> None:
    it.add_argument("name", nargs="?", help="the workflow")
    it.add_argument(
        "--goal",
        metavar="TEXT",
        help="what it is to come to: a workflow that does is sailed; else a language model looks "
        "for the way, which is learned as NAME",
    )
    it.add_argument(
        "--no-model", action="store_true", help="no language model is asked in this run"
    )
    add_set(it)
    it.add_argument(
        "--from",
        dest="after",
        metavar="SESSION",
        help="continues that one: its values, and nothing done twice that cannot be undone",
    )
    it.add_argument(
        "--free", action="store_true", help="no workflow: wherever the learned model is sure"
    )
    it.add_argument("--url", help="where a free run starts, or one to a goal that is new")
    add_thresholds(it)
    it.add_argument("--dry-run", action="store_true", help="stop before anything irreversible")
    run_rows.add_options(it)
    add_service(it)
    add_run_flags(it)
    add_patience(it)
    add_without_login(it)
    it.set_defaults(do=run.run)


def _sessions(it: argparse.ArgumentParser) -> None:
    it.add_argument("--last", type=_count, default=20, metavar="N", help="how many (default 20)")
    it.set_defaults(do=sessions.sessions)


def _show(it: argparse.ArgumentParser) -> None:
    it.add_argument("session", help=SESSION)
    it.add_argument("--at", type=int, metavar="N", help="as it was after its event N")
    it.set_defaults(do=show.show)


def _transitions(it: argparse.ArgumentParser) -> None:
    it.add_argument("--top", type=_count, default=10, metavar="K", help="how many (default 10)")
    it.set_defaults(do=transitions.transitions)


def _replay(it: argparse.ArgumentParser) -> None:
    it.add_argument("session", nargs="?", help="one session; the whole log without it")
    it.add_argument(
        "--what-if", type=Path, metavar="FILE", help="a TOML file with what is different"
    )
    it.add_argument(
        "--curve", type=Path, metavar="FILE.svg", help="draws what each threshold would have done"
    )
    add_thresholds(it, "what if: ")
    it.set_defaults(do=replay.replay)


def _report(it: argparse.ArgumentParser) -> None:
    it.add_argument("session", help=SESSION)
    it.add_argument("--out", type=Path, metavar="FILE", help="where to write it")
    it.set_defaults(do=report.report)


def _fork(it: argparse.ArgumentParser) -> None:
    it.add_argument("session", help=SESSION)
    it.add_argument("--at", type=int, required=True, metavar="N", help="how many steps to repeat")
    add_set(it, "binds a parameter anew")
    it.add_argument("--free", action="store_true", help="go on wherever the learned model is sure")
    add_thresholds(it)
    add_run_flags(it)
    add_without_login(it)
    it.set_defaults(do=fork.fork)


def _tools(it: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    call = tools.add_commands(it, shared)
    add_service(call)
    add_run_flags(call)


def _doctor(it: argparse.ArgumentParser) -> None:
    it.add_argument("--fix", action="store_true", help="mend what it can: a browser, access rights")
    it.set_defaults(do=doctor.doctor)


def _takes(flags: Flags) -> Add:
    return lambda it, _: flags(it)


def _does(do: Do) -> Add:
    """No flags of its own."""
    return lambda it, _: it.set_defaults(do=do)


def _tells(word: str) -> Add:
    """What is said to the daemon about one session."""
    return lambda it, _: serve.add_session(it, word)


COMMANDS = (  # in the order of the help
    _Command("demo", "the bundled site, start to finish", _does(demo.demo)),
    _Command("record", "watch a workflow once", _takes(_record)),
    _Command("run", "sail a workflow alone", _takes(_run)),
    _Command("login", "sign in once; later runs are signed in", _takes(login.add_options)),
    _Command("workflows", "what it knows, and changing it", workflows.add_commands),
    _Command(
        "forget", "unlearn what a session taught, or a whole workflow", _takes(forget.add_options)
    ),
    _Command("export", "a workflow as a file that others can run", _takes(export.add_options)),
    _Command(
        "init", "where things are; writes a configuration if there is none", _does(config.init)
    ),
    _Command("config", "every value and where it came from", config.add_commands),
    _Command("sessions", "what ran", _takes(_sessions)),
    _Command("show", "one session, step by step", _takes(_show)),
    _Command("results", "what a session read and downloaded", _takes(results.add_options)),
    _Command("transitions", "what was learned", _takes(_transitions)),
    _Command(
        "metrics", "how well it does, and whether it can be believed", _takes(metrics.add_options)
    ),
    _Command("replay", "derive every decision again from the log", _takes(_replay)),
    _Command("report", "one session as one HTML file, to share", _takes(_report)),
    _Command(
        "fork", "sail the first steps of a session again, and go on from there", _takes(_fork)
    ),
    _Command("serve", "the daemon: runs, people and agents in one place", _takes(serve.add_serve)),
    _Command("stop", "ends a session of the daemon, in a true state", _tells("stop")),
    _Command("pause", "holds one: take over in its window", _tells("pause")),
    _Command("resume", "hands it back", _tells("resume")),
    _Command("schedule", "runs by the clock", schedule.add_schedule),
    _Command("hook", "runs when something calls", schedule.add_hook),
    _Command("approvals", "what waits for a person", _takes(approvals.add_approvals)),
    _Command("tools", "what can be called from outside, and calling it", _tools),
    _Command("mcp", "tools for an outside agent, over stdio", _takes(mcp.add_options)),
    _Command("trace", "sessions as OpenTelemetry traces", _takes(trace.add_options)),
    _Command("log", "the log itself: disk use, verify, backup, erase", log.add_commands),
    _Command("models", "the language models that may be asked", models.add_commands),
    _Command("doctor", "is everything here that is needed; what to do if not", _takes(_doctor)),
    _Command(
        "completion", "TAB in your shell knows commands and names", _takes(completion.add_options)
    ),
)
