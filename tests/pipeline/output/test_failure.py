"""A failure that teaches: every way to end has a reason in plain words and a command to type."""

import re
from itertools import product
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from rutter.events.causes import Cause
from rutter.events.faults import faults
from rutter.events.page import Artifact
from rutter.events.runtime import Failure, StopReason
from rutter.pipeline.cli.parser import parser
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.failure import FailureAdvice, lesson_lines, lesson_of, told
from rutter.pipeline.output.next_command import command_for
from rutter.replay.story.told_session import Ending, EvidenceStory, StepStory, Story
from tests.support.old_stories import tagged

NAMED = {"session": "SESSION", "name": "NAME", "url": "URL"}
PAGE = (Path(__file__).parents[3] / "docs" / "exit-codes.md").read_text()
ENDS = [
    (reason, failure)
    for reason, failure in product(get_args(StopReason), get_args(Failure))
    if reason != "completed"
]
# How a session can have come about: what can be typed next depends on it.
KINDS = {
    "a workflow": {"purpose": "run", "name": "order"},
    "a free run": {"purpose": "free"},
    "a goal": {"purpose": "run", "name": "cancel", "led": True, "goal": "cancel it"},
    "a recording": {"purpose": "record", "name": "order"},
    "calls of tools": {"purpose": "tools"},
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path)


def learned(story: Story, settings: Settings) -> FailureAdvice:
    lesson = lesson_of(story, settings)
    assert lesson is not None
    return lesson


# -- every way to end ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_however_it_ended_the_next_command_can_be_typed(kind: str, settings: Settings) -> None:
    for reason, failure in ENDS:
        story = Story(session="run-1", reason=reason, failure=failure, **KINDS[kind])  # type: ignore[arg-type]
        lesson = learned(story, settings)
        assert lesson.reason
        assert re.search(r"rutter [a-z]+", lesson.next), (reason, failure)
        # It ends the process when there is no such command or flag.
        parser().parse_args(command_for(story).split())


def test_the_page_of_exit_codes_tells_every_end_in_the_same_words() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| `rutter (.+?)` \| (\d) \|$", PAGE, re.MULTILINE)
    assert {row[0]: row[1:] for row in rows} == {
        code: (end.words, end.command.format_map(NAMED), str(end.exit))
        for code, end in faults().codes.items()
        if end.command
    }


# -- what is told ----------------------------------------------------------------------------------


def lost(**more: object) -> Story:
    step = StepStory(
        step=6,
        driver="workflow",
        words="click 'Place order'",
        why="workflow_step_4_of_6",
        verdict="rejected",
        looked_for=["#place: not there", "button 'Place order': not there"],
        instead=["link 'Place orders' (41 % like it: it says something else)"],
    )
    story = Story(
        session="run-1",
        purpose="run",
        name="order",
        reason="failed",
        failure="lost",
        detail="element_not_found: nothing here is clearly the recorded 'Place order'",
        steps=[step],
        page="'Cart' at https://shop.example/cart",
        start="https://shop.example/",
        screenshot=Artifact("ab" * 32, 7),
        ending=Ending(3, "click", "Cart", "https://shop.example/cart", role="button"),
    )
    assert story.ending is not None
    story.ending.name, story.ending.like = "Place order", 'the link "Place orders"'
    for name, value in more.items():
        setattr(story, name, value)
    return tagged(story)


def test_a_failure_is_told_from_the_step_to_the_next_command(settings: Settings) -> None:
    lesson = learned(lost(), settings)
    assert (lesson.step, lesson.words) == ("4", "click 'Place order'")
    picture = settings.directory.artifacts.path(Artifact("ab" * 32, 7))
    assert list(lesson_lines(lesson)) == [
        'Step 4: there is no button "Place order" on the page "Cart". '
        'The nearest to it is the link "Place orders".',
        f"Picture of the page: {picture}",
    ]
    assert list(lesson_lines(lesson, verbose=True))[1:-1] == [
        "why: element_not_found: nothing here is clearly the recorded 'Place order'",
        "looked for #place: not there",
        "looked for button 'Place order': not there",
        "found instead: link 'Place orders' (41 % like it: it says something else)",
        "the page was: 'Cart' at https://shop.example/cart",
    ]
    assert lesson.next == (
        "If the page is only out of order, run it again later (rutter run order --from run-1). "
        "If it was changed for good, do this step once on its new element: "
        "rutter workflows edit order --target 4"
    )


def test_where_nothing_is_like_it_that_is_said(settings: Settings) -> None:
    story = lost()
    story.steps[0].instead = []
    lines = lesson_lines(learned(story, settings), verbose=True)
    assert "found instead: nothing that is like it" in lines


def test_a_page_that_asks_to_sign_in_is_named_as_one(settings: Settings) -> None:
    story = lost(state="LOGIN_REQUIRED", expected="https://shop.example/cart")
    lines = list(lesson_lines(learned(story, settings), verbose=True))
    assert "the page was: 'Cart' at https://shop.example/cart; it asks to sign in" in lines
    assert "it should have been: https://shop.example/cart" in lines


