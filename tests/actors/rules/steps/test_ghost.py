"""Who reads a picture of a page, and why nobody does."""

from rutter.actors.rules.steps.ghost import ghost_refusal, reader_for, reads_by_itself
from rutter.events.action import Action
from rutter.events.critic import Barrier, BarrierKind
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.events.workflow import Driver
from tests.support.case_table import for_each

CLAUDE, HERE = PictureReader("anthropic", "m"), PictureReader("tesseract", "eng")
USE = GhostUse(True, True, True, CLAUDE, HERE)
ASKED, LOOKS = Action("ghost_extract"), Action("read_page")


@for_each(
    "driver, action, reader",
    [
        ("agent", ASKED, CLAUDE),
        ("model", ASKED, CLAUDE),
        ("agent", LOOKS, HERE),
        ("workflow", ASKED, HERE),
        ("workflow", LOOKS, HERE),
    ],
)
def test_only_who_calls_for_it_has_a_model_asked_that_nothing_asks_by_itself(
    driver: Driver, action: Action, reader: PictureReader
) -> None:
    assert reader_for(USE, driver, action) == reader
    assert ghost_refusal(USE, driver, action) is None


@for_each(
    "use, error, code, reason",
    [
        (GhostUse(), "ghost_refused", "policy_denied", "agent.ghost.enabled"),
        (GhostUse(allowed=True), "ghost_refused", "policy_denied", "agent.ghost.enabled"),
        (GhostUse(enabled=True), "ghost_refused", "policy_denied", "allow_ghost"),
        (
            GhostUse(True, True, asked=PictureReader(lacks="no key for anthropic")),
            "no_reader",
            "tool_unavailable",
            "no key for anthropic",
        ),
    ],
)
def test_each_refusal_says_why(use: GhostUse, error: str, code: str, reason: str) -> None:
    refused = ghost_refusal(use, "agent", ASKED)
    assert refused is not None
    assert (refused.error, refused.code) == (error, code)
    assert reason in refused.reason


def test_no_language_model_is_shown_where_somebody_signs_in() -> None:
    refused = ghost_refusal(USE, "agent", ASKED, "LOGIN_REQUIRED")
    assert refused is not None
    assert (refused.error, refused.code) == ("ghost_refused", "policy_denied")
    assert ghost_refusal(USE, "agent", LOOKS, "LOGIN_REQUIRED") is None, "it is read here"


@for_each(
    "kind, shut",
    [("blocked", True), ("empty_shell", True), ("drawn", True), ("captcha", False)],
)
def test_a_captcha_is_read_by_nothing_by_itself(kind: BarrierKind, shut: bool) -> None:
    assert reads_by_itself(USE, Barrier(kind)) is shut
    assert not reads_by_itself(USE, Barrier(kind, beside=True))
    assert not reads_by_itself(USE, None)
    assert not reads_by_itself(GhostUse(True, True, False, CLAUDE, HERE), Barrier(kind))
