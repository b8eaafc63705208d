"""A guarded app listens on loopback, for clients that say exactly what they are told to say."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio

from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.asgi import ASGIApp, Message, Receive, Scope, Send
from rutter.pipeline.daemon.http.bodies import BodyLimits
from rutter.pipeline.daemon.http.guard import Guard, caller_of, own_addresses
from rutter.pipeline.daemon.http.http_server import Listening, WebLimits, listen, serve_web
from rutter.pipeline.daemon.http.tokens import Tickets, Tokens

PERSON, AGENT = "p" * 43, "a" * 43
TABLE = (
    AccessRule("GET", "/sessions/**", "agent"),
    AccessRule("POST", "/jobs", "agent"),
    AccessRule("GET", "/stream/*/**", "agent", ticket=True),
    AccessRule("WS", "/stream/*", "agent", ticket=True),
)
WS_OPENING = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)


class Spy:
    """The app behind the guard says who asks and what was sent, and keeps what reached it."""

    def __init__(self) -> None:
        self.reached: list[tuple[str, str]] = []
        self.headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        self.reached.append((scope.get("method", "WS"), scope["path"]))
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": caller_of(scope)})
            await send({"type": "websocket.close"})
            return
        body = (await receive()).get("body", b"")
        said = json.dumps({"caller": caller_of(scope), "body": body.decode()}).encode()
        headers = [(b"content-length", b"%d" % len(said)), *self.headers]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})


async def lifespan(receive: Receive, send: Send) -> None:
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each == name]

    @property
    def error(self) -> str:
        return str(self.json()["error"])

    def json(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


class Line:
    """A connection says what it is told as it is; answers are read by their length."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def say(self, data: str | bytes) -> None:
        self._writer.write(data.encode("latin-1") if isinstance(data, str) else data)
        await self._writer.drain()

    async def answer(self, *, bodiless: bool = False) -> Answer:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = [(name.lower(), value) for name, _, value in (x.partition(": ") for x in lines)]
        status = int(first.split(" ")[1])
        lengths = [int(value) for name, value in headers if name == "content-length"]
        if bodiless or status == 101 or not lengths:
            return Answer(status, headers, b"")
        return Answer(status, headers, await self._reader.readexactly(lengths[0]))

    async def rest(self) -> bytes:
        """All that comes until the other side has closed, however it does that."""
        try:
            return await self._reader.read()
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        self._writer.close()


class Served(NamedTuple):
    spy: Spy
    port: int
    tickets: Tickets

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        async with line_to(self.port) as line:
            yield line

    async def ask(
        self,
        target: str = "/",
        *headers: str,
        method: str = "GET",
        host: str | None = None,
        token: str = PERSON,
        body: bytes = b"",
        version: str = "1.1",
    ) -> Answer:
        """One request on a connection of its own, exactly as it is written here."""
        lines = [f"{method} {target} HTTP/{version}"]
        lines += [f"Host: {self.host if host is None else host}"] if host != "-" else []
        lines += [f"Authorization: Bearer {token}"] if token else []
        head = "\r\n".join([*lines, *headers]) + "\r\n\r\n"
        async with self.line() as line:
            await line.say(head.encode("latin-1") + body)
            return await line.answer(bodiless=method == "HEAD")

    async def post(self, target: str, body: bytes, *headers: str, **more: Any) -> Answer:
        kind = [] if any(x.lower().startswith("content-type") for x in headers) else [JSON]
        length = f"Content-Length: {len(body)}"
        return await self.ask(target, *kind, length, *headers, method="POST", body=body, **more)

    async def open_socket(self, target: str, *headers: str, **more: Any) -> Answer:
        return await self.ask(target, *WS_OPENING, *headers, **more)


JSON = "Content-Type: application/json"


@asynccontextmanager
async def line_to(port: int) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    line = Line(reader, writer)
    try:
        yield line
    finally:
        line.close()


@asynccontextmanager
async def serving(
    app: ASGIApp, at: Listening | None = None, limits: WebLimits | None = None
) -> AsyncIterator[tuple[Listening, anyio.Event]]:
    """The app on a port of its own until left; it has stopped by itself when this is over."""
    listening, stop = at or listen(), anyio.Event()
    async with anyio.create_task_group() as group:

        async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
            await serve_web(app, listening, stop=stop, limits=limits, task_status=task_status)

        await group.start(serve)
        try:
            yield listening, stop
        finally:
            stop.set()


def guarded(
    app: ASGIApp,
    port: int,
    *,
    names: Sequence[str] = (),
    table: Sequence[AccessRule] = TABLE,
    limits: BodyLimits | None = None,
    tickets: Tickets | None = None,
) -> Guard:
    return Guard(
        app,
        addresses=own_addresses(port, names),
        tokens=Tokens(PERSON, AGENT),
        tickets=tickets or Tickets(),
        table=table,
        limits=limits,
    )


@asynccontextmanager
async def guard_on_a_port(
    *, body: BodyLimits | None = None, web: WebLimits | None = None, names: Sequence[str] = ()
) -> AsyncIterator[Served]:
    spy, tickets, listening = Spy(), Tickets(), listen()
    guard = guarded(spy, listening.port, names=names, limits=body, tickets=tickets)
    async with serving(guard, listening, web):
        yield Served(spy, listening.port, tickets)


async def call(app: ASGIApp, scope: dict[str, Any], *incoming: Message) -> list[Message]:
    """One request without a server: what the app sends."""
    sent: list[Message] = []
    waiting = list(incoming)

    async def receive() -> Message:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


def at_once(call: Coroutine[Any, Any, list[Message]]) -> list[Message]:
    """What comes of a call that waits for nothing, without a loop."""
    try:
        call.send(None)
    except StopIteration as done:
        found: list[Message] = done.value
        return found
    raise AssertionError("it waits for something")


def http_scope(
    headers: Sequence[tuple[bytes, bytes]], method: str = "GET", path: str = "/", **more: Any
) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": list(headers),
        **more,
    }
