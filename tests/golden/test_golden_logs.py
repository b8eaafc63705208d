"""Golden logs verify, under any hash seed; histories that must not verify are each caught."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from rutter.actors.decider import DecidingActor
from rutter.actors.logic_version import LOGIC
from rutter.actors.planner.actor import Planner
from rutter.actors.planner.state import PlannerState
from rutter.actors.predictor import Predictor
from rutter.events.codec import encode
from rutter.events.envelope import Envelope
from rutter.events.errors import LogCorrupt
from rutter.events.planner import PlanProposed
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ActionApproved
from rutter.replay.story.session_story import tell
from rutter.replay.verify import Verifier, fresh_deciders, verify
from rutter.replay.whatif import ChangedSettings, ask
from tests.support.case_table import for_each
from tests.support.chain_links import check_link
from tests.support.golden_logs import envelopes, names, older, rows

ROOT = Path(__file__).parents[2]


@for_each("name", names())
def test_a_golden_log_is_decided_again_without_divergence(name: str) -> None:
    report = verify(envelopes(name))
    assert report.divergence is None
    assert report.decisions > 80


@for_each("name", names())
def test_a_golden_log_was_made_by_the_logic_that_is_here(name: str) -> None:
    started = [e.event for e in envelopes(name) if isinstance(e.event, SessionStarted)]
    assert {start.logic for start in started} == {LOGIC}


@for_each("name", older())
def test_a_log_of_older_logic_is_learned_from_and_not_judged(name: str) -> None:
    log = envelopes(name)
    report = verify(log)
    assert report.divergence is None
    assert report.decisions == 0
    assert report.other_logic > 0
    deciders = fresh_deciders()
    [predictor] = [each.decider for each in deciders if isinstance(each.decider, Predictor)]
    for envelope in log:
        predictor.knowledge.take_in(envelope)
    named = {e.event.workflow.name for e in log if isinstance(e.event, WorkflowLearned)}
    assert set(predictor.knowledge.versions.highest) == named


@for_each("name", [*names(), *older()])
def test_the_chain_of_a_golden_log_holds(name: str) -> None:
    heads: dict[str, bytes] = {}
    for row, envelope in zip(rows(name), envelopes(name), strict=True):
        check_link(heads.get(envelope.session), envelope, row[7])
        heads[envelope.session] = envelope.hash


@for_each("name", [*names(), *older()])
def test_what_is_stored_says_what_was_decoded(name: str) -> None:
    """Not byte for byte: a struct that grew past 15 fields gets another map header, and an old one
    its tag, which is why the chain is over stored bytes and replay encodes both sides anew."""
    for row, envelope in zip(rows(name), envelopes(name), strict=True):
        if (encoded := encode(envelope.event)) == row[7]:
            continue
        again = msgspec.msgpack.decode(encoded)
        stored = msgspec.msgpack.decode(row[7])
        tags = set() if name in names() else {"source", "code", "cause"} - set(stored)
        assert {each: again[each] for each in again if each not in tags} == stored


@for_each("name", names())
def test_nothing_would_differ_if_nothing_were_different(name: str) -> None:
    assert ask(envelopes(name), ChangedSettings()).differences == ()


@pytest.mark.slow
def test_decisions_do_not_depend_on_the_hash_seed() -> None:
    """Above they are decided under that of this process, which differs each time."""
    code = (
        "from rutter.replay.verify import verify\n"
        "from tests.support.golden_logs import envelopes, names\n"
        "assert all(verify(envelopes(name)).ok for name in names())"
    )
    env = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=env, cwd=ROOT)


@for_each(
    "name, sessions",
    [
        ("led", [(6, "completed"), (0, "completed")]),
        ("repaired", [(0, "completed"), (1, "completed"), (0, "completed")]),
        ("corrected", [(0, "completed"), (4, "failed")]),
        ("unanswered", [(5, "completed"), (2, "interrupted")]),
    ],
)
def test_golden_logs_hold_sessions_in_which_models_were_asked(
    name: str, sessions: list[tuple[int, str]]
) -> None:
    log = envelopes(name)
    started = [each.session for each in log if isinstance(each.event, SessionStarted)]
    stories = [tell(each for each in log if each.session == session) for session in started]
    assert [(story.model_calls, story.reason) for story in stories] == sessions


# -- histories that must fail ------------------------------------------------------------------


def tampered(log: list[Envelope], at: int, event: object) -> list[Envelope]:
    changed = msgspec.structs.replace(log[at], event=event)
    return [*log[:at], changed, *log[at + 1 :]]


def first(log: list[Envelope], kind: type) -> int:
    return next(at for at, envelope in enumerate(log) if isinstance(envelope.event, kind))


def test_a_tampered_decision_is_found_where_it_is() -> None:
    log = envelopes("order")
    at = first(log, ActionApproved)
    other = msgspec.structs.replace(log[at].event, reason="because I say so")
    found = verify(tampered(log, at, other)).divergence
    assert found is not None
    assert (found.seq, found.actor, found.field) == (log[at].seq, "validator", "reason")
    assert found.recorded == "'because I say so'"
    assert found.causes[-1].endswith("by observer") or found.causes[-1].endswith("by runtime")


def test_a_changed_policy_is_found_at_the_first_decision_that_it_changes() -> None:
    log = envelopes("order")
    at = first(log, SessionStarted)
    started = log[at].event
    assert isinstance(started, SessionStarted)
    stricter = msgspec.structs.replace(
        started, policy=msgspec.structs.replace(started.policy, hosts=())
    )
    found = verify(tampered(log, at, stricter)).divergence
    assert found is not None
    assert (found.actor, found.recorded, found.derived) == (
        "validator",
        "ActionApproved",
        "ActionRejected",
    )


def test_a_missing_fact_is_an_error_not_a_guess() -> None:
    log = envelopes("order")
    at = next(i for i, e in enumerate(log) if e.actor == "executor")
    with pytest.raises(LogCorrupt, match="missing"):
        verify([*log[:at], *log[at + 1 :]])


def test_a_reordered_event_is_an_error() -> None:
    log = envelopes("order")
    at = first(log, PlanProposed)
    log[at], log[at + 1] = log[at + 1], log[at]
    with pytest.raises(LogCorrupt, match="missing"):
        verify(log)


class Hasty(Planner):
    """A planner that differs in one word."""

    def decide(self, state: PlannerState, envelope: Envelope) -> list[object]:  # type: ignore[override]
        return [
            msgspec.structs.replace(event, reason="hasty")
            if isinstance(event, PlanProposed) and event.step == 7
            else event
            for event in super().decide(state, envelope)
        ]


def test_a_changed_decider_is_caught_at_the_first_event_that_it_changes() -> None:
    log = envelopes("order")
    deciders = [actor for actor in fresh_deciders() if actor.name != "planner"]
    verifier = Verifier([*deciders, DecidingActor(Hasty())])  # type: ignore[arg-type]
    for envelope in log:
        verifier.take(envelope)
        if verifier.divergence is not None:
            break
    found = verifier.divergence
    assert found is not None
    event = next(e for e in log if isinstance(e.event, PlanProposed) and e.event.step == 7)
    assert (found.seq, found.actor, found.field) == (event.seq, "planner", "reason")


def test_one_session_of_a_log_is_judged_alone() -> None:
    log = envelopes("side_by_side")
    last = next(e.session for e in reversed(log) if isinstance(e.event, SessionEnded))
    report = verify(log, only=last)
    assert report.ok
    assert report.sessions == 1
