"""What foresight adds to a story: which workflow it may be, what was not there to be done, what a
person took back, and that it is forgotten."""

from collections.abc import Iterable
from typing import Literal

from rutter.events.action import Action
from rutter.events.envelope import Envelope
from rutter.events.predictor import (
    Candidate,
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    Within,
)
from rutter.events.runtime import SessionEnded
from rutter.events.signature import signature, token
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details
from rutter.replay.story.told_session import Story, as_json
from rutter.replay.story.wording import absent_in_words, within_in_words
from tests.support import shop_facts
from tests.support.case_table import for_each

BUY, PAY = shop_facts.click("#buy"), shop_facts.click("#pay")
HERE = Within("order", 2, 3, 7, 930_000)
THERE = Within("refund", 1, 1, 4, 50_000)
Why = Literal["went_back", "turned_back", "undo_key", "refused"]


def story(*events: AnyEvent) -> Story:
    return tell(numbered(events))


def numbered(events: Iterable[AnyEvent], session: str = "free-1") -> list[Envelope]:
    return [
        Envelope(n, session, n, n * 1_000_000, "runtime", n - 1, event, bytes(32))
        for n, event in enumerate(events, 1)
    ]


def predicted(*within: Within, absent: int = 0) -> PredictionMade:
    best = Candidate(token(BUY), BUY, 930_000, "blend")
    return PredictionMade("foresight", 0, (best,), absent=absent, within=within)


def did(
    action: Action, number: int, driver: Literal["person", "script"] = "script"
) -> list[AnyEvent]:
    learned = TransitionLearned(token(action), signature(action), action)
    told: list[AnyEvent] = [shop_facts.plan(action, driver, number=number)]
    return [
        *told,
        shop_facts.intent(action, number),
        shop_facts.done(number),
        shop_facts.judged(number=number),
        learned,
    ]


# -- what was foreseen -----------------------------------------------------------------------------


def test_where_in_a_workflow_it_seems_to_be_is_told_with_the_step() -> None:
    told = story(
        shop_facts.free_run(), predicted(HERE, THERE, absent=2), shop_facts.plan(BUY, "prediction")
    )

    [step] = told.steps
    assert step.within == ["after step 3 of 7 of order, 0.93", "after step 1 of 4 of refund, 0.05"]
    assert step.absent == 2
    assert [*details(step)][1:3] == [
        "it may be after step 3 of 7 of order, 0.93 or after step 1 of 4 of refund, 0.05",
        "2 more were likely, and not possible on this page",
    ]


def test_what_somebody_else_did_is_not_told_as_predicted() -> None:
    told = story(shop_facts.free_run(), predicted(HERE, absent=1), shop_facts.plan(BUY, "script"))

    assert (told.steps[0].within, told.steps[0].absent) == ([], 0)
    assert not any("may be" in line for line in details(told.steps[0]))


def test_each_step_has_its_own_prediction() -> None:
    second = shop_facts.plan(PAY, "prediction", number=2)
    told = story(
        shop_facts.free_run(),
        predicted(HERE),
        shop_facts.plan(BUY, "prediction"),
        predicted(),
        second,
    )

    assert [step.within for step in told.steps] == [["after step 3 of 7 of order, 0.93"], []]


def test_a_name_is_one_line_wherever_it_is_from() -> None:
    assert within_in_words(Within("r\u00fcck\ngabe", 1, 1, 2, 1_000_000)) == (
        "after step 1 of 2 of r\u00fcck\\ngabe, 1.00"
    )


def test_one_that_is_not_there_is_one() -> None:
    assert absent_in_words(1) == "1 more was likely, and not possible on this page"


# -- what a person took back -----------------------------------------------------------------------


@for_each(
    "why, words",
    [
        ("went_back", "a person went back"),
        ("turned_back", "a person turned it back"),
        ("undo_key", "a person pressed undo"),
    ],
)
def test_what_was_taken_back_is_told_of_the_step_that_did_it(why: Why, words: str) -> None:
    back = shop_facts.go_to("/")
    told = story(
        shop_facts.recording_of(BUY),
        *did(BUY, 1),
        *did(PAY, 2),
        *did(back, 3)[:-1],  # going back teaches nothing of its own
        TransitionUndone(token(PAY), why),
    )

    assert [step.undone for step in told.steps] == ["", words, ""]
    assert f"taken back: {words}" in details(told.steps[1])


def test_of_two_that_are_alike_the_last_was_taken_back() -> None:
    told = story(
        shop_facts.recording_of(BUY),
        *did(BUY, 1),
        *did(BUY, 2),
        TransitionUndone(token(BUY), "went_back"),
    )

    assert [bool(step.undone) for step in told.steps] == [False, True]


def test_what_a_person_refused_is_the_step_that_was_put_forward() -> None:
    told = story(
        shop_facts.free_run(),
        *did(PAY, 1),
        predicted(),
        shop_facts.plan(BUY, "prediction", number=2),
        TransitionUndone(token(BUY), "refused"),
    )

    assert [step.undone for step in told.steps] == ["", "a person said no to what was predicted"]
    assert "refused: a person said no to what was predicted" in details(told.steps[1])
    assert not any("taken back" in line for line in details(told.steps[1]))


def test_what_nobody_did_cannot_be_told_as_taken_back() -> None:
    assert story(shop_facts.free_run(), TransitionUndone(token(BUY), "went_back")).steps == []


# -- forgotten -------------------------------------------------------------------------------------


@for_each("why", ["", "asked to by Ann"])
def test_a_session_that_is_forgotten_says_so_and_is_as_long_as_it_was(why: str) -> None:
    own = numbered((shop_facts.free_run(), SessionEnded("completed")))
    since = numbered((SessionForgotten("free-1", why),), session="process-9")

    told, before = tell([*own, *since]), tell(own)
    assert (told.forgotten, told.session, told.events) == (why, "free-1", before.events)
    assert as_json(told)["forgotten"] == why
    assert "forgotten" not in as_json(before)
