"""Files of the allowed folders are looked at and read, and nothing else is, whatever is tried."""

import errno
import os
import tracemalloc
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from rutter.actors.world import allowed_files
from rutter.actors.world.allowed_files import (
    CHUNK,
    MAX_SEARCHED,
    MAX_TEXT,
    look_at_files,
    read_file,
)
from rutter.events.checks import FileCheck, FileContains, FileExists, FileSize
from rutter.events.critic import FilesRequested
from rutter.events.observer import FileSeen, FilesSeen
from tests.support.case_table import for_each

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A folder, with everything in it that should not lead out of it."""
    folder = tmp_path / "inside"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("Grüße an Aurora\n", "utf-8")
    (folder / "deep" / "b.txt").write_text("deep")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\xff\xfe\0Aurora\0")
    (tmp_path / "outside.txt").write_text("hunter-2")
    (tmp_path / "inside-out").mkdir()
    (tmp_path / "inside-out" / "c.txt").write_text("hunter-2")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "home.txt").symlink_to(folder / "a.txt")
    (folder / "broken.txt").symlink_to(tmp_path / "nowhere")
    (folder / "way_out").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    return folder


async def look(
    *checks: FileCheck, at: Path, within_ms: int = 0, before: FilesSeen | None = None
) -> FilesSeen:
    return await look_at_files(FilesRequested(3, checks, within_ms), [str(at)], before)


async def look_at(check: FileCheck, at: Path) -> FileSeen:
    [seen] = (await look(check, at=at)).files
    return seen


# -- what is there ---------------------------------------------------------------------------------


async def test_every_check_is_answered_in_its_place(inside: Path) -> None:
    size = len("Grüße an Aurora\n".encode())
    seen = await look(
        FileExists("a.txt"),
        FileExists("none.txt"),
        FileContains("Grüße", path="a.txt"),
        FileContains("grüße", path="a.txt"),
        FileSize("deep/b.txt", at_least=9),
        FileContains("x", path="none/none.txt"),
        at=inside,
    )
    assert seen == FilesSeen(
        3,
        (
            FileSeen("a.txt", True, size),
            FileSeen("none.txt"),
            FileSeen("a.txt", True, size, holds=True),
            FileSeen("a.txt", True, size, holds=False),
            FileSeen("deep/b.txt", True, 4),
            FileSeen("none/none.txt"),
        ),
    )


async def test_a_path_is_absolute_or_in_the_first_folder(inside: Path, tmp_path: Path) -> None:
    folders = [str(inside), str(tmp_path / "inside-out")]
    checks = (
        FileExists(str(inside / "deep" / "b.txt")),
        FileExists(str(tmp_path / "inside-out" / "c.txt")),
        FileExists("./deep//b.txt"),
        FileExists("c.txt"),
    )
    seen = await look_at_files(FilesRequested(1, checks, 0), folders)
    assert [(each.exists, each.error) for each in seen.files] == [
        (True, ""),
        (True, ""),
        (True, ""),
        (False, ""),
    ]


async def test_the_folder_that_was_named_may_be_a_link(inside: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(inside)
    assert (await look_at(FileExists("a.txt"), tmp_path / "named")).exists
    through = await look_at(FileExists(str(tmp_path / "named" / "a.txt")), tmp_path / "named")
    assert through.exists


async def test_a_file_that_is_no_text_is_searched_for_its_bytes(inside: Path) -> None:
    assert (await look_at(FileContains("Aurora", path="picture.png"), inside)).holds is True
    assert (await look_at(FileContains("aurora", path="picture.png"), inside)).holds is False


@for_each("before", [0, 1, CHUNK - 9, CHUNK - 4, CHUNK - 1, CHUNK, 2 * CHUNK - 3])
async def test_what_is_sought_is_found_across_the_pieces(inside: Path, before: int) -> None:
    (inside / "long.txt").write_bytes(b"-" * before + "größer".encode() + b"-" * CHUNK)
    for wanted, holds in (("größer", True), ("-" * 5 + "g", before >= 5), ("größer!", False)):
        seen = await look_at(FileContains(wanted, path="long.txt"), inside)
        assert seen.holds is holds, wanted


async def test_more_is_sought_than_one_piece_holds(inside: Path) -> None:
    text = "".join(str(number) for number in range(60_000))
    assert len(text) > 4 * CHUNK
    (inside / "long.txt").write_text(f"<{text}>")
    assert (await look_at(FileContains(text, path="long.txt"), inside)).holds is True
    assert (await look_at(FileContains(text + "!", path="long.txt"), inside)).holds is False


async def test_an_empty_text_is_in_every_file_even_in_an_empty_one(inside: Path) -> None:
    (inside / "empty").touch()
    assert await look_at(FileContains("", path="empty"), inside) == FileSeen("empty", True, 0, True)
    assert (await look_at(FileContains("x", path="empty"), inside)).holds is False


# -- what is not looked at -------------------------------------------------------------------------

OUTSIDE = [
    ("../outside.txt", "leads outside"),
    ("deep/../../outside.txt", "leads outside"),
    ("deep/../a.txt", "leads outside"),
    ("/etc/passwd", "leads outside"),
    ("{parent}/outside.txt", "leads outside"),
    ("{parent}/inside-out/c.txt", "leads outside"),
    ("{parent}/inside/../outside.txt", "leads outside"),
    ("{parent}/inside", "leads outside"),
    ("", "leads outside"),
    (".", "leads outside"),
    ("a\0.txt", "leads outside"),
    ("\ud800", "leads outside"),
    ("link.txt", "a link is not followed"),
    ("home.txt", "a link is not followed"),
    ("broken.txt", "a link is not followed"),
    ("way_out/outside.txt", "a link is not followed"),
    ("way_out/inside/a.txt", "a link is not followed"),
    ("deep", "it is not a file"),
    ("pipe", "it is not a file"),
]


@for_each("path, why", OUTSIDE)
async def test_nothing_outside_is_looked_at_or_read(inside: Path, path: str, why: str) -> None:
    path = path.format(parent=inside.parent)
    for check in (FileExists(path), FileContains("hunter", path=path), FileSize(path)):
        seen = await look_at(check, inside)
        assert seen.error == "policy_denied"
        assert why in seen.message
        assert (seen.exists, seen.size, seen.holds) == (False, 0, None)
    read = read_file("call-1", path, [str(inside)])
    assert (read.error, read.text) == ("policy_denied", None)
    assert why in read.message


async def test_a_device_is_not_opened() -> None:
    seen = await look_at(FileContains("x", path="zero"), Path("/dev"))
    assert (seen.error, seen.message) == ("policy_denied", "it is not a file")


@for_each("folders", [[], ["relative"]])
async def test_without_a_folder_nothing_is_looked_at(folders: list[str]) -> None:
    seen = await look_at_files(FilesRequested(1, (FileExists("a.txt"),), 0), folders)
    assert [each.error for each in seen.files] == ["policy_denied"]
    assert read_file("call-1", "a.txt", folders).error == "policy_denied"


async def test_a_folder_that_is_gone_holds_no_files(tmp_path: Path) -> None:
    assert await look_at(FileExists("a.txt"), tmp_path / "gone") == FileSeen("a.txt")
    assert read_file("call-1", "a.txt", [str(tmp_path / "gone")]).error == "action_failed"


def test_a_file_that_becomes_a_link_is_not_followed(inside: Path) -> None:
    with allowed_files._found("a.txt", [str(inside)]) as found:
        (inside / "a.txt").unlink()
        (inside / "a.txt").symlink_to(inside.parent / "outside.txt")
        with (
            pytest.raises(allowed_files._FileRefused, match="a link"),
            allowed_files._opened(found),
        ):
            pytest.fail("it was opened")


def test_a_file_that_becomes_a_pipe_is_not_read(inside: Path) -> None:
    with allowed_files._found("a.txt", [str(inside)]) as found:
        (inside / "a.txt").unlink()
        os.mkfifo(inside / "a.txt")
        with (
            pytest.raises(allowed_files._FileRefused, match="not a file"),
            allowed_files._opened(found),
        ):
            pytest.fail("it was opened")


def test_a_folder_that_is_renamed_meanwhile_leads_nowhere_else(inside: Path) -> None:
    (inside.parent / "b.txt").write_text("hunter-2")
    with allowed_files._found("deep/b.txt", [str(inside)]) as found:
        (inside / "deep").rename(inside / "moved")
        (inside / "deep").symlink_to(inside.parent)
        with allowed_files._opened(found) as descriptor:
            assert os.read(descriptor, 100) == b"deep"


async def test_nothing_stays_open(inside: Path) -> None:
    def opened() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    await look(FileExists("a.txt"), at=inside)  # the thread and its pipe are there from now on
    before = opened()
    for path, _ in OUTSIDE:
        await look(FileExists(path), FileContains("x", path=path), at=inside)
        read_file("call-1", path, [str(inside)])
    await look(FileContains("x", path="deep/b.txt"), at=inside)
    assert opened() == before


# -- what cannot be read ---------------------------------------------------------------------------


async def test_a_gigabyte_is_measured_but_not_searched(inside: Path) -> None:
    os.truncate(_touched(inside / "huge"), 1024 * MIB)
    tracemalloc.start()
    try:
        seen = await look(FileContains("x", path="huge"), FileSize("huge"), at=inside)
        read = read_file("call-1", "huge", [str(inside)])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    searched, measured = seen.files
    assert (searched.exists, searched.size, searched.holds) == (True, 1024 * MIB, None)
    assert searched.error == "too_large"
    assert str(MAX_SEARCHED) in searched.message
    assert measured == FileSeen("huge", True, 1024 * MIB)
    assert read.error == "policy_denied"
    assert str(MAX_TEXT) in read.message
    assert peak < 4 * MIB


async def test_a_large_file_is_searched_in_little_memory(inside: Path) -> None:
    os.truncate(_touched(inside / "large"), MAX_SEARCHED - 6)
    with (inside / "large").open("ab") as file:
        file.write(b"Aurora")
    tracemalloc.start()
    try:
        seen = await look_at(FileContains("Aurora", path="large"), inside)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == FileSeen("large", True, MAX_SEARCHED, holds=True)
    assert peak < 4 * MIB
    os.truncate(inside / "large", MAX_SEARCHED + 1)
    assert (await look_at(FileContains("Aurora", path="large"), inside)).error == "too_large"


async def test_a_file_that_grows_while_it_is_searched_is_not_searched_for_ever(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def more(descriptor: int, size: int) -> bytes:
        return b"-" * size

    monkeypatch.setattr(os, "read", more)
    seen = await look_at(FileContains("x", path="a.txt"), inside)
    assert (seen.error, seen.exists) == ("too_large", True)


async def test_a_file_that_may_not_be_read_is_there_all_the_same(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "locked.txt").write_text("hunter-2")
    (inside / "locked.txt").chmod(0)
    opened = os.open

    def denied(path: Any, *more: Any, **named: Any) -> int:  # as to all who are not root
        if path == "locked.txt":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *more, **named)

    monkeypatch.setattr(os, "open", denied)
    seen = await look_at(FileContains("hunter", path="locked.txt"), inside)
    assert (seen.exists, seen.size, seen.holds) == (True, 8, None)
    assert (seen.error, seen.message) == ("unreadable", "it cannot be read: Permission denied")
    assert await look_at(FileExists("locked.txt"), inside) == FileSeen("locked.txt", True, 8)
    assert read_file("call-1", "locked.txt", [str(inside)]).error == "action_failed"


async def test_a_name_that_no_file_can_have_is_an_error_and_no_answer(inside: Path) -> None:
    seen = await look_at(FileExists("x" * 300), inside)
    assert (seen.exists, seen.error) == (False, "unreadable")


# -- reading ---------------------------------------------------------------------------------------


def test_a_file_is_read_as_text(inside: Path) -> None:
    for path in ("a.txt", str(inside / "a.txt")):
        read = read_file("call-1", path, [str(inside)])
        assert read.text is not None
        assert (read.call, read.text.text, read.error) == ("call-1", "Grüße an Aurora\n", "")
    (inside / "full.txt").write_text("x" * MAX_TEXT)
    full = read_file("call-1", "full.txt", [str(inside)])
    assert full.text is not None
    assert len(full.text.text) == MAX_TEXT


@pytest.mark.parametrize(
    ("path", "why"),
    [("picture.png", "not text in UTF-8"), ("none.txt", "No such"), ("a.txt/b", "Not a dir")],
)
def test_what_is_no_text_is_not_read(inside: Path, path: str, why: str) -> None:
    read = read_file("call-1", path, [str(inside)])
    assert (read.text, read.error) == (None, "action_failed")
    assert why in read.message


# -- waiting ---------------------------------------------------------------------------------------


class Polls:
    """What happens between two looks: `then` at the given one, nothing at the others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, then: Any) -> None:
        self.count = 0
        self._at, self._then = at, then
        monkeypatch.setattr("rutter.actors.world.allowed_files.anyio.sleep", self._between)

    async def _between(self, seconds: float) -> None:
        self.count += 1
        if self.count == self._at:
            self._then()
        assert self.count <= self._at, "it changed, and is waited for still"
        await anyio.lowlevel.checkpoint()


