"""What only the log on disk does: its file, its commits, and who may look at it meanwhile."""

import asyncio
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from rutter.events import sqlite_log
from rutter.events import sqlite_schema as schema
from rutter.events.envelope import Record
from rutter.events.errors import (
    BadInput,
    LogCorrupt,
    LogForeign,
    LogLocked,
    LogWriteFailed,
    RutterError,
    WorldBroken,
)
from rutter.events.planner import PlanWithheld
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from tests.crash.appender import Plan, record
from tests.support.case_table import for_each
from tests.support.envelopes import Scribe

pytestmark = pytest.mark.anyio

NOBODY = 65_534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def withheld(count: int) -> list[AnyEvent]:
    return [PlanWithheld(f"reason {number}") for number in range(count)]


async def write_log(path: Path, events: int = 5) -> None:
    log = await SqliteLog.open(path)
    await log.append(Scribe(log.next_seq).turn(f"from {log.next_seq}", withheld(events)))
    await log.close()


def seqs(path: Path) -> list[int]:
    with SqliteReader(path) as reader:
        return [envelope.seq for envelope in reader.read()]


class TestItsFile:
    async def test_a_log_opened_again_goes_on_where_it_stopped(self, path: Path) -> None:
        for _ in range(3):
            await write_log(path)
        assert seqs(path) == list(range(1, 16))

    async def test_only_its_owner_can_read_it(self, path: Path) -> None:
        before = os.umask(0)
        try:
            log = await SqliteLog.open(path)
            await log.append(Scribe().turn("a", withheld(1)))
        finally:
            os.umask(before)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        await log.close()
        assert modes == {"log.db": 0o600, "log.db-wal": 0o600, "log.db-shm": 0o600}

    async def test_closing_leaves_one_file(self, path: Path) -> None:
        await write_log(path)
        assert [file.name for file in path.parent.iterdir()] == ["log.db"]

    async def test_what_an_interrupted_start_left_is_no_obstacle(self, path: Path) -> None:
        for name in ("log.db", "log.db.new", "log.db.new-journal", "log.db.new-wal"):
            path.with_name(name).write_bytes(b"" if name == "log.db" else b"half a thought")
        await write_log(path)
        assert seqs(path) == [1, 2, 3, 4, 5]
        assert [file.name for file in path.parent.iterdir() if ".new" in file.name] == []

    async def test_the_wal_of_a_log_that_is_gone_is_not_replayed_into_a_new_one(
        self, path: Path
    ) -> None:
        log = await SqliteLog.open(path)
        await log.append(Scribe().turn("old", withheld(9)))
        stale = path.with_name("log.db-wal").read_bytes()
        await log.close()
        path.unlink()
        path.with_name("log.db-wal").write_bytes(stale)
        await write_log(path, events=2)
        assert seqs(path) == [1, 2]

    @for_each("name", ["50% off?", "a#b", "with space", "ünï", "a&mode=rwc"])
    async def test_its_directory_may_have_any_name(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).mkdir()
        await write_log(tmp_path / name / "log.db")
        assert seqs(tmp_path / name / "log.db") == [1, 2, 3, 4, 5]

    async def test_a_directory_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(WorldBroken):
            await SqliteLog.open(tmp_path / "nowhere" / "log.db")


class TestItsCommits:
    async def test_turns_that_wait_together_are_one_commit(self, path: Path) -> None:
        log, scribe = await SqliteLog.open(path), Scribe()
        turns = [scribe.turn(f"session {number}", withheld(3)) for number in range(20)]
        await asyncio.gather(*[log.append(turn) for turn in turns])
        assert log.statistics() == sqlite_log.LogStatistics(60, 1, 0, 0)
        await log.close()

    async def test_many_more_are_two_so_that_loop_and_disk_work_at_the_same_time(
        self, path: Path
    ) -> None:
        log, scribe = await SqliteLog.open(path), Scribe()
        turns = [scribe.turn(f"session {number}", withheld(3)) for number in range(300)]
        await asyncio.gather(*[log.append(turn) for turn in turns])
        assert log.statistics() == sqlite_log.LogStatistics(900, 2, 0, 0)
        await log.close()

    @pytest.mark.slow
    async def test_a_commit_is_about_one_sync(self, tmp_path: Path) -> None:
        """One more starts a WAL, and one comes before the checkpoint that closes the log."""
        plan = Plan(str(tmp_path / "log"), 1, 3, 30, lives=1, often=False)
        recording = record(plan)
        syncs = sum(op.what == "sync" and op.file == "log.db-wal" for op in recording.ops)
        assert recording.commits > 25
        assert recording.commits <= syncs <= recording.commits + 2

    async def test_no_statement_has_more_variables_than_sqlite_takes_anywhere(self) -> None:
        largest = sqlite_log._statement(sqlite_log.MAX_ROWS)
        assert largest.count("?") <= 32_766

    async def test_reading_and_checkpoints_do_not_get_in_the_way_of_commits(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_log, "CHECKPOINT_IDLE_BYTES", 1)
        monkeypatch.setattr(sqlite_log, "CHECKPOINT_BYTES", 1)
        log, scribe = await SqliteLog.open(path), Scribe()

        async def read_all(done: asyncio.Event) -> None:
            while not done.is_set():
                seqs = [envelope.seq async for envelope in log.read()]
                assert seqs == list(range(1, len(seqs) + 1))

        done = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(read_all(done))
            for number in range(60):
                await log.append(scribe.turn(f"session {number % 5}", withheld(2)))
            done.set()
        assert log.statistics().checkpoints >= 59
        await log.close()

    @pytest.mark.parametrize("change", [{"at_ns": 2**63}, {"session": "\ud800"}])
    async def test_a_value_that_sqlite_cannot_hold_is_told_and_hangs_nobody(
        self, path: Path, change: dict[str, object]
    ) -> None:
        log = await SqliteLog.open(path)
        ((envelope, payload),) = Scribe().turn("a", withheld(1))
        with pytest.raises(LogWriteFailed):
            await log.append([Record(msgspec.structs.replace(envelope, **change), payload)])
        await log.close()
        assert seqs(path) == []

    async def test_a_place_in_a_session_is_taken_once(self, path: Path) -> None:
        log = await SqliteLog.open(path)
        await log.append(Scribe(1).turn("a", withheld(2)))
        with pytest.raises(LogWriteFailed):
            await log.append(Scribe(3).turn("a", withheld(1)))  # n begins at 1 again
        await log.close()
        assert seqs(path) == [1, 2]


