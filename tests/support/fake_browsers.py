"""A fake browser only says what it is told to, for the fleet to keep.

What it promises `tests/end_to_end/test_browser_fleet.py` asks of the real one as well.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import anyio

from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy

NEVER = 10.0**9  # seconds


class FakeWindow:
    def __init__(self, browser: "FakeBrowser", on_closed: Callable[[], None]) -> None:
        self.browser = browser
        self._on_closed = on_closed
        self.closed = False

    async def close(self) -> None:
        self.shut()

    def shut(self) -> None:
        if not self.closed:
            self.closed = True
            self._on_closed()


class FakeBrowser:
    """A fake browser raises `error` at its start, which takes `start_s`. The others can be changed
    while it runs: how long a window, an answer and its end take."""

    def __init__(
        self, number: int, error: Exception | None = None, start_s: float = 0.0, open_s: float = 0.0
    ) -> None:
        self.number = number
        self._error = error
        self._start_s = start_s
        self.open_s = open_s
        self.answer_s = 0.0
        self.close_s = 0.0
        self.mb = 100
        self.lives = self.well = False
        self.started = False
        self.killed = False
        self.closed = False
        self.windows: list[FakeWindow] = []
        self.asked = 0
        self.born = anyio.current_time()
        self._tell_gone: Callable[[], None] = lambda: None
        self._over = asyncio.Event()

    def __repr__(self) -> str:
        return f"browser {self.number}"

    @property
    def process(self) -> int | None:
        return self.number if self.lives else None

    @property
    def runs(self) -> bool:
        """Whether anything of it is there."""
        return self.started and self.lives

    async def start(self) -> None:
        await anyio.sleep(self._start_s)
        if self._error is not None:
            raise self._error
        self.started = self.lives = self.well = True

    async def open_here(self, policy: Policy, on_closed: Callable[[], None]) -> Window:
        if not self.well:
            raise BrowserGone("the browser is gone")
        await self._unless_over(self.open_s)
        window = FakeWindow(self, on_closed)
        self.windows.append(window)
        return cast(Window, window)

    async def processes(self, within_s: float) -> tuple[int, ...]:
        self.asked += 1
        with anyio.fail_after(within_s):
            await self._unless_over(self.answer_s)
        return (self.number, self.mb)

    def when_gone(self, tell: Callable[[], None]) -> None:
        self._tell_gone = tell

    def kill(self) -> None:
        self.killed = True
        self.die()

    def die(self) -> None:
        """Its process ends, and that is known at once."""
        self.lives = self.well = False
        self.vanish()
        self._tell_gone()

    def vanish(self) -> None:
        """It ends, and that shows only when something is asked of it."""
        self._over.set()

    async def close(self) -> None:
        await anyio.sleep(self.close_s)
        self.die()
        self.closed = True

    async def _unless_over(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._over.wait()
        if self._over.is_set():
            raise BrowserGone("the browser is gone")


class Yard:
    """A yard makes them as the plan says for each; the last of the plan is for all that follow."""

    def __init__(self, *plan: dict[str, Any]) -> None:
        self._plan = plan or ({},)
        self.made: list[FakeBrowser] = []

    def __call__(self) -> FakeBrowser:
        number = len(self.made)
        given = self._plan[min(number, len(self._plan) - 1)]
        self.made.append(FakeBrowser(number, **given))
        return self.made[-1]

    @property
    def running(self) -> list[FakeBrowser]:
        return [each for each in self.made if each.runs]


def measured(processes: tuple[int, ...]) -> int:
    """What a fake one says of its memory."""
    return processes[1]
