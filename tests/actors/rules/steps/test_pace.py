"""When a step waits until the page has come to rest, and for what."""

from rutter.actors.rules.steps.pace import (
    CAREFUL_MS,
    HASTY_MS,
    StepPace,
    at_the_end,
    before_recorded,
    before_scripted,
    before_unknown,
    entered,
    followed,
    rested,
)
from rutter.events.action import ActionType
from rutter.events.checks import AlertSaid, ServerAnswered
from rutter.events.page import Resting
from rutter.events.run_settings import RunSettings
from rutter.events.workflow import Expectation, Step
from tests.support.case_table import for_each
from tests.support.shop_facts import any_action, click, fill, go_to, plan, step

SETTINGS = RunSettings(answer_ms=9_000)
SAVE, SEND = "PUT https://shop.example/draft", "POST https://shop.example/orders"
OWING = StepPace(entered=True, owed=(SAVE,))


def expecting(*kinds: str) -> Expectation:
    return Expectation(learned=(AlertSaid("Saved"), *map(ServerAnswered, kinds)))


def test_what_followed_is_what_the_server_answered() -> None:
    assert followed(expecting(SAVE, SEND).learned) == (SAVE, SEND)


@for_each(
    "action, expects, pace",
    [
        (fill(), None, StepPace(True)),
        (fill(), expecting(SAVE), StepPace(True, (SAVE,))),
        (fill(), expecting(SAVE, SEND), StepPace(True, (SAVE, SEND))),
        (click(), None, StepPace()),
        (click(), expecting(SEND), StepPace()),  # what a click sends, its own verdict waits for
    ],
)
def test_what_a_step_sets_off(action: object, expects: Expectation | None, pace: StepPace) -> None:
    assert entered(StepPace(), plan(action, expects=expects)) == pace  # type: ignore[arg-type]


def test_what_is_owed_is_owed_once_and_stays_over_a_click() -> None:
    twice = entered(OWING, plan(fill(), expects=expecting(SAVE)))
    assert twice == OWING
    assert entered(OWING, plan(click())) == OWING


@for_each(
    "recorded, rest",
    [
        (step(fill()), None),
        (Step(fill(), after=expecting(SAVE)), None),
        (step(click()), Resting(9_000)),
        (Step(click(), after=expecting(SAVE)), Resting(9_000, 0, (SAVE,))),
        (step(click(), irreversible=True), Resting(9_000, 0, (SAVE,))),
        (step(click(), leads_to="/next"), Resting(9_000, 0, (SAVE,))),
        (step(go_to("/next")), Resting(9_000, 0, (SAVE,))),
    ],
)
def test_a_recorded_step_that_leaves_or_cannot_be_undone_waits_for_what_is_owed(
    recorded: Step, rest: Resting | None
) -> None:
    assert before_recorded(recorded, OWING, SETTINGS) == rest


def test_the_whole_page_is_read_when_it_has_come_to_rest() -> None:
    read = any_action("read_page")
    assert before_recorded(step(read), StepPace(), SETTINGS) == Resting(9_000)
    assert before_scripted(read, StepPace(), SETTINGS) == Resting(9_000)


def test_what_was_not_waited_for_is_owed_still() -> None:
    assert before_recorded(step(click()), StepPace(), SETTINGS) is None
    assert rested(OWING, Resting(9_000)) == StepPace(owed=(SAVE,))
    assert rested(OWING, Resting(9_000, 0, (SAVE,))) == StepPace()


HARMLESS: tuple[ActionType, ...] = ("type", "select", "scroll", "extract", "wait", "wait_for")
OTHERS: tuple[ActionType, ...] = ("click", "press", "navigate")


@for_each("kind", HARMLESS)
def test_what_only_enters_or_looks_waits_for_nothing(kind: ActionType) -> None:
    assert before_scripted(any_action(kind), OWING, SETTINGS) is None
    assert before_unknown(any_action(kind)) is None


@for_each("kind", OTHERS)
def test_a_script_has_nobodys_pace_and_is_careful_where_something_was_entered(
    kind: ActionType,
) -> None:
    assert before_scripted(any_action(kind), StepPace(True), SETTINGS) == Resting(9_000, CAREFUL_MS)
    assert before_scripted(any_action(kind), StepPace(), SETTINGS) == Resting(9_000)
    assert before_unknown(any_action(kind)) == Resting(HASTY_MS)


@for_each(
    "pace, careful, quiet_ms",
    [(OWING, True, CAREFUL_MS), (OWING, False, 0), (StepPace(), True, 0)],
)
def test_the_end_comes_after_all_that_was_set_off(
    pace: StepPace, careful: bool, quiet_ms: int
) -> None:
    assert at_the_end(pace, SETTINGS, careful=careful) == Resting(9_000, quiet_ms, pace.owed)
