"""The server binds its sockets, runs uvicorn inside our own loop and task group, and ends
cleanly."""

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

import anyio
import anyio.abc
import anyio.lowlevel
import h11
import msgspec
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from websockets.http11 import MAX_LINE_LENGTH, MAX_NUM_HEADERS

from rutter.events.errors import BadInput, PolicyDenied, WorldBroken
from rutter.pipeline.daemon.http.asgi import ASGIApp, Message, Receive, Scope, Send
from rutter.pipeline.runtime.cut_short import cut_short_by

BOTH = ("127.0.0.1", "::1")
BACKLOG = 128
LINE_SLACK = 32  # what stands in a line beside a name and its value, or beside a path
# What a machine without IPv6 says when it is asked for ::1.
NO_SUCH_FAMILY = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class AddressInUse(WorldBroken):
    """Another program listens there."""


class WebLimits(msgspec.Struct, frozen=True):
    """All clients together, and each of them, may take no more than this."""

    connections: int = 256  # each is a file; a browser opens six, a dashboard a few streams
    head_max_bytes: int = 16 * 1024
    head_within_s: float = 10.0
    keep_alive_s: int = 5
    message_max_bytes: int = 64 * 1024  # what a WebSocket's client may send at once
    stop_within_s: int = 5


class Listening(msgspec.Struct, frozen=True):
    """A listener's sockets are bound: the port is known, and nobody else can have it."""

    host: str
    port: int
    sockets: tuple[socket.socket, ...]

    def close(self) -> None:
        for each in self.sockets:
            each.close()


def listen(host: str = BOTH[0], port: int = 0, *, exposed: bool = False) -> Listening:
    """Binds. Port 0 is any that is free. `exposed`: somebody said that others may reach it."""
    addresses = BOTH if host == "localhost" else (host,)
    for each in addresses:
        if not _is_loopback(each) and not exposed:
            raise PolicyDenied(
                f"{host} can be reached from other machines",
                f"serve on 127.0.0.1, or say --bind {host} if they shall",
            )
    found: list[socket.socket] = []
    for each in addresses:
        try:
            found.append(_bind(each, found[0].getsockname()[1] if found else port))
        except OSError as error:
            if found and error.errno in NO_SUCH_FAMILY:
                continue
            for made in found:
                made.close()
            raise _unbound(host, port, error) from error
    return Listening(host, found[0].getsockname()[1], tuple(found))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        raise BadInput(
            f"{address!r} is no address to listen on", "write one in numbers, as 127.0.0.1"
        ) from None


