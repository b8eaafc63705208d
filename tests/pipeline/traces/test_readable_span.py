"""Spans as the SDK's own: nothing is lost, and JSON says what protobuf says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.pipeline.traces.readable_span import json_line, readable_spans
from rutter.replay.traces import Link, Span, SpanEvent, spans_of
from rutter.replay.traces.mapping import MAPPING, SCOPE
from rutter.replay.traces.span import CLIENT, ERROR, INTERNAL, OK, UNSET, Attributes
from tests.support import golden_logs
from tests.support.otlp_forms import on_the_wire, read_line
from tests.support.trail_sessions import advised

INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = st.one_of(
    st.text(max_size=300),
    st.booleans(),
    INT64,
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.text(max_size=5), max_size=3).map(tuple),
)
ATTRIBUTES = st.dictionaries(st.text(min_size=1, max_size=20), VALUES, max_size=5)
NS = st.integers(0, 2**63 - 1)
ID = st.binary(min_size=8, max_size=8).filter(any)
TRACE = st.binary(min_size=16, max_size=16).filter(any)
# The SDK forgets the message of a status that is no error.
ENDS = st.one_of(
    st.tuples(st.sampled_from([UNSET, OK]), st.just("")),
    st.tuples(st.just(ERROR), st.text(max_size=200)),
)


@st.composite
def any_span(draw: st.DrawFn) -> Span:
    status, message = draw(ENDS)
    return Span(
        draw(TRACE),
        draw(ID),
        draw(st.just(b"") | ID),
        draw(st.text(max_size=50)),
        draw(NS),
        draw(NS),
        draw(ATTRIBUTES),
        draw(st.sampled_from([INTERNAL, CLIENT])),
        tuple(draw(st.lists(st.builds(Link, TRACE, ID, st.text(max_size=9)), max_size=2))),
        tuple(
            draw(st.lists(st.builds(SpanEvent, st.text(max_size=9), NS, ATTRIBUTES), max_size=2))
        ),
        status,
        message,
    )


def test_a_span_has_what_ours_has() -> None:
    link, event = Link(bytes([3] * 16), bytes([4] * 8)), SpanEvent("dialog", 2, {"rutter.n": 7})
    attributes: Attributes = {"a": "text", "b": True, "c": -1, "d": 0.5, "e": ("x", "y")}
    ids = bytes([1] * 16), bytes([2] * 8), bytes([5] * 8)
    ours = Span(*ids, "chat m", 1, 3, {**attributes}, CLIENT, (link,), (event,), ERROR, "lost")
    [resource] = on_the_wire([ours]).resource_spans
    [scope] = resource.scope_spans
    [span] = scope.spans
    assert (scope.scope.name, scope.scope.version) == (SCOPE, MAPPING)
    assert (span.trace_id, span.span_id, span.parent_span_id) == ids
    assert (span.name, span.kind, span.start_time_unix_nano, span.end_time_unix_nano) == (
        "chat m",
        CLIENT,
        1,
        3,
    )
    assert (span.status.code, span.status.message) == (ERROR, "lost")
    kinds = [each.value.WhichOneof("value") for each in span.attributes]
    assert [each.key for each in span.attributes] == [*attributes]
    assert kinds == ["string_value", "bool_value", "int_value", "double_value", "array_value"]
    [other] = span.links
    assert (other.trace_id, other.span_id) == (link.trace_id, link.span_id)
    assert [(each.name, each.time_unix_nano) for each in span.events] == [("dialog", 2)]


def test_the_standard_variables_name_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "desk")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    [span] = readable_spans([_with({})])
    named = dict(span.resource.attributes)
    assert (named["service.name"], named["deployment.environment"]) == ("desk", "test")
    assert named["rutter.mapping"] == MAPPING


def test_a_line_says_what_the_bytes_say() -> None:
    """Of every form that a span has in logs of real runs: its name, and what is told with it."""
    made = [span for name in golden_logs.names() for span in spans_of(golden_logs.envelopes(name))]
    spans = list({(each.name, each.status, *each.attributes): each for each in made}.values())
    assert read_line(json_line(spans)) == on_the_wire(spans)


def test_model_calls_too() -> None:
    spans = list(spans_of(advised().events))
    assert read_line(json_line(spans)) == on_the_wire(spans)


@given(st.lists(any_span(), max_size=2))
def test_any_span(spans: list[Span]) -> None:
    assert read_line(json_line(spans)) == on_the_wire(spans)


def test_a_request_is_one_line_whatever_a_page_said() -> None:
    line = json_line([_with({"output.value": "one\ntwo\r\u2028three"})])
    assert line.count(b"\n") == 1
    assert line.endswith(b"}\n")


def test_numbers_that_do_not_fit_a_double_are_strings() -> None:
    [line] = json_line([Span(bytes(16), bytes(8), b"", "s", 2**63, 2**63, {})]).splitlines()
    assert f'"startTimeUnixNano":"{2**63}"'.encode() in line


def _with(attributes: Attributes) -> Span:
    return Span(bytes(16), bytes(8), b"", "a\nb", 1, 2, attributes)
