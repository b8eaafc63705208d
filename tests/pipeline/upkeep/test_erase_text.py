"""Erasing by a text: it is found however it is written, no byte of it is left, the chain holds."""

import asyncio
import gzip
import io
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import quote_plus

import msgspec
import pytest

from rutter.events.action import Untrusted
from rutter.events.envelope import kind
from rutter.events.errors import BadInput, LogFull
from rutter.events.jobs import JobQueued, RunWorkflow
from rutter.events.observer import DownloadFinished
from rutter.events.planner import PlanWithheld
from rutter.events.predictor import SessionForgotten, WorkflowLearned
from rutter.events.runtime import PayloadErased, PayloadGone, ProcessStarted, SessionEnded
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.triggers import ScheduleSet
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.erase import STEPS, erase, finish_erasing
from rutter.pipeline.upkeep.erase_text import AGAIN, ErasedText, Needle, erase_text, find
from rutter.pipeline.upkeep.inspection import inspect
from rutter.pipeline.workflows.edit import publish
from rutter.replay.verify import verify
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.data_directories import dump, holding, sailed
from tests.support.timed_log import Ledger

ROOT = Path(__file__).parents[3]
NAME = "Fairlead Offshore"  # whom `run-1` alone has to do with


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    return sailed(tmp_path / "data")


def erased(directory: DataDirectory, text: str = NAME, why: str = "asked to") -> ErasedText:
    return asyncio.run(erase_text(directory, text, why))


def written(root: Path, **sessions: list[AnyEvent]) -> DataDirectory:
    """A directory whose sessions said these things; `process` is a process."""
    directory = DataDirectory(root)
    directory.create()
    with Ledger(directory.log) as ledger:
        for name, events in sessions.items():
            if name == "process":
                ledger.write(ProcessStarted("1"), *events, session="process-1")
            else:
                ends = SessionEnded("completed")
                ledger.write(shop_facts.run_of(None), *events, ends, session=name)
    return directory


def kinds_gone(directory: DataDirectory) -> list[tuple[str, str]]:
    with SqliteReader(directory.log) as reader:
        gone = [(e.session, e.event) for e in reader.read()]
    return [(session, event.was) for session, event in gone if isinstance(event, PayloadGone)]


# -- how it is found -------------------------------------------------------------------------------


@for_each(
    "text",
    [
        "Fairlead Offshore",
        "to FAIRLEAD OFFSHORE, with regards",
        "fairlead   offshore",
        "Fairlead\u00a0Offshore",
        "https://shop.example/?q=" + quote_plus(NAME),
        "https://shop.example/Fairlead%20Offshore",
        '{"customer": "Fairlead\\u0020Offshore"}',
        "Fairlead&nbsp;Offshore",
        "a long line that is cut in the middle of it: " + "x" * 80 + " Fairlead Off...",
    ],
)
def test_it_is_found_however_it_is_written(text: str) -> None:
    assert Needle(NAME).is_in(text)
    assert Needle(NAME).in_body(text.encode())


@for_each("text", ["Fairlead", "Offshore", "a fair lead off the shore"])
def test_a_part_of_it_is_not_it(text: str) -> None:
    assert not Needle(NAME).is_in(text)


def test_a_short_name_is_found_in_any_case_and_not_within_what_is_too_short() -> None:
    needle = Needle("Ann B")
    assert all(map(needle.is_in, ("Ann B", "ANN B", "ann b")))
    with pytest.raises(BadInput, match="3 letters are in every other word"):
        Needle(" Ann ")


@for_each("coding", ["utf-8", "utf-16", "utf-16-le"])
def test_files_are_read_as_text_and_what_is_packed_in_them_too(coding: str) -> None:
    body = f"customer;{NAME};3".encode(coding)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("orders.csv", body)
    needle = Needle(NAME)
    assert needle.in_body(body)
    assert needle.in_body(packed.getvalue())
    assert needle.in_body(gzip.compress(body))
    assert not needle.in_body(bytes(range(256)) * 100)


# -- what goes -------------------------------------------------------------------------------------


