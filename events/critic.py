"""What the Critic says: what an action really did, and whether the end was reached."""

from typing import Literal

import msgspec

from events.action import Untrusted
from events.event import Event

Verdict = Literal["confirmed", "no_effect", "wrong_target", "failed", "unknown"]
Source = Literal["DOM", "VISION", "UIA", "FILE"]


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Descriptive only: it never changes control flow (F4). Confidence is in millionths."""

    source: Source
    checked: str
    confidence: int
    sample: Untrusted | None = None


class ActionJudged(Event, frozen=True, tag="ActionJudged"):
    step: int
    attempt: int
    verdict: Verdict
    reason: str
    evidence: tuple[Evidence, ...] = ()


class PageAssessed(Event, frozen=True, tag="PageAssessed"):
    """The page was looked at with nothing left to judge: the next step may be chosen."""

    state: str = ""


class CompletionChecked(Event, frozen=True, tag="CompletionChecked"):
    """The claim that the work is done, against its criteria (D5)."""

    verified: bool
    reason: str
    evidence: tuple[Evidence, ...] = ()


class OutcomeUnknown(Event, frozen=True, tag="OutcomeUnknown"):
    """Started, and the browser or process died before its outcome. Never repeated blindly."""

    step: int
    attempt: int
    why: str
