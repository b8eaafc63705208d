"""A real HTTP server on loopback is told notices, and answers as it is asked to."""

import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import msgspec

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


class Told:
    """A request gets one reply each, then 200."""

    def __init__(self, *replies: Reply, port: int = 0) -> None:
        self._replies = list(replies)
        self.heard: list[Heard] = []
        self._changed = threading.Condition()
        self._let_go = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/told"

    def wait_for(self, count: int) -> list[Heard]:
        """Until so many requests came."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.heard) >= count, WAIT_S), self.heard
            return list(self.heard)

    def take(self, handler: BaseHTTPRequestHandler) -> Reply:
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._changed:
            self.heard.append(Heard(handler.path, headers, body))
            reply = self._replies.pop(0) if self._replies else Reply()
            self._changed.notify_all()
        if reply.hangs:
            self._let_go.wait(WAIT_S)
        return reply

    def let_go(self) -> None:
        """Whoever hangs is answered now."""
        self._let_go.set()

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        try:
            while not self._let_go.wait(0.02):
                handler.wfile.write(b".")
        except OSError:
            return

    def __enter__(self) -> "Told":
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(told: Told) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            reply = told.take(self)
            self.close_connection = True
            if reply.hangs or reply.drops:
                return
            if reply.drips:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
                told.drip(self)
                return
            self.send_response(reply.status)
            for name, value in (*reply.headers, ("content-length", "0")):
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@contextmanager
def nobody_there() -> Iterator[int]:
    """A port where nobody listens, kept for who will."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
