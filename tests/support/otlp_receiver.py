"""A real OTLP/HTTP receiver listens on loopback, and misbehaves as collectors do."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from rutter.pipeline.config.trace_target import TraceTarget
from rutter.pipeline.traces.sdk_exporter import SdkExporter, open_sink

WAIT_S = 20.0  # a test that waits this long for a span waits for nothing


class Answer(NamedTuple):
    """A request is answered so, or not.

    `drops` closes the connection, `torn` does in the middle of the answer, `drips` sends a byte at
    a time without end, `hangs` sends nothing.
    """

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    drops: bool = False
    torn: bool = False
    drips: bool = False
    hangs: bool = False

    @property
    def takes(self) -> bool:
        bad = self.drops or self.torn or self.drips or self.hangs
        return self.status == 200 and not bad


def partial(rejected: int, why: str) -> Answer:
    said = ExportTraceServiceResponse()
    said.partial_success.rejected_spans = rejected
    said.partial_success.error_message = why
    return Answer(body=said.SerializeToString())


class Receiver:
    """A receiver keeps what it accepted. It answers each request as told, then with 200."""

    def __init__(self, *answers: Answer, port: int = 0) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.requests: list[ExportTraceServiceRequest] = []
        self._changed = threading.Condition()
        self._let_go = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def ids(self) -> list[bytes]:
        return [span.span_id for span in self.spans]

    def names(self) -> list[str]:
        return [span.name for span in self.spans]

    def wait_for_span(self, name: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: name in self.names(), WAIT_S), self.names()

    def wait_for_requests(self, count: int) -> None:
        """Until so many were made, accepted or not."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, WAIT_S)

    def take(self, handler: BaseHTTPRequestHandler) -> Answer:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        with self._changed:
            answer = self.answers.pop(0) if self.answers else Answer()
            headers = {key.lower(): value for key, value in handler.headers.items()}
            self.asked.append((handler.path, headers))
            if answer.takes:
                self.requests.append(ExportTraceServiceRequest.FromString(body))
            self._changed.notify_all()
        if answer.hangs:
            self._let_go.wait(WAIT_S)
        return answer

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """A header that goes on for ever: every byte of it starts a read's timeout anew."""
        try:
            while not self._let_go.wait(0.02):
                handler.wfile.write(b".")
        except OSError:
            return

    def close(self) -> None:
        self._let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = receiver.take(self)
            if answer.drops or answer.hangs:
                self.close_connection = True
                return
            if answer.drips or answer.torn:
                self.close_connection = True
                self.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
                if answer.drips:
                    receiver.drip(self)
                return
            self.send_response(answer.status)
            for key, value in answer.headers:
                self.send_header(key, value)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def over_http(address: str) -> SdkExporter:
    """The exporter that is the default, for an address as people give it."""
    return open_sink(TraceTarget().at(address))


@contextmanager
def free_port() -> Iterator[int]:
    """A port where nobody listens, kept for who will."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
