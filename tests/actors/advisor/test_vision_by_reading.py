"""Vision by reading: words that stand there are told, and what is not read proves nothing."""

from collections.abc import Sequence
from typing import ClassVar

import pytest

from rutter.actors.advisor.vision_by_reading import ReadingVision
from rutter.actors.vision import VisionSaid
from rutter.actors.world.models.messages import ModelFailed, Reply
from rutter.events.advisor import VisionGiven
from rutter.replay.story.cost import is_call
from tests.support.case_table import for_each

pytestmark = pytest.mark.anyio


class Reads:
    provider: ClassVar[str] = "tesseract"
    model = "eng"

    def __init__(self, text: str) -> None:
        self.text = text

    async def vision(self, pictures: Sequence[bytes], prompt: str, *, within_ms: int) -> Reply:
        if not self.text:
            raise ModelFailed("timeout", "not read within 25000 ms", transient=False)
        return Reply(self.model, "said", self.text)

    async def aclose(self) -> None: ...


@for_each(
    "text, checked, said, error",
    [
        ("Thanks!\nOrder  saved.", "order saved", "VERIFIED", None),
        ("Order not saved", "order saved", "UNKNOWN", None),
        ("Order saved", " - ", "UNKNOWN", None),
        ("", "Order saved", "UNKNOWN", "timeout"),
    ],
)
async def test_only_words_that_are_read_are_verified(
    text: str, checked: str, said: str, error: str | None
) -> None:
    given = await ReadingVision(Reads(text)).look(b"", checked)
    assert isinstance(given, VisionSaid)
    assert (given.said, given.error, given.provider) == (said, error, "tesseract")
    assert given.message
    told = VisionGiven(1, 1, given.said, given.provider, error=given.error)
    assert not is_call(told)  # it is no model, and no call of one is counted
