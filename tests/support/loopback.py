"""A site of a test serves on loopback while it is entered, and keeps quiet."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Generic, Self, TypeVar

from tests.support.tls_authority import Authority
from tests.support.tls_front import TlsFront


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up, or is killed, is no news."""


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


Server = TypeVar("Server", bound=QuietServer)


class Loopback(Generic[Server]):
    """A site runs its server in a thread; `let_go` ends what still waits for an answer. `trusted`:
    it is reached by TLS, with the authority's certificate, and by HTTP/2 where a browser can."""

    def __init__(self, server: Server, trusted: Authority | None = None) -> None:
        self._server = server
        self._front = TlsFront(trusted, server.server_address[1]) if trusted else None
        self._thread = threading.Thread(target=server.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        port = self._front.port if self._front else self._server.server_address[1]
        return f"127.0.0.1:{port}"

    @property
    def url(self) -> str:
        return f"http{'s' if self._front else ''}://{self.host}"

    def let_go(self) -> None:
        """Nobody waits, unless a site says so."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        if self._front:
            self._front.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
