"""A question's window shows what it is about, as a picture with the elements framed and numbered.

It also hears what a person does there in place of a step."""

import anyio.to_thread
import msgspec

from rutter.actors.world.browser.covered_picture import SecretBoxes
from rutter.actors.world.browser.page_session import DocumentGone, PageTimeout
from rutter.actors.world.browser.painting import NotPaintable, framed, size_of
from rutter.actors.world.browser.screen import Screen
from rutter.events.action import Box
from rutter.events.artifacts import ArtifactStore
from rutter.events.errors import WorldBroken
from rutter.events.page import Artifact
from rutter.events.validator import ApprovalRequested

TAKE_MS = 5_000  # without a picture the question is put all the same
LISTEN_S = 5.0  # what a person does is heard long before they have read the question
NOT_HAD = (PageTimeout, DocumentGone, WorldBroken, NotPaintable, msgspec.ValidationError)


class QuestionWindow:
    def __init__(self, screen: Screen, artifacts: ArtifactStore | None) -> None:
        self._screen = screen
        self._artifacts = artifacts

    async def picture(self, question: ApprovalRequested) -> Artifact | None:
        """What the page looks like, with secrets covered; nothing where that cannot be had."""
        if self._artifacts is None:
            return None
        try:
            image = await self._framed(question.framed)
        except NOT_HAD:
            return None
        store = self._artifacts.put
        return await anyio.to_thread.run_sync(store, image, "image/png", abandon_on_cancel=True)

    async def _framed(self, boxes: dict[str, Box]) -> bytes:
        """What is in view, or all of the page where some of it lies outside."""
        tab = self._screen.tab
        seen = msgspec.convert(await tab.call("secretBoxes", (), within_ms=TAKE_MS), SecretBoxes)
        whole = not all(_is_in_view(box, seen.view) for box in boxes.values())
        image = await tab.screenshot(full_page=whole, within_ms=TAKE_MS)
        scale = size_of(image)[0] / seen.view[0]
        left, top = seen.scroll if whole else (0.0, 0.0)
        edges = {
            number: (
                round((box.x + left) * scale),
                round((box.y + top) * scale),
                round((box.x + left + box.width) * scale),
                round((box.y + top + box.height) * scale),
            )
            for number, box in boxes.items()
        }
        return await anyio.to_thread.run_sync(framed, image, edges, abandon_on_cancel=True)

    async def listened_to(self) -> None:
        """Until what a person does in it is heard."""
        with anyio.move_on_after(LISTEN_S):
            await self._screen.listening.wait()

    def finish(self) -> None:
        """They have done what they wanted to."""
        self._screen.finish()


def _is_in_view(box: Box, view: tuple[float, float]) -> bool:
    return (
        box.x >= 0 and box.y >= 0 and box.x + box.width <= view[0] and box.y + box.height <= view[1]
    )
