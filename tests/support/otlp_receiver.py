"""A real OTLP/HTTP receiver listens on loopback, and misbehaves as collectors do."""

from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from rutter.pipeline.config.trace_target import TraceTarget
from rutter.pipeline.traces.sdk_exporter import SdkExporter, open_sink
from tests.support.loopback import LoopbackReceiver, QuietHandler

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


class Receiver(LoopbackReceiver):
    """A receiver keeps what it accepted. It answers each request as told, then with 200."""

    def __init__(self, *answers: Answer, port: int = 0) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.requests: list[ExportTraceServiceRequest] = []
        super().__init__(_handler(self), port)

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
        with self.changed:
            assert self.changed.wait_for(lambda: name in self.names(), WAIT_S), self.names()

    def wait_for_requests(self, count: int) -> None:
        """Until so many were made, accepted or not."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.asked) >= count, WAIT_S)

    def take(self, handler: BaseHTTPRequestHandler) -> Answer:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        with self.changed:
            answer = self.answers.pop(0) if self.answers else Answer()
            headers = {key.lower(): value for key, value in handler.headers.items()}
            self.asked.append((handler.path, headers))
            if answer.takes:
                self.requests.append(ExportTraceServiceRequest.FromString(body))
            self.changed.notify_all()
        if answer.hangs:
            self.gone.wait(WAIT_S)
        return answer


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = receiver.take(self)
            if answer.drops or answer.hangs:
                self.close_connection = True
                return
            if answer.drips or answer.torn:
                self.close_connection = True
                if answer.drips:
                    receiver.drip(self)
                else:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
                return
            self.send_response(answer.status)
            for key, value in answer.headers:
                self.send_header(key, value)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

    return Handler


def over_http(address: str) -> SdkExporter:
    """The exporter that is the default, for an address as people give it."""
    return open_sink(TraceTarget().at(address))
