"""A session that was paused, as people read it: in its story, its lines, its row and its spans."""

import sqlite3

from rutter.events.envelope import Envelope
from rutter.events.runtime import SessionEnded, SessionPaused, SessionResumed
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.output.verbose import Narrator
from rutter.replay.projections.projection import Entry
from rutter.replay.projections.sessions import SessionsTable
from rutter.replay.steps import SessionSteps
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details
from rutter.replay.story.told_session import Story
from rutter.replay.traces.outcomes import OPEN, OUTCOMES
from tests.support.case_table import for_each
from tests.support.shop_facts import click, plan, run_of

LET_GO = ActionRejected(1, "paused", "paused by ann before it began", "1", "execution_error")
PAUSED, RESUMED = SessionPaused("ann"), SessionResumed("bob")
START = run_of(None)


def envelopes(*events: AnyEvent) -> list[Envelope]:
    """A second apart."""
    return [
        Envelope(n, "s", n, n * 1_000_000_000, "runtime", 0, event, b"")
        for n, event in enumerate(events, 1)
    ]


def story(*events: AnyEvent) -> Story:
    return tell(envelopes(*events))


def test_a_pause_is_told_below_the_step_that_it_came_behind() -> None:
    [step] = story(START, plan(click()), PAUSED, RESUMED).steps
    assert step.pauses == ["paused by ann for 1.0 s, resumed by bob"]
    assert [*details(step)][-1] == step.pauses[0]


def test_a_pause_before_the_first_step_is_the_sessions() -> None:
    assert story(START, PAUSED, RESUMED).pauses == ["paused by ann for 1.0 s, resumed by bob"]


def test_a_pause_that_did_not_end_has_no_end() -> None:
    assert story(START, PAUSED).pauses == ["paused by ann"]


def test_a_step_that_a_pause_came_before_did_not_fail() -> None:
    [step] = story(START, plan(click()), PAUSED, LET_GO).steps
    assert (step.verdict, step.reason) == ("passed_over", "paused by ann before it began")
    assert OUTCOMES[ActionRejected](LET_GO) == OPEN


@for_each(
    "event, line",
    [
        (PAUSED, "[PAUSED] by ann: nothing new begins, the window may be used"),
        (RESUMED, "[RESUMED] by bob: it goes on from where the page is now"),
        (LET_GO, "[OK] LET GO: paused by ann before it began"),
    ],
)
def test_each_has_its_line(event: AnyEvent, line: str) -> None:
    [envelope] = envelopes(event)
    assert line in [*Narrator().lines(envelope)]


@for_each(
    "events, paused",
    [
        ((START, PAUSED), "ann"),
        ((START, PAUSED, RESUMED), None),
        ((START, PAUSED, SessionEnded("cancelled")), None),
    ],
)
def test_the_row_of_a_session_says_who_paused_it(
    events: tuple[AnyEvent, ...], paused: str | None
) -> None:
    db = sqlite3.connect(":memory:")
    db.execute(f"CREATE TABLE sessions ({SessionsTable.tables['sessions']})")
    for envelope in envelopes(*events):
        SessionsTable().apply(Entry(db, envelope, SessionSteps()))
    assert db.execute("SELECT paused FROM sessions").fetchall() == [(paused,)]
    db.close()
