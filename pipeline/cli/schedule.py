"""`rutter schedule` and `rutter hook` say and change what sets off runs. The daemon changes them;
the log, which can be read beside it or without it, says what there is."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol

from rutter.events.envelope import Envelope
from rutter.events.jobs import Run, RunFree, RunGoal, RunWorkflow
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.daemon_client import require_daemon
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.clock import SystemClock
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs import hooks, schedules
from rutter.pipeline.daemon.jobs.cron import zone_of
from rutter.pipeline.daemon.jobs.hooks import HookWish, KnownHooks
from rutter.pipeline.daemon.jobs.schedules import ScheduleWish, Timetable


class Client(Protocol):
    def request(self, method: str, path: str, body: object = None) -> Any: ...


Ask = Callable[[argparse.Namespace, Client, Terminal], None]


def through(ask: Ask) -> Callable[[argparse.Namespace, Settings, Terminal], None]:
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
    when, how = attrgetter("name", "cron", "zone"), attrgetter("overlap", "missed")
    terminal.table(
        ("schedule", "cron", "zone", "runs", "overlap", "missed", "next"),
        (
            (
                *when(each),
                _what_runs(each.run),
                *how(each),
                each.problem or _shown(each.next, each.zone),
            )
            for each in rows
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
            (each.name, _what_runs(each.run), _listed(each.parameters), each.overlap, each.by)
            for each in found
        ),
        none="no hooks; make one: rutter hook set NAME --workflow NAME --param NAME",
    )


def _listed(parameters: Iterable[str]) -> str:
    return ", ".join(parameters) or "-"


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
