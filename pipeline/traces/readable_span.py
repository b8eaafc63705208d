"""This module makes the SDK's own spans of ours, which any official exporter takes, and OTLP JSON.

Nothing is recorded by the SDK: a span is handed to it finished, with the ids that we derived.
"""

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode

from rutter.replay.traces import Span
from rutter.replay.traces.mapping import MAPPING, RESOURCE, SCOPE
from rutter.replay.traces.span import CLIENT

_SCOPE = InstrumentationScope(SCOPE, MAPPING)
_json = msgspec.json.Encoder()


def readable_spans(spans: Sequence[Span]) -> list[ReadableSpan]:
    """What the SDK reads in OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES stands above ours."""
    resource = Resource(RESOURCE).merge(OTELResourceDetector().detect())
    return [_readable(span, resource) for span in spans]


def json_line(spans: Sequence[Span]) -> bytes:
    """One ExportTraceServiceRequest as OTLP's own JSON, and the end of the line.

    It is protobuf's JSON with enums as numbers, and with ids in hex where that has base64.
    """
    encoded = encode_spans(readable_spans(spans))
    request: dict[str, Any] = MessageToDict(encoded, use_integers_for_enums=True)
    for resource in request.get("resourceSpans", ()):
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for named in (span, *span.get("links", ())):
                    for key in {"traceId", "spanId", "parentSpanId"} & named.keys():
                        named[key] = b64decode(named[key]).hex()
    return _json.encode(request) + b"\n"


def _readable(span: Span, resource: Resource) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
        resource=resource,
        attributes=span.attributes,
        events=[Event(each.name, each.attributes, each.at_ns) for each in span.events],
        links=[
            Link(_context(link.trace_id, link.span_id), {"rutter.link": link.why})
            for link in span.links
        ],
        kind=SpanKind.CLIENT if span.kind == CLIENT else SpanKind.INTERNAL,
        status=Status(StatusCode(span.status), span.message or None),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_SCOPE,
    )


def _context(trace_id: bytes, span_id: bytes) -> SpanContext:
    ids = int.from_bytes(trace_id, "big"), int.from_bytes(span_id, "big")
    return SpanContext(*ids, is_remote=False)
