"""The memory log serves tests and throw-away runs. It keeps bytes, as the real one does."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec

from rutter.events.codec import decode
from rutter.events.envelope import Envelope, Record, kind
from rutter.events.errors import LogWriteFailed
from rutter.events.log import check_turn


class MemoryLog:
    """A memory log is durable for as long as the process lives."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._closed = False

    @property
    def next_seq(self) -> int:
        return len(self._records) + 1

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._closed:
            done.set_exception(LogWriteFailed("the log is closed"))
            return done
        check_turn(turn, self.next_seq)
        self._records.extend(turn)
        done.set_result(None)
        return done

    async def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        for envelope, payload in self._records[after:]:
            if session is not None and envelope.session != session:
                continue
            if kinds is not None and kind(envelope.event) not in kinds:
                continue
            yield msgspec.structs.replace(envelope, event=decode(payload))

    async def close(self) -> None:
        self._closed = True
