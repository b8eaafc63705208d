"""A ghost reading takes what a page says from a picture of it (S4 W8): by whom, and when nobody
asked for it.

It reads and does nothing else. A captcha is a person's: no run reads one by itself.
"""

from typing import Literal, NamedTuple

from rutter.actors.rules.policy.policy import CALLERS
from rutter.events.action import Action
from rutter.events.advisor import TESSERACT
from rutter.events.checks import PageState
from rutter.events.critic import Barrier, BarrierKind
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.events.workflow import Driver

RULE = "ghost"
SIGNS_IN: PageState = "LOGIN_REQUIRED"
# A person may see what is said there, or that it says no more to them either.
SHUT: frozenset[BarrierKind] = frozenset({"blocked", "empty_shell", "drawn"})
TRIES = 2  # of one reading, where the reader may answer a moment later


class GhostRefusal(NamedTuple):
    """No picture is taken, for this reason."""

    error: Literal["ghost_refused", "no_reader"]
    code: Literal["policy_denied", "tool_unavailable"]
    reason: str


def reader_for(use: GhostUse, driver: Driver, action: Action) -> PictureReader:
    """Who reads: where a caller asked for a picture, whom they may ask; else who may be asked by
    the run alone."""
    called = driver in CALLERS and action.type == "ghost_extract"
    return use.asked if called else use.alone


def ghost_refusal(
    use: GhostUse, driver: Driver, action: Action, page_state: str = ""
) -> GhostRefusal | None:
    """Why there is no picture of a page in this state."""
    if not use.enabled:
        why = "reading pictures of pages is not enabled: agent.ghost.enabled"
        return GhostRefusal("ghost_refused", "policy_denied", why)
    if not use.allowed:
        why = "this run may not read pictures of pages: allow_ghost"
        return GhostRefusal("ghost_refused", "policy_denied", why)
    reader = reader_for(use, driver, action)
    if page_state == SIGNS_IN and reader.provider not in ("", TESSERACT):
        why = "no language model is shown a page where somebody signs in"
        return GhostRefusal("ghost_refused", "policy_denied", why)
    if reader.provider:
        return None
    return GhostRefusal("no_reader", "tool_unavailable", reader.lacks or "nobody reads pictures")


def reads_by_itself(use: GhostUse, barrier: Barrier | None) -> bool:
    """Whether a look at a page with this barrier leads to one at a picture of it."""
    if barrier is None or barrier.beside or barrier.kind not in SHUT:
        return False
    return use.enabled and use.auto


def question_of(step: int, attempt: int = 1) -> str:
    """The name of the question that a reading puts; no other question has one like it."""
    return f"g{step}" if attempt == 1 else f"g{step}.{attempt}"


def is_of_ghost(request: str) -> bool:
    return request.startswith("g")


def is_asked_again(attempt: int, *, transient: bool) -> bool:
    return transient and attempt < TRIES
