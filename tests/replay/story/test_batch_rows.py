"""Which row is done, which is in doubt, which is to be run: the log alone says so."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.chain import GENESIS
from rutter.events.envelope import Envelope
from rutter.events.rows import BatchRow
from rutter.events.runtime import SessionEnded, SessionStarted, StopReason
from rutter.events.upcast import with_causes
from rutter.events.validator import ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.batch_rows import (
    NOT_AGAIN,
    NOT_RUN,
    FileRow,
    RowRun,
    RowState,
    counted,
    matched,
    run_of,
    told_of,
)
from tests.support import shop_facts

ROW = BatchRow("b", 1, "d")
SUBMIT = shop_facts.click("#place")
STARTED: SessionStarted = msgspec.structs.replace(shop_facts.recording_of(), row=ROW)
SENT = ActionStarted(1, 1, SUBMIT, irreversible=True)


def run(*events: AnyEvent, started: SessionStarted = STARTED) -> RowRun | None:
    told = (started, *events)
    return run_of(
        Envelope(n, "run-1", n, 0, "runtime", 0, with_causes(event), GENESIS)
        for n, event in enumerate(told, 1)
    )


def outcome(*events: AnyEvent) -> str:
    found = run(*events)
    assert found is not None
    return told_of([found]).outcome


def test_a_run_that_was_completed_is_done() -> None:
    assert outcome(SENT, SessionEnded("completed")) == "done"


def test_what_failed_before_anything_was_sent_may_be_run_again() -> None:
    ended = SessionEnded("failed", "lost", "no link of that name")
    found = run(ActionStarted(1, 1, shop_facts.click()), ended)
    assert found is not None
    assert told_of([found]) == RowState("failed", "lost: no link of that name", found)
    assert outcome(SessionEnded("cancelled")) == "cancelled"
    assert outcome() == "interrupted", "its process died"
    assert outcome(SENT, shop_facts.failed("element_obscured", dispatched=False), ended) == "failed"


def test_a_failure_says_at_which_step() -> None:
    at = shop_facts.plan(shop_facts.click("#go"), index=7)
    found = run(at, SessionEnded("failed", "lost", "nothing matched"))
    assert found is not None
    assert told_of([found]).why == "lost: nothing matched, at step 8 (click #go)"
    said = run(at, SessionEnded("failed", "lost", "step 8 of 9: nothing matched"))
    assert said is not None
    assert told_of([said]).why == "lost: step 8 of 9: nothing matched"


def test_what_sent_something_and_was_not_completed_is_in_doubt() -> None:
    reasons: tuple[StopReason, ...] = ("failed", "cancelled", "interrupted")
    for reason in reasons:
        assert outcome(SENT, SessionEnded(reason)) == "unknown", reason
    assert outcome(SENT) == "unknown", "its process died"
    assert outcome(SENT, shop_facts.judged(), SessionEnded("failed", "lost")) == "unknown"


def test_what_went_to_its_end_unverified_counts_as_sent_and_is_told_apart() -> None:
    ended = SessionEnded("completed_unverified", "", "nothing shows it, at step 1")
    assert outcome(SENT, ended) == outcome(ended) == "unverified"
    assert {"unverified", "unknown", "done"} == set(NOT_AGAIN)
    run_1 = RowRun("a", BatchRow("b", 5, "x"), "completed_unverified", sent=True)
    assert names(matched(wanted("new", "x"), [run_1])) == {1: [], 2: ["a"]}, "where it moved too"


def test_a_later_run_of_the_row_settles_it_and_a_failed_one_does_not() -> None:
    sent, done, failed = (
        RowRun("a", ROW, sent=True),
        RowRun("b", ROW, "completed"),
        RowRun("c", ROW, "failed", "lost"),
    )
    assert told_of([sent, done]).session == "b"
    assert told_of([done, failed]).outcome == "done"
    assert told_of([sent, failed]) == RowState("unknown", "interrupted", sent)
    assert told_of([failed, sent]).session == "a"
    assert told_of([]) == NOT_RUN


def test_a_dry_run_that_stopped_where_it_should_is_done_in_its_own_batch() -> None:
    settings = msgspec.structs.replace(STARTED.settings, dry_run=True)
    tried = msgspec.structs.replace(STARTED, settings=settings)
    ended = SessionEnded("completed_unverified", "", "dry run: it would be sent")
    found = run(ended, started=tried)
    assert found is not None
    assert found.done
    other = run(SessionEnded("completed_unverified", "", "no sign of the end"), started=tried)
    assert other is not None
    assert not other.done


def test_a_session_of_no_row_is_none() -> None:
    assert run(SessionEnded("completed"), started=shop_facts.recording_of()) is None
    assert run_of([]) is None


# -- rows that moved -------------------------------------------------------------------------------


def done(number: int, digest: str) -> RowRun:
    return RowRun(f"run-{number}-{digest}", BatchRow("b", number, digest), "completed")


def wanted(*digests: str) -> list[FileRow]:
    return [FileRow(number, digest) for number, digest in enumerate(digests, 1)]


def names(found: dict[int, list[RowRun]]) -> dict[int, list[str]]:
    return {number: [run.session for run in runs] for number, runs in found.items()}


def test_a_row_that_stands_elsewhere_now_is_still_done() -> None:
    runs = [done(1, "x"), done(2, "y")]
    assert names(matched(wanted("new", "x", "y"), runs)) == {1: [], 2: ["run-1-x"], 3: ["run-2-y"]}


def test_each_run_counts_for_one_row_alone() -> None:
    assert names(matched(wanted("x", "x", "x"), [done(1, "x"), done(7, "x")])) == {
        1: ["run-1-x"],
        2: ["run-7-x"],
        3: [],
    }


def test_what_failed_elsewhere_is_nobodys() -> None:
    failed = RowRun("f", BatchRow("b", 5, "x"), "failed", "lost")
    assert names(matched(wanted("x"), [failed])) == {1: []}


@given(
    before=st.lists(st.tuples(st.integers(1, 6), st.sampled_from("xyz")), unique=True),
    now=st.lists(st.sampled_from("xyz"), max_size=6),
)
def test_what_was_done_is_never_run_again_however_the_rows_moved(
    before: list[tuple[int, str]], now: list[str]
) -> None:
    runs = [done(number, digest) for number, digest in before]
    found = matched(wanted(*now), runs)
    for digest in "xyz":
        rows = [number for number, each in enumerate(now, 1) if each == digest]
        known = sum(bool(found[number]) for number in rows)
        assert known == min(len(rows), sum(each == digest for _, each in before))
    used = [run.session for each in found.values() for run in each]
    assert len(used) == len(set(used))


def test_outcomes_are_counted() -> None:
    assert counted([NOT_RUN, RowState("done"), RowState("done")]) == {"not run": 1, "done": 2}
