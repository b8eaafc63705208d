"""The stdio transport speaks MCP over standard input and output. The output is the protocol's
alone: whatever else this process or a child of it writes there goes to standard error."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from rutter.pipeline.app import App
from rutter.pipeline.mcp.mcp_server import Agents, Host, Seat

STDIN, STDOUT, STDERR = 0, 1, 2


class ClientPipes(NamedTuple):
    """A pipe to the client has two ends, by descriptors that nobody else has."""

    calls: int
    answers: int


@contextmanager
def taking_the_wire() -> Iterator[ClientPipes]:
    """Standard input and output for the protocol alone. To be taken before anything is started
    that could inherit them."""
    wire = ClientPipes(os.dup(STDIN), os.dup(STDOUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, STDIN)
    os.close(nothing)
    os.dup2(STDERR, STDOUT)
    try:
        yield wire
    finally:
        os.dup2(wire.calls, STDIN)
        os.dup2(wire.answers, STDOUT)
        os.close(wire.answers)  # the other may still be read from; the process is about to end


class _ClientLines:
    """The client says lines, until it closes the pipe. Read in a daemon thread: the SDK's own
    reading cannot be called off, so that a process that is told to end would wait for a line that
    never comes."""

    def __init__(self, descriptor: int) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._read, args=(descriptor,), name="mcp-calls", daemon=True
        ).start()

    def _read(self, descriptor: int) -> None:
        kept = b""
        while part := os.read(descriptor, 65_536):
            *whole, kept = (kept + part).split(b"\n")
            for line in whole:
                self._hand_in(line.decode("utf-8", "replace"))
        self._hand_in(None)

    def _hand_in(self, line: str | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:
            return  # the loop is over, and so is the process

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            if line.strip():
                yield line


async def serve_stdio(server: Server[Any], wire: ClientPipes) -> None:
    """Serves the one client until it closes its end, or this is cancelled."""
    # The SDK only iterates over it.
    lines = cast("anyio.AsyncFile[str]", _ClientLines(wire.calls))
    written = anyio.wrap_file(os.fdopen(wire.answers, "w", encoding="utf-8", closefd=False))
    async with stdio_server(lines, written) as (calls, answers):
        await server.run(calls, answers, server.create_initialization_options())


async def serve_agent(host: Host, app: App, wire: ClientPipes) -> None:
    """The tools for the one agent that started this process; its sessions end when it goes."""
    seat = Seat("agent")
    agents = Agents(host, app, lambda _: seat)
    try:
        await serve_stdio(agents.server(), wire)
    finally:
        with anyio.CancelScope(shield=True):
            await agents.leave(seat)
            await agents.settled()
