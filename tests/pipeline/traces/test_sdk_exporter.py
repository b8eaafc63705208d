"""The SDK's exporters as sinks: what is sent, what answers mean, and what is not installed."""

import importlib
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic
from typing import Any

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rutter.events.errors import BadInput
from rutter.pipeline.config.trace_target import CONSOLE, GRPC, HTTP, TraceTarget
from rutter.pipeline.traces import sdk_exporter
from rutter.pipeline.traces.sdk_exporter import SdkExporter, judge, open_sink
from rutter.pipeline.traces.sink import Delivery
from rutter.replay.traces import spans_of
from tests.support.case_table import for_each
from tests.support.loopback import free_port
from tests.support.otlp_forms import on_the_wire
from tests.support.otlp_receiver import WAIT_S, Answer, Receiver, over_http, partial
from tests.support.trail_sessions import advised

SPANS = list(spans_of(advised().events))


def answered(status: int, retry_after: str | None = None, body: bytes = b"") -> Delivery:
    answer = requests.Response()
    answer.status_code, answer._content = status, body
    if retry_after is not None:
        answer.headers["retry-after"] = retry_after
    return judge(answer)


# -- over HTTP -------------------------------------------------------------------------------------


def test_spans_arrive_as_they_are(receiver: Receiver) -> None:
    sink = over_http(receiver.url)
    assert sink.deliver(SPANS).accepted
    assert receiver.requests == [on_the_wire(SPANS)]
    [(path, headers)] = receiver.asked
    assert path == "/v1/traces"
    assert headers["content-type"] == "application/x-protobuf"
    sink.close()


