"""The parser knows every command and flag of `rutter`, with examples."""

import argparse
from functools import cache
from importlib import metadata
from pathlib import Path

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
    patience_option,
    record_by_hand,
    replay,
    report,
    results,
    run,
    run_rows,
    schedule,
    serve,
    service_options,
    sessions,
    show,
    threshold_options,
    tools,
    trace,
    transitions,
    workflows,
)
from rutter.pipeline.cli.examples import EXAMPLES
from rutter.pipeline.config.secret_sources import SOURCES

EPILOG = """examples:
  rutter demo
  rutter record order --script order.json --allow 127.0.0.1:8000 \\
      --param customer="Aurora Shipping" --secret password=env:SHOP_PASSWORD
  rutter run order --set customer="Juniper Tankers" --secret password=env:SHOP_PASSWORD
  rutter run --goal "cancel my subscription" --url https://stream.example --service streaming
  rutter show last

exit codes: 0 done and verified, 1 replay diverged, 2 bad input, 3 lost, 4 denied,
5 needs a person, 6 not verified, 7 interrupted, 8 environment"""


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

    def command(name: str, text: str) -> argparse.ArgumentParser:
        it = commands.add_parser(name, help=text, description=text, parents=[shared])
        it.epilog, it.formatter_class = EXAMPLES.get(name), argparse.RawDescriptionHelpFormatter
        return it

    it = command("demo", "the bundled site, start to finish")
    it.set_defaults(do=demo.demo)
    _record(command("record", "watch a workflow once"))
    _run(command("run", "sail a workflow alone"))
    login.add_options(command("login", "sign in once; later runs are signed in"))
    workflows.add_commands(command("workflows", "what it knows, and changing it"), shared)
    it = command("forget", "unlearn what a session taught, or a whole workflow")
    forget.add_options(it)
    export.add_options(command("export", "a workflow as a file that others can run"))
    it = command("init", "where things are; writes a configuration if there is none")
    it.set_defaults(do=config.init)
    config.add_commands(command("config", "every value and where it came from"), shared)
    it = command("sessions", "what ran")
    it.add_argument("--last", type=_count, default=20, metavar="N", help="how many (default 20)")
    it.set_defaults(do=sessions.sessions)
    it = command("show", "one session, step by step")
    it.add_argument("session", help="its name, the end of it, or 'last'")
    it.add_argument("--at", type=int, metavar="N", help="as it was after its event N")
    it.set_defaults(do=show.show)
    results.add_options(command("results", "what a session read and downloaded"))
    it = command("transitions", "what was learned")
    it.add_argument("--top", type=_count, default=10, metavar="K", help="how many (default 10)")
    it.set_defaults(do=transitions.transitions)
    metrics.add_options(command("metrics", "how well it does, and whether it can be believed"))
    _replay(command("replay", "derive every decision again from the log"))
    it = command("report", "one session as one HTML file, to share")
    it.add_argument("session", help="its name, the end of it, or 'last'")
    it.add_argument("--out", type=Path, metavar="FILE", help="where to write it")
    it.set_defaults(do=report.report)
    _fork(command("fork", "sail the first steps of a session again, and go on from there"))
    serve.add_serve(command("serve", "the daemon: runs, people and agents in one place"))
    serve.add_session(command("stop", "ends a session of the daemon, in a true state"), "stop")
    serve.add_session(command("pause", "holds one: take over in its window"), "pause")
    serve.add_session(command("resume", "hands it back"), "resume")
    schedule.add_schedule(command("schedule", "runs by the clock"), shared)
    schedule.add_hook(command("hook", "runs when something calls"), shared)
    approvals.add_approvals(command("approvals", "what waits for a person"))
    it = command("tools", "what can be called from outside, and calling it")
    it = tools.add_commands(it, shared)
    service_options.add_options(it)
    _run_flags(it)
    mcp.add_options(command("mcp", "tools for an outside agent, over stdio"))
    trace.add_options(command("trace", "sessions as OpenTelemetry traces"))
    log.add_commands(command("log", "the log itself: disk use, verify, backup, erase"), shared)
    models.add_commands(command("models", "the language models that may be asked"), shared)
    it = command("doctor", "is everything here that is needed; what to do if not")
    it.add_argument("--fix", action="store_true", help="mend what it can: a browser, access rights")
    it.set_defaults(do=doctor.doctor)
    completion.add_options(command("completion", "TAB in your shell knows commands and names"))
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
    it.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="every typed VALUE becomes the parameter NAME",
    )
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
    service_options.add_options(it, ends=False)
    _run_flags(it)
    patience_option.add_option(it)
    login.add_without(it)
    it.set_defaults(do=record_by_hand.record)


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
    it.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="binds a parameter"
    )
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
    threshold_options.add_options(it)
    it.add_argument("--dry-run", action="store_true", help="stop before anything irreversible")
    run_rows.add_options(it)
    service_options.add_options(it)
    _run_flags(it)
    patience_option.add_option(it)
    login.add_without(it)
    it.set_defaults(do=run.run)


def _replay(it: argparse.ArgumentParser) -> None:
    it.add_argument("session", nargs="?", help="one session; the whole log without it")
    it.add_argument(
        "--what-if", type=Path, metavar="FILE", help="a TOML file with what is different"
    )
    it.add_argument(
        "--curve", type=Path, metavar="FILE.svg", help="draws what each threshold would have done"
    )
    threshold_options.add_options(it, "what if: ")
    it.set_defaults(do=replay.replay)


def _fork(it: argparse.ArgumentParser) -> None:
    it.add_argument("session", help="its name, the end of it, or 'last'")
    it.add_argument("--at", type=int, required=True, metavar="N", help="how many steps to repeat")
    it.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="binds a parameter anew"
    )
    it.add_argument("--free", action="store_true", help="go on wherever the learned model is sure")
    threshold_options.add_options(it)
    _run_flags(it)
    login.add_without(it)
    it.set_defaults(do=fork.fork)


def _run_flags(it: argparse.ArgumentParser) -> None:
    it.add_argument(
        "--secret",
        action="append",
        default=[],
        metavar="NAME=SOURCE[@ORIGIN]",
        help=f"a secret from {SOURCES}, typed on ORIGIN alone; never stored. "
        "NAME by itself: as the configuration says",
    )
    it.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="names a host for this workflow, loopback and private ones included; '*' for every "
        "public one",
    )
    it.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="a scripted person, recorded as such: a JSON list of {approved, message, phrase}",
    )
    it.add_argument("--screenshots", action="store_true", help="a picture of the page at each step")
    it.add_argument("--headed", action="store_true", help="in a window that you can watch")
