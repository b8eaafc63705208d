"""What language models advised, told at the step that it led to."""

from rutter.events.action import Untrusted
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    Proposal,
    TokenUsage,
    VisionGiven,
    WantedCall,
)
from rutter.events.planner import AdviceRequested
from rutter.events.tools import ToolCalled
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.advice import AdviceStory, money, spent_in_words
from rutter.replay.story.told_session import Story
from tests.replay.story.test_kinds_story import story
from tests.support import shop_facts, step_kinds
from tests.support.case_table import for_each

ASKED = AdviceRequested("a1", "act", "anthropic", "m")


def answer(name: str = "a1", *calls: WantedCall, **more: object) -> AdviceReceived:
    return AdviceReceived(name, "anthropic", "m", calls=calls, **more)  # type: ignore[arg-type]


def only(*events: AnyEvent) -> AdviceStory:
    [call] = story(*events).advice
    return call


def told(found: Story) -> list[list[str]]:
    """Of each step, what was advised."""
    return [[call.advised or call.ended for call in step.advice] for step in found.steps]


def test_a_step_tells_all_that_was_asked_before_it() -> None:
    found = story(
        ASKED,
        answer("a1", WantedCall("c1", "get_snapshot")),
        AdviceRequested("a2", "act", "anthropic", "m"),
        answer("a2", WantedCall("c2", "click", '{"ref":"@e5"}')),
        *step_kinds.acted(step_kinds.SAVE, driver="model"),
        step_kinds.judged(1),
        AdviceRequested("a3", "act", "anthropic", "m"),
        answer("a3", WantedCall("c3", "fill", '{"ref":"@e6","value":{"typed":0}}')),
        *step_kinds.acted(shop_facts.fill(), 2, driver="model"),
    )
    assert told(found) == [["get_snapshot", "click ref=@e5"], ["fill ref=@e6 value=<typed 1>"]]
    assert (found.advice, found.model_calls) == ([], 3)


def test_the_step_that_repairs_another_tells_how_it_was_found() -> None:
    gone, step = story(*step_kinds.repaired()).steps

    assert (gone.driver, gone.verdict, gone.advice) == ("workflow", "rejected", [])
    assert (step.driver, step.verdict) == ("model", "confirmed")
    assert [call.ended for call in step.advice] == ["failed", "called"]
    assert step.advice[1].missing == ["picture"]
    assert step.advice[1].estimated_tokens == 1_100


def test_a_look_whether_a_step_worked_took_no_advice() -> None:
    saved, looked = step_kinds.read_back()[:6], step_kinds.read_back()[6:]
    found = story(*saved, ASKED, *looked)

    assert [look.advice for look in found.steps[0].read_backs] == [[]]
    assert [call.ended for call in found.advice] == ["waiting"]


def test_a_file_that_is_read_on_advice_tells_it() -> None:
    read = answer("a1", WantedCall("c1", "read_file", '{"path":"customers.csv"}'))
    found = story(ASKED, read, *step_kinds.file_read())

    assert told(found) == [["read_file path=customers.csv"]]


def test_advice_about_a_step_that_led_to_no_other_is_told_there() -> None:
    asked = AdviceRequested("a1", "correct", "anthropic", "m", step=1, correction=2, errors=("no",))
    found = story(
        *step_kinds.acted(step_kinds.SAVE), step_kinds.judged(1, "failed"), asked, AdviceLost("a1")
    )

    assert [str(call) for call in found.steps[0].advice] == [
        "correct 2, anthropic m: lost; asked, cost unknown"
    ]


def test_only_the_first_call_is_advice_and_the_others_are_named() -> None:
    calls = (
        WantedCall("c1", "click", "{}", "give a ref"),
        WantedCall("c2", "press"),
        WantedCall("c3", "scroll"),
    )
    call = only(ASKED, answer("a1", *calls))

    assert (call.advised, call.ignored, call.error) == ("click", ["press", "scroll"], "give a ref")
    assert "click; invalid: give a ref; ignored press, scroll" in str(call)


def test_what_is_no_advice_says_why() -> None:
    asked = AdviceRequested("a1", "plan", "openai", "gpt", note="p=0.20 is below 0.60")
    cut = AdviceReceived(
        "a1", "openai", "gpt-2", "cut", invalid="no object", usage=TokenUsage(7, 3)
    )
    call = only(asked, cut)

    assert str(call) == (
        "plan (p=0.20 is below 0.60), openai gpt-2: nothing; invalid: no object; cut; "
        "7 tokens in, 3 out, $0.00"
    )


def test_a_model_that_says_something_instead_of_calling_is_quoted() -> None:
    call = only(ASKED, answer(ending="said", text=Untrusted("All done \N{SHIP}\n" + "x" * 500)))

    assert call.why.startswith("All done \\U0001f6a2\\n")
    assert len(call.why) == 160


def test_how_sure_a_model_is_and_where_it_thinks_that_leads() -> None:
    proposal = Proposal(step_kinds.SAVE, 650_000, leads_to="COMPLETE", instead=False)
    call = only(ASKED, answer(proposal=proposal))

    assert call.advised == "click #save, which leads to COMPLETE, on the way there"
    assert call.certainty == 0.65


def test_what_a_failed_or_lost_call_cost_is_not_made_up() -> None:
    ends = (
        AdviceFailed("a1", "anthropic", "rate_limited", True),
        AdviceFailed("a1", "anthropic", "timeout", True),
        AdviceLost("a1"),
        answer(priced=False),
    )
    costs = [only(ASKED, end).cost_microdollars for end in ends]
    assert costs == [0, None, None, None]
    assert only(ASKED).cost_microdollars is None


