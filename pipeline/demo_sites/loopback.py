"""A loopback server carries a site on a port of this machine: sockets, threads and cookies. What it
answers is the site's own."""

import socket
import socketserver
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

from rutter.pipeline.demo_sites.request import SiteRequest, SiteResponse

LOOPBACK = "127.0.0.1"
# Larger than any form here by far; what claims more is not one of ours.
BODY_MAX_BYTES = 64 * 1024
# Enough for the whole of a long test; a soak must not grow without end.
REQUESTS_KEPT = 10_000
# How long `stop` waits at most for the accepting thread to notice.
STOP_POLL_S = 0.02


class Loopback(ABC):
    """A site has a lock around all it knows. `with` serves it for that long."""

    name: ClassVar[str]

    def __init__(self, port: int) -> None:
        self.port = port
        self._lock = threading.Lock()
        self._requests: deque[tuple[str, str]] = deque(maxlen=REQUESTS_KEPT)
        self._stopping = threading.Event()
        self._server: _SiteServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Started again after `stop`, it answers on the port it had, with what it knew."""
        if self._server is not None:
            raise RuntimeError("the site is already started")
        self._stopping.clear()
        self._server = _SiteServer(self, self.port)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(STOP_POLL_S,), name="site", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Answers nobody from here on; connections that browsers keep open are closed."""
        if self._server is None or self._thread is None:
            return
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.close_connections()
        self._server = self._thread = None

    @property
    def base_url(self) -> str:
        if not self.port:
            raise RuntimeError("the site has no address before it is started")
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def cookie_name(self) -> str:
        """Cookies know no ports: without it in the name, two sites would share a session."""
        return f"{self.name}_{self.port}"

    @property
    def requests(self) -> list[tuple[str, str]]:
        """Method and path with its query, oldest first; the favicon is left out."""
        with self._lock:
            return list(self._requests)

    def respond(self, request: SiteRequest, target: str) -> SiteResponse:
        if request.path == "/favicon.ico":
            return SiteResponse(HTTPStatus.NO_CONTENT)
        with self._lock:
            self._requests.append((request.method, target))
            response = self.answer(request)
        if response.delay_ms:
            self._stopping.wait(response.delay_ms / 1000)
        return response

    @abstractmethod
    def answer(self, request: SiteRequest) -> SiteResponse:
        """What is answered; under the lock."""


class _SiteServer(ThreadingHTTPServer):
    daemon_threads = True
    # Several browsers at once, each opening up to six connections.
    request_queue_size = 128

    def __init__(self, site: Loopback, port: int) -> None:
        self.site = site
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        super().__init__((LOOPBACK, port), _SiteHandler)

    def server_bind(self) -> None:
        """Without the look-up of the host's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._connections_lock:
            self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Wakes the threads that wait for the next request; each then closes its own."""
        with self._connections_lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is no news; anything else is, and is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _SiteHandler(BaseHTTPRequestHandler):
    server: _SiteServer
    protocol_version = "HTTP/1.1"
    # Head and body leave in one send, and at once: otherwise a delayed ack costs 40 ms.
    wbufsize = 1024 * 1024
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle(body="")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
        elif int(length) > BODY_MAX_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            self._handle(self.rfile.read(int(length)).decode("utf-8", "replace"))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: what was asked is in `Site.requests`."""

    def _handle(self, body: str) -> None:
        try:
            request = self._parse(body)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        self._send(self.server.site.respond(request, self.path))

    def _parse(self, body: str) -> SiteRequest:
        parts = urlsplit(self.path)
        return SiteRequest(
            method=self.command,
            path=parts.path,
            query=_fields(parts.query),
            form=_fields(body),
            token=self._cookie(),
        )

    def _cookie(self) -> str:
        for pair in self.headers.get("Cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.server.site.cookie_name:
                return value
        return ""

    def _refuse(self, status: HTTPStatus) -> None:
        """The body was not read, so the connection cannot be used again."""
        self.close_connection = True
        self._send(SiteResponse(status, status.phrase, "text/plain; charset=utf-8"))

    def _send(self, response: SiteResponse) -> None:
        body = response.body.encode()
        self.send_response_only(response.status)
        if response.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", response.content_type)
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if response.location:
            self.send_header("Location", response.location)
        if response.token is not None:
            self.send_header("Set-Cookie", self._session_cookie(response.token))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _session_cookie(self, token: str) -> str:
        gone = "" if token else "; Max-Age=0"
        return f"{self.server.site.cookie_name}={token}; Path=/; HttpOnly; SameSite=Lax{gone}"


def _fields(encoded: str) -> dict[str, str]:
    """The first value of each name; more names than any form here has are refused."""
    fields: dict[str, str] = {}
    for name, value in parse_qsl(encoded, keep_blank_values=True, max_num_fields=50):
        fields.setdefault(name, value)
    return fields
