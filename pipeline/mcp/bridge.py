"""The bridge leads standard input and output to the daemon that has the data directory: the same
tools, under the daemon's policy, in its log. What is asked here is asked there, with the agent's
token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from rutter.events.errors import WorldBroken
from rutter.pipeline.mcp.mcp_server import Context
from rutter.pipeline.mcp.stdio import ClientPipes, serve_stdio
from rutter.pipeline.mcp.tool_list import INSTRUCTIONS

CONNECT_S = 30.0  # the daemon is on this machine; to read there is no limit: a person may be asked


async def bridge(url: str, token: str, wire: ClientPipes) -> None:
    """Serves the one client on standard input until it is gone. `url` is the daemon's /mcp."""
    async with across(url, token) as server:
        await serve_stdio(server, wire)


@asynccontextmanager
async def across(url: str, token: str) -> AsyncIterator[Server[Any]]:
    """A server whose every answer is the daemon's. The daemon remembers the session for this
    connection, and closes it when this is left."""
    client = httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"},
        timeout=httpx2.Timeout(CONNECT_S, read=None),
        trust_env=False,  # no proxy is to see the token
    )
    async with client, _connected(url, client) as far:
        yield _relay(far)


@asynccontextmanager
async def _connected(url: str, client: httpx2.AsyncClient) -> AsyncIterator[Client]:
    # By handshake, whatever is spoken here: that is a connection which remembers its session.
    far = Client(streamable_http_client(url, http_client=client), mode="legacy", cache=None)
    try:
        await far.__aenter__()
    except* (httpx2.HTTPError, MCPError) as group:
        raise WorldBroken(
            f"the daemon at {url} does not answer ({group.exceptions[0]})",
            "is it running, and is this its token? See: rutter doctor",
        ) from None
    try:
        yield far
    finally:
        await far.__aexit__(None, None, None)


def _relay(far: Client) -> Server[Any]:
    async def list_tools(_: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:
        return await far.list_tools(cursor=asked.cursor if asked is not None else None)

    async def call_tool(context: Context, asked: CallToolRequestParams) -> CallToolResult:
        async def tell(progress: float, total: float | None, message: str | None) -> None:
            await context.session.report_progress(progress, total, message)

        # A call that is called off here is called off there: the client says so when it is left.
        wanted = (context.meta or {}).get("progress_token") is not None
        return await far.call_tool(
            asked.name, asked.arguments, progress_callback=tell if wanted else None
        )

    return Server(
        "rutter",
        version=metadata.version("rutter-agent"),
        instructions=far.instructions or INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
