"""`rutter schedule` and `rutter hook` say and change what sets off runs. The daemon changes them,
and schedules also this process where none runs; the log says what there is."""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.jobs import Run, RunFree, RunGoal, RunWorkflow
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.triggers import ScheduleDropped
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.cli.daemon_client import require_daemon, through_daemon
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.daemon.jobs import hooks, schedules
from rutter.pipeline.daemon.jobs.cron import machine_zone, zone_of
from rutter.pipeline.daemon.jobs.hooks import HookWish, KnownHooks
from rutter.pipeline.daemon.jobs.scheduled_rows import check_columns
from rutter.pipeline.daemon.jobs.schedules import ScheduleWish, Timetable
from rutter.pipeline.open_app import open_own_app

# -- changing --------------------------------------------------------------------------------------


def set_schedule(options: Options, settings: Settings, terminal: Terminal) -> None:
    zone = options.zone or machine_zone(environment())
    name, run, daemon = _named(options), _run(options), through_daemon(settings)
    rows = str(options.rows.resolve()) if options.rows is not None else ""
    if options.afresh and not rows:
        raise BadInput("--afresh is for --rows", "add --rows FILE.csv")
    how = options.overlap, options.missed, rows, options.afresh
    wish = ScheduleWish(options.cron, run, zone, *how)
    if daemon is None:
        if rows:
            check_columns(options.rows, run, settings)
        now = Clock().now_ns()
        made = schedules.schedule_of(name, wish, now, by="person")
        asyncio.run(_say_here(settings, terminal, made.told))
        answer = msgspec.to_builtins(schedules.told(made, now))
    else:
        answer = daemon.request("PUT", f"/schedules/{name}", wish)
    terminal.answer(answer)
    next_ = _shown(answer["next"], answer["zone"])
    terminal.say(f"[OK] {name}: {options.workflow}{_of_each(rows)}, next {next_}")
    if daemon is None:
        terminal.say_below(f"it is run while the daemon runs: {settings.command('serve')}")


def set_hook(options: Options, settings: Settings, terminal: Terminal) -> None:
    daemon = require_daemon(settings)
    wish = HookWish(_run(options), tuple(options.param), options.overlap)
    made = daemon.request("PUT", f"/hooks/{_named(options)}", wish)
    terminal.answer(made)
    terminal.say(f"[OK] POST /hooks/{options.name} runs {options.workflow}")
    terminal.say_below("its token, which is not shown again:", made["token"])


def drop_schedule(options: Options, settings: Settings, terminal: Terminal) -> None:
    daemon = through_daemon(settings)
    if daemon is None:
        dropped = _timetable(settings).find(_named(options))
        asyncio.run(_say_here(settings, terminal, ScheduleDropped(dropped.name, "person")))
    else:
        daemon.request("DELETE", f"/schedules/{_named(options)}")
    _tell_dropped(options, terminal)


def drop_hook(options: Options, settings: Settings, terminal: Terminal) -> None:
    require_daemon(settings).request("DELETE", f"/hooks/{_named(options)}")
    _tell_dropped(options, terminal)


def _tell_dropped(options: Options, terminal: Terminal) -> None:
    terminal.answer({"dropped": options.name})
    terminal.say(f"[OK] dropped {options.name}")


async def _say_here(settings: Settings, terminal: Terminal, event: AnyEvent) -> None:
    """No daemon writes to the log: this process does."""
    async with open_own_app(settings, terminal.note) as app:
        await app.say_process(event)


def _named(options: Options) -> str:
    schedules.check_name(options.name)  # before it is part of a path
    return str(options.name)


def _run(options: Options) -> RunWorkflow:
    return RunWorkflow(options.workflow, values=read_pairs(options.set, "--set"))


# -- looking ---------------------------------------------------------------------------------------


def list_schedules(options: Options, settings: Settings, terminal: Terminal) -> None:
    now = Clock().now_ns()
    rows = [schedules.told(each, now) for each in _timetable(settings).all()]
    terminal.answer(rows)
    terminal.show_rows(
        rows,
        {
            "schedule": "name",
            "cron": "cron",
            "zone": "zone",
            "runs": lambda each: f"{_what_runs(each.run)}{_of_each(each.rows)}",
            "overlap": "overlap",
            "missed": "missed",
            "next": lambda each: each.problem or _shown(each.next, each.zone),
        },
        none='no schedules; set one: rutter schedule set NAME --cron "0 7 * * 1-5" ...',
    )


def list_hooks(options: Options, settings: Settings, terminal: Terminal) -> None:
    known = KnownHooks()
    for envelope in _read(settings, hooks.KINDS):
        known.hear(envelope)
    found = known.all()
    terminal.answer([hooks.told(each) for each in found])
    terminal.show_rows(
        found,
        {
            "hook": "name",
            "runs": lambda each: _what_runs(each.run),
            "takes": lambda each: ", ".join(each.parameters) or "-",
            "overlap": "overlap",
            "by": "by",
        },
        none="no hooks; make one: rutter hook set NAME --workflow NAME --param NAME",
    )


def _timetable(settings: Settings) -> Timetable:
    table = Timetable()
    for envelope in _read(settings, schedules.KINDS):
        table.hear(envelope)
    return table


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


def _of_each(rows: str) -> str:
    return f", each row of {Path(rows).name}" if rows else ""


def _shown(due_utc: str, zone: str) -> str:
    """The next time, by the clock of its zone."""
    if not due_utc:
        return "never"
    due = datetime.fromisoformat(due_utc).astimezone(zone_of(zone))
    return f"{due:%a %Y-%m-%d %H:%M %Z}"
