"""A real HTTP server on loopback is told notices, and answers as it is asked to."""

from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

import msgspec

from tests.support.loopback import LoopbackReceiver, QuietHandler

WAIT_S = 20.0  # a test that waits this long waits for nothing


class Reply(NamedTuple):
    """A reply `hangs`, `drips` a byte at a time without end, or `drops` the connection at once."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    hangs: bool = False
    drips: bool = False
    drops: bool = False


class Heard(NamedTuple):
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return msgspec.json.decode(self.body, type=dict[str, Any])


class Told(LoopbackReceiver):
    """A request gets one reply each, then 200."""

    def __init__(self, *replies: Reply, port: int = 0) -> None:
        self._replies = list(replies)
        self.heard: list[Heard] = []
        super().__init__(_handler(self), port)

    @property
    def url(self) -> str:
        return f"{super().url}/told"

    def wait_for(self, count: int) -> list[Heard]:
        """Until so many requests came."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.heard) >= count, WAIT_S), self.heard
            return list(self.heard)

    def take(self, handler: BaseHTTPRequestHandler) -> Reply:
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self.changed:
            self.heard.append(Heard(handler.path, headers, body))
            reply = self._replies.pop(0) if self._replies else Reply()
            self.changed.notify_all()
        if reply.hangs:
            self.gone.wait(WAIT_S)
        return reply


def _handler(told: Told) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            reply = told.take(self)
            self.close_connection = True
            if reply.hangs or reply.drops:
                return
            if reply.drips:
                told.drip(self)
                return
            self.send_response(reply.status)
            for name, value in (*reply.headers, ("content-length", "0")):
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            self.do_POST()

    return Handler
