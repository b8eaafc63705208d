"""Name lookups ask this machine's resolver where names lead, by a few threads for each door.

An answer is kept for a moment, unjudged: whoever uses it judges every address of it anew.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

RESOLVE_S = 10
THREADS = 64  # a name whose servers are silent takes one for up to half a minute
AT_ONCE = 16  # of one door, so that four doors with such names leave the others theirs
KEPT_S = 5.0  # a page asks for one host many times at once; longer would hide that it moved
MAX_KEPT = 1_000
LOOPBACK = ("127.0.0.1", "::1")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class SystemNames:
    """The system resolves a name. Its own names are nobody else's to answer (RFC 6761)."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "names")
        self._kept: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        if host == "localhost" or host.endswith(".localhost"):
            return LOOPBACK
        loop = asyncio.get_running_loop()
        until, known = self._kept.get(host, (0.0, ()))
        if loop.time() < until:
            return known
        found = await loop.run_in_executor(self._threads, _addresses, host)
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[host] = (loop.time() + KEPT_S, found)
        return found


class Lookups:
    """A door has its share of lookups. One that takes too long is not waited for, but counts on."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._free = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        async with asyncio.timeout(RESOLVE_S):
            await self._free.acquire()
            asked = asyncio.ensure_future(self._resolve(host, port))
            asked.add_done_callback(self._over)
            return await asyncio.shield(asked)

    def _over(self, asked: asyncio.Future[Sequence[str]]) -> None:
        self._free.release()
        if not asked.cancelled():
            asked.exception()  # nobody may be there any more to hear of it


def _addresses(host: str) -> tuple[str, ...]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))
