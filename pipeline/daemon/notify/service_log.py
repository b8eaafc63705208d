"""The daemon writes its own log for whoever keeps it running: a line for each thing that happened,
as JSON for machines or in words at a terminal. What a session did is in the log of events, not
here."""

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

from rutter.actors.world.secrets.redaction import hushed
from rutter.events.envelope import Envelope, kind
from rutter.events.jobs import JobEnded, JobQueued, JobStarted
from rutter.events.observer import BrowserLost
from rutter.events.person import ApprovalAnswered
from rutter.events.runtime import (
    ActorFailed,
    LogSealed,
    ProcessStarted,
    ProcessStopped,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    SessionStarted,
)
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock
from rutter.replay.story.wording import ascii_only

Level = Literal["info", "warning", "error"]
# Which fields of which events: what identifies them, never what a page said.
TOLD: dict[type[object], tuple[str, ...]] = {
    ProcessStarted: ("version", "python", "platform"),
    ProcessStopped: ("reason",),
    LogSealed: (),
    SessionStarted: ("purpose", "driver", "name"),
    SessionPaused: ("by",),
    SessionResumed: ("by",),
    SessionEnded: ("reason", "failure"),
    ActorFailed: ("actor", "error"),
    BrowserLost: (),
    ApprovalRequested: ("approval", "kind"),
    ApprovalAnswered: ("approval", "approved", "by"),
    JobQueued: ("job", "by", "trigger"),
    JobStarted: ("job", "session"),
    JobEnded: ("job", "reason", "failure"),
}
BAD: tuple[type[object], ...] = (ActorFailed, BrowserLost)
# Playwright's own word, to nobody, when a driver ended that was not asked to: whoever had a page
# there has heard it, and it is no news where all processes are told to stop.
DRIVER_ENDED = "Connection closed while reading from the driver"


class Logbook:
    """The logbook's `write` takes a whole line."""

    def __init__(
        self, write: Callable[[str], None], *, as_json: bool, clock: Clock | None = None
    ) -> None:
        self._write = write
        self._as_json = as_json
        self._clock = clock or Clock()

    def say(self, what: str, level: Level = "info", **more: Any) -> None:
        at = datetime.fromtimestamp(self._clock.now_ns() / 1e9, UTC).isoformat("T", "milliseconds")
        if self._as_json:
            self._write(hushed(json.dumps({"at": at, "level": level, "what": what, **more})))
            return
        said = " ".join(f"{name}={value}" for name, value in more.items() if value != "")
        mark = "" if level == "info" else f"{level}: "
        self._write(hushed(ascii_only(f"{at[11:23]} {mark}{what} {said}".rstrip())))

    def note(self, what: str) -> None:
        self.say(what)

    def hear(self, envelope: Envelope) -> None:
        event: AnyEvent = envelope.event
        fields = TOLD.get(type(event))
        if fields is None:
            return
        level: Level = "error" if isinstance(event, BAD) else "info"
        more = {name: getattr(event, name) for name in fields}
        if not envelope.session.startswith("process"):
            more.setdefault("session", envelope.session)
        self.say(kind(event), level, **more)

    def take_over(self) -> None:
        """What Python, asyncio and the web server have to say comes here too."""
        root = logging.getLogger()
        root.handlers[:] = [_LogbookHandler(self)]
        root.setLevel(logging.WARNING)
        asyncio.get_running_loop().set_exception_handler(self._broke)

    def _broke(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if str(error) == DRIVER_ENDED:
            return
        said = f"{type(error).__name__}: {error}" if error is not None else ""
        where = _place_of(error) if isinstance(error, BaseException) else ""
        self.say(str(context.get("message", "something broke")), "error", error=said, at_code=where)


class _LogbookHandler(logging.Handler):
    def __init__(self, logbook: Logbook) -> None:
        super().__init__()
        self._logbook = logbook

    def emit(self, record: logging.LogRecord) -> None:
        level: Level = "error" if record.levelno >= logging.ERROR else "warning"
        self._logbook.say(record.getMessage(), level, logger=record.name)


def _place_of(error: BaseException) -> str:
    """The innermost line of ours: enough to find it, and no values."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}"
        trace = trace.tb_next
    return place


def to_stderr(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
