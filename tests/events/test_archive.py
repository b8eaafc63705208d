"""The portable file: equal logs are equal bytes, and nothing odd in it gets far."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events import archive
from rutter.events.archive import Archive, Manifest, write_archive
from rutter.events.errors import BadInput, LogCorrupt, LogForeign
from rutter.events.runtime import ChainHead
from rutter.events.sqlite_schema import Row
from tests.support import golden_logs
from tests.support.example_counts import examples

ROWS = list(golden_logs.rows("free"))
HEADS = (ChainHead("a", 7, bytes(32)),)
BODIES = sorted((hashlib.sha256(body).hexdigest(), body) for body in (b"one", b"two", b""))
MISSING = ["ab" * 32]
GOLDEN = "6315904c8c3fdd740621bebbc793164e3761ae0112d3f151ddfe4691cbe7fc9b"


def packed() -> bytes:
    file = io.BytesIO()
    write_archive(file, ROWS, HEADS, BODIES, MISSING)
    return file.getvalue()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "all.rutter"
    place.write_bytes(packed())
    return place


def repacked(place: Path, change: Callable[[dict[str, bytes]], Any], **options: Any) -> Path:
    """The same file with other members, by another program."""
    with zipfile.ZipFile(place) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(place, "w", **options) as new:
        for name, body in members.items():
            new.writestr(name, body)
    return place


def manifest(members: dict[str, bytes], **fields: object) -> None:
    """Changes the manifest and nothing else."""
    said = {**msgspec.json.decode(members["manifest.json"]), **fields}
    members["manifest.json"] = msgspec.json.encode(said)


def read_all(place: Path) -> tuple[object, ...]:
    with Archive(place) as opened:
        return list(opened.rows()), list(opened.artifacts()), opened.manifest.heads


def refused(place: Path) -> LogCorrupt:
    with pytest.raises(LogCorrupt) as told:
        read_all(place)
    assert str(place) in told.value.what
    assert told.value.fix
    return told.value


def test_everything_comes_back(place: Path) -> None:
    with Archive(place) as opened:
        assert list(opened.rows()) == ROWS
        assert list(opened.artifacts()) == BODIES
        assert opened.manifest == Manifest(
            archive.KIND,
            1,
            1,
            len(ROWS),
            1,
            HEADS,
            tuple(name for name, _ in BODIES),
            tuple(MISSING),
        )


def test_an_empty_log_comes_back(tmp_path: Path) -> None:
    with (tmp_path / "empty").open("wb") as file:
        write_archive(file, [], (), [], [])
    with Archive(tmp_path / "empty") as opened:
        assert (list(opened.rows()), list(opened.artifacts())) == ([], [])


def test_equal_logs_are_equal_bytes() -> None:
    assert packed() == packed()


def test_these_very_bytes_are_what_they_were() -> None:
    """Another digest is another version of the format, and needs a number of its own."""
    file = io.BytesIO()
    row: Row = (1, "a", 1, 1_000, "runtime", 0, "PlanWithheld", b"payload", bytes(32))
    write_archive(file, [row], HEADS, BODIES, MISSING)
    assert hashlib.sha256(file.getvalue()).hexdigest() == GOLDEN


def test_any_zip_tool_can_open_it(place: Path) -> None:
    with zipfile.ZipFile(place) as opened:
        assert opened.testzip() is None
        names = ["events/000000.msgpack", *(f"artifacts/{name}" for name, _ in BODIES)]
        assert opened.namelist() == [*names, "manifest.json"]


@pytest.mark.parametrize("limit", [1, 10_000])
def test_a_large_log_is_cut_into_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(archive, "CHUNK_BYTES", limit)
    with (tmp_path / "cut").open("wb") as file:
        written = write_archive(file, ROWS, HEADS, [], [])
    with Archive(tmp_path / "cut") as opened:
        assert list(opened.rows()) == ROWS
    assert written.chunks > 1


class TestForeign:
    def test_a_file_that_is_not_there_is_bad_input(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="cannot be read"):
            Archive(tmp_path / "nothing")

    def test_a_directory_is_bad_input(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="cannot be read"):
            Archive(tmp_path)

    @pytest.mark.parametrize("body", [b"", b"hello", b"SQLite format 3\0" * 500, bytes(5_000)])
    def test_another_file_is_told_as_that(self, place: Path, body: bytes) -> None:
        place.write_bytes(body)
        assert isinstance(refused(place), LogForeign)

    def test_another_zip_is_told_as_that(self, place: Path) -> None:
        repacked(place, lambda members: members.pop("manifest.json"))
        assert isinstance(refused(place), LogForeign)

    @pytest.mark.parametrize(
        "fields", [{"kind": "another"}, {"version": 2}, {"log_format": 9}, {"version": "one"}]
    )
    def test_another_version_is_told_as_that(self, place: Path, fields: dict[str, object]) -> None:
        repacked(place, lambda members: manifest(members, **fields))
        assert isinstance(refused(place), LogForeign)

    def test_one_packed_by_another_program_is_refused(self, place: Path) -> None:
        """A compressed member could be any size once it is unpacked."""
        repacked(place, lambda members: None, compression=zipfile.ZIP_DEFLATED)
        assert "another program" in refused(place).what


class TestDamaged:
    @pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
    def test_a_file_that_was_cut_off_is_told_as_that(self, place: Path, share: float) -> None:
        body = place.read_bytes()
        place.write_bytes(body[: int(len(body) * share)])
        assert "cut off or damaged" in refused(place).what

    @pytest.mark.parametrize(
        "change",
        [
            lambda members: members.pop("events/000000.msgpack"),
            lambda members: members.pop(f"artifacts/{BODIES[0][0]}"),
            lambda members: members.update({"../../escaped": b"x"}),
            lambda members: members.update({"/etc/escaped": b"x"}),
            lambda members: members.update({"artifacts/../escaped": b"x"}),
            lambda members: members.update({"events/000001.msgpack": b"\x90"}),
            lambda members: manifest(members, chunks=10**12),
            lambda members: manifest(members, chunks=-1),
            lambda members: manifest(members, artifacts=["../escaped"]),
            lambda members: manifest(members, events="many"),
            lambda members: manifest(members, surprise=1),
        ],
    )
    def test_members_that_its_manifest_does_not_name_are_refused(
        self, place: Path, change: Callable[[dict[str, bytes]], Any]
    ) -> None:
        repacked(place, change)
        refused(place)

    def test_a_name_that_leads_elsewhere_is_refused_even_when_it_is_named(
        self, place: Path
    ) -> None:
        def escape(members: dict[str, bytes]) -> None:
            members["artifacts/../../escaped"] = b"x"
            names = [*(name for name, _ in BODIES), "../../escaped"]
            manifest(members, artifacts=names)

        repacked(place, escape)
        assert "what is no name" in refused(place).what

    def test_a_member_that_is_there_twice_is_refused(self, place: Path) -> None:
        with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(place, "a") as more:
            more.writestr("manifest.json", b"{}")
        refused(place)

    @pytest.mark.parametrize(
        "rows", [b"\x93\x01\x02\x03", b"\xc1", msgspec.msgpack.encode([[1, 2]]), b""]
    )
    def test_rows_that_are_none_are_told(self, place: Path, rows: bytes) -> None:
        repacked(place, lambda members: members.update({"events/000000.msgpack": rows}))
        assert "holds no rows" in refused(place).what

    @examples(150)
    @given(at=st.integers(0, len(packed()) - 1), bit=st.integers(0, 7))
    def test_a_flipped_bit_is_refused_or_changes_nothing_that_is_read(
        self, tmp_path_factory: pytest.TempPathFactory, at: int, bit: int
    ) -> None:
        """Some bits of a zip mean nothing: times, flags, the system that it was made on."""
        body = bytearray(packed())
        body[at] ^= 1 << bit
        place = tmp_path_factory.getbasetemp() / "flipped.rutter"
        place.write_bytes(bytes(body))
        try:
            assert read_all(place) == (ROWS, BODIES, HEADS)
        except LogCorrupt as error:
            assert error.fix  # noqa: PT017 - either is right
