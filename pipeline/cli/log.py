"""`rutter log` says what the log holds and takes and whether it is whole, carries it elsewhere, and
lets go of it by rule."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from rutter.events.errors import WorldBroken
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import open_app
from rutter.pipeline.cli.daemon_client import through_daemon
from rutter.pipeline.cli.terminal import Gauge, Options, Terminal, count, size, when
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.open_app import held
from rutter.pipeline.upkeep import backup as archive
from rutter.pipeline.upkeep.artifact_survey import survey
from rutter.pipeline.upkeep.disk_use import DiskUse, measure
from rutter.pipeline.upkeep.expiry import ExpiryDone, mark, plan, rules_of, summary, tidy
from rutter.pipeline.upkeep.inspection import InspectionWatch, inspect
from rutter.replay.integrity import LogFault
from rutter.replay.projections import ProjectionStore

Carry = Callable[[DataDirectory, Path, InspectionWatch], archive.LogCopy]
SHOWN = 20  # faults, and kinds, on a terminal; --json has them all


# -- what is kept, and how long -------------------------------------------------------------------


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


# -- whether it is whole, and elsewhere -----------------------------------------------------------


def verify(options: Options, settings: Settings, terminal: Terminal) -> int:
    """Chains, counting, ends, seals, artifacts and projections, from the stored bytes."""
    with Gauge(terminal) as gauge:
        found = inspect(settings.directory, gauge)
    terminal.answer({"ok": found.ok, "log": str(settings.directory.log), "found": found})
    terminal.say(*(f"[FAIL] {in_words(fault)}" for fault in found.faults[:SHOWN]))
    if not found.ok:
        faults = len(found.faults) + found.more_faults
        terminal.say(f"{count(faults, 'fault')} in {count(found.events, 'event')} that were read")
        terminal.say("restore it from a backup; what is named here cannot be trusted")
        return Exit.ENVIRONMENT
    terminal.say(
        f"[OK] {count(found.events, 'event')} of {count(found.sessions, 'session')}, each as it "
        f"was written; {count(found.seals, 'seal')}, {count(found.artifacts, 'artifact')}"
    )
    if found.erased:
        terminal.say_below(f"{count(found.erased, 'payload')} erased on the record")
    if found.expired:
        went = count(found.expired, "artifact")
        terminal.say_below(f"{went} expired by rule: what named them still holds their digests")
    if found.unsealed:
        terminal.say_below(f"{count(found.unsealed, 'event')} behind the last seal")
    return Exit.DONE


def backup(options: Options, settings: Settings, terminal: Terminal) -> None:
    then = "use it with: rutter --data {}"
    _carry(archive.back_up, options.place.expanduser().absolute(), then, settings, terminal)


def export(options: Options, settings: Settings, terminal: Terminal) -> None:
    then = "read it with: rutter --data DIR log import {}"
    _carry(archive.export_log, options.file.expanduser().absolute(), then, settings, terminal)


def import_(options: Options, settings: Settings, terminal: Terminal) -> None:
    then = "look at it: rutter --data {} sessions"
    _carry(archive.import_log, options.file.expanduser(), then, settings, terminal)


def rebuild(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Drops every table and folds the whole log again."""
    directory = settings.directory
    with SqliteReader(directory.log) as reader, Gauge(terminal) as gauge:
        last = reader.last_seq()
        with _store(directory.projections) as store:
            folded = store.rebuild(reader, lambda done: gauge("folding events", done, last))
            tables = len(store.dump())
    terminal.answer({"events": folded, "tables": tables, "file": str(directory.projections)})
    terminal.say(f"[OK] {tables} tables folded anew from {folded} events")


def in_words(fault: LogFault) -> str:
    """The place first, then what is wrong there."""
    place = [f"position {fault.seq}"] if fault.seq else []
    if fault.session:
        place.append(f"event {fault.n} of {fault.session}" if fault.n else fault.session)
    return f"{', '.join(place)}: {fault.what}" if place else fault.what


def _store(path: Path) -> ProjectionStore:
    """A file that cannot be used at all is in the way of its own rebuilding."""
    try:
        return ProjectionStore(path)
    except WorldBroken as error:
        if type(error) is not WorldBroken:  # the disk is full, or another process has it
            raise
        path.unlink(missing_ok=True)
        return ProjectionStore(path)


def _carry(how: Carry, place: Path, then: str, settings: Settings, terminal: Terminal) -> None:
    with Gauge(terminal) as gauge:
        done = how(settings.directory, place, gauge)
    terminal.answer(done)
    terminal.say(
        f"[OK] {done.place}: {count(done.events, 'event')} of {count(done.sessions, 'session')}, "
        f"{count(done.artifacts, 'artifact')}, {size(done.bytes)}; read back and verified"
    )
    if done.missing_artifacts:
        left_out = count(done.missing_artifacts, "artifact")
        terminal.say_below(
            f"left out, missing or changed: {left_out} (rutter log verify names them)"
        )
    if done.expired_artifacts:
        terminal.say_below(f"had expired before: {count(done.expired_artifacts, 'artifact')}")
    terminal.say_below(then.format(done.place))
