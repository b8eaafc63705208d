"""A person signs in in a window of its own. It is no session: of what they do there nothing is
recorded, and only what the browser knows in the end is kept."""

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import anyio
import msgspec

from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.pages.end_signs import first_met
from rutter.actors.rules.pages.page_state import detect, phrases_for
from rutter.actors.world.browser.login_state import BrowserState
from rutter.actors.world.browser.page_listener import WindowListener
from rutter.actors.world.browser.page_reading import OBSERVE_MS, seen_of
from rutter.actors.world.browser.page_session import DocumentGone, NavigationFailed, PageTimeout
from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone, WorldBroken
from rutter.events.run_settings import RunSettings
from rutter.events.workflow import Criteria, Indicator

ARRIVE_MS = 30_000  # a page that is looked at by a person may take its time
CHANGE_MS = 5_000  # then it is looked at again: not all that shows is a change of the document
STATE_MS = 20_000

How = Literal["closed", "enter", "shown"]


class SignedIn(NamedTuple):
    """A window says what its browser knows, where the page in front is (nowhere once it is closed),
    and whether that still asks to sign in."""

    state: BrowserState
    at: str
    asks: bool


class SignInWait:
    """A sign-in waits for Enter at the terminal, the window to close, or a sign on the page."""

    def __init__(
        self,
        window: Window,
        listener: WindowListener,
        keyboard: int | None,
        until: Sequence[Indicator],
    ) -> None:
        self._window = window
        self._listener = listener
        self._keyboard = keyboard
        self._until = tuple(until)
        self._phrases = phrases_for(RunSettings(criteria=Criteria(self._until)))

    async def done(self) -> How:
        found: list[How] = []
        async with anyio.create_task_group() as group:

            async def first(how: How, wait: Callable[[], Awaitable[None]]) -> None:
                await wait()
                found.append(how)
                group.cancel_scope.cancel()

            group.start_soon(first, "closed", self._closed)
            if self._keyboard is not None:
                group.start_soon(first, "enter", self._entered)
            if self._until:
                group.start_soon(first, "shown", self._shown)
        return found[0]

    async def asks(self) -> bool:
        """Whether the page in front asks to sign in; what cannot be read does not."""
        return await self._look() == "asks"

    async def _closed(self) -> None:
        while not any(each.kind in ("closed", "finished") for each in self._listener.take()):
            await self._listener.more()

    async def _entered(self) -> None:
        assert self._keyboard is not None
        typed = b" "
        while typed and b"\n" not in typed:
            await anyio.wait_readable(self._keyboard)
            typed = os.read(self._keyboard, 4096)
        if not typed:  # nobody is there who could type any more
            await anyio.sleep_forever()

    async def _shown(self) -> None:
        while await self._look() != "shown":
            with suppress(PageTimeout, BrowserGone):
                await self._window.change(CHANGE_MS)
                continue
            await anyio.sleep_forever()  # there is no page: the end of it is heard elsewhere

    async def _look(self) -> Literal["shown", "asks", ""]:
        how = {"viewportOnly": False, "marks": False, "texts": (), "phrases": self._phrases}
        with suppress(PageTimeout, BrowserGone, DocumentGone, msgspec.ValidationError):
            tab = self._window.tab
            raw = await tab.call("observe", {**how, "look": 1}, within_ms=OBSERVE_MS)
            seen = seen_of(raw, tab, 0, 1)
            state = detect(seen.page, seen.phrases)
            if first_met(self._until, seen.page, seen.phrases, state) is not None:
                return "shown"
            return "asks" if state == "LOGIN_REQUIRED" else ""
        return ""


async def sign_in(
    window: Window,
    url: str,
    *,
    keyboard: int | None,
    until: Sequence[Indicator] = (),
    invite: Callable[[], None],
    doubt: Callable[[], None],
) -> SignedIn:
    """Opens the page, and waits until the person is done. Enter on a page that still asks to sign
    in is asked about once (`doubt`): what was kept before would be lost for nothing."""
    listener = await window.listen()
    try:
        await window.tab.navigate(url, within_ms=ARRIVE_MS)
    except (NavigationFailed, PageTimeout) as error:
        raise WorldBroken(f"{url} cannot be opened ({error})", "check the address") from error
    waiting = SignInWait(window, listener, keyboard, until)
    invite()
    how = await waiting.done()
    asks = how == "enter" and await waiting.asks()
    if asks:
        doubt()
        how = await waiting.done()
        asks = await waiting.asks()
    try:
        at = origin_of(window.tab.page.url) if how != "closed" else ""
        return SignedIn(await window.state(within_ms=STATE_MS), at, asks)
    except (BrowserGone, PageTimeout) as error:
        raise WorldBroken(
            f"the browser was gone before the login could be read ({error}): nothing was kept",
            "sign in again, and press Enter here before you close it",
        ) from error
