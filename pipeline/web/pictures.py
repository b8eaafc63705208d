"""Pictures are shown made small, and drawn anew: what came from a site is decoded here, and only
what the decoder made of it is sent."""

import io
from collections import OrderedDict
from threading import Lock

from PIL import Image, UnidentifiedImageError

from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.daemon.http.errors import NotThere

WIDTHS = (320, 1280)  # a strip's, a page's
KEPT = 512  # small ones: some 10 KB each
FORMATS = ("PNG", "JPEG", "WEBP")
QUALITY = 80


class Thumbnails:
    """Thumbnails were drawn once, and the newest of them are kept."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._at_most = kept
        self._lock = Lock()

    def of(self, directory: DataDirectory, digest: str, width: int) -> bytes:
        """As WebP. Raises `NotThere` for what is no picture, or is gone."""
        key = digest, width
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        drawn = _drawn(_body(directory, digest), width)
        if width == WIDTHS[0]:
            with self._lock:
                self._kept[key] = drawn
                while len(self._kept) > self._at_most:
                    self._kept.popitem(last=False)
        return drawn


def _body(directory: DataDirectory, digest: str) -> bytes:
    try:
        return directory.artifacts.get(Artifact(digest, 0, ""))
    except (LogCorrupt, OSError) as error:
        raise NotThere("this picture is gone", "it may have expired") from error


def _drawn(body: bytes, width: int) -> bytes:
    try:
        with Image.open(io.BytesIO(body), formats=FORMATS) as picture:
            picture.thumbnail((width, 4 * width))
            out = io.BytesIO()
            picture.convert("RGB").save(out, "WEBP", quality=QUALITY)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError) as error:
        raise NotThere("this is no picture", "see: GET /artifacts/SHA256") from error
    return out.getvalue()
