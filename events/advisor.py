"""What a language model said, as facts: replay needs no model."""

from typing import Literal

from events.action import Action, Untrusted
from events.event import Event
from events.page import Artifact


class AdviceReceived(Event, frozen=True, tag="AdviceReceived"):
    """What came back, what it cost, and how sure it said it was (millionths)."""

    request: str
    provider: str
    model: str
    action: Action | None = None
    tool: str = ""
    arguments: Untrusted = Untrusted()
    text: Untrusted = Untrusted()
    certainty: int | None = None
    state: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_microdollars: int = 0
    took_ms: int = 0
    body: Artifact | None = None


class AdviceFailed(Event, frozen=True, tag="AdviceFailed"):
    request: str
    provider: str
    code: Literal["timeout", "unavailable", "overloaded", "refused", "invalid", "unauthorised"]
    transient: bool
    message: str = ""
    took_ms: int = 0


class AdviceLost(Event, frozen=True, tag="AdviceLost"):
    """Asked, but the process died before the answer: it counts as spent."""

    request: str


class VisionGiven(Event, frozen=True, tag="VisionGiven"):
    """What a picture of the page says about a step. Advice: it changes no verdict (F5)."""

    step: int
    attempt: int
    said: Literal["VERIFIED", "NOT_VERIFIED", "UNKNOWN"]
    provider: str = ""
    message: str = ""
    screenshot: Artifact | None = None
    took_ms: int = 0
