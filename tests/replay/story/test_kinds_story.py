"""Three kinds of step, told apart: how each went, on what evidence, and what belongs to what."""

import msgspec

from rutter.events.critic import ActionJudged, PageAssessed, VisionSought
from rutter.events.envelope import Envelope
from rutter.events.planner import PlanWithheld, RunStopped
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.output.verbose import Narrator
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details
from rutter.replay.story.told_session import StepStory, Story
from tests.replay.story.test_session_story import envelopes
from tests.support import golden_logs, shop_facts, step_kinds
from tests.support.case_table import for_each
from tests.support.golden_logs import names, older

FIVE = ["PLAN", "POLICY CHECK", "ACT", "VERIFY", "COMMIT"]


def story(*events: AnyEvent) -> Story:
    return tell(envelopes((shop_facts.run_of(None), *events)))


def only(*events: AnyEvent) -> StepStory:
    [step] = story(*events).steps
    return step


def test_an_observation_is_answered_and_nothing_of_it_is_allowed_or_judged() -> None:
    told = story(*step_kinds.read())
    [step] = told.steps

    assert (step.kind, step.verdict, step.done) == ("observation", "answered", True)
    assert step.phases == ["PLAN", "OBSERVE", "COMMIT"]
    assert (step.evidence, step.confidence, step.rule) == ([], None, "")
    assert step.words == "read order_number from 'Number'"
    assert step.extracted == "1007"
    assert told.results == {"order_number": "1007"}
    assert step.took_ms == 4.0


def test_an_observation_that_found_nothing_failed() -> None:
    step = only(*step_kinds.waited_in_vain())

    assert (step.kind, step.verdict, step.done) == ("observation", "failed", False)
    assert step.reason == "timeout: 3000 ms"
    assert step.phases == ["PLAN", "OBSERVE", "COMMIT"]


def test_an_observation_that_was_refused_failed_too_and_an_optional_one_is_passed_over() -> None:
    plan = shop_facts.plan(step_kinds.READ, "workflow", kind="observation")
    refused = ActionRejected(1, "target_exists", "not there", "1", "execution_error")

    assert (only(plan, refused).verdict, only(plan, refused).reason) == ("failed", "not there")
    assert only(plan, refused).phases == ["PLAN", "OBSERVE", "COMMIT"]
    assert only(plan, refused, PlanWithheld("optional", 0)).verdict == "passed_over"


def test_a_verification_goes_through_the_phases_of_an_action() -> None:
    step = only(*step_kinds.checked())

    assert (step.kind, step.verdict) == ("verification", "failed")
    assert step.phases == FIVE
    assert step.words == ("check that the page shows 'Order sent' and there is a file 'orders.csv'")


def test_what_was_looked_at_beside_the_verdict_is_told() -> None:
    step = only(*step_kinds.checked())

    assert step.files == [
        "'orders.csv': there, 12 bytes",
        "'/etc/x': not looked at (policy_denied: outside)",
    ]
    assert step.downloads == ["'orders.csv' not kept: too large"]
    assert (step.state, step.differed) == (
        "RETENTION_OFFER",
        "expected COMPLETE, is RETENTION_OFFER",
    )


def test_vision_is_told_with_what_it_changed() -> None:
    step = only(*step_kinds.checked())

    assert str(step.vision) == (
        "VERIFIED by scripted eyes-2 (it says \\U0001f6a2); "
        "1100 tokens in (100 cached), 20 out, $0.0036, 5 ms; it changed nothing"
    )
    assert step.verdict == "failed"
    assert step.confidence == 0.65


def test_a_picture_that_nobody_answered_for_is_told_as_such() -> None:
    events = step_kinds.checked()
    asked = next(at for at, event in enumerate(events) if isinstance(event, VisionSought))

    assert str(only(*events[: asked + 1]).vision) == "no answer; it changed nothing"


@for_each("verdict", ["confirmed", "failed"])
def test_a_look_whether_it_worked_is_told_under_its_step(verdict: str) -> None:
    told = story(*step_kinds.read_back(1, verdict), *step_kinds.read(3))
    saved, read = told.steps
    [look] = saved.read_backs

    assert [saved.step, look.step, read.step] == [1, 2, 3]
    assert (saved.verdict, look.verdict, read.verdict) == (verdict, verdict, "answered")
    assert (look.kind, look.words) == (
        "verification",
        "look at https://shop.example/orders?of=me for 'Order 7'",
    )
    assert saved.phases == look.phases == FIVE
    assert [each.checked for each in saved.evidence] == ["/saved", "Order 7"]
    assert look.evidence[0].sample == "Your Order 7 is"
    assert saved.took_ms > look.took_ms


