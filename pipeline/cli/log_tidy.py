"""`rutter log` and `rutter log tidy` say what is kept and what it takes, and let go of it by
rule."""

import asyncio
from collections.abc import Iterable

import msgspec

from rutter.pipeline.app import open_app
from rutter.pipeline.cli.daemon_client import through_daemon
from rutter.pipeline.cli.progress import Gauge
from rutter.pipeline.cli.terminal import Options, Terminal, count, size, when
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.open_app import held
from rutter.pipeline.upkeep.artifact_survey import survey
from rutter.pipeline.upkeep.disk_use import DiskUse, measure
from rutter.pipeline.upkeep.expiry import ExpiryDone, mark, plan, rules_of, summary, tidy
from rutter.pipeline.upkeep.inspection import InspectionWatch

SHOWN = 20  # kinds on a terminal; --json has them all


def usage(options: Options, settings: Settings, terminal: Terminal) -> None:
    """What the log holds, what all of it takes on disk, and what could go."""
    with Gauge(terminal) as gauge:
        found = measure(settings.directory, rules_of(settings.config), Clock().now_ns(), gauge)
    terminal.answer(found)
    terminal.say(
        f"{count(found.events, 'event')} of {count(found.sessions, 'session')}, "
        f"{when(found.first_ns)} to {when(found.last_ns)} UTC"
    )
    if found.erased:
        terminal.say(f"{count(found.erased, 'payload')} erased")
    if found.expired:
        terminal.say(f"{count(found.expired, 'artifact')} expired")
    _tables(found, settings, terminal)


def tidy_up(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Deletes what has expired; where a daemon holds the directory, that does."""
    with Gauge(terminal) as gauge:
        done = _foreseen(settings, gauge) if options.dry_run else _tidied(settings, gauge)
    terminal.answer(done)
    terminal.say(*lines(done, settings))


def lines(done: ExpiryDone, settings: Settings) -> Iterable[str]:
    """What went, or would, rule by rule."""
    verb = "would go" if done.dry_run else "went"
    if not done.files:
        yield "[OK] nothing has expired"
    else:
        yield f"[OK] {count(done.files, 'artifact')} {verb}, {size(done.bytes)}"
        for rule in done.rules:
            yield f"     {rule.rule}: {count(rule.files, 'artifact')}, {size(rule.bytes)}"
        if done.dry_run:
            yield f"     do it: {settings.command('log tidy')}"
        else:
            yield "     the log keeps what they were: rutter log verify tells them from lost ones"
    if done.pinned:
        kept = f"{count(done.pinned, 'artifact')}, {size(done.pinned_bytes)}"
        yield f"     kept, for a workflow that is known or a session that runs: {kept}"


def _foreseen(settings: Settings, watch: InspectionWatch) -> ExpiryDone:
    """Reads only, beside a running process too."""
    found = survey(settings.directory, watch)
    planned = plan(found, rules_of(settings.config), Clock().now_ns())
    return summary(planned, dry_run=True)


def _tidied(settings: Settings, watch: InspectionWatch) -> ExpiryDone:
    daemon = through_daemon(settings)
    if daemon is not None:
        return msgspec.convert(daemon.request("POST", "/log/tidy"), ExpiryDone)
    directory, now_ns = settings.directory, Clock().now_ns()
    # With no log there is nothing to tidy, and no directory to make; and where nothing has expired
    # the log need not say so.
    planned = plan(survey(directory, watch), rules_of(settings.config), now_ns)
    with held(directory, watch):
        if not planned.going and not planned.strays:
            mark(directory, now_ns)
            return summary(planned)
        return asyncio.run(_alone(settings, watch))


async def _alone(settings: Settings, watch: InspectionWatch) -> ExpiryDone:
    async with open_app(settings.directory) as app:
        rules = rules_of(settings.config)
        return await tidy(settings.directory, app.say_process, rules, app.clock, watch)


def _tables(found: DiskUse, settings: Settings, terminal: Terminal) -> None:
    parts = ((each.what, size(each.bytes), each.files, each.about) for each in found.parts)
    terminal.table(("what", "size", "files", "holds"), parts)
    ages = ((each.age, size(each.bytes), each.events, each.artifacts) for each in found.by_age)
    terminal.table(("age", "size", "events", "artifacts"), ages)
    uses = (
        (use.session, size(use.bytes), use.events, use.artifacts, when(use.last_ns))
        for use in found.by_session
    )
    terminal.table(("largest session", "size", "events", "artifacts", "last"), uses)
    kinds = ((use.kind, use.events, size(use.bytes)) for use in found.kinds[:SHOWN])
    terminal.table(("event", "count", "payload"), kinds)
    for could in found.freeable:
        command = settings.command(could.command)
        terminal.say(f"could be freed: {could.what}, {size(could.bytes)}: {command}")
