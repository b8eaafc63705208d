"""Ids of traces and spans follow from the log's own names for things.

Nothing is drawn at random: whoever exports a session, and however often, gets the same ids, so
that a span delivered twice is the same span.
"""

import hashlib
from typing import Literal

# One event can stand for two spans: the `PlanProposed` that opens a step also ends its planning.
Level = Literal["run", "step", "work"]


def trace_id(session: str) -> bytes:
    """16 bytes for a session."""
    return hashlib.sha256(f"rutter.trace\0{session}".encode()).digest()[:16]


class SpanIds:
    """A session's span ids have 8 bytes, each made of the number of the event it begins with."""

    def __init__(self, session: str) -> None:
        self._session = hashlib.sha256(f"rutter.span\0{session}\0".encode())

    def of(self, n: int, level: Level) -> bytes:
        digest = self._session.copy()
        digest.update(f"{n}\0{level}".encode())
        return digest.digest()[:8]


def run_id(session: str) -> bytes:
    """The span id of a session's run: its first event is always number 1."""
    return SpanIds(session).of(1, "run")
