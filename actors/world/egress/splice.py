"""A splice carries bytes from one connection to the other and back, until both are through."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from rutter.actors.world.egress.dialer import Streams
from rutter.actors.world.egress.tls_talk import BROKEN, TlsTalk

CHUNK = 1 << 18  # as much as the event loop reads at once
IDLE_S = 600.0  # a WebSocket or a stream of events may be silent for long
# A tunnel carries all that is said to a host, one thing after the other. What is sent without such
# a pause belongs together, and is bounded as one upload.
PAUSE_S = 1.0
QUIET_S = 0.02  # an answer that is longer than it seems comes without such a pause
GOODBYE_S = 1.0  # after a goodbye the connection ends at once; what goes on was none


class TooMuch(Exception):
    """A client sent more than the policy allows at once."""


class Burst:
    """A burst counts what is sent until there is a pause."""

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


class Silence:
    """A silence lasts as long as nothing goes either way: who only listens is not gone."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()

    @property
    def lasts_s(self) -> float:
        return self._loop.time() - self._since

    def broken(self) -> None:
        self._since = self._loop.time()

    async def long(self) -> None:
        """Until it has lasted so long that nobody can be there any more."""
        left = IDLE_S
        while left > 0:
            await asyncio.sleep(left)
            left = self._since + IDLE_S - self._loop.time()


class Tunnel:
    """A tunnel carries a talk that we do not read, and is silent since some time."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.silence, self.talk = Silence(), TlsTalk()
        self._writer = writer

    def end_if_kept(self) -> bool:
        """The browser finds it ended, and asks by another one. Whether it may come to that yet."""
        kept = self.talk.kept and self.silence.lasts_s >= QUIET_S
        if kept:
            self._writer.close()
        return not kept and self.talk.answers_in_turn


async def splice(
    client: Streams, server: Streams, sent: Callable[[int], None], standing: set[Tunnel]
) -> None:
    """Ends with either side's failure; one that only stopped talking still hears the other. A
    client of TLS whose server left with an answer owed hears that the talk broke off. Raises
    `TimeoutError` when both are silent for long."""
    tunnel = Tunnel(client[1])
    silence, talk = tunnel.silence, tunnel.talk
    standing.add(tunnel)
    pumps = asyncio.gather(
        _requests(client[0], server[1], sent, silence, talk),
        _answers(server[0], client[1], silence, talk),
    )
    ending = asyncio.ensure_future(silence.long())
    try:
        both: set[asyncio.Future[Any]] = {pumps, ending}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not pumps.done():
            raise TimeoutError
        pumps.result()
    except (OSError, TooMuch):
        if talk.owed:
            _break_off(client[1])
        raise
    finally:
        standing.discard(tunnel)
        pumps.cancel()
        ending.cancel()
        await asyncio.gather(pumps, ending, return_exceptions=True)


async def _requests(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    count: Callable[[int], None],
    silence: Silence,
    talk: TlsTalk,
) -> None:
    while data := await reader.read(CHUNK):
        silence.broken()
        count(len(data))
        talk.browser_says(data)
        writer.write(data)
        await writer.drain()
        silence.broken()
    _end(writer)


async def _answers(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silence: Silence, talk: TlsTalk
) -> None:
    """What comes in by a tunnel is bounded by the browser, which knows what is a file."""
    held = b""
    while (data := await _read(reader, GOODBYE_S if held else None)) != b"":
        silence.broken()
        now, later = talk.server_says(data) if data is not None else (b"", b"")
        writer.write(held + now)
        held = later
        await writer.drain()
        silence.broken()
    if talk.owed:
        _break_off(writer)
    else:
        writer.write(held)
    _end(writer)


async def _read(reader: asyncio.StreamReader, within_s: float | None) -> bytes | None:
    """Nothing at the end; none when the time is up."""
    limit = asyncio.timeout(within_s)
    try:
        async with limit:
            return await reader.read(CHUNK)
    except TimeoutError:
        if not limit.expired():
            raise  # the connection's own
        return None


def _end(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, RuntimeError):  # it may be closed by now
        writer.write_eof()


def _break_off(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(RuntimeError):  # all was said to it already
        writer.write(BROKEN)