def test_the_standard_headers_go_with_every_request(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=abc%20d,x-tenant=harbour")
    sink = over_http(receiver.url)
    sink.deliver(SPANS)
    [(_, headers)] = receiver.asked
    assert (headers["x-api-key"], headers["x-tenant"]) == ("abc d", "harbour")
    sink.close()


def test_a_password_in_the_address_is_sent_and_not_kept(receiver: Receiver) -> None:
    sink = over_http(receiver.url.replace("//", "//ann:s3cret@") + "?key=s3cret")
    assert sink.deliver(SPANS).accepted
    [(path, headers)] = receiver.asked
    assert headers["authorization"].startswith("Basic ")
    assert path == "/v1/traces?key=s3cret"
    assert "s3cret" not in sink.target
    sink.close()


def test_nor_is_it_said_when_nobody_is_there() -> None:
    with free_port() as port:
        sink = over_http(f"http://ann:s3cret@127.0.0.1:{port}?key=s3cret")
        assert "s3cret" not in sink.deliver(SPANS).why
        sink.close()


@for_each("address", ["", "localhost:4318", "grpc://a:1", "http://", "http://[::", "http://a:port"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="OTLP collector"):
        open_sink(TraceTarget(HTTP, address))


# -- answers ---------------------------------------------------------------------------------------


@for_each("status", [301, 308, 400, 401, 404, 429, 500, 502, 503])
def test_every_answer_but_yes_leaves_the_spans_ours(status: int) -> None:
    with Receiver(Answer(status)) as receiver:
        sink = over_http(receiver.url)
        refused = sink.deliver(SPANS)
        assert (refused.accepted, refused.too_large) == (False, False)
        assert refused.why.startswith(f"HTTP {status}")
        assert sink.deliver(SPANS).accepted
        sink.close()


def test_too_much_at_once_is_told_apart() -> None:
    assert answered(413).too_large


@for_each("said, seconds", [("7", 7.0), (" 0 ", 0.0), ("soon", 0.0), ("-3", 0.0), (None, 0.0)])
def test_how_long_to_wait_is_read(said: str | None, seconds: float) -> None:
    assert answered(429, said).after_s == seconds


def test_how_long_to_wait_may_be_a_date() -> None:
    at = datetime.now(UTC) + timedelta(seconds=100)
    assert 90 < answered(503, format_datetime(at, usegmt=True)).after_s <= 100


def test_what_was_taken_and_thrown_away_is_not_sent_again() -> None:
    with Receiver(partial(3, "span too old")) as receiver:
        sink = over_http(receiver.url)
        taken = sink.deliver(SPANS)
        sink.close()
    assert (taken.accepted, taken.rejected) == (True, 3)
    assert taken.why == "3 spans rejected: span too old"


def test_a_yes_in_another_language_is_a_yes() -> None:
    assert answered(200, body=b'{"partialSuccess":{}}').accepted
    assert answered(202, body=b"thanks").accepted


# -- what it cannot do -----------------------------------------------------------------------------


def test_nobody_there_is_an_answer_too() -> None:
    with free_port() as port:
        sink = over_http(f"http://127.0.0.1:{port}")
        began = monotonic()
        refused = sink.deliver(SPANS)
        sink.close()
    assert not refused.accepted
    assert "refused" in refused.why
    assert monotonic() - began < WAIT_S / 4  # the SDK does not try again by itself


def test_a_connection_that_is_dropped_is_opened_again() -> None:
    with Receiver(Answer(), Answer(drops=True)) as receiver:
        sink = over_http(receiver.url)
        assert [sink.deliver(SPANS).accepted for _ in range(3)] == [True, False, True]
        sink.close()


def test_an_answer_that_is_cut_off_is_no_yes() -> None:
    """It begins with a 200, and the connection ends before its headers do."""
    with Receiver(Answer(torn=True)) as receiver:
        sink = over_http(receiver.url)
        assert sink.deliver(SPANS) == Delivery(False, "its answer was cut off")
        assert sink.deliver(SPANS).accepted
        sink.close()


def test_no_attempt_takes_longer_than_the_standard_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.3")
    with Receiver(Answer(hangs=True)) as receiver:
        sink = over_http(receiver.url)
        began = monotonic()
        assert not sink.deliver(SPANS).accepted
        assert monotonic() - began < WAIT_S / 2
        assert sink.deliver(SPANS).accepted
        sink.close()


# -- other exporters -------------------------------------------------------------------------------


def test_the_console_is_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    sink = open_sink(TraceTarget(CONSOLE))
    assert sink.deliver(SPANS).accepted
    sink.close()
    said = capsys.readouterr()
    assert (said.out, SPANS[0].span_id.hex() in said.err) == ("", True)


def test_grpc_takes_the_same_spans() -> None:
    grpc = importlib.import_module("grpc")  # an extra of ours, without types
    taken: list[ExportTraceServiceRequest] = []

    def export(request: ExportTraceServiceRequest, _: Any) -> ExportTraceServiceResponse:
        taken.append(request)
        return ExportTraceServiceResponse()

    method = grpc.unary_unary_rpc_method_handler(
        export,
        request_deserializer=ExportTraceServiceRequest.FromString,
        response_serializer=ExportTraceServiceResponse.SerializeToString,
    )
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {"Export": method}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sink = open_sink(TraceTarget(GRPC, f"http://127.0.0.1:{port}"))
    assert sink.deliver(SPANS).accepted
    sink.close()
    server.stop(None).wait()
    assert taken == [on_the_wire(SPANS)]


def test_grpc_that_is_not_installed_says_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_exporter, "entry_points", lambda **_: ())
    with pytest.raises(BadInput, match=r"pip install 'rutter-agent\[otlp-grpc\]'"):
        open_sink(TraceTarget(GRPC, "http://localhost:4317"))


def test_an_exporter_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BadInput, match="'carrier-pigeon' of traces is not installed"):
        open_sink(TraceTarget("carrier-pigeon"))


def test_an_exporter_that_fails_is_told_in_its_own_words() -> None:
    class Refuses(SpanExporter):
        said = ""

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            if self.said:
                logging.getLogger("opentelemetry.x").error(self.said)
            return SpanExportResult.FAILURE

    sink = SdkExporter(refuses := Refuses(), "the harbour")
    assert sink.deliver(SPANS) == Delivery(False, "the harbour did not take them")
    refuses.said = "no berth is free"
    assert sink.deliver(SPANS) == Delivery(False, "no berth is free")
    sink.close()
