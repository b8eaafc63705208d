"""A company's proxy on loopback takes CONNECT and leads where a test says, or fails in a way."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from typing import Literal

from tests.support.proxy_peers import serving

Way = Literal["leads", "refuses", "dies", "says nothing to", "breaks off"]


class CompanyProxyServer:
    """It leads to the port of this machine that `leads` has for a target. Whoever has no `user` and
    password, where it wants one, is asked for it (407)."""

    def __init__(self, leads: dict[str, int], user: str = "") -> None:
        self.leads = leads
        self.way: Way = "leads"
        self.asked: list[str] = []
        self.heads: list[str] = []
        self._who = base64.b64encode(user.encode()).decode()
        self.port = 0
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def where(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = asyncio.ensure_future(self._served(reader, writer))
        self._serving.add(serving)
        await serving

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            await _closed(writer)

    async def close(self) -> None:
        for each in self._serving:
            each.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        target = head.split(" ")[1]
        self.asked.append(target)
        self.heads.append(head)
        if self._who and self._who not in said_by(head):
            writer.write(b"HTTP/1.1 407 Who asks\r\nProxy-Authenticate: Basic\r\n\r\n")
            return
        if self.way in ("dies", "says nothing to"):
            await (reader.read() if self.way == "says nothing to" else asyncio.sleep(0))
            return
        if self.way == "refuses" or target not in self.leads:
            writer.write(b"HTTP/1.1 403 Not for you\r\ncontent-length: 0\r\n\r\n")
            return
        there = await asyncio.open_connection("127.0.0.1", self.leads[target])
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        if self.way == "breaks off":
            await reader.read(1)
            writer.transport.abort()
            await _closed(there[1])
            return
        try:
            await asyncio.gather(_carried(reader, there[1]), _carried(there[0], writer))
        finally:
            await _closed(there[1])


def said_by(head: str) -> list[str]:
    """The credentials, however the header is written."""
    begins = "proxy-authorization: basic "
    return [each[len(begins) :] for each in head.split("\r\n") if each.lower().startswith(begins)]


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


@contextlib.asynccontextmanager
async def company_proxy(
    leads: dict[str, int] | None = None, user: str = ""
) -> AsyncIterator[CompanyProxyServer]:
    made = CompanyProxyServer(leads or {}, user)
    async with serving(made.handle) as made.port:
        try:
            yield made
        finally:
            await made.close()
