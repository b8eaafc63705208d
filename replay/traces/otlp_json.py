"""The JSON encoder writes spans as OTLP: one ExportTraceServiceRequest, for a file with one of them
a line.

The protocol's own JSON: ids in hex, 64-bit numbers as strings, enums as numbers. Whatever reads
OTLP from files (the collector's `otlpjsonfile` receiver, for one) reads it.
"""

from collections.abc import Iterable, Sequence

import msgspec

from rutter.replay.traces.mapping import MAPPING, RESOURCE, SCOPE
from rutter.replay.traces.span import Attributes, Link, Span, SpanEvent, Value

FLAGS = 0x100  # as on the wire: local to this process

_json = msgspec.json.Encoder()


def encode_line(spans: Sequence[Span]) -> bytes:
    """One request with these spans, and the end of the line."""
    scope_spans = {
        "scope": {"name": SCOPE, "version": MAPPING},
        "spans": [_span(span) for span in spans],
    }
    resource = {"attributes": _attributes(RESOURCE)}
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": [scope_spans]}]}
    return _json.encode(request) + b"\n"


def _span(span: Span) -> dict[str, object]:
    written: dict[str, object] = {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.attributes),
        "events": [_event(event) for event in span.events],
        "links": [_link(link) for link in span.links],
        "status": {"message": span.message, "code": span.status},
        "flags": FLAGS,
    }
    if span.parent_id:
        written["parentSpanId"] = span.parent_id.hex()
    return written


def _event(event: SpanEvent) -> dict[str, object]:
    return {
        "timeUnixNano": str(event.at_ns),
        "name": event.name,
        "attributes": _attributes(event.attributes),
    }


def _link(link: Link) -> dict[str, object]:
    return {
        "traceId": link.trace_id.hex(),
        "spanId": link.span_id.hex(),
        "attributes": _attributes({"rutter.link": link.why}),
        "flags": FLAGS,
    }


def _attributes(attributes: Attributes) -> list[dict[str, object]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Value) -> dict[str, object]:
    match value:
        case str():
            return {"stringValue": value}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case tuple():
            return {"arrayValue": {"values": _values(value)}}


def _values(values: Iterable[Value]) -> list[dict[str, object]]:
    return [_value(value) for value in values]
