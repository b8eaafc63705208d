"""A screen holds the pages of one session, shared by its Observer and its Executor."""

from collections.abc import Callable, Iterable
from typing import Protocol

import anyio

from rutter.actors.world.browser.login_state import BrowserState, CarriesLogins
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.events.action import Action
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy


class OpensWindows(Protocol):
    """An opener of windows, a real browser or a scripted one, gives a session its pages."""

    async def open_window(self, policy: Policy) -> Window: ...


class Screen:
    """A session's Observer and Executor share its pages. They reach what the policy of the session
    names, and nothing else."""

    def __init__(self, browser: OpensWindows, policy: Policy) -> None:
        self._browser = browser
        self._policy = policy
        self._window: Window | None = None
        self._decided = anyio.Event()  # there is a window, or there is not going to be one
        self.secrets: tuple[str, ...] = ()  # covered in pictures
        self.logins: CarriesLogins | None = None
        # Who is to know what the browser stores, so that no fact holds it.
        self.on_state: Callable[[BrowserState], object] = lambda state: None
        # How the bar beside a recording by hand says what was done; without words there is none.
        self.bar_words: Callable[[Action, str], str] | None = None
        # What a person does in the window is heard from here on, and nothing before.
        self.on_listening: Callable[[], object] = lambda: None
        self.listening = anyio.Event()

    @property
    def window(self) -> Window:
        if self._window is None:
            raise BrowserGone("the session has no page")
        return self._window

    async def appeared(self) -> Window:
        """The window, once it is open. Raises `BrowserGone` when the session is over."""
        await self._decided.wait()
        return self.window

    @property
    def tab(self) -> Tab:
        """The page in front."""
        return self.window.tab

    @property
    def tabs(self) -> tuple[Tab, ...]:
        """All that are open, in the order in which they opened."""
        return self.window.tabs

    async def end_kept(self) -> None:
        """What is sent next goes by a connection of its own, and so only once, unless a page has
        something open that would end with it."""
        if not any(tab.traffic.open for tab in self.tabs):
            await self.window.passage.end_kept()

    def finish(self) -> bool:
        """Ends what a person does here; `False` when nobody is listened to."""
        return self._window is not None and self._window.finish()

    async def show(self, index: int, *, within_ms: int) -> None:
        """Brings one of them to the front, once it is open. Raises `PageTimeout`."""
        await self.window.show(index, within_ms=within_ms)

    async def open(self) -> None:
        if self._window is None:
            self._window = await self._browser.open_window(self._policy)
            self._window.secrets = self.secrets
            if self.logins is not None and self.logins.used:
                await self._window.restore(self.logins.state)
            self._decided.set()

    def cover(self, values: Iterable[str]) -> None:
        """These are covered in pictures as well from now on, also in a window that is open."""
        self.secrets = (*self.secrets, *values)
        if self._window is not None:
            self._window.secrets = self.secrets

    def give_up(self) -> None:
        """The session is over: whoever waits for its window waits no longer."""
        self._decided.set()

    async def close(self) -> None:
        self.give_up()
        window, self._window = self._window, None
        if window is not None:
            await window.close()
