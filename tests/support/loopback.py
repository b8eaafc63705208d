"""A site of a test serves on loopback while it is entered, and keeps quiet."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


class LoopbackReceiver:
    """A receiver runs from when it is made until it is left. Who is kept hanging, or told a byte
    at a time, waits until it is let go."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int) -> None:
        self.changed = threading.Condition()
        self.gone = threading.Event()
        self._server = QuietServer(("127.0.0.1", port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def let_go(self) -> None:
        """Whoever hangs is answered now."""
        self.gone.set()

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """A header that goes on for ever: every byte of it starts a read's timeout anew."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        try:
            while not self.gone.wait(0.02):
                handler.wfile.write(b".")
        except OSError:
            return

    def close(self) -> None:
        self.let_go()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def free_port() -> Iterator[int]:
    """A port where nobody listens, kept for who will."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
