"""The log as turns."""

from itertools import chain

from rutter.replay.turns import is_decision, turns
from tests.support.golden_logs import envelopes, names


def test_a_turn_opens_with_a_fact_and_goes_on_with_decisions() -> None:
    for name in names():
        for turn in turns(envelopes(name)):
            assert not is_decision(turn[0])
            assert all(is_decision(envelope) for envelope in turn[1:])


def test_a_turn_lies_in_one_session_without_a_gap() -> None:
    for turn in turns(envelopes("side_by_side")):
        assert {envelope.session for envelope in turn} == {turn[0].session}
        assert [e.n for e in turn] == list(range(turn[0].n, turn[0].n + len(turn)))


def test_every_event_is_in_one_turn() -> None:
    log = envelopes("trouble")
    assert list(chain.from_iterable(turns(log))) == log
