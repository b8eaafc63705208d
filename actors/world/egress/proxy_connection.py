"""A connection of the browser to the proxy has each request judged anew, then handed on.

A plain request is read and written by h11 on both sides; a tunnel or a WebSocket is spliced once
it stands. What is not there is answered by hanging up, as the server itself would have. A request
that was handed on is always answered: one that is hung up on the browser would send again.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Protocol

import h11

from rutter.actors.rules.policy.hosts import HostRefusal
from rutter.actors.world.egress.dialer import NOTHING_SAID, AddressRefused, Streams, Unreachable
from rutter.actors.world.egress.request_target import (
    MALFORMED,
    RequestTarget,
    absolute_target,
    handed_on,
    tunnel_target,
    wants_websocket,
)
from rutter.actors.world.egress.splice import CHUNK, IDLE_S, Burst, TooMuch, Tunnel, splice

MAX_HEAD = 1 << 16  # Chromium itself takes 256 KB of an answer; a request is never that long
MAX_ANSWER_HEAD = 1 << 18
HEAD_S = 30  # for a request that has begun
REFUSED = b"x-rutter-refused"
INSTEAD = b"x-rutter-instead-of"
UPLOAD = HostRefusal("upload_size", "more was to be sent than may be")
DOWNLOAD = HostRefusal("download_size", "more was sent than may be received")
DRAIN_S = 5.0  # for what a browser goes on to send of a request that is answered already
# To these a browser asks again by itself, whatever it had asked (RFC 9110 15.5.9, 15.5.20).
ASKS_AGAIN = frozenset({408, 421})
MAY_BE_REPEATED = frozenset({b"GET", b"HEAD", b"OPTIONS"})
ACK_AT_ONCE = getattr(socket, "TCP_QUICKACK", None)  # Linux alone has it


class ProxyPort(Protocol):
    """A connection needs this of the port that it came in by."""

    upload_bytes: int
    download_bytes: int
    tunnels: set[Tunnel]  # that stand

    async def reach(self, target: RequestTarget) -> Streams: ...

    def judge(self, target: RequestTarget) -> HostRefusal | None: ...

    def reached(self, target: RequestTarget) -> None: ...

    def refused(self, target: RequestTarget | None, refusal: HostRefusal) -> None: ...

    def failed(self, target: RequestTarget, why: str) -> None: ...


class HungUp(Exception):
    """A side went away, or speaks something else: there is nobody to answer."""


class Upstream:
    """A connection to a server is kept for the next request to the same one."""

    def __init__(self, target: RequestTarget, streams: Streams) -> None:
        self.at = (target.host, target.port)
        self.reader, self.writer = streams
        self.http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_ANSWER_HEAD)

    def serves(self, target: RequestTarget) -> bool:
        idle = self.http.our_state is h11.IDLE and self.http.their_state is h11.IDLE
        return idle and self.at == (target.host, target.port) and not self.reader.at_eof()

    async def receive(self) -> None:
        """More of the answer. A server that sends its head and its body apart waits with the second
        until the first is acknowledged, which the system puts off for 40 ms on a connection that is
        kept: it is done at once. What was set lasts for one answer at most, so it is set each time.
        """
        if ACK_AT_ONCE is not None:
            held = self.writer.get_extra_info("socket")
            held.setsockopt(socket.IPPROTO_TCP, ACK_AT_ONCE, 1)
        async with asyncio.timeout(IDLE_S):
            self.http.receive_data(await self.reader.read(CHUNK))

    def reuse(self) -> None:
        if self.http.our_state is h11.DONE and self.http.their_state is h11.DONE:
            self.http.start_next_cycle()

    def close(self) -> None:
        self.writer.transport.abort()


class ProxiedConnection:
    """A browser's connection asks for one thing after the other."""

    def __init__(self, way: ProxyPort, streams: Streams) -> None:
        self._way = way
        self._reader, self._writer = streams
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._upstream: Upstream | None = None

    async def run(self) -> None:
        try:
            with contextlib.suppress(HungUp, OSError, h11.ProtocolError):
                while await self._serve():
                    self._http.start_next_cycle()
            await self._hang_up()
        except BaseException:
            self._writer.transport.abort()  # a browser that does not read holds nobody up
            raise
        finally:
            self._leave()

    async def _hang_up(self) -> None:
        """The browser still hears what was said to it."""
        self._leave()
        self._writer.close()
        try:
            async with asyncio.timeout(IDLE_S):
                await self._writer.wait_closed()
        except OSError:
            self._writer.transport.abort()  # a time limit is an OSError too

    def _leave(self) -> None:
        if self._upstream is not None:
            self._upstream.close()

    async def _serve(self) -> bool:
        """One request and its answer; whether another may follow."""
        request = await self._request()
        if request is None:
            return False
        if request.method == b"CONNECT":
            await self._tunnel(request)
            return False
        target = absolute_target(request)
        if isinstance(target, HostRefusal):
            return await self._refuse(None, target)
        if (refusal := self._way.judge(target)) is not None:
            return await self._refuse(target, refusal)
        try:
            upstream = await self._upstream_for(request, target)
        except AddressRefused as refused:
            return await self._refuse(target, refused.refusal)
        except Unreachable as error:
            self._way.failed(target, str(error))
            raise HungUp from error
        self._way.reached(target)
        return await self._hand_on(request, target, upstream)

    # -- a request in clear --------------------------------------------------------------------

    async def _request(self) -> h11.Request | None:
        """The next head, or nothing: then it was closed between two requests."""
        async with asyncio.timeout(IDLE_S):
            while (event := _next(self._http)) is None:
                begun = bool(self._http.trailing_data[0])
                async with asyncio.timeout(HEAD_S if begun else IDLE_S):
                    self._http.receive_data(await self._reader.read(CHUNK))
        return event if isinstance(event, h11.Request) else None

    async def _upstream_for(self, request: h11.Request, target: RequestTarget) -> Upstream:
        """A server may be about to leave a connection that was kept; what is sent by it then may
        have been taken or not. So what is not to be repeated goes by one of its own."""
        held, self._upstream = self._upstream, None
        if held is not None and held.serves(target) and _may_be_repeated(request):
            self._upstream = held
            return held
        if held is not None:
            held.close()
        self._upstream = Upstream(target, await self._way.reach(target))
        return self._upstream

    async def _hand_on(
        self, request: h11.Request, target: RequestTarget, upstream: Upstream
    ) -> bool:
        websocket = wants_websocket(request)
        kept = (b"connection", b"upgrade") if websocket else ()
        headers = handed_on(request.headers.raw_items(), keep=kept)
        headers = [(n, target.authority if n.lower() == b"host" else v) for n, v in headers]
        asked = h11.Request(method=request.method, target=target.path, headers=headers)
        head = upstream.http.send(asked)
        try:
            if _has_body(request):
                switched = await self._with_body(target, upstream, head)
            else:
                await self._send(upstream, head)
                switched = await self._answer(upstream)
        except TooMuch:
            self._way.refused(target, DOWNLOAD)
            return await self._unanswered(target, upstream, HungUp())
        except (HungUp, OSError, h11.ProtocolError) as error:
            return await self._unanswered(target, upstream, error)
        if switched:
            await self._spliced(target, upstream)
            return False
        upstream.reuse()
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _with_body(
        self, target: RequestTarget, upstream: Upstream, head: bytes | None
    ) -> bool:
        """The body goes while the answer comes. A server that answers before it heard all wants
        no more of it: then nothing can follow on this connection."""
        sending = asyncio.ensure_future(self._send(upstream, head))
        sending.add_done_callback(lambda sent: _give_up(sent, upstream))
        try:
            switched = await self._answer(upstream)
            return switched and sending.done()
        finally:
            sending.cancel()
            [outcome] = await asyncio.gather(sending, return_exceptions=True)
            if isinstance(outcome, TooMuch):
                self._way.refused(target, UPLOAD)

    async def _send(self, upstream: Upstream, head: bytes | None) -> None:
        """The head and what follows it, in as few pieces as it came in."""
        out, sent = [head or b""], 0
        while True:
            event = _next(self._http)
            if event is None:
                await _write(upstream.writer, out)
                async with asyncio.timeout(IDLE_S):
                    self._http.receive_data(await self._reader.read(CHUNK))
                continue
            if isinstance(event, h11.Data):
                sent += len(event.data)
                if sent > self._way.upload_bytes:
                    upstream.close()
                    raise TooMuch
                out.append(upstream.http.send(event) or b"")
                continue
            if isinstance(event, h11.EndOfMessage):
                out.append(upstream.http.send(event) or b"")
            await _write(upstream.writer, out)
            return

    async def _answer(self, upstream: Upstream) -> bool:
        """The server's answer to the browser; whether both now speak something else."""
        out: list[bytes] = []
        received = 0
        while True:
            event = _next(upstream.http)
            match event:
                case None:
                    await _write(self._writer, out)
                    await upstream.receive()
                case h11.InformationalResponse() if event.status_code == 101:
                    kept = (b"connection", b"upgrade")
                    out.append(self._head(event, h11.InformationalResponse, kept))
                    await _write(self._writer, out)
                    return True
                case h11.InformationalResponse():
                    out.append(self._head(event, h11.InformationalResponse))
                case h11.Response() if event.status_code != 407:  # that is said by proxies alone
                    out.append(self._head(event, h11.Response))
                case h11.Data():
                    received += len(event.data)
                    if received > self._way.download_bytes:
                        raise TooMuch
                    out.append(self._http.send(event) or b"")
                case h11.EndOfMessage():
                    out.append(self._http.send(h11.EndOfMessage()) or b"")
                    await _write(self._writer, out)
                    return False
                case _:
                    raise HungUp

    def _head(
        self,
        event: h11.InformationalResponse | h11.Response,
        kind: Callable[..., h11.InformationalResponse | h11.Response],
        keep: tuple[bytes, ...] = (),
    ) -> bytes:
        headers = handed_on(event.headers.raw_items(), keep=keep)
        status, reason = event.status_code, event.reason
        if status in ASKS_AGAIN:
            headers.append((INSTEAD, str(status).encode()))
            status, reason = 502, b"Bad Gateway"
        head = kind(status_code=status, headers=headers, reason=reason)
        return self._http.send(head) or b""

    # -- what is not looked into ---------------------------------------------------------------

    async def _tunnel(self, request: h11.Request) -> None:
        target = tunnel_target(request)
        if target is None:
            await self._refuse(None, MALFORMED)
            return
        try:
            upstream = Upstream(target, await self._way.reach(target))
        except AddressRefused as refused:
            await self._refuse(target, refused.refusal)
            return
        except Unreachable as error:
            self._way.failed(target, str(error))
            await self._say(502, [], str(error).encode())
            return
        self._upstream = upstream
        self._way.reached(target)
        head = h11.Response(status_code=200, headers=[], reason=b"Connection established")
        await _write(self._writer, [self._http.send(head) or b""])
        _next(self._http)  # from here on it is not HTTP: what came with the head is kept for us
        await self._spliced(target, upstream)

    async def _spliced(self, target: RequestTarget, upstream: Upstream) -> None:
        """What either side had said behind its head goes first."""
        await _write(upstream.writer, [bytes(self._http.trailing_data[0])])
        await _write(self._writer, [bytes(upstream.http.trailing_data[0])])
        try:
            await splice(
                (self._reader, self._writer),
                (upstream.reader, upstream.writer),
                Burst(self._way.upload_bytes),
                self._way.tunnels,
            )
        except TooMuch:
            self._way.refused(target, UPLOAD)

    # -- no ------------------------------------------------------------------------------------

    async def _refuse(self, target: RequestTarget | None, refusal: HostRefusal) -> bool:
        self._way.refused(target, refusal)
        return await self._say(403, [(REFUSED, refusal.rule.encode())], refusal.reason.encode())

    async def _say(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> bool:
        """An answer of our own; whether the connection is of use after it."""
        length = str(len(body)).encode()
        of_ours = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length)]
        head = h11.Response(status_code=status, headers=[*headers, *of_ours])
        parts: list[h11.Event] = [head, h11.Data(data=body), h11.EndOfMessage()]
        while isinstance(_next(self._http), h11.Data):
            pass  # what it had sent already
        await _write(self._writer, [self._http.send(part) or b"" for part in parts])
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _unanswered(self, target: RequestTarget, upstream: Upstream, why: Exception) -> bool:
        """The server may have taken the request, and what it made of it nobody knows. The browser
        is told that, by an answer without content: it shows a page of its own for it."""
        upstream.close()
        if self._http.our_state is not h11.SEND_RESPONSE:
            self._writer.transport.abort()  # it has an answer, and hears that it is cut off
            raise HungUp from why
        self._way.failed(target, NOTHING_SAID)
        await self._say(502, [], b"")
        await self._drained()
        return self._http.states == {h11.SERVER: h11.DONE, h11.CLIENT: h11.DONE}

    async def _drained(self) -> None:
        """A browser hears what is said to it when it has sent all that it wanted to."""
        with contextlib.suppress(HungUp, OSError, h11.ProtocolError):
            async with asyncio.timeout(DRAIN_S):
                while self._http.their_state is h11.SEND_BODY:
                    if _next(self._http) is None:
                        self._http.receive_data(await self._reader.read(CHUNK))


