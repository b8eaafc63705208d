"""`rutter log`: what it holds and takes, whether it is whole, and carrying it elsewhere."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from events.errors import BadInput, WorldBroken
from events.sqlite_reader import SqliteReader
from pipeline import archive
from pipeline.cli.gauge import Gauge
from pipeline.cli.reading import when
from pipeline.cli.terminal import Terminal
from pipeline.erasing import erase as erase_payloads
from pipeline.exit_codes import Exit
from pipeline.inspection import inspect
from pipeline.known import find_session, project
from pipeline.settings import Settings
from pipeline.usage import Usage, measure
from replay.integrity import Fault
from replay.projections import ProjectionStore

SHOWN = 20  # faults and kinds on a terminal; --json has them all

EPILOG = """examples:
  rutter log                                  what it holds and how much disk it takes
  rutter log verify                           is it what was written
  rutter log backup ~/rutter-monday           a copy that works: rutter --data ~/rutter-monday
  rutter log export all.rutter                one file
  rutter --data ~/elsewhere log import all.rutter
  rutter log erase run-20260316-101502-4f1a09bc --why "asked to by the customer"
  rutter log rebuild                          the tables, anew from the log"""


def add_commands(it: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    it.epilog, it.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    it.set_defaults(do=usage)
    commands = it.add_subparsers(metavar="verify|erase|backup|export|import|rebuild")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[shared])

    command("verify", "is every event what was written, and is none lost").set_defaults(do=verify)
    each = command("erase", "erase what a session said, for good; the chain still verifies")
    each.add_argument("session", help="its name, the end of it, or 'last'")
    each.add_argument("--event", type=int, metavar="N", help="this event alone")
    each.add_argument("--why", required=True, metavar="TEXT", help="kept in the log")
    each.set_defaults(do=erase)
    each = command("backup", "a tested copy, beside a running process")
    each.add_argument("place", type=Path, metavar="DIR", help="a new data directory")
    each.set_defaults(do=backup)
    each = command("export", "everything as one file")
    each.add_argument("file", type=Path, metavar="FILE")
    each.set_defaults(do=export)
    each = command("import", "an export, into a directory that has no log")
    each.add_argument("file", type=Path, metavar="FILE")
    each.set_defaults(do=import_)
    command("rebuild", "drop the tables and fold them again").set_defaults(do=rebuild)


def usage(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """What the log holds, and what it takes on disk."""
    found = measure(settings.directory)
    if terminal.as_json:
        terminal.json(found)
        return Exit.DONE
    terminal.say(
        f"{_count(found.events, 'event')} of {_count(found.sessions, 'session')}, "
        f"{when(found.first_ns)} to {when(found.last_ns)} UTC"
    )
    if found.erased:
        terminal.say(f"{_count(found.erased, 'payload')} erased")
    _table_of_use(found, terminal)
    return Exit.DONE


def verify(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Chains, counting, ends, seals, artifacts and projections, from the stored bytes."""
    with Gauge(terminal) as gauge:
        found = inspect(settings.directory, gauge)
    if terminal.as_json:
        terminal.json({"ok": found.ok, "log": str(settings.directory.log), "found": found})
    for fault in found.faults[:SHOWN]:
        terminal.say(f"[FAIL] {in_words(fault)}")
    if not found.ok:
        count = len(found.faults) + found.more_faults
        terminal.say(f"{_count(count, 'fault')} in {_count(found.events, 'event')} that were read")
        terminal.say("restore it from a backup; what is named here cannot be trusted")
        return Exit.ENVIRONMENT
    terminal.say(
        f"[OK] {_count(found.events, 'event')} of {_count(found.sessions, 'session')}, each as it "
        f"was written; {_count(found.seals, 'seal')}, {_count(found.artifacts, 'artifact')}"
    )
    if found.erased:
        terminal.say(f"     {_count(found.erased, 'payload')} erased on the record")
    if found.unsealed:
        terminal.say(f"     {_count(found.unsealed, 'event')} behind the last seal")
    return Exit.DONE


