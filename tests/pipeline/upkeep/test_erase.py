"""Erasing: the bytes are gone, the chain holds, and a kill at any point leaves no half of it."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from rutter.events import sqlite_schema
from rutter.events.artifacts import artifacts_in
from rutter.events.envelope import kind
from rutter.events.errors import BadInput, LogCorrupt, LogFull, LogLocked
from rutter.events.observer import ScreenshotTaken
from rutter.events.page import Artifact
from rutter.events.planner import PlanWithheld
from rutter.events.predictor import LEARNED, WorkflowLearned
from rutter.events.runtime import LogSealed, PayloadErased, PayloadGone, SessionEnded
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import Row
from rutter.pipeline.cli import session_run
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.upkeep.erase import Erasure, erase, finish_erasing
from rutter.pipeline.upkeep.inspection import inspect
from rutter.pipeline.workflows.edit import publish
from rutter.replay.projections import ProjectionStore
from rutter.replay.story.session_story import tell
from rutter.replay.verify import Verification, verify
from tests.support import golden_logs, shop_facts
from tests.support.case_table import for_each
from tests.support.data_directories import NEEDLES, holding, sailed, tamper
from tests.support.timed_log import Ledger

ROOT = Path(__file__).parents[3]
NEEDLE = NEEDLES["run-1"]
CUSTOMER = "Fairlead Offshore"  # whom `run-1` alone has to do with


def erased(directory: DataDirectory, session: str, n: int | None = None) -> Erasure:
    return asyncio.run(erase(directory, session, n, "asked to"))


def rows(directory: DataDirectory) -> list[Row]:
    with SqliteReader(directory.log) as reader:
        return list(reader.rows())


def events(directory: DataDirectory, session: str) -> list[Any]:
    with SqliteReader(directory.log) as reader:
        return [envelope.event for envelope in reader.read(session=session)]


def pictures(directory: DataDirectory, session: str) -> set[str]:
    """The artifacts that a session names."""
    found = (artifacts_in(event) for event in events(directory, session))
    return {artifact.sha256 for named in found for artifact in named}


def files(directory: DataDirectory) -> list[Path]:
    return list((directory.root / "artifacts").glob("*/*"))


def replayed(directory: DataDirectory) -> Verification:
    with SqliteReader(directory.log) as reader:
        return verify(reader.read())


class TestASession:
    def test_its_bytes_are_in_no_file_any_more(self, directory: DataDirectory) -> None:
        assert "log.db" in holding(directory.root, NEEDLE)
        assert {"log.db", "projections.db"} <= set(holding(directory.root, CUSTOMER))
        erased(directory, "run-1")
        assert holding(directory.root, NEEDLE) == []
        assert holding(directory.root, CUSTOMER) == []

    def test_the_chain_still_verifies(self, directory: DataDirectory) -> None:
        gone = erased(directory, "run-1")
        found = inspect(directory)
        assert (found.faults, found.erased) == ((), gone.payloads)

    def test_every_other_row_is_as_it_was_and_its_own_but_for_the_payload(
        self, directory: DataDirectory
    ) -> None:
        before = rows(directory)
        erased(directory, "run-1")
        after = rows(directory)
        for old, new in zip(before, after, strict=False):
            assert old[:7] == new[:7]
            assert old[8] == new[8]
            assert (old[7] == new[7]) is (old[1] != "run-1")

    def test_the_log_says_what_went_and_why_before_it_went(self, directory: DataDirectory) -> None:
        last = len(events(directory, "run-1"))
        erased(directory, "run-1")
        *_, said, _, seal = [row for row in rows(directory) if row[1].startswith("process")]
        with SqliteReader(directory.log) as reader:
            event = next(reader.read(said[0] - 1)).event
        assert event == PayloadErased("run-1", 1, "asked to", last)
        assert seal[6] == kind(LogSealed)

    def test_what_is_read_in_its_place_says_what_it_was(self, directory: DataDirectory) -> None:
        before = rows(directory)
        erased(directory, "run-1")
        was = [row[6] for row in before if row[1] == "run-1"]
        gone = events(directory, "run-1")
        assert all(isinstance(event, PayloadGone) for event in gone)
        assert [event.was for event in gone] == was

    def test_its_own_pictures_go_and_shared_ones_stay(self, directory: DataDirectory) -> None:
        own = pictures(directory, "run-1")
        others = pictures(directory, "run-2") | pictures(directory, "record")
        assert own & others
        assert own - others
        assert erased(directory, "run-1").artifacts == len(own - others)
        assert {"".join(file.parts[-2:]) for file in files(directory)} == others

    def test_a_shared_picture_goes_with_the_last_that_names_it(
        self, directory: DataDirectory
    ) -> None:
        for session in ("run-1", "run-2", "record"):
            assert files(directory)
            erased(directory, session)
        assert files(directory) == []
        assert inspect(directory).ok

    def test_the_projections_are_folded_anew_without_it(self, directory: DataDirectory) -> None:
        erased(directory, "run-1")
        with ProjectionStore(directory.projections) as store, SqliteReader(directory.log) as reader:
            assert store.position() == 0
            store.catch_up(reader)
            assert store.parked() == []
            listed = store.db.execute("SELECT session, purpose, reason, vals FROM sessions")
            told = {row[0]: row[1:] for row in listed.fetchall()}
            done = "SELECT DISTINCT session FROM action_history"
            acted = {name for (name,) in store.db.execute(done)}
        assert told["run-1"] == ("erased", "erased", "{}")
        assert told["run-2"][1] == "completed"
        assert acted == {"record", "run-2"}

    def test_replay_skips_and_counts_it(self, directory: DataDirectory) -> None:
        whole = replayed(directory)
        erased(directory, "run-1")
        report = replayed(directory)
        assert (report.ok, report.erased) == (True, 1)
        assert report.sessions == whole.sessions  # one fewer, and the process that erased
        assert report.decisions < whole.decisions

    def test_its_story_says_that_it_was(self, directory: DataDirectory) -> None:
        erased(directory, "run-1")
        with SqliteReader(directory.log) as reader:
            story = tell(reader.read(session="run-1"))
        assert (story.session, story.reason, story.steps) == ("run-1", "erased", [])
        assert story.erased == story.events > 0
        assert story.took_ms > 0

    def test_a_recording_takes_its_workflow_along(self, directory: DataDirectory) -> None:
        assert erased(directory, "record").workflows == ("order version 1",)
        with ProjectionStore(directory.projections) as store, SqliteReader(directory.log) as reader:
            store.catch_up(reader)
            assert store.db.execute("SELECT count(*) FROM workflows").fetchone() == (0,)
        assert replayed(directory).ok

    def test_one_that_a_dead_process_left_open_is_closed_first(
        self, directory: DataDirectory
    ) -> None:
        with sqlite3.connect(directory.log) as connection:
            ended = "session = 'run-2' AND kind = 'SessionEnded'"
            ((cut,),) = connection.execute(f"SELECT seq FROM events WHERE {ended}")
            connection.execute("DELETE FROM events WHERE seq >= ?", (cut,))
        connection.close()
        erased(directory, "run-2")
        assert {type(event) for event in events(directory, "run-2")} == {PayloadGone}
        assert rows(directory)[cut - 1][6] == kind(SessionEnded)
        directory.projections.unlink()
        assert inspect(directory).ok

    def test_it_can_be_erased_while_the_log_is_read(self, directory: DataDirectory) -> None:
        with SqliteReader(directory.log) as reader:
            reading = reader.read()
            next(reading)
            erased(directory, "run-1")
            assert sum(1 for _ in reading) > 0
        assert holding(directory.root, NEEDLE) == []


class TestOneEvent:
    def test_only_its_payload_goes(self, directory: DataDirectory) -> None:
        before = rows(directory)
        at = next(at for at, row in enumerate(before) if NEEDLE.encode() in row[7])
        gone = erased(directory, "run-1", before[at][2])
        assert gone.payloads == 1
        changed = [old[0] for old, new in zip(before, rows(directory), strict=False) if old != new]
        assert changed == [at + 1]
        assert inspect(directory).ok

    def test_what_followed_from_it_is_not_judged_and_what_came_before_is(
        self, directory: DataDirectory
    ) -> None:
        seen = next(
            row for row in rows(directory) if row[1] == "run-2" and row[6] == "PageObserved"
        )
        whole = replayed(directory)
        erased(directory, "run-2", seen[2])
        report = replayed(directory)
        assert (report.ok, report.erased) == (True, 1)
        assert report.decisions < whole.decisions

    def test_it_is_one_and_then_the_rest(self, directory: DataDirectory) -> None:
        erased(directory, "run-1", 3)
        rest = erased(directory, "run-1")
        assert rest.payloads == len(events(directory, "run-1")) - 1
        assert inspect(directory).ok

    def test_the_story_goes_on_around_it(self, directory: DataDirectory) -> None:
        seen = next(
            row for row in rows(directory) if row[1] == "run-2" and row[6] == "PageObserved"
        )
        erased(directory, "run-2", seen[2])
        with SqliteReader(directory.log) as reader:
            story = tell(reader.read(session="run-2"))
        assert (story.reason, story.erased, len(story.steps)) == ("completed", 1, 6)


class TestWhatLeansOnIt:
    @pytest.fixture
    def free(self, tmp_path: Path) -> DataDirectory:
        """A recording, and a free run that was predicted from it."""
        directory = DataDirectory(tmp_path / "free")
        directory.create()
        golden_logs.to_database(directory.log, golden_logs.rows("free"))
        return directory

    def test_a_prediction_from_what_was_erased_is_not_called_a_divergence(
        self, free: DataDirectory
    ) -> None:
        whole = replayed(free)
        assert (whole.ok, whole.erased) == (True, 0)
        taught = next(row for row in rows(free) if row[6] in {kind(event) for event in LEARNED})
        erased(free, taught[1])
        report = replayed(free)
        assert (report.divergence, report.erased) == (None, 2)

    def test_a_changed_decision_of_another_kind_still_is(self, free: DataDirectory) -> None:
        taught = next(row for row in rows(free) if row[6] in {kind(event) for event in LEARNED})
        erased(free, taught[1], taught[2])
        plan = next(row for row in rows(free) if row[6] == "PlanProposed" and row[0] < taught[0])
        forged = plan[7].replace(b"script", b"person", 1)
        tamper(free.log, "UPDATE events SET payload = ? WHERE seq = ?", forged, plan[0])
        divergence = replayed(free).divergence
        assert divergence is not None
        assert (divergence.seq, divergence.actor) == (plan[0], "planner")


class TestAProcess:
    """What a person changed of a workflow is said in the session of the process."""

    def change(self, directory: DataDirectory) -> tuple[str, int]:
        """An edited version, in no session of its own; where it is."""
        learned = next(
            event for event in events(directory, "record") if isinstance(event, WorkflowLearned)
        )
        flow = msgspec.structs.replace(learned.workflow, version=2, name="needle in an edit")
        asyncio.run(publish(directory, lambda _: WorkflowLearned(flow)))
        [row] = [row for row in rows(directory) if row[6] == "WorkflowLearned"][-1:]
        return row[1], row[2]

    def test_a_changed_workflow_goes_and_all_else_it_said_stays(
        self, directory: DataDirectory
    ) -> None:
        process, n = self.change(directory)
        before = rows(directory)
        gone = erased(directory, process, n)
        assert gone == Erasure(process, 1, 0, ("needle in an edit version 2",))
        assert holding(directory.root, "needle in an edit") == []
        changed = [old for old, new in zip(before, rows(directory), strict=False) if old != new]
        assert [(row[1], row[2]) for row in changed] == [(process, n)]
        assert inspect(directory).ok
        assert replayed(directory).divergence is None

    def test_nothing_else_that_it_said_can_go(self, directory: DataDirectory) -> None:
        process, n = self.change(directory)
        for other in (None, n - 1, n + 1):
            with pytest.raises(BadInput, match=f"give --event {n}"):
                erased(directory, process, other)


class TestRefusals:
    @for_each(
        "session, n, said",
        [
            ("nobody", None, "there is no session 'nobody'"),
            ("run-1", 0, "run-1 has events 1 to"),
            ("run-1", 10_000, "run-1 has events 1 to"),
            ("process-0001", None, "of a process only a workflow that was changed can go"),
            ("process-0001", 1, "of a process only a workflow that was changed can go"),
            ("process-0001", 0, "of a process only a workflow that was changed can go"),
        ],
    )
    def test_what_is_not_there_is_bad_input_and_changes_nothing(
        self, directory: DataDirectory, session: str, n: int | None, said: str
    ) -> None:
        before = rows(directory)
        with pytest.raises(BadInput, match=said):
            erased(directory, session, n)
        assert rows(directory) == before
        assert not directory.erasing.exists()

    def test_what_is_erased_already_is_bad_input(self, directory: DataDirectory) -> None:
        erased(directory, "run-1")
        before = rows(directory)
        with pytest.raises(BadInput, match="erased already"):
            erased(directory, "run-1")
        with pytest.raises(BadInput, match="erased already"):
            erased(directory, "run-1", 5)
        assert rows(directory) == before


class TestLargePayloads:
    """Overflow pages, the page that the table began as, and a log that was never folded back."""

    @for_each("size", [10, 3_000, 100_000])
    @for_each("which", ["first", "middle", "last"])
    def test_nothing_of_them_is_left(self, tmp_path: Path, size: int, which: str) -> None:
        directory = DataDirectory(tmp_path / "made")
        directory.create()
        with Ledger(directory.log) as ledger:
            for name in ("first", "middle", "last"):
                words = f"{name}-needle " * (size // 10)
                said = [PlanWithheld(words + str(number)) for number in range(12)]
                ledger.write(
                    shop_facts.run_of(None), *said, SessionEnded("completed"), session=name
                )
            with ledger.reader() as reader, ProjectionStore(directory.projections) as store:
                store.catch_up(reader)
            shutil.copytree(directory.root, tmp_path / "copy")  # with its WAL, as it stands
        directory = DataDirectory(tmp_path / "copy")
        assert holding(directory.root, f"{which}-needle")
        erased(directory, which)
        assert holding(directory.root, f"{which}-needle") == []
        others = {"first", "middle", "last"} - {which}
        assert all(holding(directory.root, f"{name}-needle") for name in others)
        assert inspect(directory).ok


class TestTrouble:
    def test_a_reader_of_an_old_moment_keeps_it_and_is_named(
        self, directory: DataDirectory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        quick = (*sqlite_schema.WRITER_PRAGMAS[:-1], "PRAGMA busy_timeout=20")
        monkeypatch.setattr(sqlite_schema, "WRITER_PRAGMAS", quick)
        with SqliteReader(directory.log) as reader, reader.snapshot():
            with pytest.raises(LogLocked) as told:
                erased(directory, "run-1")
            assert "another process reads" in told.value.what
        assert directory.erasing.exists()
        assert finish_erasing(directory)
        assert holding(directory.root, NEEDLE) == []
        assert inspect(directory).ok

    def test_the_next_command_that_writes_finishes_it(
        self, directory: DataDirectory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kill(directory, "call:_replace_payloads")
        assert holding(directory.root, NEEDLE) != []

        class NoBrowser:
            def __init__(self, *_: object, **__: object) -> None: ...

            async def start(self) -> None: ...

            async def close(self) -> None: ...

        async def open_and_close() -> None:
            async with session_run.open_pipeline(Settings(directory.root), Terminal()):
                pass

        monkeypatch.setattr(session_run, "browser_maker", lambda settings: NoBrowser)
        asyncio.run(open_and_close())
        assert holding(directory.root, NEEDLE) == []
        assert inspect(directory).ok

    def test_an_artifact_that_is_gone_already_is_no_trouble(self, directory: DataDirectory) -> None:
        shutil.rmtree(directory.root / "artifacts")
        erased(directory, "run-1")
        faults = inspect(directory).faults
        assert {fault.kind for fault in faults} == {"artifact"}
        assert "run-1" not in {fault.session for fault in faults}

    def test_projections_that_are_damaged_are_thrown_away(self, directory: DataDirectory) -> None:
        directory.projections.write_bytes(f"damaged, and it says {CUSTOMER}".encode() * 100)
        erased(directory, "run-1")
        assert holding(directory.root, CUSTOMER) == []

    def test_a_name_that_leads_elsewhere_deletes_nothing(self, tmp_path: Path) -> None:
        """A log from elsewhere may name anything."""
        directory = DataDirectory(tmp_path / "data")
        directory.create()
        precious = tmp_path / "precious"
        precious.write_text("keep")
        with Ledger(directory.log) as ledger:
            named = ScreenshotTaken(Artifact("../../precious", 4))
            ledger.write(shop_facts.run_of(None), named, SessionEnded("completed"), session="run-1")
        with pytest.raises(LogCorrupt, match="is not the name of an artifact"):
            erased(directory, "run-1")
        assert precious.read_text() == "keep"

    def test_a_full_disk_is_told_and_it_is_finished_when_there_is_room(
        self, small_disk: Path
    ) -> None:
        directory, ballast = DataDirectory(small_disk), small_disk / "ballast"
        with Ledger(directory.log) as ledger:
            said = [PlanWithheld("needle " * 2_000) for _ in range(30)]
            ledger.write(shop_facts.run_of(None), *said, SessionEnded("completed"), session="run-1")
            ledger.write(shop_facts.run_of(None), *said, SessionEnded("completed"), session="run-2")
        free = shutil.disk_usage(small_disk).free
        ballast.write_bytes(bytes(free - 300_000))
        with pytest.raises(LogFull):
            erased(directory, "run-1")
        ballast.unlink()
        assert finish_erasing(directory)
        assert {type(event) for event in events(directory, "run-1")} == {PayloadGone}
        assert inspect(directory).ok


# -- killed ----------------------------------------------------------------------------------------

POINTS = [
    *("done:_set_mark", "call:_check_intended", "call:_drop_artifacts", "done:_drop_artifacts"),
    *("call:_replace_payloads", "sql:1:COMMIT", "done:_replace_payloads", "sql:1:VACUUM"),
    *("sql:1:PRAGMA wal_checkpoint(TRUNCATE)", "done:_rewrite_log", "sql:2:COMMIT", "sql:2:VACUUM"),
    *("sql:2:PRAGMA wal_checkpoint(TRUNCATE)", "done:_empty_projections"),
]


def kill(directory: DataDirectory, point: str) -> None:
    """Erases `run-1` in a child that is killed at this point."""
    command = [
        sys.executable,
        "-m",
        "tests.support.killed_eraser",
        str(directory.root),
        "run-1",
        point,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60)
    assert done.returncode == -9, done.stderr.decode()


def check_finished(directory: DataDirectory, before: list[Row]) -> bool:
    """After the next start it is all gone or all there, and the rest is as it was."""
    faults = {fault.kind for fault in inspect(directory).faults}
    assert faults <= {"erased", "artifact"}  # unfinished, and told so; nothing is broken
    assert finish_erasing(directory)
    after = rows(directory)
    assert [row for row in after[: len(before)] if row[1] != "run-1"] == [
        row for row in before if row[1] != "run-1"
    ]
    intended = any(row[6] == kind(PayloadErased) for row in after)
    assert (holding(directory.root, NEEDLE) == []) is intended
    assert inspect(directory).ok
    assert not finish_erasing(directory)
    return intended


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_this_point_is_made_good_by_the_next_start(
    directory: DataDirectory, point: str
) -> None:
    before = rows(directory)
    kill(directory, point)
    assert directory.erasing.exists()
    assert check_finished(directory, before) is (point != "done:_set_mark")


@pytest.mark.slow
def test_a_second_erase_finishes_the_first(directory: DataDirectory) -> None:
    kill(directory, "sql:1:VACUUM")
    assert erased(directory, "run-1") == Erasure("run-1", 0, 0)
    assert holding(directory.root, NEEDLE) == []
    assert inspect(directory).ok


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_kill_at_any_moment_is_made_good_by_the_next_start(tmp_path: Path) -> None:
    rng = Random(5)
    for number in range(12):
        directory = sailed(tmp_path / str(number))
        before = rows(directory)
        command = [
            sys.executable,
            "-m",
            "tests.support.killed_eraser",
            str(directory.root),
            "run-1",
        ]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            child.stdout.readline()
            for _ in range(
                rng.randrange(3_000_000)
            ):  # a moment that no event of the child's decides
                pass
            child.kill()
        directory.erasing.touch()  # a kill before the mark, or behind it: the start does no harm
        check_finished(directory, before)
