"""Tesseract reads pictures on this machine: no key, no network, nothing that leaves it.

It is no language model: it gives the words that it sees, in reading order, and cannot be asked
anything else.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import anyio
import anyio.to_thread
import msgspec

from rutter.actors.rules.tools.picture_prompts import task_of
from rutter.actors.world.models.messages import ModelFailed, Reply
from rutter.actors.world.ocr.page_text import ReadBlock, TableBlock, blocks_of, layout_of
from rutter.actors.world.ocr.word_boxes import NoReader, languages, read_words
from rutter.events.advisor import TESSERACT

LANGUAGE = "eng"  # what Debian's package brings


class TesseractReader:
    """Tesseract reads one language, or several with `+` between them; that is its `model`."""

    provider: ClassVar[str] = TESSERACT

    def __init__(self, language: str = LANGUAGE) -> None:
        self.model = language

    async def vision(self, pictures: Sequence[bytes], prompt: str, *, within_ms: int) -> Reply:
        within_s = within_ms / 1000
        failed: ModelFailed
        try:
            with anyio.fail_after(within_s):
                blocks = await anyio.to_thread.run_sync(
                    self._read, tuple(pictures), within_s, abandon_on_cancel=True
                )
            return _told(self.model, blocks, prompt)
        except TimeoutError:
            failed = ModelFailed("timeout", f"not read within {within_ms} ms", transient=False)
        except NoReader as error:
            why = f"tesseract: {' '.join(str(error).split())[:200]}"
            failed = ModelFailed("unavailable", why, transient=False)
        except (OSError, ValueError) as error:  # no picture that can be read
            why = f"tesseract: the picture cannot be read ({type(error).__name__})"
            failed = ModelFailed("invalid", why, transient=False)
        raise failed

    async def aclose(self) -> None:
        """It holds nothing."""

    def _read(self, pictures: tuple[bytes, ...], within_s: float) -> list[ReadBlock]:
        """What is one below the other is one page: a table may go on in the next picture."""
        return [
            block
            for picture in pictures
            for block in blocks_of(read_words(picture, self.model, within_s=within_s))
        ]


class ReaderLacks(NamedTuple):
    """A language cannot be read on this machine for this reason; the other says what to type."""

    what: str = ""
    fix: str = ""


def lacking(language: str) -> ReaderLacks:
    """Empty, if nothing does."""
    try:
        found = languages()
    except NoReader as error:
        return ReaderLacks(
            str(error), "type: apt-get install tesseract-ocr; pip install 'rutter-agent[ocr]'"
        )
    for each in language.split("+"):
        if each not in found:
            what = f"tesseract cannot read {each!r} here"
            fix = f"type: apt-get install tesseract-ocr-{each}, or set agent.ghost.language"
            return ReaderLacks(what, fix)
    return ReaderLacks()


def _told(model: str, blocks: Sequence[ReadBlock], prompt: str) -> Reply:
    """A question of the caller's own gets all text: it cannot be told more."""
    task = task_of(prompt)
    if task == "layout":
        text = layout_of(blocks)
    else:
        wanted = [each for each in blocks if task != "table" or isinstance(each, TableBlock)]
        text = "\n\n".join(map(str, wanted))
    return Reply(model, "said", text, raw=msgspec.json.encode({"text": text}))
