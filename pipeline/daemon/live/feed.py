"""The feed gives events as they happen to whoever watches: read from the log by position, woken
when there is more. A watcher that is slow or comes back later misses nothing and costs nothing
while it waits."""

from collections.abc import AsyncIterator

import anyio

from rutter.events.envelope import Envelope
from rutter.events.log import EventLog
from rutter.events.runtime import SessionEnded

BEAT_S = 15.0  # a stream in which nothing happens is still known to be there


class Feed:
    """The feed's `hear` is told of every durable event."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._last = log.next_seq - 1
        self._more = anyio.Event()

    @property
    def position(self) -> int:
        """The last durable event that was heard of."""
        return self._last

    def hear(self, envelope: Envelope) -> None:
        self._last = envelope.seq
        more, self._more = self._more, anyio.Event()
        more.set()

    async def follow(
        self, session: str = "", after: int = 0, *, beat_s: float = BEAT_S
    ) -> AsyncIterator[Envelope | None]:
        """Events with `seq > after`, of one session until it has ended, or of all; `None` where
        nothing was said for a while."""
        while True:
            more, upto = self._more, self._last
            async for envelope in self._log.read(after, session=session or None):
                after = envelope.seq
                yield envelope
                if session and isinstance(envelope.event, SessionEnded):
                    return
            after = max(after, upto)
            with anyio.move_on_after(beat_s) as beat:
                await more.wait()
            if beat.cancelled_caught:
                yield None
