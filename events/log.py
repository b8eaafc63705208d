"""Every store of the append-only log has this interface, and one contract suite holds it to it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from rutter.events.envelope import Envelope, Record
from rutter.events.errors import LogCorrupt

MAX_TURN = 3_000  # one transaction in every store, one statement in SQLite's


class EventLog(Protocol):
    """A log only appends, in order and durably. Nothing in it is ever updated.

    There is one writer. It may count ahead: `next_seq` is the position that the next record will
    get, and `append` refuses records that do not continue exactly there.
    """

    @property
    def next_seq(self) -> int:
        """The position of the next record: one more than the last one handed in."""

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        """Takes a whole turn, in call order; the future is done when it is on disk.

        A turn lies in one transaction: all of it is there after a crash, or none. Raises
        `LogWriteFailed` (from the future) when the commit failed; the log takes nothing more.
        """

    def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        """Durable events with `seq > after`, in order; of one session, or of some kinds."""

    async def close(self) -> None:
        """Waits for what was handed in, then lets go. Never loses an acknowledged event."""


def check_turn(turn: Sequence[Record], next_seq: int) -> None:
    """A turn continues the log exactly, in one session, with n counting up."""
    if not 0 < len(turn) <= MAX_TURN:
        raise LogCorrupt(f"a turn of {len(turn)} events was handed in; it has 1 to {MAX_TURN}")
    first = turn[0].envelope
    for offset, (envelope, _) in enumerate(turn):
        if envelope.seq != next_seq + offset:
            raise LogCorrupt(f"event {envelope.seq} was handed in where {next_seq + offset} is due")
        if (envelope.session, envelope.n) != (first.session, first.n + offset):
            raise LogCorrupt(f"event {envelope.seq} is not contiguous in its session")
