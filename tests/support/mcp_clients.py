"""Stock clients reach the MCP endpoint behind the real guard, on a port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio
import anyio.abc
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from rutter.pipeline.app import App
from rutter.pipeline.daemon.http.guard import own_addresses
from rutter.pipeline.daemon.http.http_server import listen
from rutter.pipeline.daemon.http.mcp_endpoint import ROWS, McpEndpoint, with_mcp
from rutter.pipeline.daemon.http.tokens import Tickets
from rutter.pipeline.mcp.mcp_server import Host
from tests.support.guarded_app import AGENT, Served, Spy, guarded, serving

BOTH = ("auto", "legacy")  # the newest protocol, which keeps no connection, and the handshake


class McpServed(NamedTuple):
    served: Served
    stop: anyio.Event
    stopped: anyio.Event

    @property
    def url(self) -> str:
        return f"{self.served.origin}/mcp"

    @asynccontextmanager
    async def client(self, mode: str = "legacy", token: str = AGENT) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client


@asynccontextmanager
async def mcp_on_a_port(host: Host, app: App) -> AsyncIterator[McpServed]:
    listening, spy = listen(), Spy()
    endpoint = McpEndpoint(host, app, own_addresses(listening.port))
    guard = guarded(with_mcp(spy, endpoint), listening.port, table=ROWS)
    stopped = anyio.Event()
    async with endpoint.run(), anyio.create_task_group() as group:

        async def serve(*, task_status: anyio.abc.TaskStatus[anyio.Event]) -> None:
            async with serving(guard, listening) as (_, stop):
                task_status.started(stop)
                await stop.wait()
            stopped.set()

        stop: anyio.Event = await group.start(serve)
        try:
            yield McpServed(Served(spy, listening.port, Tickets()), stop, stopped)
        finally:
            stop.set()
