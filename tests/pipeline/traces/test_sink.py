"""Spans wait until they are accepted, and a sink that says no is left alone for a while."""

from rutter.pipeline.traces.sink import BATCH, MOST_WAIT_S, Delivery, Outbox
from rutter.replay.traces import Span, spans_of
from tests.support.fussy_sink import Fussy
from tests.support.trail_sessions import plain

SPANS: list[Span] = list(spans_of(plain(steps=2).events))
IDS = [span.span_id for span in SPANS]


def outbox(sink: Fussy) -> Outbox:
    made = Outbox(sink)
    made.put(SPANS)
    return made


def test_what_is_accepted_is_gone() -> None:
    sink = Fussy()
    box = outbox(sink)
    assert box.push().accepted
    assert (len(box), sink.taken) == (0, IDS)
    assert box.progress.delivered == len(SPANS)


def test_what_is_refused_stays_in_order() -> None:
    sink = Fussy(takes=0)
    box = outbox(sink)
    assert not box.push().accepted
    assert (len(box), box.progress.refusals, box.progress.why) == (len(SPANS), 1, "no more")
    sink.takes = 1
    box.push()
    assert sink.taken == IDS


def test_spans_go_in_batches() -> None:
    sink = Fussy()
    box = Outbox(sink)
    box.put(SPANS[:1] * (BATCH + 3))
    box.push()
    box.push()
    assert sink.batches == [BATCH, 3]


def test_a_batch_that_is_too_large_goes_in_halves() -> None:
    sink = Fussy(at_most=5)
    box = outbox(sink)
    while box:
        assert box.push().accepted
    assert sink.taken == IDS
    assert max(sink.batches) <= 5


def test_a_span_that_no_request_can_hold_keeps_nobody_waiting() -> None:
    box = outbox(Fussy(at_most=0))
    while box:
        assert box.push().accepted
    assert (box.progress.delivered, box.progress.rejected) == (0, len(SPANS))


def test_a_sink_that_goes_on_refusing_is_asked_less_and_less() -> None:
    box = outbox(Fussy(takes=0))
    waits = [box.wait_s(box.push()) for _ in range(14)]
    assert waits[1] == 2 * waits[0]
    assert waits == sorted(waits)
    assert waits[-1] == MOST_WAIT_S


def test_a_sink_that_takes_again_is_asked_at_once_again() -> None:
    sink = Fussy(takes=0)
    box = outbox(sink)
    first = box.wait_s(box.push())
    box.push()
    sink.takes = 1
    box.push()
    box.put(SPANS)
    assert box.wait_s(box.push()) == first


def test_a_sink_that_says_how_long_is_left_alone_that_long() -> None:
    box = outbox(Fussy(takes=0))
    box.push()
    assert box.wait_s(Delivery(False, after_s=90.0)) == 90.0
    assert box.wait_s(Delivery(False, after_s=1e9)) == 1_800.0
