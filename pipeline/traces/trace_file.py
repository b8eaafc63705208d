"""A trace file holds OTLP JSON, a request a line. A line that is whole is on disk before it
counts."""

import os
from collections.abc import Sequence
from pathlib import Path

from rutter.events.errors import BadInput
from rutter.pipeline.traces.sink import Delivery
from rutter.replay.traces import Span
from rutter.replay.traces.otlp_json import encode_line


class TraceFile:
    """Appends. A torn last line, left by a crash, is cut off: what was in it comes again."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = open(path, "ab", opener=_private)  # noqa: SIM115 - open while it is used
            self._file.truncate(_whole(path))
        except OSError as error:
            raise BadInput(
                f"{path} cannot be written ({error.strerror})", "name another file"
            ) from error
        self.target = f"file:{path.absolute()}"

    def deliver(self, spans: Sequence[Span]) -> Delivery:
        begun = self._file.tell()
        try:
            self._file.write(encode_line(spans))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(begun)
            return Delivery(False, f"{self.target}: {error.strerror}")
        return Delivery(True)

    def close(self) -> None:
        self._file.close()


def _whole(path: Path) -> int:
    """How much of the file is whole lines."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - 65_536)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
