"""Pictures: what came from a site is decoded and drawn anew, or not shown at all."""

import io
from pathlib import Path

import pytest
from PIL import Image

from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.daemon.http.errors import NotThere
from rutter.pipeline.web.pictures import Thumbnails


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path)


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(("width", "expected"), [(320, (320, 160)), (1280, (640, 320))])
def test_a_picture_is_drawn_anew_no_larger_than_it_is(
    directory: DataDirectory, width: int, expected: tuple[int, int]
) -> None:
    # A file that is two things at once: what stands behind the picture is not sent on.
    kept = directory.artifacts.put(png(640, 320) + b"<script>alert(1)</script>", "image/png")
    thumbnails = Thumbnails()
    drawn = thumbnails.of(directory, kept.sha256, width)
    assert b"script" not in drawn
    with Image.open(io.BytesIO(drawn)) as picture:
        assert (picture.format, picture.size) == ("WEBP", expected)
    assert thumbnails.of(directory, kept.sha256, width) == drawn


@pytest.mark.parametrize("body", [b"<svg onload=alert(1)>", b"", b"\x89PNG\r\n\x1a\n", b"GIF89a"])
def test_what_is_no_picture_is_not_shown(directory: DataDirectory, body: bytes) -> None:
    kept = directory.artifacts.put(body, "image/png")
    with pytest.raises(NotThere):
        Thumbnails().of(directory, kept.sha256, 320)
    with pytest.raises(NotThere):
        Thumbnails().of(directory, "0" * 64, 320)
