"""`rutter schedule` and `rutter hook` say and change what sets off runs. The daemon changes them;
the log, which can be read beside it or without it, says what there is."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from rutter.events.envelope import Envelope
from rutter.events.jobs import Run, RunFree, RunGoal, RunWorkflow
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.daemon_client import require_daemon
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs import hooks, schedules
from rutter.pipeline.daemon.jobs.cron import zone_of
from rutter.pipeline.daemon.jobs.hooks import HookWish, KnownHooks
from rutter.pipeline.daemon.jobs.schedules import ScheduleWish, Timetable

# -- changing --------------------------------------------------------------------------------------


def set_schedule(options: Options, settings: Settings, terminal: Terminal) -> None:
    daemon = require_daemon(settings)
    wish = ScheduleWish(options.cron, _run(options), options.zone, options.overlap, options.missed)
    made = daemon.request("PUT", f"/schedules/{_named(options)}", wish)
    terminal.answer(made)
    terminal.say(
        f"[OK] {options.name}: {options.workflow}, next {_shown(made['next'], made['zone'])}"
    )


def set_hook(options: Options, settings: Settings, terminal: Terminal) -> None:
    daemon = require_daemon(settings)
    wish = HookWish(_run(options), tuple(options.param), options.overlap)
    made = daemon.request("PUT", f"/hooks/{_named(options)}", wish)
    terminal.answer(made)
    terminal.say(f"[OK] POST /hooks/{options.name} runs {options.workflow}")
    terminal.say_below("its token, which is not shown again:", made["token"])


def _drop(what: str, options: Options, settings: Settings, terminal: Terminal) -> None:
    require_daemon(settings).request("DELETE", f"/{what}/{_named(options)}")
    terminal.answer({"dropped": options.name})
    terminal.say(f"[OK] dropped {options.name}")


drop_schedule, drop_hook = (partial(_drop, what) for what in ("schedules", "hooks"))


def _named(options: Options) -> str:
    schedules.check_name(options.name)  # before it is part of a path
    return str(options.name)


def _run(options: Options) -> RunWorkflow:
    return RunWorkflow(options.workflow, values=read_pairs(options.set, "--set"))


# -- looking ---------------------------------------------------------------------------------------


def list_schedules(options: Options, settings: Settings, terminal: Terminal) -> None:
    table, now = Timetable(), Clock().now_ns()
    for envelope in _read(settings, schedules.KINDS):
        table.hear(envelope)
    rows = [schedules.told(each, now) for each in table.all()]
    terminal.answer(rows)
    terminal.show_rows(
        rows,
        {
            "schedule": "name",
            "cron": "cron",
            "zone": "zone",
            "runs": lambda each: _what_runs(each.run),
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
