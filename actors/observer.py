"""The Observer: reads the page in one round trip and says what was there."""

from collections.abc import AsyncIterator
from time import perf_counter_ns
from typing import ClassVar, Literal

import anyio.to_thread
import msgspec

from actors.browser.tab import DocumentGone, PageTimeout
from actors.effector import Screen
from events.action import Untrusted
from events.artifacts import ArtifactStore
from events.codec import pack
from events.envelope import Actor, Envelope
from events.errors import BrowserGone, WorldBroken
from events.executor import ActionDone, ActionFailed
from events.observer import (
    BrowserLost,
    DialogOpened,
    ObservationFailed,
    PageObserved,
    ScreenshotTaken,
)
from events.page import Artifact, Page
from events.planner import ObservationRequested, RunStopped
from events.runtime import ActorFailed, SessionStarted
from events.vocabulary import AnyEvent

OBSERVE_MS = 3_000  # S3 2.2.1: the most that a snapshot may take
INLINE = 16_384  # what an observation may carry for deciders (design 3)
SCREENSHOT_MS = 5_000
MAX_DIALOGS = 3


class Observer:
    name: ClassVar[Actor] = "observer"

    def __init__(self, screen: Screen, artifacts: ArtifactStore | None) -> None:
        self._screen = screen
        self._artifacts = artifacts
        self._pictures = False

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case SessionStarted(settings=settings):
                self._pictures = settings.screenshots
                await self._screen.open()
                yield await self._observe("start")
            case ActionDone() | ActionFailed():
                observed = await self._observe("after_action")
                for dialog in self._dialogs():
                    yield dialog
                yield observed
            case ObservationRequested(within_ms=within_ms):
                await self._screen.tab.change(within_ms)
                yield await self._observe("requested")
            case RunStopped() | ActorFailed() as stop:
                if not (isinstance(stop, RunStopped) and stop.reason == "completed"):
                    taken = await self._screenshot(full_page=True)
                    if taken is not None:
                        yield ScreenshotTaken(taken, why="stopped")
                await self._screen.close()
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return BrowserLost(why=str(error)[:200]) if isinstance(error, BrowserGone) else None

    async def _observe(
        self, why: Literal["start", "after_action", "requested"]
    ) -> PageObserved | ObservationFailed:
        began = perf_counter_ns()
        try:
            raw = await self._screen.tab.call("observe", within_ms=OBSERVE_MS)
        except PageTimeout as error:
            return ObservationFailed(code="timeout", message=str(error))
        page = fit(msgspec.convert(raw, Page))
        took_us = (perf_counter_ns() - began) // 1_000
        picture = await self._screenshot(full_page=False) if self._pictures else None
        return PageObserved(page=page, why=why, took_us=took_us, screenshot=picture)

    def _dialogs(self) -> list[DialogOpened]:
        """What the page asked meanwhile. A page can ask without end: equal ones are counted."""
        opened = self._screen.tab.dialogs
        told = [
            DialogOpened(kind, Untrusted(message), "dismissed", repeats)
            for (kind, message), repeats in list(opened.items())[:MAX_DIALOGS]
        ]
        opened.clear()
        return told

    async def _screenshot(self, *, full_page: bool) -> Artifact | None:
        """A picture of the page, on disk, when one can be had; a run does not fail without."""
        if self._artifacts is None:
            return None
        try:
            image = await self._screen.tab.screenshot(full_page=full_page, within_ms=SCREENSHOT_MS)
            return await anyio.to_thread.run_sync(self._artifacts.put, image, "image/png")
        except (PageTimeout, DocumentGone, WorldBroken):
            return None


def fit(page: Page) -> Page:
    """The page within the inline limit: elements at the end are dropped and counted."""
    while (size := len(pack(page))) > INLINE and page.elements:
        keep = max(0, len(page.elements) * INLINE // size - 1)
        dropped = page.dropped + len(page.elements) - keep
        page = msgspec.structs.replace(page, elements=page.elements[:keep], dropped=dropped)
    return page