def text_file(path: Path) -> None:
    path.write_text("Dear diary, this is not a database.\n" * 200)


def short_file(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")


def other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")


def other_database_in_wal_mode(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY)")


def log_of_the_future(path: Path) -> None:
    asyncio.run(write_log(path))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={schema.FORMAT + 1}")


def truncated_log(path: Path) -> None:
    asyncio.run(write_log(path, events=2_000))
    os.truncate(path, path.stat().st_size // 2)


def log_with_a_damaged_header(path: Path) -> None:
    asyncio.run(write_log(path))
    path.write_bytes(b"SQLite format 9\0" + path.read_bytes()[16:])


FOREIGN = [
    *(text_file, short_file, other_database, other_database_in_wal_mode),
    *(log_of_the_future, truncated_log, log_with_a_damaged_header),
]


class TestFilesThatAreNotOurs:
    @pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
    def test_are_told_and_left_as_they_are(self, path: Path, make: Callable[[Path], None]) -> None:
        make(path)
        before = path.read_bytes()
        with pytest.raises(LogForeign):
            asyncio.run(SqliteLog.open(path))
        with pytest.raises(LogForeign):
            SqliteReader(path)
        assert path.read_bytes() == before

    def test_a_directory_in_its_place_is_told(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(LogForeign):
            asyncio.run(SqliteLog.open(path))

    def test_a_log_that_is_not_there_is_bad_input_to_a_reader(self, path: Path) -> None:
        with pytest.raises(BadInput):
            SqliteReader(path)
        path.touch()  # what was left of a log that was never made
        with pytest.raises(BadInput):
            SqliteReader(path)

    def test_a_damaged_page_is_told_and_never_read_as_events(self, path: Path) -> None:
        asyncio.run(write_log(path, events=2_000))
        whole, pages = path.read_bytes(), path.stat().st_size // 4_096
        told = 0
        for page in range(1, pages):
            path.write_bytes(whole[: page * 4_096] + b"\x5a" * 4_096 + whole[(page + 1) * 4_096 :])
            try:
                assert seqs(path) == list(range(1, 2_001))  # a page of an index that is not read
            except LogCorrupt:
                told += 1
        assert told > pages // 3

    async def test_a_kind_that_is_not_the_events_own_is_told(self, path: Path) -> None:
        await write_log(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("UPDATE events SET kind = 'ActionDone' WHERE seq = 3")
        with pytest.raises(LogCorrupt, match="event 3"):
            seqs(path)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write everywhere: be somebody who may not, for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked_away() -> Iterator[Path]:
    """A directory where we may read and not write. (pytest's own is closed to other users.)"""
    with TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "data").mkdir()
        directory.chmod(0o755)
        yield directory / "data"
        (directory / "data").chmod(0o755)


def close_directory(directory: Path) -> None:
    for place in (*directory.iterdir(), directory):
        if os.geteuid() == 0:
            os.chown(place, NOBODY, NOBODY)
    directory.chmod(0o555)


class TestReaders:
    async def test_see_nothing_before_it_is_on_disk_and_all_of_it_then(self, path: Path) -> None:
        log, scribe = await SqliteLog.open(path), Scribe()
        with SqliteReader(path) as reader:
            durable = log.append(scribe.turn("a", withheld(50)))
            assert reader.last_seq() == 0, "the writer had no chance to run yet"
            await durable
            assert reader.last_seq() == 50
            assert [envelope.seq for envelope in reader.read(after=48)] == [49, 50]
            await log.close()
            assert reader.last_seq() == 50

    async def test_beside_a_writer_never_see_half_a_turn(self, path: Path) -> None:
        log, scribe = await SqliteLog.open(path), Scribe()
        seen: list[int] = []

        def look() -> None:
            with SqliteReader(path) as reader:
                while not finished.is_set():
                    seen.append(len(list(reader.rows())))

        finished = threading.Event()
        looking = asyncio.create_task(asyncio.to_thread(look))
        for _ in range(100):
            await log.append(scribe.turn("a", withheld(7)))
        finished.set()
        await looking
        await log.close()
        assert seen == sorted(seen)
        assert [count for count in seen if count % 7] == []

    async def test_do_not_hold_up_the_writer(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_log, "CHECKPOINT_IDLE_BYTES", 1)
        log, scribe = await SqliteLog.open(path), Scribe()
        await log.append(scribe.turn("a", withheld(3_000)))
        with SqliteReader(path) as reader:
            rows = reader.read()
            next(rows)
            for _ in range(20):
                await log.append(scribe.turn("a", withheld(5)))
            assert sum(1 for _ in rows) + 1 == 3_100
        await log.close()

    async def test_need_no_writer(self, path: Path) -> None:
        await write_log(path)
        assert seqs(path) == [1, 2, 3, 4, 5]

    async def test_read_what_a_killed_writer_left_in_its_wal(
        self, path: Path, tmp_path: Path
    ) -> None:
        log = await SqliteLog.open(path)
        await log.append(Scribe().turn("a", withheld(5)))
        left = tmp_path / "left"
        left.mkdir()
        for name in ("log.db", "log.db-wal"):
            shutil.copy(path.with_name(name), left / name)
        await log.close()
        assert seqs(left / "log.db") == [1, 2, 3, 4, 5]

    def test_read_where_they_may_not_write(self, locked_away: Path) -> None:
        path = locked_away / "log.db"
        asyncio.run(write_log(path))
        close_directory(locked_away)
        with unprivileged():
            with pytest.raises(PermissionError):
                (locked_away / "new").touch()
            assert seqs(path) == [1, 2, 3, 4, 5]

    def test_read_where_an_earlier_reader_could_write(self, locked_away: Path) -> None:
        path = locked_away / "log.db"
        asyncio.run(write_log(path))
        assert seqs(path) == [1, 2, 3, 4, 5]  # leaves an empty WAL and shared memory behind
        close_directory(locked_away)
        with unprivileged():
            assert seqs(path) == [1, 2, 3, 4, 5]

    def test_are_told_when_a_wal_that_must_be_recovered_lies_where_they_may_not_write(
        self, locked_away: Path, path: Path
    ) -> None:
        async def leave_a_wal() -> None:
            log = await SqliteLog.open(path)
            await log.append(Scribe().turn("a", withheld(5)))
            for name in ("log.db", "log.db-wal"):
                shutil.copy(path.with_name(name), locked_away / name)
            await log.close()

        asyncio.run(leave_a_wal())
        close_directory(locked_away)
        with unprivileged(), pytest.raises(LogForeign):
            SqliteReader(locked_away / "log.db")


class TestLocks:
    @pytest.fixture(autouse=True)
    def impatience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(schema, "BUSY_MS", 20)
        pragmas = (*schema.WRITER_PRAGMAS[:-1], "PRAGMA busy_timeout=20")
        monkeypatch.setattr(schema, "WRITER_PRAGMAS", pragmas)

    async def test_another_writer_is_told_as_locked_and_from_then_on_every_append(
        self, path: Path
    ) -> None:
        log, scribe = await SqliteLog.open(path), Scribe()
        await log.append(scribe.turn("a", withheld(2)))
        with closing(sqlite3.connect(path, isolation_level=None)) as intruder:
            intruder.execute("BEGIN IMMEDIATE")
            with pytest.raises(LogLocked) as told:
                await log.append(scribe.turn("a", withheld(1)))
        with pytest.raises(LogLocked) as again:
            await log.append(scribe.turn("a", withheld(1)))
        assert again.value is told.value
        await log.close()
        assert seqs(path) == [1, 2]

    async def test_a_database_held_for_one_process_alone_is_told_as_locked(
        self, path: Path
    ) -> None:
        await write_log(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as intruder:
            intruder.execute("PRAGMA locking_mode=EXCLUSIVE")
            intruder.execute("BEGIN EXCLUSIVE")
            for attempt in (lambda: asyncio.run(SqliteLog.open(path)), lambda: SqliteReader(path)):
                with pytest.raises(LogLocked):
                    await asyncio.to_thread(attempt)
        assert seqs(path) == [1, 2, 3, 4, 5]

    async def test_every_error_says_what_to_do(self, path: Path) -> None:
        text_file(path)
        with pytest.raises(RutterError) as told:
            SqliteReader(path)
        assert told.value.fix