def _may_be_repeated(request: h11.Request) -> bool:
    """What only reads, unless it is for a page: going there may be what was approved."""
    asked = {name for name, _ in request.headers}
    return request.method in MAY_BE_REPEATED and b"upgrade-insecure-requests" not in asked


def _has_body(request: h11.Request) -> bool:
    framing = (b"content-length", b"transfer-encoding")
    return any(name in framing and value != b"0" for name, value in request.headers)


def _give_up(sent: asyncio.Future[None], upstream: Upstream) -> None:
    """A request that cannot be sent to its end has no answer that is worth waiting for."""
    if not sent.cancelled() and sent.exception() is not None:
        upstream.close()


def _next(http: h11.Connection) -> h11.Event | None:
    """The next event, or nothing when more is to be read. Raises `HungUp` behind the last."""
    event = http.next_event()
    if event is h11.NEED_DATA or event is h11.PAUSED:
        return None
    if isinstance(event, h11.Event):
        return event
    raise HungUp


async def _write(writer: asyncio.StreamWriter, out: list[bytes]) -> None:
    data = b"".join(out)
    out.clear()
    if not data:
        return
    writer.write(data)
    if writer.transport.get_write_buffer_size():
        async with asyncio.timeout(IDLE_S):  # for one that does not read what it asked for
            await writer.drain()
    else:
        await writer.drain()
