"""`rutter schedule` and `rutter hook` say and change what sets off runs. The daemon changes them;
the log, which can be read beside it or without it, says what there is."""

import argparse
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Protocol, get_args

from rutter.events.envelope import Envelope
from rutter.events.jobs import Overlap, Run, RunFree, RunGoal, RunWorkflow
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.triggers import Missed
from rutter.pipeline.cli.daemon_client import require_daemon
from rutter.pipeline.cli.options import add_many, add_set
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.clock import SystemClock
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs import hooks, schedules
from rutter.pipeline.daemon.jobs.cron import zone_of
from rutter.pipeline.daemon.jobs.hooks import HookWish, KnownHooks
from rutter.pipeline.daemon.jobs.schedules import ScheduleWish, Timetable

SCHEDULES = """examples:
  rutter schedule                                  what is run when, and when next
  rutter schedule set morning --cron "0 7 * * 1-5" --zone Europe/Berlin \\
      --workflow order --set customer="Aurora Shipping"
  rutter schedule drop morning"""
HOOKS = """examples:
  rutter hook                                      what can be called
  rutter hook set shop --workflow order --param customer --set quantity=3
  curl -X POST http://127.0.0.1:8080/hooks/shop -H "Authorization: Bearer $TOKEN" \\
      -H "Content-Type: application/json" -d '{"customer": "Aurora Shipping"}'
  rutter hook drop shop

The token is printed once, when the hook is set; set again, it has another."""


class Client(Protocol):
    def request(self, method: str, path: str, body: object = None) -> Any: ...


Ask = Callable[[argparse.Namespace, Client, Terminal], None]


def add_schedule(it: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    each = _commands(it, shared, SCHEDULES, list_schedules, set_schedule, drop_schedule)
    each.add_argument("--cron", required=True, metavar="EXPR", help="minute hour day month weekday")
    each.add_argument("--zone", default="UTC", help="whose clock it is (default UTC)")
    each.add_argument(
        "--missed",
        choices=get_args(Missed),
        default="skip",
        help="what came due while no daemon ran: nothing, or the last of it once",
    )
    _what(each, "skip")


def add_hook(it: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    each = _commands(it, shared, HOOKS, list_hooks, set_hook, drop_hook)
    add_many(each, "--param", "NAME", "what a call may bind")
    _what(each, "queue")


def _commands(
    it: argparse.ArgumentParser,
    shared: argparse.ArgumentParser,
    epilog: str,
    listing: Callable[[argparse.Namespace, Settings, Terminal], None],
    setting: Ask,
    dropping: Ask,
) -> argparse.ArgumentParser:
    """The three commands; the one that sets is given back, for its flags."""
    it.epilog, it.formatter_class = epilog, argparse.RawDescriptionHelpFormatter
    it.set_defaults(do=listing)
    commands = it.add_subparsers(metavar="list|set|drop")
    each = commands.add_parser("list", help="what there is", parents=[shared])
    each.set_defaults(do=listing)
    each = commands.add_parser("drop", help="no longer", parents=[shared])
    each.add_argument("name")
    each.set_defaults(do=_through(dropping))
    each = commands.add_parser("set", help="a new one, or another in its place", parents=[shared])
    each.add_argument("name")
    each.set_defaults(do=_through(setting))
    return each


def _what(it: argparse.ArgumentParser, overlap: Overlap) -> None:
    it.add_argument("--workflow", required=True, metavar="NAME", help="what is run")
    add_set(it, metavar="key=value")
    it.add_argument(
        "--overlap",
        choices=get_args(Overlap),
        default=overlap,
        help=f"while another one of it runs or waits (default {overlap})",
    )


def _through(ask: Ask) -> Callable[[argparse.Namespace, Settings, Terminal], None]:
    def do(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
        ask(options, require_daemon(settings), terminal)

    return do


# -- changing --------------------------------------------------------------------------------------


def set_schedule(options: argparse.Namespace, client: Client, terminal: Terminal) -> None:
    wish = ScheduleWish(options.cron, _run(options), options.zone, options.overlap, options.missed)
    made = client.request("PUT", f"/schedules/{_named(options)}", wish)
    terminal.answer(made)
    terminal.say(
        f"[OK] {options.name}: {options.workflow}, next {_shown(made['next'], made['zone'])}"
    )


def drop_schedule(options: argparse.Namespace, client: Client, terminal: Terminal) -> None:
    client.request("DELETE", f"/schedules/{_named(options)}")
    _dropped(options, terminal)


def set_hook(options: argparse.Namespace, client: Client, terminal: Terminal) -> None:
    wish = HookWish(_run(options), tuple(options.param), options.overlap)
    made = client.request("PUT", f"/hooks/{_named(options)}", wish)
    terminal.answer(made)
    terminal.say(f"[OK] POST /hooks/{options.name} runs {options.workflow}")
    terminal.say("     its token, which is not shown again:")
    terminal.say(f"     {made['token']}")


def drop_hook(options: argparse.Namespace, client: Client, terminal: Terminal) -> None:
    client.request("DELETE", f"/hooks/{_named(options)}")
    _dropped(options, terminal)


def _dropped(options: argparse.Namespace, terminal: Terminal) -> None:
    terminal.answer({"dropped": options.name})
    terminal.say(f"[OK] dropped {options.name}")


def _named(options: argparse.Namespace) -> str:
    schedules.check_name(options.name)  # before it is part of a path
    return str(options.name)


def _run(options: argparse.Namespace) -> RunWorkflow:
    return RunWorkflow(options.workflow, values=read_pairs(options.set, "--set"))


# -- looking ---------------------------------------------------------------------------------------


def list_schedules(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    table, now = Timetable(), SystemClock().now_ns()
    for envelope in _read(settings, schedules.KINDS):
        table.hear(envelope)
    rows = [schedules.told(each, now) for each in table.all()]
    terminal.answer(rows)
    terminal.table(
        ("schedule", "cron", "zone", "runs", "overlap", "missed", "next"),
        (
            (
                row.name,
                row.cron,
                row.zone,
                _what_runs(row.run),
                row.overlap,
                row.missed,
                row.problem or _shown(row.next, row.zone),
            )
            for row in rows
        ),
        none='no schedules; set one: rutter schedule set NAME --cron "0 7 * * 1-5" ...',
    )


def list_hooks(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    known = KnownHooks()
    for envelope in _read(settings, hooks.KINDS):
        known.hear(envelope)
    found = known.all()
    terminal.answer([hooks.told(each) for each in found])
    terminal.table(
        ("hook", "runs", "takes", "overlap", "by"),
        (
            (
                each.name,
                _what_runs(each.run),
                ", ".join(each.parameters) or "-",
                each.overlap,
                each.by,
            )
            for each in found
        ),
        none="no hooks; make one: rutter hook set NAME --workflow NAME --param NAME",
    )


def _read(settings: Settings, kinds: tuple[str, ...]) -> Iterator[Envelope]:
    with SqliteReader(settings.directory.log) as reader:
        yield from reader.read(kinds=kinds)


def _what_runs(run: Run) -> str:
    match run:
        case RunWorkflow():
            values = " ".join(f"{name}={value}" for name, value in run.values.items())
            return f"{run.workflow} {values}".rstrip()
        case RunFree(url=url):
            return f"freely from {url}"
        case RunGoal(goal=goal):
            return f"to: {goal}"


def _shown(due_utc: str, zone: str) -> str:
    """The next time, by the clock of its zone."""
    if not due_utc:
        return "never"
    due = datetime.fromisoformat(due_utc).astimezone(zone_of(zone))
    return f"{due:%a %Y-%m-%d %H:%M %Z}"