@pytest.mark.parametrize(
    ("code", "failure", "words", "advice"),
    [
        ("captcha", "needs_person", "asks here for a captcha, which a person must do.", "--headed"),
        ("blocked", "needs_person", "the site keeps programs out here.", "--headed"),
        ("empty_shell", "lost", "its scripts did not fill it.", "see in a window what happens"),
    ],
)
def test_what_kept_a_run_out_is_named_with_what_a_person_can_do(
    settings: Settings, code: str, failure: str, words: str, advice: str
) -> None:
    story = lost(failure=failure, state="FAILED", barrier="the site asks here for it")
    story.cause = Cause("barrier", code=code)
    lesson = learned(story, settings)
    assert lesson.reason.endswith(words)
    assert lesson.state == "the site asks here for it"
    assert advice in lesson.next
    assert "rutter run " in lesson.next


@pytest.mark.parametrize(
    ("code", "failure", "words", "advice"),
    [
        (
            "ghost_refused",
            "policy_denied",
            "a picture of the page may not be read",
            "--allow-ghost",
        ),
        ("no_reader", "lost", "nobody here reads pictures of pages", "rutter doctor"),
        ("reader_failed", "lost", "who reads pictures gave no answer", "vision_provider"),
        ("nothing_read", "lost", "there was nothing to be read in the picture", "picture"),
    ],
)
def test_why_no_picture_was_read_is_told_with_what_would_help(
    settings: Settings, code: str, failure: str, words: str, advice: str
) -> None:
    story = lost(failure=failure)
    story.cause = Cause(code=code)
    lesson = learned(story, settings)
    assert words in lesson.reason
    assert advice in lesson.next


def test_what_lies_over_an_element_is_named(settings: Settings) -> None:
    detail = "element_obscured: the dialog 'Cookies' is open"
    story = lost(failure="retry_exhausted", detail=detail)
    assert story.ending is not None
    story.ending.over = "Cookies"
    said = learned(story, settings)
    assert said.reason == (
        'Step 4: the button "Place order" cannot be used: something covers it '
        '(the dialog "Cookies").'
    )
    assert (said.trouble, said.why) == ("in_the_way", (f"why: {detail}",))


@pytest.mark.parametrize(
    ("role", "code", "said"),
    [
        ("button", "element_disabled", 'the button "Save" cannot be used: it stayed disabled'),
        ("textbox", "element_obscured", 'the field "Save" cannot be used: something covers it'),
        ("grid", "element_moving", 'the element "Save" cannot be used: it did not stop moving'),
    ],
)
def test_what_was_waited_for_in_vain_is_told_with_what_lengthens_it(
    settings: Settings, role: str, code: str, said: str
) -> None:
    story = lost(failure="retry_exhausted", detail=f"{code}, for 3.0 s")
    last = story.steps[-1]
    last.element, last.role, last.waited_ms = "Save", role, 3_004
    story.ending = None
    lesson = learned(story, settings)
    assert lesson.reason.startswith(f"Step 4: {said}")
    assert lesson.reason.endswith(". Rutter waited 3.0 s for it.")
    assert "rutter run order --from run-1 --patience 12s" in lesson.next
    assert lesson.also == "if the page only needs longer: rutter run order --patience 12s"


def test_what_the_page_said_is_told(settings: Settings) -> None:
    story = lost(failure="verification_failed")
    story.steps[0].verdict = "failed"
    story.steps[0].evidence = [EvidenceStory("DOM", "saved", 0.2, "Out of rope")]
    assert "the page says: Out of rope" in lesson_lines(learned(story, settings), verbose=True)


def test_a_picture_that_has_expired_is_said_to_have(settings: Settings) -> None:
    lesson = learned(lost(expired=["ab" * 32]), settings)
    assert lesson.screenshot == "expired (abababababab, 7 bytes)"


def test_a_log_from_elsewhere_may_name_anything_and_is_still_told(settings: Settings) -> None:
    lesson = learned(lost(screenshot=Artifact("../../precious", 7)), settings)
    assert lesson.screenshot == "nowhere: what the log names is no artifact"


@pytest.mark.parametrize("reason", ["completed", "running", "erased"])
def test_what_did_not_fail_teaches_nothing(reason: str, settings: Settings) -> None:
    story = Story(session="s", reason=reason)
    assert lesson_of(story, settings) is None
    assert "lesson" not in told(story, settings)


def test_a_dry_run_that_stopped_where_it_should_did_not_fail(settings: Settings) -> None:
    story = tagged(
        Story(reason="completed_unverified", detail="dry run: it sends a form", dry_run=True)
    )
    assert lesson_of(story, settings) is None


def test_machines_are_told_the_same(settings: Settings) -> None:
    story = lost()
    assert told(story, settings)["lesson"] == msgspec.to_builtins(learned(story, settings))
