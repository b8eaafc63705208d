"""Servers that nobody may reach: one address for each channel, and a note of everything that came.

Each channel has an address of its own on loopback (127.66.x.y), so that a connection that says
nothing, or one datagram, still tells by which channel it came.
"""

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import NamedTuple, Self

ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n"
    b"Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n"
    b"Connection: close\r\n\r\nok"
)
HEAD = 2_048


class Hit(NamedTuple):
    """Something reached the canary of a channel: how, and the first that it said."""

    channel: str
    how: str
    said: str


class Address(NamedTuple):
    host: str
    port: int


class Canaries:
    """Listens on TCP and UDP for every name. Open as a context; `hits` is what came so far."""

    def __init__(self, places: Iterable[tuple[str, str]]) -> None:
        self._selector = selectors.DefaultSelector()
        self._stop, self._stopped = socket.socketpair()
        self._selector.register(self._stopped, selectors.EVENT_READ, None)
        self._hits: list[Hit] = []
        self.changed = threading.Condition()
        self.addresses: dict[str, Address] = {}
        for number, (name, host) in enumerate(places):
            self._listen(name, host or own_address(number))
        self._thread = threading.Thread(target=self._serve)

    @property
    def hits(self) -> list[Hit]:
        with self.changed:
            return list(self._hits)

    def channels(self) -> set[str]:
        """By which of them something came."""
        return {hit.channel for hit in self.hits}

    def _listen(self, name: str, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        tcp = socket.create_server((host, 0), family=family, backlog=64)
        port = tcp.getsockname()[1]
        udp = socket.socket(family, socket.SOCK_DGRAM)
        udp.bind((host, port))
        self.addresses[name] = Address(host, port)
        for each, take in ((tcp, self._accept), (udp, self._datagram)):
            each.setblocking(False)
            self._selector.register(each, selectors.EVENT_READ, (take, name))

    def _note(self, name: str, how: str, said: bytes) -> None:
        with self.changed:
            line = said.split(b"\r\n", 1)[0][:200].decode("latin-1")
            self._hits.append(Hit(name, how, line))
            self.changed.notify_all()

    def _accept(self, listening: socket.socket, name: str) -> None:
        connection, _ = listening.accept()
        connection.setblocking(False)
        self._note(name, "connected", b"")
        self._selector.register(connection, selectors.EVENT_READ, (self._read, name))

    def _read(self, connection: socket.socket, name: str) -> None:
        said = b""
        with contextlib.suppress(OSError):
            said = connection.recv(HEAD)
            if said:
                self._note(name, "tcp", said)
                connection.sendall(ANSWER)
        self._selector.unregister(connection)
        connection.close()

    def _datagram(self, udp: socket.socket, name: str) -> None:
        said, _ = udp.recvfrom(HEAD)
        self._note(name, "udp", said[:4].hex().encode())

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                take, name = key.data
                take(key.fileobj, name)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.send(b"x")
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._selector.close()
        self._stop.close()


def own_address(number: int) -> str:
    return f"127.66.{number // 250}.{number % 250 + 1}"