def _bind(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what has closed may linger
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        made.listen(BACKLOG)  # from here on a second one is told that it is in use
    except OSError:
        made.close()
        raise
    made.setblocking(False)
    return made


def _unbound(host: str, port: int, error: OSError) -> WorldBroken:
    if error.errno == errno.EADDRINUSE:
        return AddressInUse(
            f"port {port} of {host} is in use",
            "another daemon may be running; end it, or choose another port",
        )
    fix = "choose a port above 1023" if error.errno == errno.EACCES else "choose another address"
    return WorldBroken(f"nothing can listen on {host}, port {port} ({error.strerror})", fix)


# -- serving ---------------------------------------------------------------------------------------


async def serve_web(
    app: ASGIApp,
    listening: Listening,
    *,
    stop: anyio.Event,
    limits: WebLimits | None = None,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serves until `stop` is set or it is cancelled: no new connections from then on, streams end,
    requests that are being answered are finished, and what is left after that is cut off."""
    config = _UvicornConfig(EndsStreams(app, stop), limits or WebLimits())
    server = _UvicornServer(config, stop, task_status)
    try:
        await server.serve(sockets=list(listening.sockets))
    finally:
        with anyio.CancelScope(shield=True):
            await server.cut_off()
        listening.close()


class _UvicornConfig(uvicorn.Config):
    """The daemon's uvicorn has one HTTP and one WebSocket implementation, and takes nothing from
    the environment. It says nothing about requests (that would hold what was asked for)."""

    def __init__(self, app: ASGIApp, limits: WebLimits) -> None:
        self.limits = limits
        super().__init__(
            app,
            http=_Connection,
            ws="websockets-sansio",
            ws_max_size=limits.message_max_bytes,
            ws_per_message_deflate=False,  # pictures are packed already; it costs memory per client
            lifespan="on",
            interface="asgi3",
            workers=1,
            log_config=None,
            # Below this it writes down addresses with their queries, and whole heads with tokens.
            log_level="warning",
            access_log=False,
            proxy_headers=False,  # nobody is believed about who they are
            server_header=False,
            limit_concurrency=limits.connections + 1,  # it refuses from this one on
            timeout_keep_alive=limits.keep_alive_s,
            timeout_graceful_shutdown=limits.stop_within_s,
            backlog=BACKLOG,
            h11_max_incomplete_event_size=limits.head_max_bytes,
        )


class _UvicornServer(uvicorn.Server):
    """The daemon's server is uvicorn's without what belongs to a program that is nothing else."""

    def __init__(
        self, config: _UvicornConfig, stop: anyio.Event, task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        super().__init__(config)
        self._stop = stop
        self._task_status = task_status

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the daemon's own: it stops more than this."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:
            raise WorldBroken("the web app did not start", "see the log for the reason") from None
        self._task_status.started()

    async def main_loop(self) -> None:
        """Until it is told to stop; uvicorn's own looks ten times a second whether it was."""
        while not self._stop.is_set():
            await self.on_tick(0)  # which sets the date that answers carry
            with anyio.move_on_after(1.0):
                await self._stop.wait()

    async def cut_off(self) -> None:
        """Whatever is left, also when the server was cancelled and closed nothing by itself."""
        for each in getattr(self, "servers", ()):
            each.close()
        tasks = set(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        await anyio.lowlevel.checkpoint()  # transports say that they are gone one turn later
        if self.started and not self.lifespan.shutdown_event.is_set():
            await self.lifespan.shutdown()


class _Connection(H11Protocol):
    """A connection has an end. uvicorn waits for a head, and for the rest of a body that nobody
    reads after its request was refused, as long as it takes."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """What is no opening is refused here: the WebSocket side falls over what it does not take,
        a body or a head with more in it than its own parser allows."""
        names = {name for name, _ in self.headers}
        longest = max(len(name) + len(value) for name, value in self.headers)
        if (
            event.method != b"GET"
            or names & {b"content-length", b"transfer-encoding"}
            or len(self.headers) > MAX_NUM_HEADERS
            or max(longest, len(event.target)) > MAX_LINE_LENGTH - LINE_SLACK
        ):
            self.send_400_response("Invalid WebSocket request received.")
            return
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """What goes wrong behind an answer cannot be answered any more."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _watch(self) -> None:
        """One deadline from when nothing is being answered until something is: bytes that drip in
        do not move it."""
        answering = self.cycle is not None and not self.cycle.response_complete
        handed_on = self.transport.get_protocol() is not self
        if answering or handed_on or self.transport.is_closing():
            self._unwatch()
        elif self._deadline is None:
            assert isinstance(self.config, _UvicornConfig)
            within_s = self.config.limits.head_within_s
            self._deadline = self.loop.call_later(within_s, self.transport.abort)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class EndsStreams:
    """An ASGI app around another ends an answer without end (events, pictures) when the daemon
    stops, as if its client had gone, and ends it properly. Others are finished."""

    def __init__(self, app: ASGIApp, stop: anyio.Event) -> None:
        self._app = app
        self._stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        whole = opened = False  # the request has been received; the answer began and has not ended

        async def answer(message: Message) -> None:
            nonlocal opened
            await send(message)
            more = message.get("more_body", False)
            opened = bool(more) or message["type"] == "http.response.start"

        async def ask() -> Message:
            nonlocal whole
            if whole:
                return await self._heard_or_stopped(receive)
            message = await receive()
            whole = not message.get("more_body", False)
            return message

        await self._app(scope, ask, answer)
        if self._stop.is_set() and opened:
            await send({"type": "http.response.body", "body": b""})

    async def _heard_or_stopped(self, receive: Receive) -> Message:
        heard: Message = {"type": "http.disconnect"}
        async with cut_short_by(self._stop.wait):
            heard = await receive()
        return heard  # noqa: RET504 - as it was, where that was cut short