def erase(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """A payload goes, or all of a session; the chain still verifies over their hashes."""
    why = options.why.strip()
    if not why:
        raise BadInput("the log keeps why something was erased", "give --why TEXT")
    session = options.session  # a process is named in full: it is in no list of sessions
    if not session.startswith("process-"):
        session = find_session(settings, session)
    directory = settings.directory
    directory.lock()
    try:
        with Gauge(terminal) as gauge:
            done = asyncio.run(erase_payloads(directory, session, options.event, why, gauge))
    finally:
        directory.unlock()
    project(settings).close()
    if terminal.as_json:
        terminal.json(done)
        return Exit.DONE
    if not done.payloads:
        terminal.say(f"[OK] finished erasing {session}: it was cut short before")
        return Exit.DONE
    went = f"{_count(done.payloads, 'payload')} of {session}, {_count(done.artifacts, 'artifact')}"
    terminal.say(f"[OK] erased {went}")
    for name in done.workflows:
        terminal.say(f"     learned in it, and no longer known: workflow {name}")
    terminal.say("     the chain still verifies; the session can no longer be derived again")
    terminal.say("     backups, exports and traces made before still hold what they hold")
    return Exit.DONE


def backup(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    with Gauge(terminal) as gauge:
        done = archive.back_up(settings.directory, options.place.expanduser().absolute(), gauge)
    return _carried(done, f"use it with: rutter --data {done.place}", terminal)


def export(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    with Gauge(terminal) as gauge:
        done = archive.export_log(settings.directory, options.file.expanduser().absolute(), gauge)
    return _carried(done, f"read it with: rutter --data DIR log import {done.place}", terminal)


def import_(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    with Gauge(terminal) as gauge:
        done = archive.import_log(settings.directory, options.file.expanduser(), gauge)
    return _carried(done, f"look at it: rutter --data {done.place} sessions", terminal)


def rebuild(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Drops every table and folds the whole log again."""
    directory = settings.directory
    with SqliteReader(directory.log) as reader, Gauge(terminal) as gauge:
        last = reader.last_seq()
        with _store(directory.projections) as store:
            folded = store.rebuild(reader, lambda done: gauge("folding events", done, last))
            tables = len(store.dump())
    if terminal.as_json:
        terminal.json({"events": folded, "tables": tables, "file": str(directory.projections)})
    terminal.say(f"[OK] {tables} tables folded anew from {folded} events")
    return Exit.DONE


def in_words(fault: Fault) -> str:
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


def _carried(done: archive.Carried, then: str, terminal: Terminal) -> int:
    if terminal.as_json:
        terminal.json(done)
        return Exit.DONE
    terminal.say(
        f"[OK] {done.place}: {_count(done.events, 'event')} of {_count(done.sessions, 'session')}, "
        f"{_count(done.artifacts, 'artifact')}, {_size(done.bytes)}; read back and verified"
    )
    if done.missing_artifacts:
        left_out = _count(done.missing_artifacts, "artifact")
        terminal.say(
            f"     left out, missing or changed: {left_out} (rutter log verify names them)"
        )
    terminal.say(f"     {then}")
    return Exit.DONE


def _table_of_use(found: Usage, terminal: Terminal) -> None:
    parts: list[tuple[str, int, int, Any]] = [
        ("log", found.log_bytes, found.events, "events"),
        ("artifacts", found.artifact_bytes, found.artifacts, "files"),
        ("projections", found.projection_bytes, 1, "file, can be rebuilt"),
    ]
    terminal.table(
        ("what", "size", "holds"),
        ((name, _size(size), f"{count} {what}") for name, size, count, what in parts),
    )
    terminal.table(
        ("event", "count", "payload"),
        ((use.kind, str(use.events), _size(use.bytes)) for use in found.kinds[:SHOWN]),
    )


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _size(size: int) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 10_000:
            return f"{size} {unit}"
        size //= 1_000
    return f"{size} GB"
