"""The JSON form says what the protobuf form says."""

import base64
import json
from typing import Any

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rutter.replay.traces import Span, spans_of
from rutter.replay.traces.otlp_json import encode_line
from rutter.replay.traces.otlp_protobuf import encode_request
from tests.replay.traces.test_otlp_protobuf import any_span
from tests.support import golden_logs
from tests.support.trail_sessions import advised


def read_line(line: bytes) -> ExportTraceServiceRequest:
    """OTLP's JSON has ids in hex where protobuf's own has base64: that apart they are the same."""
    request = ExportTraceServiceRequest()
    json_format.ParseDict(json.loads(line, object_hook=_ids), request)
    return request


def _ids(found: dict[str, Any]) -> dict[str, Any]:
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in found:
            found[key] = base64.b64encode(bytes.fromhex(found[key])).decode("ascii")
    return found


@pytest.mark.parametrize("name", golden_logs.names())
def test_a_line_says_what_the_bytes_say(name: str) -> None:
    spans = list(spans_of(golden_logs.envelopes(name)))
    assert read_line(encode_line(spans)) == _on_the_wire(spans)


def test_model_calls_too() -> None:
    spans = list(spans_of(advised().events))
    assert read_line(encode_line(spans)) == _on_the_wire(spans)


@given(st.lists(any_span(), max_size=2))
def test_any_span(spans: list[Span]) -> None:
    assert read_line(encode_line(spans)) == _on_the_wire(spans)


def test_a_request_is_one_line_whatever_a_page_said() -> None:
    span = Span(bytes(16), bytes(8), b"", "a\nb", 1, 2, {"output.value": "one\ntwo\r\u2028three"})
    line = encode_line([span])
    assert line.count(b"\n") == 1
    assert line.endswith(b"}\n")


def test_numbers_that_do_not_fit_a_double_are_strings() -> None:
    [line] = encode_line([Span(bytes(16), bytes(8), b"", "s", 2**63, 2**63, {})]).splitlines()
    assert f'"startTimeUnixNano":"{2**63}"'.encode() in line


def _on_the_wire(spans: list[Span]) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    request.ParseFromString(encode_request(spans))
    return request
