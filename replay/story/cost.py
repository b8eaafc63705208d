"""The cost of a model call follows from its end: tables, stories and traces agree on it."""

from typing import Final

from rutter.events.advisor import (
    TESSERACT,
    AdviceError,
    AdviceFailed,
    AdviceLost,
    AdviceReceived,
    VisionGiven,
)
from rutter.events.planner import AdviceRequested

# Turned away before a model read a word: nobody charges for that. An answer that was cut or came
# too late may have been charged, and one that a provider has done with and we could not read was.
FREE: Final[frozenset[AdviceError]] = frozenset(
    {"unavailable", "overloaded", "rate_limited", "unauthorised", "unknown_model"}
)


def is_call(event: AdviceRequested | AdviceReceived | AdviceFailed | VisionGiven) -> bool:
    """Whether it was a model that was asked."""
    return event.provider not in ("", TESSERACT)


def is_priced(end: AdviceReceived | AdviceFailed | AdviceLost | VisionGiven) -> bool:
    """Whether what the call cost is known. What was lost counts as spent, and nobody knows how
    much that was."""
    match end:
        case AdviceReceived(priced=priced) | VisionGiven(priced=priced, error=None):
            return priced
        case AdviceFailed(code=code) | VisionGiven(error=code):
            return code in FREE
        case AdviceLost():
            return False
