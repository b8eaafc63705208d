"""Spans leave in two forms: a request on the wire, and a line of OTLP JSON."""

import base64
import json
from collections.abc import Sequence
from typing import Any

from google.protobuf import json_format  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rutter.pipeline.traces.readable_span import readable_spans
from rutter.replay.traces import Span


def on_the_wire(spans: Sequence[Span]) -> ExportTraceServiceRequest:
    return encode_spans(readable_spans(spans))


def sent_bytes(spans: Sequence[Span]) -> bytes:
    sent: bytes = on_the_wire(spans).SerializeToString()
    return sent


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
