"""The endpoint speaks MCP over streamable HTTP behind the guard, at one path; each connection is
for the token alone that opened it."""

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from rutter.pipeline.app import App
from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.asgi import ASGIApp, Message, Receive, Scope, Send, head_of
from rutter.pipeline.daemon.http.guard import caller_of
from rutter.pipeline.mcp.mcp_server import Agents, Context, Host, Seat

PATH = "/mcp"
# POST carries the calls, GET the server's own stream, DELETE ends the connection.
ROWS = tuple(AccessRule(method, PATH, "agent") for method in ("POST", "GET", "DELETE"))
CONNECTION = "mcp-session-id"
MAX_CONNECTIONS = 100  # a session of tools is far more costly, and fewer of those are let


class McpEndpoint:
    """The endpoint is an ASGI app. `run` must be entered for as long as it serves."""

    def __init__(
        self,
        host: Host,
        app: App,
        addresses: Mapping[str, str],
        *,
        idle_s: float = 900.0,
    ) -> None:
        """`addresses` are the guard's own: the SDK checks Host and Origin once more. `idle_s`: a
        connection without any request for so long is forgotten."""
        self._agents = Agents(host, app, self._seat)
        self._seats: OrderedDict[tuple[str, str], Seat] = OrderedDict()
        self._sdk = StreamableHTTPSessionManager(
            self._agents.server(),
            security_settings=TransportSecuritySettings(
                allowed_hosts=list(addresses), allowed_origins=list(addresses.values())
            ),
            session_idle_timeout=idle_s,
            max_sessions=MAX_CONNECTIONS,
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        return self._sdk.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head, caller = head_of(scope), caller_of(scope)
        # By this the SDK lets nobody into a connection that another one opened.
        user = AuthenticatedUser(AccessToken(token="", client_id=caller, scopes=[]))
        ended = False

        async def sent(message: Message) -> None:
            nonlocal ended
            ended = ended or message.get("status") == 200
            await send(message)

        await self._sdk.handle_request({**scope, "user": user}, receive, sent)
        if head.method == "DELETE" and ended:
            await self._leave((head.one(CONNECTION.encode()) or "", caller))

    async def _leave(self, key: tuple[str, str]) -> None:
        seat = self._seats.pop(key, None)
        if seat is not None:
            await self._agents.leave(seat)

    def _seat(self, context: Context) -> Seat:
        request = context.request
        assert request is not None
        caller = caller_of(request.scope)
        connection = request.headers.get(CONNECTION, "")
        # The newest protocol has no connections; what its clients put there is nobody's.
        if not connection or context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return Seat(caller, remembers=False)
        key = connection, caller
        seat = self._seats.setdefault(key, Seat(caller))
        self._seats.move_to_end(key)
        while len(self._seats) > 2 * MAX_CONNECTIONS:  # of those that went without a word
            self._seats.popitem(last=False)
        return seat


def with_mcp(app: ASGIApp, mcp: ASGIApp) -> ASGIApp:
    """An app that hands what is for MCP to `mcp`, and everything else to `app`."""

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "http" and scope["path"].removesuffix("/") == PATH
        await (mcp if is_mcp else app)(scope, receive, send)

    return either
