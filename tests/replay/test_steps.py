"""What became of each step is told once: whatever order its events come in."""

from msgspec.structs import replace

from rutter.events.chain import GENESIS
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionFailed
from rutter.events.vocabulary import AnyEvent
from rutter.replay.step_record import StepRecord
from rutter.replay.steps import SessionSteps, steps_in
from tests.support import step_kinds
from tests.support.case_table import for_each
from tests.support.shop_facts import click, go_to, intent, judged, plan, run_of

FINAL = replace(intent(click()), irreversible=True)
COVERED = ActionFailed(1, 1, "element_obscured", dispatched=False)
CLICKED = replace(COVERED, dispatched=True)


def steps_of(*events: AnyEvent) -> SessionSteps:
    told = (run_of(None), *events)
    return steps_in(
        Envelope(n, "run-1", n, n, "runtime", n - 1, event, GENESIS)
        for n, event in enumerate(told, 1)
    )


def only(*events: AnyEvent) -> StepRecord:
    [step] = steps_of(*events).in_order
    return step


@for_each(
    "events, sent, left_open",
    [
        ((), False, False),
        ((intent(click()),), False, True),
        ((intent(click()), judged("failed")), False, False),
        ((FINAL,), True, True),
        ((FINAL, COVERED, judged("failed")), False, False),
        ((FINAL, CLICKED, judged("failed")), True, True),
        ((FINAL, judged()), True, False),
    ],
)
def test_what_was_sent_may_have_happened_until_it_is_seen_to_work(
    events: tuple[AnyEvent, ...], sent: bool, left_open: bool
) -> None:
    for planned in ((plan(click()),), ()):  # also where its plan was erased
        steps = steps_of(*planned, *events)
        assert (steps.sent, steps.left_open) == (sent, left_open)


def test_another_try_is_the_same_step_without_what_came_of_the_first() -> None:
    again = replace(plan(go_to()), attempt=2)
    step = only(plan(click()), intent(click()), COVERED, judged("failed"), again)
    assert (step.attempts, step.verdict, step.reason, step.failure) == (2, "", "", ("", ""))
    assert (step.words, step.done) == (step.proposed, False)


def test_a_look_whether_it_worked_is_told_below_it() -> None:
    step = only(*step_kinds.read_back(1, "failed"))
    [look] = step.read_backs
    assert (look.read_back_of, step.verdict, look.verdict) == (1, "failed", "failed")
