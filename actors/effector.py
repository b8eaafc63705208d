"""The one calling convention of every effector: hear a durable event, touch the world, report.

An effector makes no choices. What it did comes back as facts; what it raises is a broken world.
"""

from collections.abc import AsyncIterator
from typing import ClassVar, Protocol

from actors.browser.tab import Tab
from events.envelope import Actor, Envelope
from events.errors import BrowserGone
from events.vocabulary import AnyEvent


class Effector(Protocol):
    name: ClassVar[Actor]

    def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        """Does what this event asks for and yields what came of it."""

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        """The fact to report when `handle` broke on this event; `None`: it may be tried again."""


class OpensTabs(Protocol):
    """Whatever can open a page: a real browser, or a scripted one."""

    async def open_tab(self) -> Tab: ...


class Screen:
    """The one page of a session, shared by its Observer and its Executor."""

    def __init__(self, browser: OpensTabs) -> None:
        self._browser = browser
        self._tab: Tab | None = None

    @property
    def tab(self) -> Tab:
        if self._tab is None:
            raise BrowserGone("the session has no page")
        return self._tab

    async def open(self) -> None:
        if self._tab is None:
            self._tab = await self._browser.open_tab()

    async def close(self) -> None:
        tab, self._tab = self._tab, None
        if tab is not None:
            await tab.close()
