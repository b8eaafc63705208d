"""Our spans as the SDK's own, so that the official encoder can be asked what they are in OTLP."""

from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode

from rutter.replay.traces import Span
from rutter.replay.traces.mapping import MAPPING, RESOURCE, SCOPE
from rutter.replay.traces.span import CLIENT


def encode_officially(spans: Sequence[Span]) -> ExportTraceServiceRequest:
    return encode_spans([_readable(span) for span in spans])


def _readable(span: Span) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
        resource=Resource(RESOURCE),
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
        instrumentation_scope=InstrumentationScope(SCOPE, MAPPING),
    )


def _context(trace_id: bytes, span_id: bytes) -> SpanContext:
    return SpanContext(
        int.from_bytes(trace_id, "big"), int.from_bytes(span_id, "big"), is_remote=False
    )
