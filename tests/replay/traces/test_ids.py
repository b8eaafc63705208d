"""Ids are derived: the same session has the same ones for ever, in every process."""

from rutter.replay.traces.ids import SpanIds, run_id, trace_id


def test_ids_never_change() -> None:
    assert trace_id("run-1").hex() == "79232add0216833a6608d4ed6fe3fa27"
    assert SpanIds("run-1").of(1, "run").hex() == "59d2dc3df80a05ad"
    assert SpanIds("run-1").of(7, "work").hex() == "6b60b3dcaaca0c2b"


def test_an_event_that_stands_for_two_spans_gives_two_ids() -> None:
    ids = SpanIds("run-1")
    assert ids.of(5, "step") != ids.of(5, "work")


def test_sessions_do_not_share_ids() -> None:
    assert trace_id("run-1") != trace_id("run-2")
    assert SpanIds("run-1").of(1, "run") != SpanIds("run-2").of(1, "run")
    assert SpanIds("run-1").of(12, "work") != SpanIds("run-11").of(2, "work")


def test_the_run_is_its_first_event() -> None:
    assert run_id("run-1") == SpanIds("run-1").of(1, "run")


def test_ids_have_the_length_that_otlp_asks_for() -> None:
    assert len(trace_id("")) == 16
    assert len(run_id("")) == 8
