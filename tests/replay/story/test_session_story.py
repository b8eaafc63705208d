"""A session told as people read it, from hand-written events, up to wherever they stop."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.action import Action, ByCss, ByRole, Target, Untrusted
from rutter.events.advisor import VisionGiven
from rutter.events.checks import HERE, ReadBack, TextVisible
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    Evidence,
    OutcomeUnknown,
    Proof,
    ReadBackFound,
)
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionFailed, TargetMissing, TargetResolved
from rutter.events.observer import DownloadFinished, FileSeen, FilesSeen, ScreenshotTaken
from rutter.events.page import Artifact, Try
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import RunStopped
from rutter.events.runtime import SessionEnded
from rutter.events.upcast import with_causes
from rutter.events.validator import ActionApproved, ActionRejected, ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.proofs import ProofStory
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details
from rutter.replay.story.told_session import Story, as_json
from tests.support import shop_facts

BUTTON = Target((ByCss("#buy"), ByRole("button", "Buy")))
BUY = Action("click", target=BUTTON)


def envelopes(events: Iterable[AnyEvent]) -> list[Envelope]:
    """One session, an event every millisecond."""
    return [
        Envelope(n, "run-1", n, n * 1_000_000, "runtime", n - 1, with_causes(event), bytes(32))
        for n, event in enumerate(events, 1)
    ]


def story(*events: AnyEvent) -> Story:
    return tell(envelopes(events))


def start() -> AnyEvent:
    return shop_facts.run_of(shop_facts.workflow(shop_facts.step(BUY)), values={"customer": "Ann"})


WHOLE: tuple[AnyEvent, ...] = (
    start(),
    shop_facts.saw(shop_facts.page("/cart")),
    shop_facts.plan(BUY, "workflow"),
    TargetResolved(
        1, 1, shop_facts.element(name="Buy now"), (Try(0, 0, "none"), Try(1, 1, "taken")), 900
    ),
    ActionApproved(1, "standing_approval", "approved by its recording", "1"),
    shop_facts.intent(BUY),
    shop_facts.done(),
    shop_facts.saw(shop_facts.page("/paid")),
    ActionJudged(1, 1, "confirmed", "as_recorded", (Evidence("DOM", "/paid", 1_000_000),)),
    CompletionChecked(True, "the recorded end is reached"),
    RunStopped("completed", "", "the recorded end is reached", 1),
    SessionEnded("completed", "", "the recorded end is reached"),
)


def test_a_session_from_its_start_to_its_end() -> None:
    told = story(*WHOLE)

    assert (told.session, told.purpose, told.name, told.version) == ("run-1", "run", "order", 1)
    assert told.values == {"customer": "Ann"}
    assert (told.reason, told.failure) == ("completed", "")
    assert told.detail == "the recorded end is reached"
    assert (told.started_ns, told.ended_ns) == (1_000_000, 12_000_000)
    assert (told.took_ms, told.events) == (11.0, 12)
    assert (told.model_calls, told.cost_microdollars, told.unknown) == (0, 0, "")


BACK = ReadBack(HERE, (TextVisible("${customer}"),))


def test_how_far_each_step_is_proven_is_told() -> None:
    weak, strong = Proof(1, 0, "acknowledged", "the server's answer"), Proof(1, 0, "stored", "it")
    judged = ActionJudged(1, 1, "confirmed", "as_recorded", proof=weak)
    told = story(*WHOLE[:8], ReadBackFound(1, BACK, 0), judged)
    assert told.proofs == [ProofStory(1, 0, "acknowledged", "the server's answer", BACK)]
    assert told.proof == as_json(told)["proof"] == "acknowledged"
    assert "proof: taken, and not read back: the server's answer" in list(details(told.steps[0]))
    later = story(*WHOLE[:8], judged, CompletionChecked(True, "", proofs=(strong,)))
    assert (later.proof, later.steps[0].proof) == ("stored", "the application has it: it")
    assert later.proofs[0].read_back is None
    assert (as_json(story(*WHOLE))["proof"], as_json(story(*WHOLE))["proofs"]) == (None, [])


def test_what_failed_is_told_with_its_kind_and_what_to_do() -> None:
    told = story(start(), SessionEnded("failed", "unreachable", "no answer"))
    assert (told.error_code, told.retriable) == ("tool_unavailable", True)
    assert told.hint == "check that the site answers, then run again"
    assert (story(start()).error_code, story(*WHOLE).retriable) == ("", None)


def test_a_step_with_everything_that_was_decided_about_it() -> None:
    [step] = story(*WHOLE).steps

    assert (step.step, step.driver, step.why, step.attempts) == (1, "workflow", "because", 1)
    assert step.words == "click 'Buy now'"
    assert step.url == shop_facts.ORIGIN + "/cart"
    assert step.tried == ["#buy: not there", "button 'Buy': found"]
    assert step.found_by == "button 'Buy'"
    assert (step.rule, step.approved) == ("standing_approval", "approved by its recording")
    assert (step.verdict, step.reason) == ("confirmed", "as_recorded")
    assert [str(each) for each in step.evidence] == ["DOM '/paid', confidence 1"]
    assert (step.kind, step.confidence) == ("action", 1.0)
    assert step.phases == ["PLAN", "POLICY CHECK", "ACT", "VERIFY", "COMMIT"]
    assert (step.began_ns, step.took_ms) == (3_000_000, 6.0)


@given(st.integers(0, len(WHOLE)))
def test_a_story_stops_wherever_its_events_stop(length: int) -> None:
    told = story(*WHOLE[:length])

    assert told.events == length
    assert told.reason == ("completed" if length >= 11 else "running")
    assert len(told.steps) == (length >= 3)
    assert (told.ended_ns > 0) == (length == len(WHOLE))


def test_nothing_happened_is_a_story_too() -> None:
    assert tell([]) == Story()


def test_a_refusal_is_told_with_its_rule_and_reason() -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY, "prediction", probability=820_000),
        ActionRejected(1, "denylist", "the element says 'buy'", "1", "policy_denied"),
    ).steps

    assert (step.verdict, step.rule, step.reason) == (
        "rejected",
        "denylist",
        "the element says 'buy'",
    )
    assert step.probability == 820_000


def test_a_missing_element_is_told_with_every_way_that_was_tried() -> None:
    missing = TargetMissing(
        1, 1, "element_ambiguous", (Try(0, 2, "ambiguous"), Try(1, 0, "none"), Try(7, 0, "none"))
    )
    [step] = story(start(), shop_facts.plan(BUY), missing).steps

    assert step.tried == ["#buy: several are there", "button 'Buy': not there", "way 8: not there"]
    assert step.found_by == ""


def test_a_question_is_told_with_its_answer_and_who_gave_it() -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY),
        ApprovalRequested("1.1.1", 1, "policy", "click 'Buy': it sends a form. Approve?"),
        ApprovalAnswered("1.1.1", True, "scripted"),
    ).steps

    assert step.asked == "click 'Buy': it sends a form. Approve? -> yes (scripted)"


def test_a_failure_is_told_in_the_words_of_the_executor() -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY),
        ActionFailed(1, 1, "element_obscured", False, "div Cookies"),
        ActionJudged(1, 1, "failed", "element_obscured"),
    ).steps

    assert (step.verdict, step.reason) == ("failed", "element_obscured: div Cookies")


def test_what_the_page_says_of_a_failure_is_told_with_it() -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY),
        shop_facts.failed("timeout", dispatched=True),
        ActionJudged(1, 1, "failed", "the page says 'The card was refused'"),
    ).steps

    assert step.reason == "the page says 'The card was refused' (timeout)"


def test_a_second_try_is_the_same_step_and_its_reason_is_its_own() -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY),
        shop_facts.failed("element_obscured", dispatched=False),
        shop_facts.judged("failed"),
        shop_facts.plan(BUY, attempt=2),
        shop_facts.done(attempt=2),
        ActionJudged(1, 2, "no_effect", "nothing_changed"),
    ).steps

    assert (step.attempts, step.verdict, step.reason) == (2, "no_effect", "nothing_changed")


def test_a_second_try_that_is_running_has_no_verdict_yet() -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY),
        shop_facts.failed("timeout", dispatched=False),
        shop_facts.judged("failed"),
        shop_facts.plan(BUY, attempt=2),
    ).steps

    assert (step.attempts, step.verdict, step.reason) == (2, "", "")


@pytest.mark.parametrize("name", ["order_number", "order number", "num\xe9ro", None])
def test_what_was_read_is_a_result_by_its_name(name: str | None) -> None:
    read = Action("extract", target=shop_facts.css("#n"), name=name)
    told = story(
        start(),
        shop_facts.plan(read),
        shop_facts.intent(read),
        shop_facts.done(extracted=Untrusted("1007")),
        shop_facts.judged(),
    )

    assert told.results == {name or "text": "1007"}
    assert told.steps[0].extracted == "1007"


def cut_short(*, irreversible: bool, picture: Artifact) -> Story:
    return story(
        start(),
        shop_facts.plan(BUY),
        shop_facts.intent(BUY, irreversible=irreversible),
        RunStopped("interrupted", "browser_lost", "the page crashed", 1),
        OutcomeUnknown(1, 1, "interrupted before its outcome was judged"),
        ScreenshotTaken(picture, "stopped"),
        SessionEnded("interrupted", "browser_lost", "the page crashed"),
    )


def test_a_picture_and_an_unknown_outcome_are_told() -> None:
    picture = Artifact("ab" * 32, 7, "image/png")
    told = cut_short(irreversible=True, picture=picture)

    assert told.screenshot == picture
    assert told.unknown == "interrupted before its outcome was judged"
    assert told.retriable is False
    assert told.hint == "look at the site whether it was done before it is run again"
    assert (told.reason, told.failure) == ("interrupted", "browser_lost")
    harmless = cut_short(irreversible=False, picture=picture)
    assert (harmless.unknown, harmless.retriable) == ("", True), "it leaves nothing to look for"


@given(st.text())
def test_what_a_page_said_is_told_on_one_line(said: str) -> None:
    [step] = story(
        start(),
        shop_facts.plan(BUY),
        TargetResolved(1, 1, shop_facts.element(name=said), (Try(0, 1, "taken"),)),
        ApprovalRequested("1", 1, "policy", said),
        shop_facts.intent(BUY),
        ActionJudged(
            1, 1, "confirmed", "seen", (Evidence("DOM", said, 1_000_000, Untrusted(said)),)
        ),
        FilesSeen(1, (FileSeen(said, error="unreadable", message=said),)),
        DownloadFinished(Untrusted(said), failure=said),
        VisionGiven(1, 1, "UNKNOWN", said, said),
    ).steps

    told = (*step.evidence, step.vision, *step.files, *step.downloads)
    for text in (step.words, step.asked, *map(str, told)):
        assert text.isprintable()
