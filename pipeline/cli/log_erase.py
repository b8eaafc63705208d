"""`rutter log erase` erases one session's content for good, or all that holds a given text."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rutter.events.errors import BadInput
from rutter.pipeline.cli.terminal import Gauge, Options, Terminal, count
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import catch_up, find_session
from rutter.pipeline.upkeep.erase import erase as erase_payloads
from rutter.pipeline.upkeep.erase_text import ErasedText, SessionWithText, erase_text, find, told

SHOWN = 20  # sessions on a terminal; --json has them all


def erase(options: Options, settings: Settings, terminal: Terminal) -> None:
    """A payload goes, or all of a session; the chain still verifies over their hashes."""
    if (options.session is None) == (options.text is None):
        raise BadInput("it erases one session, or what holds a text", "give SESSION or --text TEXT")
    if options.text is not None:
        _erase_text(options, settings, terminal)
        return
    if options.dry_run:
        raise BadInput("--dry-run is of --text", f"see: rutter show {options.session}")
    why = _why(options)
    session = options.session  # a process is named in full: it is in no list of sessions
    if not session.startswith("process-"):
        session = find_session(settings, session)
    with _held(settings, terminal) as gauge:
        erasing = erase_payloads(settings.directory, session, options.event, why, gauge)
        done = asyncio.run(erasing)
    catch_up(settings)
    terminal.answer(done)
    if not done.payloads:
        terminal.say(f"[OK] finished erasing {session}: it was cut short before")
        return
    went = f"{count(done.payloads, 'payload')} of {session}, {count(done.artifacts, 'artifact')}"
    terminal.say(f"[OK] erased {went}")
    gone = (f"learned in it, and no longer known: workflow {name}" for name in done.workflows)
    terminal.say_below(
        *gone,
        "the chain still verifies; the session can no longer be derived again",
        "backups, exports and traces made before still hold what they hold",
    )


def _line() -> str:
    if sys.stdin is None:
        raise BadInput(
            "--text - reads a line, and there is no input", "name the text, or pipe it in"
        )
    return sys.stdin.readline().rstrip("\r\n")


def _erase_text(options: Options, settings: Settings, terminal: Terminal) -> None:
    if options.event is not None:
        raise BadInput("--event is of one session", "leave it out, or name the session")
    text = _line() if options.text == "-" else options.text
    if options.dry_run:
        with Gauge(terminal) as gauge:
            found = find(settings.directory, text, gauge)
        artifacts = sum(each.artifacts for each in found.sessions) + len(found.unnamed)
        done = told(found, artifacts, dry_run=True)
    else:
        why = _why(options)
        with _held(settings, terminal) as gauge:
            done = asyncio.run(erase_text(settings.directory, text, why, gauge))
        catch_up(settings)
    terminal.answer(done)
    terminal.say(*_lines(done, settings))


def _lines(done: ErasedText, settings: Settings) -> Iterator[str]:
    sessions = [each for each in done.sessions if not each.process]
    what = f"{count(done.payloads, 'payload')} of {count(len(sessions), 'session')}"
    if not done.dry_run:
        yield f"[OK] erased {what}, {count(done.artifacts, 'artifact')}"
    elif done.sessions or done.artifacts:
        yield f"[OK] would erase {what}; {count(done.artifacts, 'artifact')} hold it"
    else:
        yield "[OK] nothing in the log or its artifacts holds it"
    for held in done.sessions[:SHOWN]:
        yield f"     {_of(held)} {'go' if done.dry_run else 'went'}"
    if len(done.sessions) > SHOWN:
        yield f"     and {len(done.sessions) - SHOWN} more (--json has them all)"
    for name in done.takes:
        yield f"     {'would go' if done.dry_run else 'went'} with it: {name}"
    if done.dry_run:
        if done.sessions or done.artifacts:
            yield f"     do it: {settings.command('log erase --text TEXT --why TEXT')}"
        return
    yield from _remains(done)


def _of(held: SessionWithText) -> str:
    holding = f"{count(held.holding, 'event')} hold it" if held.holding != 1 else "1 event holds it"
    artifacts = f", {count(held.artifacts, 'artifact')}" if held.artifacts else ""
    goes = "only these" if held.process else f"all {held.events} of it"
    return f"{held.session}: {holding}{artifacts}; {goes}"


def _remains(done: ErasedText) -> Iterator[str]:
    """What is not gone, and why."""
    yield "     the chain still verifies; these sessions can no longer be derived again"
    yield "     that they were, when, and of what kinds their events were, stays"
    for path in done.elsewhere:
        yield f"     still holds it, and is yours to change: {path}"
    yield "     not reached: backups, exports, reports, results, traces made before; kept logins;"
    yield "     pictures of other sessions, where the text was on the page and in no event"


def _why(options: Options) -> str:
    why: str = (options.why or "").strip()
    if not why:
        raise BadInput("the log keeps why something was erased", "give --why TEXT")
    return why


@contextmanager
def _held(settings: Settings, terminal: Terminal) -> Iterator[Gauge]:
    """As the one writer of the directory."""
    settings.directory.lock()
    try:
        with Gauge(terminal) as gauge:
            yield gauge
    finally:
        settings.directory.unlock()
