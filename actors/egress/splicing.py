"""Bytes from one connection to the other and back, until both are through."""

import asyncio
import contextlib
from collections.abc import Callable

from actors.egress.dialing import Streams

CHUNK = 1 << 18  # as much as the event loop reads at once
IDLE_S = 600  # a WebSocket or a stream of events may be silent for long
# A tunnel carries all that is said to a host, one thing after the other. What is sent without such
# a pause belongs together, and is bounded as one upload.
PAUSE_S = 1.0


class TooMuch(Exception):
    """More was sent than the policy allows at once."""


class Burst:
    """Counts what is sent until there is a pause."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sent = 0
        self._last = 0.0

    def __call__(self, size: int) -> None:
        now = asyncio.get_running_loop().time()
        self._sent = size if now - self._last > PAUSE_S else self._sent + size
        self._last = now
        if self._sent > self._limit:
            raise TooMuch


def uncounted(size: int) -> None:
    """What comes in by a tunnel is bounded by the browser, which knows what is a file."""


async def splice(client: Streams, server: Streams, sent: Callable[[int], None]) -> None:
    """Ends with either side's failure; one that only stopped talking still hears the other."""
    pumps = [
        asyncio.ensure_future(_pump(client[0], server[1], sent)),
        asyncio.ensure_future(_pump(server[0], client[1], uncounted)),
    ]
    try:
        await asyncio.gather(*pumps)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Callable[[int], None]
) -> None:
    while True:
        async with asyncio.timeout(IDLE_S):
            data = await reader.read(CHUNK)
        if not data:
            break
        count(len(data))
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):  # it may be closed by now
        writer.write_eof()
