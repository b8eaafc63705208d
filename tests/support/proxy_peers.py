"""The proxy's peers are servers, and a browser's part of the conversation, for its tests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from rutter.actors.world.egress.gate import ProxyPassage

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Origin:
    """An origin answers every request alike and keeps what it was sent."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok") -> None:
        self.answer = answer
        self.heads: list[str] = []
        self.connections = 0
        self.port = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head.decode())
                writer.write(self.answer)
                await writer.drain()
                if b"content-length" not in self.answer.lower():
                    break
        writer.close()


@contextlib.asynccontextmanager
async def serving(handle: Handle) -> AsyncIterator[int]:
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@contextlib.asynccontextmanager
async def origin(answer: bytes | None = None) -> AsyncIterator[Origin]:
    made = Origin(answer) if answer is not None else Origin()
    async with serving(made.handle) as made.port:
        yield made


class Line:
    """A line is one connection to the proxy, as a browser has it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, data: str | bytes) -> None:
        self.writer.write(data.encode() if isinstance(data, str) else data)
        with contextlib.suppress(OSError):
            await self.writer.drain()

    async def get(self, url: str, host: str = "", *headers: str) -> str:
        host = host or url.partition("://")[2].partition("/")[0]
        lines = [f"GET {url} HTTP/1.1", f"Host: {host}", *headers]
        await self.say("\r\n".join(lines) + "\r\n\r\n")
        return await self.answer()

    async def connect(self, at: str) -> str:
        await self.say(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n")
        return await self.head()

    async def head(self) -> str:
        try:
            return (await self.reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, OSError):
            return ""

    async def answer(self) -> str:
        """Head and body of an answer that says how long it is, or the head alone."""
        head = await self.head()
        for each in head.lower().split("\r\n"):
            if each.startswith("content-length:"):
                body = await self.reader.readexactly(int(each.partition(":")[2]))
                return head + body.decode()
        return head


@contextlib.asynccontextmanager
async def line_to(passage: ProxyPassage) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_connection("127.0.0.1", passage.port)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()


def rule(answer: str) -> str:
    """By which rule an answer is a refusal; empty when it is none."""
    if not answer.startswith("HTTP/1.1 403"):
        return ""
    found = [each for each in answer.split("\r\n") if each.startswith("x-rutter-refused: ")]
    return found[0].partition(" ")[2] if found else "?"
