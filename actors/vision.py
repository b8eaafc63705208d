"""Vision says what a picture of the page shows of a failed step. It advises, nothing more (F5).

Whoever can look at pictures implements `Vision`. It is asked once, and what goes wrong with that is
an answer too: that it does not know.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from rutter.events.advisor import AdviceError, TokenUsage


class VisionSaid(msgspec.Struct, frozen=True):
    """An answer says what was seen, who looked, anything they say about it, and what that cost."""

    said: Literal["VERIFIED", "NOT_VERIFIED", "UNKNOWN"]
    provider: str = ""
    message: str = ""
    model: str = ""
    usage: TokenUsage = TokenUsage()
    cost_microdollars: int = 0
    priced: bool = True
    error: AdviceError | None = None


class Vision(Protocol):
    """Vision says whether a picture shows something."""

    async def look(self, picture: bytes, checked: str) -> VisionSaid:
        """Whether this PNG of the page in view shows what was checked."""


class ScriptedVision:
    """Scripted vision answers in order, for tests; it remembers the pictures and questions."""

    def __init__(self, *answers: VisionSaid | Exception) -> None:
        self._answers: Sequence[VisionSaid | Exception] = answers
        self.asked: list[tuple[bytes, str]] = []

    async def look(self, picture: bytes, checked: str) -> VisionSaid:
        self.asked.append((picture, checked))
        if len(self.asked) > len(self._answers):
            return VisionSaid("UNKNOWN", "scripted", "it has no more answers")
        answer = self._answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer
