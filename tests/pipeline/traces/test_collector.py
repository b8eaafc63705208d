"""A collector over HTTP: what is sent, what its answers mean, and what it cannot do to us."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rutter.events.errors import BadInput
from rutter.pipeline.traces.collector import MAX_HANGING, Collector, judge
from rutter.replay.traces import spans_of
from rutter.replay.traces.otlp_protobuf import encode_request
from tests.support.otlp_receiver import WAIT_S, Answer, Receiver, free_port, partial
from tests.support.trail_sessions import advised

SPANS = list(spans_of(advised().events))


def test_spans_arrive_as_they_are(receiver: Receiver) -> None:
    sink = Collector(receiver.url)
    assert sink.deliver(SPANS).accepted
    assert receiver.requests == [ExportTraceServiceRequest.FromString(encode_request(SPANS))]
    [(path, headers)] = receiver.asked
    assert path == "/v1/traces"
    assert headers["content-type"] == "application/x-protobuf"
    sink.close()


def test_headers_go_with_every_request(receiver: Receiver) -> None:
    sink = Collector(receiver.url, "x-api-key=abc%20d,x-tenant=harbour")
    sink.deliver(SPANS)
    [(_, headers)] = receiver.asked
    assert (headers["x-api-key"], headers["x-tenant"]) == ("abc d", "harbour")
    sink.close()


def test_a_password_in_the_address_is_sent_and_not_kept(receiver: Receiver) -> None:
    sink = Collector(receiver.url.replace("//", "//ann:s3cret@") + "?key=s3cret")
    assert sink.deliver(SPANS).accepted
    [(path, headers)] = receiver.asked
    assert headers["authorization"].startswith("Basic ")
    assert path == "/v1/traces?key=s3cret"
    assert "s3cret" not in sink.target
    sink.close()


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://phoenix.example/otlp", "https://phoenix.example/otlp/v1/traces"),
        ("https://phoenix.example/v1/traces", "https://phoenix.example/v1/traces"),
    ],
)
def test_the_path_of_otlp_is_added_where_it_is_missing(address: str, target: str) -> None:
    assert Collector(address).target == target


@pytest.mark.parametrize("address", ["", "localhost:4318", "grpc://a:1", "http://", "http://[::"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="OTLP collector"):
        Collector(address)


# -- answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 308, 400, 401, 404, 429, 500, 502, 503])
def test_every_answer_but_yes_leaves_the_spans_ours(status: int) -> None:
    with Receiver(Answer(status)) as receiver:
        sink = Collector(receiver.url)
        refused = sink.deliver(SPANS)
        assert (refused.accepted, refused.too_large) == (False, False)
        assert refused.why.startswith(f"HTTP {status}")
        assert sink.deliver(SPANS).accepted
        sink.close()


def test_too_much_at_once_is_told_apart() -> None:
    assert judge(413, "Content Too Large", b"", None).too_large


@pytest.mark.parametrize(
    ("said", "seconds"), [("7", 7.0), (" 0 ", 0.0), ("soon", 0.0), ("-3", 0.0), (None, 0.0)]
)
def test_how_long_to_wait_is_read(said: str | None, seconds: float) -> None:
    assert judge(429, "Too Many Requests", b"", said).after_s == seconds


def test_how_long_to_wait_may_be_a_date() -> None:
    at = datetime.now(UTC) + timedelta(seconds=100)
    assert 90 < judge(503, "", b"", format_datetime(at, usegmt=True)).after_s <= 100


def test_what_was_taken_and_thrown_away_is_not_sent_again() -> None:
    with Receiver(partial(3, "span too old")) as receiver:
        sink = Collector(receiver.url)
        taken = sink.deliver(SPANS)
        sink.close()
    assert (taken.accepted, taken.rejected) == (True, 3)
    assert taken.why == "3 spans rejected: span too old"


def test_a_yes_in_another_language_is_a_yes() -> None:
    assert judge(200, "OK", b'{"partialSuccess":{}}', None).accepted
    assert judge(202, "Accepted", b"thanks", None).accepted


# -- what it cannot do -----------------------------------------------------------------------------


def test_nobody_there_is_an_answer_too() -> None:
    with free_port() as port:
        sink = Collector(f"http://127.0.0.1:{port}")
        refused = sink.deliver(SPANS)
        sink.close()
    assert not refused.accepted
    assert "refused" in refused.why


def test_a_kept_connection_that_was_closed_is_opened_again() -> None:
    with Receiver(Answer(), Answer(drops=True), Answer()) as receiver:
        sink = Collector(receiver.url)
        assert sink.deliver(SPANS).accepted
        assert sink.deliver(SPANS).accepted
        assert len(receiver.asked) == 3
        sink.close()


def test_an_answer_that_is_cut_off_is_no_yes() -> None:
    """It begins with a 200, and the connection ends before its headers do."""
    with Receiver(Answer(torn=True)) as receiver:
        sink = Collector(receiver.url)
        refused = sink.deliver(SPANS)
        assert (refused.accepted, refused.why) == (False, "its answer was cut off")
        assert sink.deliver(SPANS).accepted
        sink.close()


@pytest.mark.parametrize("trouble", [Answer(hangs=True), Answer(drips=True)])
def test_no_attempt_takes_longer_than_it_may(trouble: Answer) -> None:
    with Receiver(trouble) as receiver:
        sink = Collector(receiver.url, attempt_s=0.3)
        began = monotonic()
        refused = sink.deliver(SPANS)
        assert monotonic() - began < WAIT_S / 2
        assert not refused.accepted
        assert sink.deliver(SPANS).accepted  # the next attempt does not wait for that one
        sink.close()


def test_attempts_that_cannot_be_ended_are_few() -> None:
    with Receiver(*[Answer(drips=True)] * 9) as receiver:
        sink = Collector(receiver.url, attempt_s=0.3)
        whys = [sink.deliver(SPANS).why for _ in range(MAX_HANGING + 3)]
        receiver.wait_for_requests(MAX_HANGING)
        assert len(receiver.asked) == MAX_HANGING
        assert whys[-1] == "earlier attempts still hang"
        sink.close()


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    with Receiver(Answer(body=b"x" * 5_000_000)) as receiver:
        sink = Collector(receiver.url)
        assert sink.deliver(SPANS).accepted
        assert sink.deliver(SPANS).accepted
        sink.close()