def test_the_totals_of_a_session() -> None:
    found = story(
        ASKED,
        AdvicePrepared("a1", step_kinds.PROMPT, 10),
        answer(usage=TokenUsage(10, 2), cost_microdollars=40),
        AdviceRequested("a2", "act", "anthropic", "m"),
        AdviceLost("a2"),
    )
    assert (found.model_calls, found.tokens) == (2, 12)
    assert (found.cost_microdollars, found.unpriced) == (40, 1)


def test_a_picture_that_was_looked_at_is_a_call_too() -> None:
    found = story(
        *step_kinds.checked(), ASKED, answer(usage=TokenUsage(10, 2), cost_microdollars=40)
    )
    assert (found.model_calls, found.tokens) == (2, 1_132)
    assert (found.cost_microdollars, found.unpriced) == (3_640, 0)
    assert found.steps[0].advice == [], "it is told as what was seen"


@for_each(
    "given, calls, unpriced, said",
    [
        (
            VisionGiven(1, 1, "UNKNOWN", message="no vision is configured"),
            0,
            0,
            "UNKNOWN (no vision is configured); it changed nothing",
        ),
        (
            VisionGiven(
                1, 1, "UNKNOWN", "ollama", "dark", model="m", usage=TokenUsage(9), priced=False
            ),
            1,
            1,
            "UNKNOWN by ollama m (dark); 9 tokens in, 0 out, cost unknown; it changed nothing",
        ),
        (
            VisionGiven(1, 1, "UNKNOWN", "ollama", "late", took_ms=7, model="m", error="timeout"),
            1,
            1,
            "UNKNOWN by ollama m (timeout: late); asked, cost unknown, 7 ms; it changed nothing",
        ),
        (
            VisionGiven(1, 1, "UNKNOWN", "ollama", "busy", model="m", error="overloaded"),
            1,
            0,
            "UNKNOWN by ollama m (overloaded: busy); asked, $0.00; it changed nothing",
        ),
    ],
)
def test_looking_that_came_to_nothing_counts_where_somebody_was_asked(
    given: VisionGiven, calls: int, unpriced: int, said: str
) -> None:
    found = story(*step_kinds.acted(step_kinds.SAVE), given)
    assert (found.model_calls, found.unpriced) == (calls, unpriced)
    assert str(found.steps[0].vision) == said


def test_a_picture_of_a_step_that_was_erased_is_still_a_call() -> None:
    found = story(
        VisionGiven(3, 1, "VERIFIED", "ollama", usage=TokenUsage(9, 1), cost_microdollars=5)
    )
    assert (found.steps, found.model_calls, found.tokens) == ([], 1, 10)
    assert found.cost_microdollars == 5


def test_an_answer_whose_question_was_erased_is_still_a_call() -> None:
    call = only(answer(cost_microdollars=7))

    assert (call.purpose, call.provider, call.cost_microdollars) == ("erased", "anthropic", 7)


def test_a_session_without_advice_says_nothing_of_it() -> None:
    found = story(*step_kinds.acted(step_kinds.SAVE), ToolCalled("c1", "click"))

    assert (found.model_calls, found.advice, found.steps[0].advice) == (0, [], [])


@for_each(
    "microdollars, said",
    [
        (0, "$0.00"),
        (10_000, "$0.0100"),
        (4_800, "$0.0048"),
        (32_349, "$0.0323"),
        (1, "under $0.0001"),
        (999_949, "$0.9999"),
        (999_950, "$1.00"),
        (12_345_678, "$12.35"),
        (None, "cost unknown"),
    ],
)
def test_money_has_four_decimals_under_a_dollar_and_two_above(
    microdollars: int | None, said: str
) -> None:
    assert money(microdollars) == said


@for_each(
    "why, said",
    [
        ("it leads on", "because 'it leads on'"),
        ("'Cancel membership'", "because 'Cancel membership'"),
        ("'Cancel' and 'Go on' are there", "because \"'Cancel' and 'Go on' are there\""),
    ],
)
def test_what_a_model_says_is_quoted_once(why: str, said: str) -> None:
    call = only(ASKED, answer(ending="said", text=Untrusted(why)))
    assert f"; {said}; " in str(call)


def test_who_did_not_answer_in_the_end_is_known() -> None:
    found = story(
        AdviceRequested("a1", "act", "anthropic", "m"),
        AdviceFailed("a1", "anthropic", "overloaded", True, "busy"),
        AdviceRequested("a2", "act", "anthropic", "m", attempt=2),
        AdviceFailed("a2", "anthropic", "timeout", True),
        AdviceRequested("a3", "act", "openai", "g"),
        AdviceFailed("a3", "openai", "cut", True),
        AdviceRequested("a4", "act", "openai", "g", attempt=2),
        answer("a4", WantedCall("c1", "get_snapshot")),
    )
    assert {who: each.wrong for who, each in found.unanswered.items()} == {"anthropic": "timeout"}


def test_spending_in_words() -> None:
    assert spent_in_words(1, 12, 0, 0) == "1 model call, 12 tokens, $0.00"
    assert spent_in_words(3, 12, 4_800, 1) == (
        "3 model calls, 12 tokens, $0.0048 and 1 call of unknown cost"
    )
