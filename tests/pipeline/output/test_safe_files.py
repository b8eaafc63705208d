"""Files that are handed out: safe names, nothing written over, whole or not there."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.errors import BadInput, WorldBroken
from rutter.pipeline.output.safe_files import (
    LONGEST,
    folder_for,
    put_beside,
    replace_whole,
    safe_name,
    write_named,
)
from tests.support.case_table import for_each


@for_each(
    "said, name",
    [
        ("invoice.pdf", "invoice.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\invoice.pdf", "invoice.pdf"),
        ("/etc/cron.d/x", "x"),
        ("..", "download"),
        (".", "download"),
        ("", "download"),
        ("...", "download"),
        (".bashrc", "bashrc"),
        ("a\0b\nc.txt", "ab c.txt"),
        ('a<b>:"c|d?e*.txt', "a_b___c_d_e_.txt"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console.txt", "console.txt"),
        ("trailing. . ", "trailing"),
        ("fdp.\u202eexe.pdf", "fdp.exe.pdf"),
        ("r\u00e9sum\u00e9.pdf", "r\u00e9sum\u00e9.pdf"),
        ("re\u0301sume\u0301.pdf", "r\u00e9sum\u00e9.pdf"),
    ],
)
def test_a_name_that_a_page_gave_is_no_path(said: str, name: str) -> None:
    assert safe_name(said, "download") == name


def test_a_long_name_keeps_its_ending() -> None:
    name = safe_name("船" * 500 + ".pdf", "download")
    assert name.endswith("船.pdf")
    assert len(name.encode()) <= LONGEST


@given(said=st.text(max_size=300))
def test_whatever_a_page_calls_it_the_file_lies_in_the_folder(said: str) -> None:
    name = safe_name(said, "download")
    assert name not in ("", ".", "..")
    assert not name.startswith(".")
    assert "/" not in name
    assert "\\" not in name
    assert Path("/folder", name).resolve().parent == Path("/folder")
    assert len(name.encode()) <= LONGEST + 12


def test_nothing_is_written_over_and_the_same_is_written_once(tmp_path: Path) -> None:
    names = [put_beside(tmp_path, "a.txt", body).name for body in (b"1", b"2", b"1", b"2", b"3")]
    assert names == ["a.txt", "a-2.txt", "a.txt", "a-2.txt", "a-3.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-2.txt", "a-3.txt", "a.txt"]


def test_a_name_that_differs_in_its_case_is_taken(tmp_path: Path) -> None:
    put_beside(tmp_path, "A.TXT", b"1")
    assert put_beside(tmp_path, "a.txt", b"2").name == "a-2.txt"


def test_no_link_is_followed(tmp_path: Path) -> None:
    aim = tmp_path / "aim"
    aim.write_bytes(b"mine")
    folder = folder_for(tmp_path / "out" / "deeper")
    (folder / "a.txt").symlink_to(aim)
    (folder / "b.txt").symlink_to(tmp_path / "nowhere")
    assert put_beside(folder, "a.txt", b"theirs").name == "a-2.txt"
    assert put_beside(folder, "b.txt", b"theirs").name == "b-2.txt"
    assert aim.read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_link_that_was_named_is_not_followed(tmp_path: Path) -> None:
    aim, link = tmp_path / "aim", tmp_path / "report.html"
    aim.write_bytes(b"mine")
    link.symlink_to(aim)
    with pytest.raises(BadInput, match="is a link"):
        write_named(link, "theirs", "--out")
    assert aim.read_bytes() == b"mine"
    write_named(aim, "new", "--out")
    write_named(Path("/dev/fd/2"), "", "--out")
    assert aim.read_text() == "new"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    place = tmp_path / "r.csv"
    replace_whole(place, b"one")
    replace_whole(place, b"two")
    assert place.read_bytes() == b"two"
    assert [each.name for each in tmp_path.iterdir()] == ["r.csv"]


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written to"):
        folder_for(tmp_path / "file")
    with pytest.raises(WorldBroken, match="cannot be written"):
        replace_whole(tmp_path / "none" / "r.csv", b"x")


def test_a_full_disk_is_said_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "r.csv"
    replace_whole(place, b"one")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorldBroken, match="no space left to write"):
        replace_whole(place, b"two")
    with pytest.raises(WorldBroken, match="no space left to write"):
        put_beside(tmp_path, "s.csv", b"two")
    monkeypatch.undo()
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("r.csv", b"one")]
