"""A file is whole and on disk before it has its name, or it is not there at all."""

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from rutter.events.durable import disk_told, drafted, write_whole
from rutter.events.errors import LogFull, WorldBroken
from tests.support.case_table import for_each


def test_a_file_is_replaced_as_a_whole_and_its_owners_alone(tmp_path: Path) -> None:
    place = tmp_path / "a"
    write_whole(place, b"one")
    write_whole(place, b"two")
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"two", 0o600)
    assert [*tmp_path.iterdir()] == [place]


def test_content_is_synced_before_the_name_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []

    def fsync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        synced.append((path.name, (tmp_path / "a").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(tmp_path / "a", b"one")
    (draft, named), last = synced
    assert draft.startswith(".a.")
    assert (named, last) == (False, (tmp_path.name, True))


def test_what_fails_half_way_leaves_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "a"
    write_whole(place, b"one")
    with suppress(KeyboardInterrupt), drafted(place) as draft:
        draft.write_bytes(b"tw")
        raise KeyboardInterrupt
    assert ([*tmp_path.iterdir()], place.read_bytes()) == ([place], b"one")


@for_each(
    "number, told", [(errno.ENOSPC, LogFull), (errno.EDQUOT, LogFull), (errno.EIO, WorldBroken)]
)
def test_what_the_disk_refuses_names_the_place_and_what_to_do(
    number: int, told: type[WorldBroken]
) -> None:
    with pytest.raises(told) as error, disk_told(Path("/data/a"), "; nothing was changed"):
        raise OSError(number, os.strerror(number))
    assert "/data/a" in error.value.what
    assert error.value.what.endswith("; nothing was changed")
    assert error.value.fix
