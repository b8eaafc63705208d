"""A person's hand uses trusted mouse and keyboard in a window that is being recorded."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from playwright.async_api import BrowserContext, Dialog, Page

from rutter.actors.world.browser.chromium import Chromium
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import PersonActed
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.pipeline.app import App


class Heard:
    """The session has said this so far; a test can wait for more."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._more = anyio.Event()

    def hear(self, envelope: Envelope) -> None:
        self.events.append(envelope.event)
        more, self._more = self._more, anyio.Event()
        more.set()

    async def until(self, kind: type[Event], count: int = 1) -> None:
        with anyio.fail_after(20):
            while self.count(kind) < count:
                await self._more.wait()

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    @property
    def acted(self) -> list[PersonActed]:
        return [event for event in self.events if isinstance(event, PersonActed)]


class Bar:
    """The bar beside the page is worked as a person does: by its buttons, or by its keys."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context

    @property
    def page(self) -> Page:
        return self._context.pages[0]

    async def press(self, button: str) -> None:
        """With the mouse, which has been there for a moment."""
        place = self.page.locator(button)
        await place.hover()
        await self.page.wait_for_selector("html[data-steady]")
        await place.click()

    async def key(self, key: str) -> None:
        await self.page.keyboard.press(key)

    async def says(self, text: str) -> None:
        await self.page.get_by_text(text).locator("visible=true").first.wait_for()


class Hand:
    """A hand acts on a page as a person does: it sees where things are, clicks there and types."""

    def __init__(self, page: Page, context: BrowserContext, heard: Heard) -> None:
        self.page = page
        self.began = page.url
        self.context = context
        self.heard = heard
        self.bar: Bar

    async def click(self, selector: str, *, page: Page | None = None) -> None:
        place = (page or self.page).locator(selector)
        await place.scroll_into_view_if_needed()
        box = await place.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await (page or self.page).mouse.click(x, y)

    async def type(self, text: str) -> None:
        await self.page.keyboard.type(text)

    async def press(self, key: str) -> None:
        await self.page.keyboard.press(key)

    async def fill(self, selector: str, text: str) -> None:
        await self.click(selector)
        await self.press("Control+a")
        await self.type(text)

    async def reach(self, selector: str) -> None:
        """By the Tab key, as far as the page is concerned: the focus is there."""
        await self.page.focus(selector)

    async def sees(self, selector: str) -> None:
        await self.page.wait_for_selector(selector)

    async def looks(self, steps: int) -> None:
        """At what came of that many steps, before going on."""
        await self.heard.until(ActionJudged, steps + 1)  # the first was to come here

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[Callable[[], Awaitable[Dialog]]]:
        """What the page asks meanwhile: await it, then answer."""
        opened: list[Dialog] = []
        came = anyio.Event()

        def on_dialog(dialog: Dialog) -> None:
            opened.append(dialog)
            came.set()

        async def dialog() -> Dialog:
            with anyio.fail_after(15):
                await came.wait()
            return opened[0]

        self.page.on("dialog", on_dialog)
        try:
            yield dialog
        finally:
            self.page.remove_listener("dialog", on_dialog)

    async def arrives(self, path: str) -> None:
        await self.page.wait_for_url(f"**{path}", wait_until="domcontentloaded")


@asynccontextmanager
async def recorded(
    app: App, browser: Chromium, started: SessionStarted, **more: Any
) -> AsyncIterator[tuple[Hand, dict[str, SessionEnded]]]:
    """A recording by hand that is on; the person closes the window at the end of it."""
    heard = Heard()
    app.listen(heard.hear)
    ended: dict[str, SessionEnded] = {}
    listening = anyio.Event()

    async def sail() -> None:
        ended["it"] = await app.run_in_browser(started, browser, on_listening=listening.set, **more)

    async with anyio.create_task_group() as group:
        group.start_soon(sail)
        with anyio.fail_after(20):
            await listening.wait()
        assert browser._browser is not None
        *_, context, last = (None, *browser._browser.contexts)
        if more.get("bar_words") is None:
            context = last
        assert context is not None
        hand = Hand(context.pages[0], context, heard)
        if last is not context:
            hand.bar = Bar(last)
        yield hand, ended
        with anyio.fail_after(20):
            for page in context.pages:
                await page.close()
    app.unlisten(heard.hear)
