"""What an event says about how its span ended."""

from typing import get_args

from rutter.events.critic import ActionJudged, Verdict
from rutter.events.executor import ActionDone
from rutter.events.runtime import SessionEnded, StopReason
from rutter.replay.traces.mapping import span_rules
from rutter.replay.traces.outcomes import NEUTRAL_ENDS, OUTCOMES, bad
from rutter.replay.traces.span import ERROR, OK, UNSET
from tests.support.case_table import for_each


@for_each("verdict", get_args(Verdict))
def test_only_what_was_confirmed_is_good(verdict: Verdict) -> None:
    outcome = OUTCOMES[ActionJudged](ActionJudged(1, 1, verdict, "seen"))
    assert outcome.status == (OK if verdict == "confirmed" else ERROR)
    assert outcome.message == ("" if verdict == "confirmed" else f"{verdict}: seen")


@for_each("reason", get_args(StopReason))
def test_every_end_is_good_neutral_or_bad(reason: StopReason) -> None:
    outcome = OUTCOMES[SessionEnded](SessionEnded(reason, detail="so"))
    neutral = UNSET if reason in NEUTRAL_ENDS else ERROR
    assert outcome.status == (OK if reason == "completed" else neutral)


def test_that_input_was_dispatched_says_nothing_yet() -> None:
    assert ActionDone not in OUTCOMES


def test_whatever_tells_an_outcome_is_in_the_table() -> None:
    assert {each.__name__ for each in OUTCOMES} <= set(span_rules())


def test_a_message_is_bounded_and_leaves_out_what_is_empty() -> None:
    assert bad("timeout", "").message == "timeout"
    assert len(bad("timeout", "x" * 999).message) == 200
