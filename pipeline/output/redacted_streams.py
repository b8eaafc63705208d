"""Redacted streams keep known secrets out of what the process prints: results, errors, and
tracebacks of any kind."""

import sys
from typing import Any, TextIO

from rutter.actors.world.secrets.redaction import forget, hushed


class RedactedStream:
    """A redacted stream leaves known secrets out; in all else it is the stream behind it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(hushed(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def hush_streams() -> None:
    """From here on, for whoever prints: Python's own tracebacks and warnings go there too."""
    forget()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, RedactedStream):
            setattr(sys, name, RedactedStream(stream))
