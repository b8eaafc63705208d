"""Our bytes against the official encoder's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rutter.replay.traces import Link, Span, SpanEvent, spans_of
from rutter.replay.traces.otlp_protobuf import MEMO_SIZE, encode_request, encode_span
from rutter.replay.traces.span import CLIENT, ERROR, INTERNAL, OK, UNSET, Attributes
from tests.support import golden_logs
from tests.support.official_spans import encode_officially
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


@given(st.lists(any_span(), max_size=3))
def test_any_span_is_what_the_official_encoder_makes_of_it(spans: list[Span]) -> None:
    ours = ExportTraceServiceRequest.FromString(encode_request(spans))
    if spans:
        assert ours == encode_officially(spans)


@pytest.mark.parametrize("name", golden_logs.names())
def test_real_runs_are_encoded_byte_by_byte_as_officially(name: str) -> None:
    spans = list(spans_of(golden_logs.envelopes(name)))
    assert encode_request(spans) == encode_officially(spans).SerializeToString()


def test_model_calls_too() -> None:
    spans = list(spans_of(advised().events))
    assert encode_request(spans) == encode_officially(spans).SerializeToString()


def test_equal_values_of_other_types_are_kept_apart() -> None:
    """True, 1 and 1.0 are equal to Python, and three different things on the wire."""
    made = [encode_span(_with({"rutter.same": value})) for value in (True, 1, 1.0, True)]
    assert len(set(made)) == 3
    assert made[0] == made[3]


def test_what_is_remembered_stays_small() -> None:
    spans = [_with({"rutter.many": f"value {number}"}) for number in range(3 * MEMO_SIZE)]
    for span in spans:
        encode_span(span)
    read = ExportTraceServiceRequest.FromString(encode_request(spans[:2]))
    texts = [
        span.attributes[0].value.string_value
        for span in read.resource_spans[0].scope_spans[0].spans
    ]
    assert texts == ["value 0", "value 1"]


def _with(attributes: Attributes) -> Span:
    return Span(bytes(16), bytes(8), b"", "span", 1, 2, attributes)
