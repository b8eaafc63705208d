"""All the lines of S2 9.2, as they stand there, in ASCII whatever a page says (H7)."""

import re

from hypothesis import given
from hypothesis import strategies as st

from rutter.events.action import Action, ByRef, ByRole, Target, Text, Untrusted
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    VisionGiven,
    WantedCall,
)
from rutter.events.critic import ActionJudged, Barrier, Evidence, PageAssessed
from rutter.events.envelope import Envelope
from rutter.events.executor import (
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import DownloadFinished, FileSeen, FilesSeen, PageObserved
from rutter.events.page import Page, PageElement
from rutter.events.planner import AdviceRequested, PlanProposed, PlanWithheld, RunStopped
from rutter.events.predictor import PredictionMade, TransitionUndone, Within
from rutter.events.runtime import ActorFailed, StopReason
from rutter.events.validator import ActionApproved, ActionRejected, ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.output.verbose import Narrator
from tests.support import shop_facts, step_kinds
from tests.support.case_table import for_each

# S2 9.2, word for word; {what} stands for what varies.
PHASES = (
    *("PHASE 1: PLAN", "PHASE 2: POLICY CHECK", "PHASE 3: ACT"),
    *("PHASE 4: VERIFY", "PHASE 5: COMMIT"),
)
S2_LINES = (
    *PHASES,
    "[OK] APPROVED: {action}",
    "[FAIL] DENIED: {reason}",
    "[OK] EXECUTED: {message}",
    "[FAIL] VERIFICATION FAILED: {error}",
    "[OK] VERIFIED: {message}",
    "[OK] COMMITTED to action history",
    "[EVIDENCE] Source: {source}, Checked: '{text}', Confidence: {conf}",
    "[EVIDENCE] Sample: {sample[:100]}...",
    "Action {i} failed due to verification failure. Aborting plan.",
    "Action {i} failed after retry. Aborting plan.",
    "Verification failed. This is a terminal failure (no retry allowed).",
)
BUY = shop_facts.click("#buy")


def narrate(*events: AnyEvent) -> list[str]:
    narrator = Narrator()
    lines: list[str] = []
    for n, event in enumerate(events, 1):
        envelope = Envelope(n, "run-1", n, n, "runtime", n - 1, event, bytes(32))
        lines += narrator.lines(envelope)
    return lines


def fits(template: str) -> re.Pattern[str]:
    """The seed's line as a pattern: each {what} is something."""
    parts = re.split(r"\{[^}]*\}", template)
    return re.compile(".+".join(map(re.escape, parts)))


def evidence(sample: str | None = "Thank you") -> Evidence:
    said = Untrusted(sample) if sample is not None else None
    return Evidence("DOM", "/paid", 1_000_000, said)


GOOD: tuple[AnyEvent, ...] = (
    shop_facts.plan(BUY),
    TargetResolved(1, 1, shop_facts.element(name="Buy")),
    ActionApproved(1, "nothing_matched", "no rule is against it", "1"),
    shop_facts.intent(BUY),
    shop_facts.done(),
    ActionJudged(1, 1, "confirmed", "as_recorded", (evidence(),)),
)
BAD: tuple[AnyEvent, ...] = (
    ActionJudged(1, 1, "no_effect", "nothing_changed"),
    RunStopped("failed", "verification_failed", "no_effect: nothing_changed", 1),
)
TWICE: tuple[AnyEvent, ...] = (
    ActionFailed(2, 2, "element_obscured", False, "div Cookies"),
    ActionJudged(2, 2, "failed", "element_obscured"),
    RunStopped("failed", "retry_exhausted", "failed: element_obscured", 2),
)
DENIED = ActionRejected(1, "denylist", "the element says 'buy'", "1", "policy_denied")


@for_each("template", S2_LINES)
def test_the_line_appears_as_it_stands_in_the_seed(template: str) -> None:
    lines = narrate(*GOOD, *BAD, *TWICE, shop_facts.plan(BUY), DENIED)

    assert any(fits(template).fullmatch(line) for line in lines), lines


def test_a_step_that_works_goes_through_its_five_phases_in_order() -> None:
    assert narrate(*GOOD) == [
        *("PHASE 1: PLAN", "click #buy (because)", "PHASE 2: POLICY CHECK"),
        *("[OK] APPROVED: click #buy (no rule is against it)", "PHASE 3: ACT"),
        *("[OK] EXECUTED: click #buy in 0 ms", "PHASE 4: VERIFY"),
        *("[EVIDENCE] Source: DOM, Checked: '/paid', Confidence: 1",),
        *("[EVIDENCE] Sample: Thank you...", "[OK] VERIFIED: as_recorded"),
        *("PHASE 5: COMMIT", "[OK] COMMITTED to action history"),
    ]


def test_a_verification_that_failed_is_the_end() -> None:
    assert narrate(*BAD)[-3:] == [
        "Action 1 failed due to verification failure. Aborting plan.",
        "Verification failed. This is a terminal failure (no retry allowed).",
        "[FAIL] FAILED: no_effect: nothing_changed",
    ]


def test_a_second_failure_is_told_from_a_failed_verification() -> None:
    lines = narrate(*TWICE)

    assert "[FAIL] NOT EXECUTED: element_obscured div Cookies" in lines
    assert "Action 2 failed after retry. Aborting plan." in lines
    assert not any(line.startswith("Verification failed.") for line in lines)


def test_a_refusal_ends_in_the_second_phase() -> None:
    assert narrate(shop_facts.plan(BUY), DENIED) == [
        *("PHASE 1: PLAN", "click #buy (because)", "PHASE 2: POLICY CHECK"),
        *("[FAIL] DENIED: the element says 'buy'", "Policy denied action"),
    ]


def test_the_policy_check_is_said_once_however_often_it_looks() -> None:
    asked = ApprovalRequested("1.1.1", 1, "policy", "Approve?")
    approved = ActionApproved(1, "sends_a_form", "approved by a person (scripted)", "1", "1.1.1")
    found = shop_facts.found(shop_facts.element())
    lines = narrate(shop_facts.plan(BUY), found, asked, approved)

    assert lines.count("PHASE 2: POLICY CHECK") == 1


def test_every_step_has_its_own_policy_check() -> None:
    first, second = (TargetMissing(step, 1, "element_not_found") for step in (1, 2))
    lines = narrate(shop_facts.plan(BUY), first, shop_facts.plan(BUY, number=2), second)

    assert lines.count("PHASE 2: POLICY CHECK") == 2


def test_an_action_without_a_message_leaves_no_blank_behind() -> None:
    assert narrate(ActionFailed(1, 1, "timeout", True)) == ["[FAIL] NOT EXECUTED: timeout"]


def test_what_was_not_planned_and_who_failed_are_said() -> None:
    lines = narrate(
        PlanWithheld("confidence_too_low_0.42"), ActorFailed("critic", "KeyError", "'url'")
    )

    assert lines == [
        "PHASE 1: PLAN",
        "[FAIL] NOTHING PLANNED: confidence_too_low_0.42",
        "[FAIL] critic: KeyError: 'url'",
    ]


@for_each(
    "reason, line",
    [
        ("completed", "[OK] COMPLETED: there"),
        ("completed_unverified", "[FAIL] COMPLETED_UNVERIFIED: there"),
        ("cancelled", "[FAIL] CANCELLED: there"),
    ],
)
def test_how_it_ended_is_said(reason: StopReason, line: str) -> None:
    assert narrate(RunStopped(reason, "", "there", 3)) == [line]


def test_a_sample_is_cut_at_a_hundred_characters() -> None:
    lines = narrate(ActionJudged(1, 1, "confirmed", "r", (evidence("x" * 150),)))

    assert f"[EVIDENCE] Sample: {'x' * 100}..." in lines


def test_evidence_without_a_sample_says_none() -> None:
    lines = narrate(ActionJudged(1, 1, "confirmed", "r", (evidence(None),)))

    assert not any("Sample" in line for line in lines)


def test_an_observation_goes_through_three_phases_and_no_policy_or_verification() -> None:
    assert narrate(*step_kinds.read()) == [
        *("PHASE 1: PLAN", "read order_number from #n (because)", "PHASE 2: OBSERVE"),
        *("[OK] OBSERVED: read order_number from #n -> '1007' in 2 ms",),
        *("PHASE 3: COMMIT", "[OK] COMMITTED to observation log"),
    ]


def test_an_observation_that_found_nothing_is_kept_too() -> None:
    refused = ActionRejected(2, "target_exists", "not there", "1", "execution_error")
    lines = narrate(
        *step_kinds.waited_in_vain(),
        shop_facts.plan(step_kinds.READ, number=2, kind="observation"),
        refused,
    )

    assert lines[3:5] == ["[FAIL] NOT OBSERVED: timeout 3000 ms", "PHASE 3: COMMIT"]
    assert lines[-4:] == [
        "PHASE 2: OBSERVE",
        "[FAIL] NOT OBSERVED: not there",
        "PHASE 3: COMMIT",
        "[OK] COMMITTED to observation log",
    ]


@for_each(
    "error, line",
    [
        ("", "[OK] OBSERVED: 'customers.csv', 7 characters"),
        ("policy_denied", "[FAIL] NOT OBSERVED: policy_denied outside"),
    ],
)
def test_a_file_that_was_read_is_an_observation(error: str, line: str) -> None:
    assert narrate(*step_kinds.file_read(error)) == [
        "PHASE 1: PLAN",
        "read the file 'customers.csv'",
        "PHASE 2: OBSERVE",
        line,
        "PHASE 3: COMMIT",
        "[OK] COMMITTED to observation log",
    ]


def test_a_verdict_after_the_look_elsewhere_says_whose_it_is() -> None:
    lines = narrate(*step_kinds.read_back())
    due = lines.index("READ BACK: whether the page shows 'Order 7' at " + step_kinds.LOOK.url)

    assert lines[due - 1] == "PHASE 4: VERIFY"
    assert lines[due + 1] == "PHASE 1: PLAN"
    own = lines.index("Step 1: click #save")
    assert lines[own - 1] == "[OK] COMMITTED to action history"  # of the look
    assert lines[own + 1 :] == [
        "[EVIDENCE] Source: DOM, Checked: '/saved', Confidence: 1",
        "[EVIDENCE] Source: DOM, Checked: 'Order 7', Confidence: 1",
        "[OK] VERIFIED: as_recorded",
        "PHASE 5: COMMIT",
        "[OK] COMMITTED to action history",
    ]


def test_the_deciding_evidence_is_told_with_the_confidence_over_all() -> None:
    lines = narrate(*step_kinds.checked())

    assert [line for line in lines if line.startswith("[EVIDENCE]")] == [
        "[EVIDENCE] Source: FILE, Checked: 'orders.csv', Confidence: 1",
        "[EVIDENCE] Source: DOM, Checked: 'Order sent', Confidence: 0.65",
        "[EVIDENCE] Source: VISION, Checked: 'Order sent', Confidence: 0.5",
    ]
    seen = lines.index("VISION: VERIFIED it says \\U0001f6a2")
    assert lines[seen - 1] == ("[MODEL] scripted eyes-2: 1,100 tokens in, 20 out, $0.0036, 0.0 s")
    assert "FILE 'orders.csv': there, 12 bytes" in lines
    assert "[FAIL] STATE: the page is RETENTION_OFFER, expected was COMPLETE" in lines


def test_what_keeps_a_run_out_is_told_once() -> None:
    barrier = Barrier("captcha", ("frame",), "Cloudflare", "a frame of Cloudflare")
    seen = PageAssessed("", barrier)
    assert narrate(seen, seen, PageAssessed(), seen) == 2 * [
        "[BARRIER] the site asks here for a captcha, which a person must do (Cloudflare): "
        "a frame of Cloudflare"
    ]


def test_looking_that_fails_says_who_was_asked() -> None:
    late = VisionGiven(1, 1, "UNKNOWN", "ollama", "late", took_ms=900, model="m", error="timeout")
    lines = narrate(*step_kinds.acted(step_kinds.SAVE), late)
    assert lines[-2:] == ["[FAIL] MODEL ollama: timeout (0.9 s)", "VISION: UNKNOWN late"]


def test_other_events_are_not_narrated() -> None:
    assert narrate(shop_facts.run_of(None), shop_facts.saw(shop_facts.page())) == []


@given(st.text())
def test_hostile_page_text_is_one_line_of_ascii_each(said: str) -> None:
    action = Action("type", target=Target((ByRole("button", said),)), value=Text(said))
    lines = narrate(
        shop_facts.plan(action),
        ActionApproved(1, said, said, "1"),
        ActionRejected(1, said, said, "1", "policy_denied"),
        shop_facts.done(),
        ActionFailed(1, 1, "action_failed", True, said),
        ActionJudged(1, 1, "failed", said, (Evidence("DOM", said, 200_000, Untrusted(said)),)),
        RunStopped("failed", "verification_failed", said, 1),
        ActorFailed("executor", "Error", said),
        QueryAnswered(1, 1, 5, Untrusted(said)),
        QueryFailed(1, 1, "timeout", said),
        FilesSeen(1, (FileSeen(said),)),
        VisionGiven(1, 1, "UNKNOWN", said, said),
        DownloadFinished(Untrusted(said), failure=said),
    )

    assert lines
    for line in lines:
        assert line.isascii()
        assert line.isprintable()
        assert line.encode("cp1252").decode("cp1252") == line


def test_what_a_model_is_asked_what_it_says_and_what_that_costs() -> None:
    said = narrate(
        AdviceRequested("a1", "act", "anthropic", "claude-x"),
        AdvicePrepared("a1", tokens=1_200),
        AdviceReceived(
            "a1",
            "anthropic",
            "claude-x",
            calls=(WantedCall("c1", "browser_click", '{"ref": "@e5"}'),),
            usage=TokenUsage(1_240, 85),
            cost_microdollars=4_800,
            took_ms=1_900,
        ),
    )
    assert said == [
        "[MODEL] asking anthropic claude-x what to do next",
        "[MODEL] anthropic claude-x: 1,240 tokens in, 85 out, $0.0048, 1.9 s",
        "[MODEL] it says: browser_click ref=@e5",
    ]


def test_what_a_model_names_by_a_ref_is_told_by_its_name() -> None:
    page = Page(
        "https://a.example/", elements=(PageElement("link"), PageElement("button", Untrusted("Go")))
    )
    click = Action("click", target=Target((ByRef("@e1"),)))
    told = narrate(PageObserved(page, "start"), PlanProposed(1, 1, "model", click, "call"))
    assert "click 'Go' (call)" in told


def test_a_price_that_is_unknown_is_said_to_be() -> None:
    received = AdviceReceived("a1", "ollama", "m", "said", usage=TokenUsage(10, 2), priced=False)
    assert "10 tokens in, 2 out, at an unknown price, 0.0 s" in narrate(received)[0]


def test_a_model_that_fails_is_asked_once_more_and_then_another() -> None:
    said = narrate(
        AdviceRequested("a1", "repair", "anthropic", "claude-x"),
        AdviceFailed("a1", "anthropic", "overloaded", True, "busy", 300),
        AdviceRequested("a2", "repair", "anthropic", "claude-x", attempt=2),
        AdviceFailed("a2", "anthropic", "unauthorised", False),
        AdviceRequested("a3", "correct", "openai", "gpt-x", correction=2),
        AdviceLost("a3"),
    )
    assert said == [
        "[MODEL] asking anthropic claude-x for a step that is not as it was recorded",
        "[FAIL] MODEL anthropic: overloaded: busy (0.3 s)",
        "[MODEL] asking anthropic claude-x for a step that is not as it was recorded, once more",
        "[FAIL] MODEL anthropic: unauthorised (0.0 s)",
        "[MODEL] what to do: its key is not accepted: check models.anthropic.key and what it names",
        "[MODEL] anthropic does not answer: from here on openai",
        "[MODEL] asking openai gpt-x for another way after what went wrong (correction 2)",
        "[MODEL] the run ended before the answer came: it counts as spent",
    ]


# -- what is foreseen ------------------------------------------------------------------------------


def test_where_it_may_be_is_told_and_what_cannot_be_done_there() -> None:
    within = (Within("order", 2, 3, 7, 930_000), Within("refund", 1, 1, 4, 50_000))
    assert narrate(PredictionMade("foresight", 0, within=within, absent=1)) == [
        "[WITHIN] it seems to be after step 3 of 7 of order, 0.93",
        "[WITHIN] 1 more was likely, and not possible on this page",
    ]


def test_a_prediction_by_itself_is_told_by_its_plan_alone() -> None:
    assert narrate(PredictionMade("markov2", 0)) == []


def test_what_a_person_took_back_is_told() -> None:
    assert narrate(TransitionUndone("x", "went_back")) == [
        "[UNDONE] a person went back: it counts against what was done"
    ]


def test_what_a_person_refused_was_never_done() -> None:
    assert narrate(TransitionUndone("x", "refused")) == [
        "[REFUSED] a person said no to what was predicted: it counts against it"
    ]


def test_a_suggestion_is_put_as_a_question() -> None:
    suggested = PlanProposed(
        2, 1, "prediction", BUY, "because", probability=620_000, source="suggestion"
    )
    assert narrate(suggested) == ["PHASE 1: PLAN", "suggests: click #buy (0.62) - do it?"]


def within(*found: tuple[str, int, int], absent: int = 0) -> PredictionMade:
    told = tuple(Within(name, 1, step, 7, probability) for name, step, probability in found)
    return PredictionMade("foresight", 1, within=told, absent=absent)


def test_a_free_run_says_which_workflow_it_seems_to_be_in() -> None:
    free = shop_facts.free_run()
    likely = within(("order", 3, 930_000), ("refund", 1, 50_000))
    assert narrate(free, likely) == ["[WITHIN] it seems to be after step 3 of 7 of order, 0.93"]
    assert narrate(free, likely, likely) == narrate(free, likely)  # said once for each step
    assert len(narrate(free, likely, within(("order", 4, 930_000)))) == 2


def test_what_is_as_likely_not_so_is_not_said() -> None:
    assert narrate(shop_facts.free_run(), within(("order", 3, 499_999))) == []
    assert len(narrate(shop_facts.free_run(), within(("order", 3, 500_000)))) == 1
    assert narrate(shop_facts.recording_of(), within(("order", 3, 930_000))) == []