def test_the_state_is_of_the_step_and_not_of_the_look_elsewhere() -> None:
    told = story(PageAssessed("START"), *step_kinds.read_back())
    [saved] = told.steps

    assert (saved.state, saved.read_backs[0].state, told.state) == (
        "ACCOUNT_ACTIVE",
        "",
        "ACCOUNT_ACTIVE",
    )
    assert story(PageAssessed("START")).state == "START"
    assert story(*step_kinds.read_back(), PageAssessed()).state == ""  # it is not known any more


def test_a_verdict_of_a_step_that_is_not_known_is_nobodys() -> None:
    step = only(*step_kinds.acted(step_kinds.SAVE), step_kinds.judged(7))

    assert step.verdict == ""


def test_a_second_try_goes_through_its_phases_again() -> None:
    step = only(
        *step_kinds.acted(step_kinds.SAVE),
        step_kinds.judged(1, "no_effect"),
        *step_kinds.acted(step_kinds.SAVE, attempt=2),
        step_kinds.judged(1),
    )

    assert step.phases == FIVE * 2
    assert (step.attempts, step.verdict) == (2, "confirmed")


@for_each("error, verdict", [("", "answered"), ("policy_denied", "failed")])
def test_a_file_that_was_read_is_an_observation(error: str, verdict: str) -> None:
    step = only(*step_kinds.file_read(error))

    assert (step.kind, step.verdict, step.words) == (
        "observation",
        verdict,
        "read the file 'customers.csv'",
    )
    assert step.phases == ["PLAN", "OBSERVE", "COMMIT"]
    assert step.extracted is None  # what it holds is for whoever asked


@for_each("name", [*names(), *older()])
def test_a_log_of_any_logic_is_told_and_narrated(name: str) -> None:
    sessions: dict[str, list[Envelope]] = {}
    for envelope in golden_logs.envelopes(name):
        sessions.setdefault(envelope.session, []).append(envelope)
    for events in sessions.values():
        told, narrator = tell(events), Narrator()
        steps = [each for step in told.steps for each in (step, *step.read_backs)]
        judged = {e.event.step for e in events if isinstance(e.event, ActionJudged)}
        assert {step.step for step in steps if step.confidence is not None} == judged
        assert all(step.phases[-1] == "COMMIT" for step in steps if step.done)
        lines = [line for envelope in events for line in narrator.lines(envelope)]
        assert all(line.isascii() for line in lines)


def test_what_stands_below_a_step() -> None:
    step = only(*step_kinds.checked())

    assert list(details(step)) == [
        "workflow: because; gate: nothing_matched, no rule is against it",
        "verification: PLAN -> POLICY CHECK -> ACT -> VERIFY -> COMMIT; confidence 0.65",
        "downloaded: 'orders.csv' not kept: too large",
        "file 'orders.csv': there, 12 bytes",
        "file '/etc/x': not looked at (policy_denied: outside)",
        "evidence: FILE 'orders.csv', confidence 1",
        "evidence: DOM 'Order sent', confidence 0.2",
        "evidence: VISION 'Order sent', confidence 0.5",
        "vision: VERIFIED by scripted eyes-2 (it says \\U0001f6a2); "
        "1100 tokens in (100 cached), 20 out, $0.0036, 5 ms; it changed nothing",
        "state: RETENTION_OFFER",
        "state differed: expected COMPLETE, is RETENTION_OFFER",
    ]


def test_all_of_it_is_in_the_json() -> None:
    told = msgspec.to_builtins(
        story(*step_kinds.read_back(), *step_kinds.checked(3), RunStopped("failed"))
    )
    saved, checked = told["steps"]

    assert saved["read_backs"][0]["kind"] == "verification"
    assert checked["vision"]["said"] == "VERIFIED"
    assert checked["evidence"][1] == {
        "source": "DOM", "checked": "Order sent", "confidence": 0.2,
    }  # fmt: skip
    assert {"phases", "confidence", "files", "downloads", "state", "differed"} <= set(checked)
