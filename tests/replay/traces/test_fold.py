"""Whole logs: sessions side by side, folds that begin in the middle, and real runs."""

import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.envelope import Actor, Envelope
from rutter.events.runtime import ProcessStarted, SessionEnded
from rutter.events.vocabulary import AnyEvent
from rutter.replay.traces import Span, SpanFold, spans_of
from tests.support import golden_logs
from tests.support.any_values import from_struct
from tests.support.case_table import for_each
from tests.support.otlp_forms import sent_bytes
from tests.support.shop_facts import run_of
from tests.support.trail_sessions import advised, begin, plain
from tests.support.trails import Trail, Tree, check_tree

ROOT = Path(__file__).parents[3]


def side_by_side(*trails: Trail) -> list[Envelope]:
    """Their events in turns, numbered as one log."""
    waiting = [list(trail.events) for trail in trails]
    mixed: list[Envelope] = []
    while any(waiting):
        for events in waiting:
            if events:
                told = events.pop(0)
                mixed.append(
                    Envelope(
                        len(mixed) + 1,
                        told.session,
                        told.n,
                        told.at_ns,
                        told.actor,
                        told.cause,
                        told.event,
                        told.hash,
                    )
                )
    return mixed


def by_id(spans: list[Span]) -> dict[bytes, Span]:
    return {span.span_id: span for span in spans}


def test_sessions_that_run_side_by_side_do_not_meet() -> None:
    trails = plain("run-1", steps=2), advised("run-2"), plain("run-3")
    mixed = list(spans_of(side_by_side(*trails)))
    apart = [span for trail in trails for span in spans_of(trail.events)]
    assert by_id(mixed) == by_id(apart)
    assert len(mixed) == len(apart)


def test_what_a_process_says_of_itself_is_in_no_trace() -> None:
    trail = Trail("process-1")
    trail.tell("runtime", ProcessStarted("0.1.0"), cause=0)
    fold = SpanFold()
    assert fold.take(trail.events[0]) == []
    assert fold.open_since() is None


def test_a_session_that_began_before_the_fold_is_left_alone() -> None:
    assert list(spans_of(plain().events[3:])) == []


def test_a_session_that_has_not_ended_shows_where_a_later_fold_must_begin() -> None:
    ended, running = plain("run-1", seq=0), Trail("run-2", seq=100)
    begin(running)
    fold = SpanFold()
    for told in (*ended.events, *running.events):
        fold.take(told)
    assert fold.open_since() == 101
    assert fold.unfinished() == ("run-2",)


@for_each("name", golden_logs.names())
def test_folding_on_from_any_point_makes_the_same_spans(name: str) -> None:
    """What an exporter does that starts anew: nothing is missing and nothing comes twice."""
    events = golden_logs.envelopes(name)
    whole = list(spans_of(events))
    for cut in range(0, len(events), 97):
        before, since = _fold(events[:cut], 0)
        start = since if since is not None else cut + 1
        after, _ = _fold([told for told in events if told.seq >= start], cut)
        assert [span.span_id for span in before + after] == [span.span_id for span in whole]
        assert before + after == whole


def _fold(events: list[Envelope], accepted: int) -> tuple[list[Span], int | None]:
    fold, made = SpanFold(), list[Span]()
    for told in events:
        spans = fold.take(told)
        if told.seq > accepted:
            made += spans
    return made, fold.open_since()


@for_each("name", [*golden_logs.names(), *golden_logs.older()])
def test_real_runs_make_whole_and_sound_traces(name: str) -> None:
    """Every event of a session is in its trace."""
    sessions: dict[str, list[Envelope]] = {}
    for told in golden_logs.envelopes(name):
        sessions.setdefault(told.session, []).append(told)
    ended = [own for own in sessions.values() if isinstance(own[-1].event, SessionEnded)]
    trees = [Tree(own) for own in ended]
    spans = [span for tree in trees for span in tree.spans]
    check_tree(spans)
    assert len([span for span in spans if not span.parent_id]) == len(ended)
    assert len({span.span_id for span in spans}) == len(spans)
    for own, tree in zip(ended, trees, strict=True):
        worked = sum(len(str(s.attributes.get("rutter.events", "")).split()) for s in tree.spans)
        noted = sum(len(s.events) for s in tree.spans)
        assert worked + noted == len(own) - 2
        assert tree.run.attributes["rutter.event_count"] == len(own)


@pytest.mark.slow
def test_hash_seeds_change_nothing() -> None:
    code = (
        "from hashlib import sha256; from tests.support import golden_logs as goldens; "
        "from rutter.replay.traces import spans_of; "
        "from tests.support.otlp_forms import sent_bytes; "
        "print(*[sha256(sent_bytes(list(spans_of(goldens.envelopes(name)))))"
        ".hexdigest() for name in goldens.names()])"
    )
    env = {**os.environ, "PYTHONHASHSEED": "42"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, check=True, text=True
    )
    assert done.stdout.split() == [
        sha256(sent_bytes(list(spans_of(golden_logs.envelopes(name))))).hexdigest()
        for name in golden_logs.names()
    ]


EVENTS = [event for event in get_args(AnyEvent) if event is not SessionEnded]
ACTORS: tuple[Actor, ...] = get_args(Actor)


@given(st.data())
def test_no_order_of_events_breaks_the_fold(data: st.DataObject) -> None:
    """A trace of a log that makes no sense may make none either; it must still be a trace."""
    draw: Callable[[st.SearchStrategy[Any]], Any] = data.draw
    trail = Trail()
    trail.tell("runtime", run_of(None), cause=0)
    for kind in draw(st.lists(st.sampled_from(EVENTS), max_size=12)):
        cause = draw(st.integers(0, trail.n + 1))
        trail.tell(draw(st.sampled_from(ACTORS)), draw(from_struct(kind)), cause=cause)
    trail.tell("runtime", SessionEnded("failed"))
    spans = list(spans_of(trail.events))
    check_tree(spans)
    assert sent_bytes(spans)
