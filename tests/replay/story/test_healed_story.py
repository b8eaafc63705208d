"""A step that was healed says so, from what to what, in the story and in the narration."""

from rutter.events.envelope import Envelope
from rutter.events.executor import LookalikesFound, TargetMissing, TargetResolved
from rutter.events.planner import LookalikesRequested, PlanProposed, TargetHealed
from rutter.events.validator import ActionApproved, ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.output.verbose import Narrator
from rutter.replay.story.session_story import tell
from rutter.replay.story.wording import ascii_only
from tests.support import shop_facts
from tests.support.page_elements import click_on, thing

OLD = thing("Place order", id="place")
NEW = thing("Submit \N{SHIP}", id="x7")
EVENTS: tuple[AnyEvent, ...] = (
    shop_facts.run_of(shop_facts.workflow(shop_facts.step(click_on(OLD)))),
    shop_facts.plan(click_on(OLD), "workflow"),
    TargetMissing(1, 1, "element_not_found"),
    ActionRejected(1, "target_exists", "not there", "1", "execution_error", "element_not_found"),
    LookalikesRequested(1, 1, OLD.fingerprint),
    LookalikesFound(1, 1, (NEW,)),
    TargetHealed(1, 1, NEW, 876_543, 210_000),
    PlanProposed(1, 1, "workflow", click_on(NEW), "because_healed", index=0, healed=True),
    TargetResolved(1, 1, NEW),
    ActionApproved(1, "sends_a_form", "approved by a person (terminal)", "1", "1.1.1"),
    shop_facts.intent(click_on(NEW)),
    shop_facts.done(),
    shop_facts.judged(),
)
HEALED = '"Place order" is now the button "Submit \N{SHIP}" (87 % alike)'


def envelopes() -> list[Envelope]:
    return [
        Envelope(n, "run-1", n, n, "runtime", n - 1, event, bytes(32))
        for n, event in enumerate(EVENTS, 1)
    ]


def test_the_story_tells_from_what_to_what_a_step_was_healed() -> None:
    [only_step] = tell(envelopes()).steps
    assert only_step.healed == HEALED
    assert (only_step.attempts, only_step.verdict) == (1, "confirmed")


def test_the_narration_tells_it_in_ascii() -> None:
    narrator = Narrator()
    lines = [line for envelope in envelopes() for line in narrator.lines(envelope)]
    assert f"[OK] HEALED: {ascii_only(HEALED)}" in lines
    assert "".join(lines).isascii()


def test_a_step_that_was_not_healed_says_nothing_of_it() -> None:
    [only_step] = tell(envelopes()[:4]).steps
    assert only_step.healed == ""
