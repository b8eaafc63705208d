"""`rutter log` says what the log holds and takes and whether it is whole, and carries it
elsewhere."""

from collections.abc import Callable
from pathlib import Path

from rutter.events.errors import WorldBroken
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.progress import Gauge
from rutter.pipeline.cli.terminal import Options, Terminal, count, size
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.upkeep import backup as archive
from rutter.pipeline.upkeep.inspection import InspectionWatch, inspect
from rutter.replay.integrity import LogFault
from rutter.replay.projections import ProjectionStore

Carry = Callable[[DataDirectory, Path, InspectionWatch], archive.LogCopy]
SHOWN = 20  # faults on a terminal; --json has them all


def verify(options: Options, settings: Settings, terminal: Terminal) -> int:
    """Chains, counting, ends, seals, artifacts and projections, from the stored bytes."""
    with Gauge(terminal) as gauge:
        found = inspect(settings.directory, gauge)
    terminal.answer({"ok": found.ok, "log": str(settings.directory.log), "found": found})
    for fault in found.faults[:SHOWN]:
        terminal.say(f"[FAIL] {in_words(fault)}")
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
