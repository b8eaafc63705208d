"""A file that was sent is kept without a known secret, or not at all."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from rutter.actors.world.secrets import redacted_artifacts
from rutter.actors.world.secrets.redacted_artifacts import NOT_KEPT, CleanArtifacts
from rutter.actors.world.secrets.redaction import Redactor
from rutter.events.artifacts import ArtifactStore

SECRET = "sheet bend & 9 fathoms"


@pytest.fixture
def kept(tmp_path: Path) -> CleanArtifacts:
    return CleanArtifacts(ArtifactStore(tmp_path / "artifacts"), Redactor({"pw": SECRET}))


def packed(text: str) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.txt", "nothing")
        file.writestr("b.txt", text)
    return body.getvalue()


@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_loses_it(kept: CleanArtifacts, coding: str) -> None:
    artifact = kept.put(f"it is {SECRET}.\n".encode(coding), "text/plain")
    assert kept.get(artifact).decode(coding) == "it is <secret pw>.\n"


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\xff\xfe" + SECRET.encode() + b"\xff",
        gzip.compress(f"it is {SECRET}".encode()),
        packed(f"it is {SECRET}"),
    ],
    ids=["bytes", "gzip", "zip"],
)
def test_what_is_no_text_is_not_kept(kept: CleanArtifacts, body: bytes) -> None:
    artifact = kept.put(body, "application/octet-stream")
    assert (kept.get(artifact), artifact.media) == (NOT_KEPT, "text/plain")


def many(*sizes: int) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as file:
        for number, size in enumerate(sizes):
            file.writestr(f"{number}.txt", bytes(size))
    return body.getvalue()


def test_what_unpacks_to_more_than_is_looked_through_is_not_kept(
    kept: CleanArtifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redacted_artifacts, "MAX_INSIDE", 1_000)
    monkeypatch.setattr(redacted_artifacts, "MAX_MEMBERS", 5)
    for body in (many(400, 400, 400), many(*[1] * 6), gzip.compress(bytes(1_001))):
        assert kept.get(kept.put(body, "application/zip")) == NOT_KEPT
    for body in (many(400, 400, 200), many(*[1] * 5), gzip.compress(bytes(1_000))):
        assert kept.get(kept.put(body, "application/zip")) == body


def test_without_a_secret_nothing_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redacted_artifacts, "MAX_INSIDE", 1_000)
    kept = CleanArtifacts(ArtifactStore(tmp_path / "artifacts"), Redactor({}))
    assert kept.get(kept.put(many(2_000), "application/zip")) == many(2_000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"plain",
        bytes(range(256)),
        gzip.compress(b"plain", mtime=0),
        packed("plain"),
        b"PK\x03\x04oops",
    ],
)
def test_all_else_is_kept_as_it_is(kept: CleanArtifacts, body: bytes) -> None:
    assert kept.get(kept.put(body, "application/octet-stream")) == body


SHUT = gzip.compress(f"it is {SECRET}".encode() * 40, mtime=0)


@pytest.mark.parametrize(
    "body",
    [SHUT[:-12], SHUT[:-8] + bytes(8), packed(SECRET).replace(b"\x08\x00", b"\x63\x00")],
    ids=["cut short", "damaged", "packed in a way that nobody knows"],
)
def test_what_cannot_be_unpacked_may_hold_it_and_is_not_kept(
    kept: CleanArtifacts, body: bytes
) -> None:
    artifact = kept.put(body, "application/octet-stream")
    assert kept.get(artifact) == NOT_KEPT
