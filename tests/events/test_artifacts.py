"""Artifacts: kept once, under the name of their content, private, and durable or not there."""

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.artifacts import ArtifactStore
from rutter.events.errors import LogCorrupt, LogFull, WorldBroken
from rutter.events.page import Artifact

BODY = b"a screenshot"


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def files(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.rglob("*") if path.is_file()]


def failing(code: int) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_body_comes_back_by_the_name_of_its_content(store: ArtifactStore) -> None:
    artifact = store.put(BODY, "image/png")
    assert artifact == Artifact(hashlib.sha256(BODY).hexdigest(), len(BODY), "image/png")
    assert store.get(artifact) == BODY


@given(st.binary(max_size=1_000))
def test_any_body_comes_back(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    store = ArtifactStore(tmp_path_factory.getbasetemp() / "any-artifacts")
    assert store.get(store.put(body, "text/html")) == body


def test_equal_bodies_are_kept_once(store: ArtifactStore, tmp_path: Path) -> None:
    assert store.put(BODY, "image/png") == store.put(BODY, "image/png")
    assert len(files(tmp_path)) == 1


def test_equal_bodies_put_at_the_same_time_are_kept_once(
    store: ArtifactStore, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(8) as threads:
        for body in (bytes([number]) * 100_000 for number in range(20)):
            puts = [threads.submit(store.put, body, "image/png") for _ in range(8)]
            assert len({put.result() for put in puts}) == 1
    assert len(files(tmp_path)) == 20


def test_only_their_owner_can_read_them(store: ArtifactStore, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store.put(BODY, "image/png")
    finally:
        os.umask(before)
    for path in tmp_path.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("damaged", [b"a screensh0t", BODY[:-1], b""])
def test_a_body_that_was_changed_is_told_as_corrupt(store: ArtifactStore, damaged: bytes) -> None:
    artifact = store.put(BODY, "image/png")
    store.path(artifact).write_bytes(damaged)
    with pytest.raises(LogCorrupt, match="is not what was stored"):
        store.get(artifact)


def test_a_body_that_is_gone_is_told_as_corrupt(store: ArtifactStore) -> None:
    artifact = store.put(BODY, "image/png")
    store.path(artifact).unlink()
    with pytest.raises(LogCorrupt, match="is missing"):
        store.get(artifact)


@pytest.mark.parametrize(
    ("code", "told"), [(errno.ENOSPC, LogFull), (errno.EDQUOT, LogFull), (errno.EIO, WorldBroken)]
)
def test_a_disk_that_fails_is_told_and_leaves_nothing_behind(
    store: ArtifactStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    told: type[WorldBroken],
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", failing(code))
        with pytest.raises(told):
            store.put(BODY, "image/png")
    assert files(tmp_path) == []
    assert store.get(store.put(BODY, "image/png")) == BODY


def test_body_and_names_are_synced_before_it_is_told_as_kept(
    store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def fsync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        synced.append(path.relative_to(tmp_path).as_posix())

    monkeypatch.setattr(os, "fsync", fsync)
    place = store.path(store.put(BODY, "image/png"))
    body, *directories = synced
    assert Path(body).name.startswith(".")  # under its temporary name: before it is renamed
    assert directories == [place.parent.relative_to(tmp_path).as_posix(), "artifacts", "."]


def test_no_temporary_file_is_left(store: ArtifactStore, tmp_path: Path) -> None:
    artifact = store.put(BODY, "image/png")
    assert files(tmp_path) == [store.path(artifact)]