async def test_a_file_is_waited_for_until_it_is_there(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    polls = Polls(monkeypatch, 3, lambda: (inside / "new.txt").write_text("Aurora"))
    checks = (FileExists("a.txt"), FileContains("Aurora", path="new.txt"))
    seen = await look(*checks, at=inside, within_ms=60_000)
    assert seen.files[1] == FileSeen("new.txt", True, 6, holds=True)
    assert polls.count == 3


async def test_a_file_that_grows_is_looked_at_when_it_has_grown(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "log.txt").write_text("first\n")

    def grow() -> None:
        with (inside / "log.txt").open("a") as file:
            file.write("second\n")

    polls = Polls(monkeypatch, 2, grow)
    seen = await look(FileContains("second", path="log.txt"), at=inside, within_ms=60_000)
    assert seen.files == (FileSeen("log.txt", True, 13, holds=True),)
    assert polls.count == 2


async def test_what_changed_since_it_was_last_told_is_told_at_once(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = FileExists("new.txt")
    before = await look(check, at=inside)
    (inside / "new.txt").touch()
    polls = Polls(monkeypatch, 0, None)
    seen = await look(check, at=inside, within_ms=60_000, before=before)
    assert seen.files == (FileSeen("new.txt", True),)
    assert polls.count == 0


async def test_what_does_not_change_is_told_when_the_time_is_up(inside: Path) -> None:
    before = FilesSeen(2, (FileSeen("a.txt"),))  # of another step: it says nothing about this one
    seen = await look(FileExists("a.txt"), at=inside, within_ms=1, before=before)
    assert seen.files[0].exists


async def test_what_is_not_allowed_is_not_allowed_after_a_while_either(inside: Path) -> None:
    seen = await look(FileExists("../outside.txt"), at=inside, within_ms=1)
    assert seen.files[0].error == "policy_denied"


def _touched(path: Path) -> Path:
    path.touch()
    return path
