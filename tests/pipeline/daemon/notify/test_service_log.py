"""The daemon's own log: a line each, for machines or people, and no secret in any of them."""

import asyncio
import json
import logging
from collections.abc import Iterator

import pytest

from rutter.actors.world.secrets.redaction import forget, hide
from rutter.events.envelope import Envelope
from rutter.events.jobs import JobQueued, RunWorkflow
from rutter.events.observer import RequestBlocked
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.daemon.notify.service_log import Logbook
from rutter.pipeline.sessions.session_started import tool_session
from tests.support.case_table import for_each


@pytest.fixture(autouse=True)
def _nothing_hidden() -> Iterator[None]:
    forget()
    yield
    forget()


def envelope(event: object, session: str = "run-1") -> Envelope:
    return Envelope(1, session, 1, 0, "runtime", 0, event, b"")  # type: ignore[arg-type]


def test_what_happened_is_a_line_of_json_that_names_it() -> None:
    lines: list[str] = []
    book = Logbook(lines.append, as_json=True, clock=CountingClock())
    book.hear(envelope(SessionEnded("failed", "lost", "the page says: <b>pay</b>")))
    book.hear(envelope(JobQueued("job-1", RunWorkflow("order"), "agent"), "process-1"))
    book.hear(envelope(ApprovalRequested("for-1", 1, "policy", "Pay to Mallory?")))
    first, second, third = map(json.loads, lines)
    assert (first["what"], first["session"], first["reason"]) == ("SessionEnded", "run-1", "failed")
    assert first["level"] == "info"
    assert first["at"].startswith("2023-11-14T22:13:20")
    assert (second["what"], second["job"], "session" in second) == ("JobQueued", "job-1", False)
    assert third["approval"] == "for-1"
    assert "pay" not in "".join(lines).lower().replace('"pay', "")  # nothing that a page said


def test_what_happens_all_the_time_is_not_told_here() -> None:
    lines: list[str] = []
    book = Logbook(lines.append, as_json=True)
    book.hear(envelope(RequestBlocked("x.example", 443)))
    assert lines == []


def test_a_person_reads_words_in_ascii_and_no_line_is_two() -> None:
    lines: list[str] = []
    book = Logbook(lines.append, as_json=False, clock=CountingClock())
    book.say("caf\u00e9 closed\nlevel=error", "warning", why="\x1b[31mred")
    [line] = lines
    assert line.isascii()
    assert "\n" not in line
    assert "\x1b" not in line
    assert "warning: " in line


@for_each("as_json", [True, False])
def test_no_secret_is_in_a_line(as_json: bool) -> None:
    hide({"password": "sheet bend 9 fathoms"})
    lines: list[str] = []
    Logbook(lines.append, as_json=as_json).say("it said sheet bend 9 fathoms")
    assert "fathoms" not in lines[0]


def test_a_session_is_named_and_its_values_are_not() -> None:
    lines: list[str] = []
    started: SessionStarted = tool_session("https://shop.example/", {"customer": "Aurora"})
    Logbook(lines.append, as_json=True).hear(envelope(started))
    assert "Aurora" not in lines[0]
    assert json.loads(lines[0])["purpose"] == "tools"


@pytest.mark.anyio
async def test_what_python_and_the_loop_have_to_say_comes_here_too() -> None:
    lines: list[str] = []
    root = logging.getLogger()
    before = root.handlers[:], root.level
    loop = asyncio.get_running_loop()
    try:
        Logbook(lines.append, as_json=True).take_over()
        logging.getLogger("uvicorn.error").warning("odd request")
        try:
            raise ValueError("broken")
        except ValueError as error:
            loop.call_exception_handler({"message": "a task failed", "exception": error})
    finally:
        root.handlers[:], root.level = before
        loop.set_exception_handler(None)
    first, second = map(json.loads, lines)
    assert (first["level"], first["logger"]) == ("warning", "uvicorn.error")
    assert (second["level"], second["error"]) == ("error", "ValueError: broken")
    assert second["at_code"].startswith("test_service_log.py:")