def test_what_would_go_is_told_and_nothing_does(directory: DataDirectory) -> None:
    before = directory.log.read_bytes()
    [held] = find(directory, NAME).sessions
    assert (held.session, held.process) == ("run-1", False)
    assert 0 < held.holding < held.events
    assert directory.log.read_bytes() == before


def test_no_byte_of_it_is_left_and_the_chain_holds(directory: DataDirectory) -> None:
    dump(directory)
    assert {"log.db", "projections.db"} <= set(holding(directory.root, NAME))
    done = erased(directory)
    assert [held.session for held in done.sessions] == ["run-1"]
    for word in (NAME, "Fairlead", quote_plus(NAME)):
        assert holding(directory.root, word) == []
    found = inspect(directory)
    assert (found.faults, found.erased) == ((), done.payloads)
    with SqliteReader(directory.log) as reader:
        assert verify(reader.read()).divergence is None


def test_pictures_of_such_a_session_go_with_it(directory: DataDirectory) -> None:
    """What they show no search can read."""
    before = len(list(directory.artifacts.root.glob("*/*")))
    done = erased(directory)
    assert done.artifacts == 2
    assert len(list(directory.artifacts.root.glob("*/*"))) == before - 2


def test_a_recording_takes_its_workflow_along_and_that_is_told(directory: DataDirectory) -> None:
    takes = [held.takes for held in find(directory, "Aurora Shipping").sessions]
    assert takes == [["workflow order version 1"], []]


