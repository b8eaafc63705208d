"""The disk fills while an order is placed, run after run: each ends with a code that says so, what
it says of the order is so, and the log verifies and goes on once there is room."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from rutter.events.envelope import Record
from rutter.events.errors import LogWriteFailed
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from tests.crash.counting import CountingShop, record_order
from tests.crash.sailor import Sailor
from tests.crash.test_at_most_once import Voyage, may_have_been_sent, was_completed
from tests.support.command_shell import Rutter, check_logs
from tests.support.small_disk import small_disk_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(3_600)]

SEED = 50
DONE, NEEDS_PERSON, NO_ROOM = 0, 5, 8
NEEDED = 600_000  # bytes of a run, about: its log twice, since it is written ahead, and pictures


class FillingDisk:
    """A file system of its own, with a data directory in which the order is recorded."""

    def __init__(self, place: Path, shop: CountingShop, sailor: Sailor, said: Path) -> None:
        self._said = said
        self.data = place / "data"
        # To what is asked because the order of another customer may have been placed.
        self.yes = ("--answers", str(said.with_name("yes.json")))
        self._ballast = place / "ballast"
        self._shop = shop
        self._sailor = sailor

    def voyage(self, name: str) -> Voyage:
        return Voyage(self.data, self._shop, self._sailor, name)

    def fill(self, free: int) -> None:
        """So many bytes are left."""
        there = os.statvfs(self.data)
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, there.f_bavail * there.f_frsize - free)

    @property
    def said(self) -> str:
        """The last that a run said."""
        return self._said.read_text()[-2_000:]

    def make_room(self) -> None:
        self._ballast.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FillingDisk]:
    with (
        small_disk_of("64m", tmp_path) as place,
        CountingShop() as shop,
        Sailor(tmp_path / "said") as sailor,
    ):
        record_order(shop, place / "data", tmp_path)
        yield FillingDisk(place, shop, sailor, tmp_path / "said")


def problems(voyage: Voyage, code: int) -> list[str]:
    """What is not so of what a run said that met a full disk."""
    runs = [run for run in voyage.runs() if _is_of(run[0].event, voyage.customer)]
    sent = any(map(may_have_been_sent, runs))
    found = []
    if code not in (DONE, NO_ROOM):
        found.append(f"it ended with {code}")
    if voyage.posts > sent:
        found.append("something was done before the intent was on disk")
    if code == DONE and not (voyage.posts == 1 and was_completed(runs[-1])):
        found.append("it says that it is done, and the log does not")
    return found


def _is_of(event: object, customer: str) -> bool:
    return isinstance(event, SessionStarted) and event.values.get("customer") == customer


def test_run_after_run_ends_with_a_code_that_says_so_and_the_log_verifies(
    disk: FillingDisk, count: Callable[[int, int], int]
) -> None:
    rng, seen = Random(SEED), Counter[str]()
    runs = count(1, 50)
    for number in range(runs):
        voyage = disk.voyage(f"Disk-{number:02}")
        disk.fill(rng.randrange(NEEDED))
        code = voyage.run(None, *disk.yes)
        disk.make_room()
        assert problems(voyage, code) == [], (number, disk.said)
        assert Rutter(disk.data)("log", "verify").code == DONE, number
        seen[f"ended with {code}, {voyage.posts} posts"] += 1
        if code != DONE:
            last = voyage.runs()[-1]
            if was_completed(last) and _is_of(last[0].event, voyage.customer):
                continue  # and whoever looks, as they are told to, sees that
            sent = _is_of(last[0].event, voyage.customer) and may_have_been_sent(last)
            ended = voyage.go_on(*(() if sent else disk.yes))
            assert voyage.posts <= 1, number
            assert ended.code == (NEEDS_PERSON if sent else DONE), (number, ended)
            seen[f"then ended with {ended.code}"] += 1
    print(f"{runs} runs:")
    for what, times in sorted(seen.items()):
        print(f"  {times:4}  {what}")
    check_logs(disk.data)


@pytest.mark.extended
def test_the_control_that_takes_a_failed_write_for_one_that_is_there_is_caught(
    disk: FillingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = SqliteLog.append

    def acknowledged(log: SqliteLog, turn: Sequence[Record]) -> asyncio.Future[None]:
        written = append(log, turn)
        told: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(_: asyncio.Future[None]) -> None:
            assert written.exception() is None or isinstance(written.exception(), LogWriteFailed)
            told.set_result(None)

        written.add_done_callback(done)
        return told

    monkeypatch.setattr(SqliteLog, "append", acknowledged)
    voyage = disk.voyage("Control")
    disk.fill(60_000)
    ended = voyage.go_on(*disk.yes)
    disk.make_room()
    assert problems(voyage, ended.code) != []
