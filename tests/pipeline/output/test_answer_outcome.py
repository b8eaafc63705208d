"""What a person is told of the step that they were asked about."""

from rutter.events.chain import GENESIS
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.person import ApprovalAnswered
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.output.answer_outcome import AnswerOutcome
from tests.support.case_table import for_each

SAVE = ApprovalRequested("3.1.1", 3, "policy", "Click it?")
YES, NO = (ApprovalAnswered("3.1.1", approved, "terminal") for approved in (True, False))
LISTED = ApprovalAnswered("3.1.1", True, "scripted")
DONE = ActionJudged(3, 1, "confirmed", "page_changed")
FAILED = ActionJudged(3, 1, "no_effect", "nothing changed")
SIGN_IN = ApprovalRequested("3.1.1", 3, "login", "Done?")


@for_each(
    "events, said",
    [
        ((SAVE, YES, DONE, DONE), ["you said yes: it was done"]),
        (
            (SAVE, YES, FAILED),
            ["you said yes, and it did not come to what it should: nothing changed"],
        ),
        ((SAVE, YES, OutcomeUnknown(3, 1, "")), ["you said yes: what came of it is not known"]),
        ((SAVE, NO, DONE), ["you said no: nothing was done"]),
        ((SAVE, LISTED, DONE), []),
        ((SIGN_IN, YES, DONE), []),
        ((DONE,), []),
    ],
)
def test_what_came_of_an_answer_is_told_once(events: tuple[AnyEvent, ...], said: list[str]) -> None:
    outcome = AnswerOutcome()
    told = [outcome.of(Envelope(1, "run", 1, 0, "critic", 0, each, GENESIS)) for each in events]
    assert [each for each in told if each] == said
