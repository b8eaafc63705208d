"""Vision by reading says whether the words that were checked stand in the picture.

Whoever reads them is no model and judges nothing: that words are not read proves nothing.
"""

import re

from rutter.actors.advisor.picture_advice import MAX_CHARACTERS
from rutter.actors.rules.tools.picture_prompts import ALL_TEXT
from rutter.actors.vision import VisionSaid
from rutter.actors.world.models.messages import ModelFailed, ReadsPictures

WITHIN_MS = 25_000  # less than the Advisor waits, so that the reason comes from here


class ReadingVision:
    """Whoever reads pictures gives `Vision`."""

    def __init__(self, reader: ReadsPictures, *, within_ms: int = WITHIN_MS) -> None:
        self._reader = reader
        self._within_ms = within_ms

    async def look(self, picture: bytes, checked: str) -> VisionSaid:
        who, what = self._reader.provider, self._reader.model
        try:
            reply = await self._reader.vision((picture,), ALL_TEXT, within_ms=self._within_ms)
        except ModelFailed as failed:
            said = failed.message[:MAX_CHARACTERS]
            return VisionSaid("UNKNOWN", who, said, what, error=failed.code)
        wanted = _letters(checked)
        if wanted and wanted in _letters(reply.text):
            return VisionSaid("VERIFIED", who, "these words stand in the picture", what)
        return VisionSaid("UNKNOWN", who, "these words were not read in the picture", what)


def _letters(text: str) -> str:
    """Without spaces, signs and case, which are read wrongly first."""
    return re.sub(r"[\W_]+", "", text).casefold()
