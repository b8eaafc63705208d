"""The proxy alone, spoken to as its gate speaks to it, and by sockets of ours as no browser."""

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self

import h11

from rutter.actors.world.egress.gate_messages import (
    AskCounts,
    Blocked,
    ClosePort,
    ContactCounts,
    OpenPort,
    Order,
    OrderFailed,
    PortOpened,
    RefusedRequests,
    Report,
    line,
    read_report,
)
from rutter.events.policy import Policy

COMMAND = (sys.executable, "-m", "rutter.actors.world.egress")
ANSWER_S = 10  # nobody waits for ever: what says nothing by then is a failure


class ProxyProcess:
    """One proxy. `open` gives the port of a door with this policy."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._number = 0
        self.blocked: list[Blocked] = []

    def open(self, policy: Policy) -> int:
        self._number += 1
        report = self._ordered(OpenPort(self._number, policy))
        assert isinstance(report, PortOpened), report
        return report.port

    def counts(self, port: int) -> ContactCounts:
        """What was reached by this door; what was refused is in `blocked` afterwards."""
        self._number += 1
        report = self._ordered(AskCounts(self._number, port))
        assert isinstance(report, ContactCounts), report
        return report

    def close_door(self, port: int) -> None:
        self._number += 1
        self._ordered(ClosePort(self._number, port))

    def rules(self) -> list[str]:
        return [blocked.rule for blocked in self.blocked]

    def _ordered(self, order: Order) -> PortOpened | ContactCounts | OrderFailed:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line(order))
        while said := self._process.stdout.readline():
            report: Report = read_report(said)
            if not isinstance(report, RefusedRequests):
                return report
            self.blocked += [kind for kind, _ in report.blocked]
        raise AssertionError("the proxy ended")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(ANSWER_S)


class Heard(NamedTuple):
    """A request as the allowed server read it."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Listener:
    """The server that may be reached. It keeps what was said to it: `requests`, and `raw`, the
    bytes themselves. What is no HTTP is answered as it came."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)
        self.requests: list[Heard] = []
        self.raw: list[bytes] = []

    @property
    def at(self) -> str:
        return f"127.0.0.1:{self._socket.getsockname()[1]}"

    def clear(self) -> None:
        self.requests.clear()
        self.raw.clear()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed under us: that is how it ends
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    connection.settimeout(ANSWER_S)
                    with contextlib.suppress(OSError, h11.ProtocolError):
                        self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        http = h11.Connection(h11.SERVER)
        request, body = None, b""
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                said = connection.recv(65_536)
                self.raw.append(said)
                http.receive_data(said)
            elif isinstance(event, h11.Request):
                request, body = event, b""
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                assert request is not None
                self.requests.append(_heard(request, body))
                head = h11.Response(status_code=200, headers=[("content-length", "2")])
                for part in (head, h11.Data(data=b"ok"), h11.EndOfMessage()):
                    connection.sendall(http.send(part) or b"")
                if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                    return
                http.start_next_cycle()
            else:
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def _heard(request: h11.Request, body: bytes) -> Heard:
    headers = tuple((name.decode(), value.decode("latin-1")) for name, value in request.headers)
    return Heard(request.method.decode(), request.target.decode(), headers, body)


def say(port: int, said: bytes) -> bytes:
    """All that the proxy answers to these bytes, until it hangs up or has nothing more to say."""
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S) as connection:
        heard = b""
        try:
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(65_536):
                heard += more
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            # It need not hear us out.
        return heard