def test_a_session_that_only_a_file_speaks_of_goes_too(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    directory.create()
    file = directory.artifacts.put(f"orders of {NAME}".encode(), "text/csv")
    left = directory.artifacts.put(f"half a download, {NAME}".encode(), "text/csv")
    with Ledger(directory.log) as ledger:
        sent = DownloadFinished(Untrusted("orders.csv"), file)
        ledger.write(shop_facts.run_of(None), sent, SessionEnded("completed"), session="run-1")
        ledger.write(shop_facts.run_of(None), SessionEnded("completed"), session="run-2")
    done = erased(directory)
    assert [(held.session, held.artifacts) for held in done.sessions] == [("run-1", 1)]
    assert done.artifacts == 2, "with the one that nothing names"
    assert not any(directory.artifacts.path(each).exists() for each in (file, left))
    assert holding(directory.root, NAME) == []
    assert inspect(directory).ok


def test_of_a_process_only_what_holds_it_goes(tmp_path: Path) -> None:
    run = RunWorkflow("order", values={"customer": NAME})
    other = RunWorkflow("order", values={"customer": "Juniper Tankers"})
    directory = written(
        tmp_path,
        process=[
            JobQueued("job-1", run, "ann"),
            JobQueued("job-2", other, "ann"),
            ScheduleSet("weekly", "0 7 * * 1", run, "ann"),
        ],
    )
    done = erased(directory)
    assert (done.payloads, [held.at for held in done.sessions]) == (2, [[2, 4]])
    assert done.takes == ("schedule weekly",)
    assert kinds_gone(directory) == [("process-1", "JobQueued"), ("process-1", "ScheduleSet")]
    assert holding(directory.root, "Juniper Tankers") == ["log.db"]
    assert holding(directory.root, NAME) == []
    assert inspect(directory).ok


def test_an_edited_workflow_that_holds_it_is_told_to_go(directory: DataDirectory) -> None:
    with SqliteReader(directory.log) as reader:
        learned = [e.event for e in reader.read(kinds=[kind(WorkflowLearned)])][-1]
    assert isinstance(learned, WorkflowLearned)
    flow = msgspec.structs.replace(learned.workflow, version=2, goal=f"orders for {NAME}")
    asyncio.run(publish(directory, lambda _: WorkflowLearned(flow)))
    assert "workflow order version 2" in erased(directory).takes
    assert holding(directory.root, NAME) == []


def test_what_was_said_with_it_as_a_reason_still_holds_without(tmp_path: Path) -> None:
    """Somebody wrote the name where the log keeps why."""
    directory = written(
        tmp_path,
        one=[PlanWithheld("x")],
        two=[PlanWithheld("y")],
        process=[SessionForgotten("one", f"{NAME} asked to")],
    )
    asyncio.run(_erase_session(directory, "two", f"{NAME} asked to"))
    assert holding(directory.root, NAME) == ["log.db"]
    erased(directory)
    assert holding(directory.root, NAME) == []
    assert inspect(directory).ok
    with SqliteReader(directory.log) as reader:
        said = [e.event for e in reader.read()]
    assert SessionForgotten("one", AGAIN) in said
    assert PayloadErased("two", 1, AGAIN, 3) in said


async def _erase_session(directory: DataDirectory, session: str, why: str) -> None:
    await erase(directory, session, None, why)


def test_the_control_that_does_not_say_it_again_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = written(tmp_path, two=[PlanWithheld("y")])
    asyncio.run(_erase_session(directory, "two", f"{NAME} asked to"))
    monkeypatch.setattr("rutter.pipeline.upkeep.erase_text.SAID_AGAIN", ["Nothing"])
    erased(directory)
    assert {fault.kind for fault in inspect(directory).faults} == {"erased"}


def test_a_session_that_a_dead_process_left_open_is_closed_first(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    directory.create()
    with Ledger(directory.log) as ledger:
        ledger.write(shop_facts.run_of(None), PlanWithheld(NAME), session="run-1")
    done = erased(directory)
    assert [held.events for held in done.sessions] == [5]
    assert holding(directory.root, NAME) == []
    assert inspect(directory).ok


# -- what is told ----------------------------------------------------------------------------------


def test_the_event_says_nothing_of_the_text(directory: DataDirectory) -> None:
    erased(directory)
    with SqliteReader(directory.log) as reader:
        said = [e.event for e in reader.read(kinds=[kind(PayloadErased)])]
    assert [type(event) for event in said] == [PayloadErased]
    assert msgspec.structs.asdict(said[0]) == {
        "session": "run-1",
        "n": 1,
        "why": "asked to",
        "last": 86,
    }


def test_a_reason_that_holds_it_is_refused(directory: DataDirectory) -> None:
    with pytest.raises(BadInput, match="the reason is kept in the log"):
        erased(directory, why=f"{NAME.upper()} asked to")
    assert kinds_gone(directory) == []


def test_what_is_nowhere_is_bad_input(directory: DataDirectory) -> None:
    with pytest.raises(BadInput, match="nothing in the log or its artifacts holds that text"):
        erased(directory, "Nobody At All")


def test_a_file_of_the_persons_own_is_named_and_left_alone(directory: DataDirectory) -> None:
    mine = directory.root / "config.toml"
    mine.write_text(f"# for {NAME}\n")
    done = erased(directory)
    assert done.elsewhere == (str(mine),)
    assert mine.read_text() == f"# for {NAME}\n"


# -- killed, and out of room -----------------------------------------------------------------------

CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from rutter.pipeline.upkeep import erase as erasing
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.erase_text import erase_text

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

at = int(sys.argv[3])
erasing.STEPS = (*erasing.STEPS[:at], die)
directory = DataDirectory(Path(sys.argv[1]))
directory.lock()
asyncio.run(erase_text(directory, sys.argv[2], "asked to"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, len(STEPS) // 2])
def test_a_kill_in_the_middle_is_finished_by_the_next_start(
    directory: DataDirectory, at: int
) -> None:
    command = [sys.executable, "-c", CHILD, str(directory.root), NAME, str(at)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120)
    assert done.returncode == -9, done.stderr.decode()
    assert finish_erasing(directory)
    assert holding(directory.root, NAME) == []
    assert inspect(directory).ok


def test_on_a_full_disk_it_is_told_and_done_when_there_is_room(small_disk: Path) -> None:
    said: list[AnyEvent] = [PlanWithheld(f"{NAME} " * 700) for _ in range(30)]
    directory = written(small_disk / "data", one=said, two=[PlanWithheld("x")])
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - 100_000))
    with pytest.raises(LogFull, match="no space left"):
        erased(directory)
    ballast.unlink()
    finish_erasing(directory)
    if holding(directory.root, NAME):
        erased(directory)
    assert holding(directory.root, NAME) == []
    assert inspect(directory).ok
