"""A supervised browser says what is asked of it, how it is, and what is told of it."""

from collections.abc import Callable
from typing import Literal, Protocol

import anyio
import msgspec

from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy
from rutter.pipeline.daemon.browsers.fair_queue import QueuePlace

# `leaving`: another has its slot, and it goes with its last window.
State = Literal["starting", "ready", "leaving", "gone"]
# Its process or its proxy ended; it did not answer; a window did not open or close in time; it
# opened as many as it may; it takes more memory than it may.
Cause = Literal["died", "stuck", "unwell", "worn", "grown"]
CAUSES: tuple[Cause, ...] = ("died", "stuck", "unwell", "worn", "grown")
STEADY_S = 60.0  # one that ran so long does not count as a fall
LONGEST_PAUSE_S = 30.0


class FleetBrowser(Protocol):
    """A browser gives the fleet this: `rutter.actors.world.browser.chromium.Chromium` is one."""

    @property
    def process(self) -> int | None: ...

    @property
    def lives(self) -> bool:
        """Whether it runs, as far as that is known."""

    @property
    def well(self) -> bool:
        """Whether it lives, and opened and closed all windows in time."""

    async def start(self) -> None:
        """When it raises, or is cancelled, nothing of it is left running."""

    async def open_here(self, policy: Policy, on_closed: Callable[[], None]) -> Window:
        """Raises `BrowserGone`. `on_closed` may be called when no window comes of it."""

    async def processes(self, within_s: float) -> tuple[int, ...]:
        """Raises `TimeoutError` when there is no answer in time, else `BrowserGone`."""

    def when_gone(self, tell: Callable[[], None]) -> None: ...

    def kill(self) -> None: ...

    async def close(self) -> None: ...


class BrowserStatistics(msgspec.Struct, frozen=True):
    """A browser counts its windows; `restarts` counts those that were in its slot before it."""

    pid: int | None
    state: State
    windows: int = 0
    opened: int = 0
    restarts: int = 0
    rss_mb: int | None = None
    since_s: float = 0.0


class SupervisedBrowser:
    """A browser was started, and runs until it is closed."""

    def __init__(self, browser: FleetBrowser, restarts: int) -> None:
        self.browser = browser
        self.restarts = restarts
        self.state: State = "ready"
        self.cause: Cause | None = None  # why it is to be replaced
        self.opened = 0
        # Of a dead one too, until its sessions know.
        self.unclosed: set[QueuePlace[SupervisedBrowser]] = set()
        self.mb: int | None = None
        self.replaced = anyio.Event()  # another is to have its slot
        self._since = anyio.current_time()
        self._stirred = anyio.Event()
        browser.when_gone(self.stir)

    @property
    def gone(self) -> bool:
        return self.state == "gone"

    @property
    def takes(self) -> bool:
        """Whether a new window may be opened in it."""
        return self.state == "ready" and self.browser.well

    @property
    def lived_s(self) -> float:
        return anyio.current_time() - self._since

    def stir(self) -> None:
        """Something happened: whoever looks after it looks now."""
        self._stirred.set()

    async def stirred(self) -> None:
        await self._stirred.wait()
        self._stirred = anyio.Event()

    async def open(self, policy: Policy, place: "QueuePlace[SupervisedBrowser]") -> Window:
        self.opened += 1
        self.unclosed.add(place)

        def left() -> None:
            place.leave()
            self.unclosed.discard(place)
            if self.state != "ready" and not self.unclosed:
                self.stir()

        try:
            return await self.browser.open_here(policy, left)
        except BaseException:
            left()
            raise

    def statistics(self, windows: int) -> BrowserStatistics:
        return BrowserStatistics(
            pid=self.browser.process,
            state=self.state,
            windows=windows,
            opened=self.opened,
            restarts=self.restarts,
            rss_mb=self.mb,
            since_s=round(self.lived_s, 1),
        )


class BrowserSlot:
    """A slot keeps one browser, or awaits it, and knows how hard that has been of late."""

    def __init__(self, pause_s: float) -> None:
        self.kept: SupervisedBrowser | None = None
        self.restarts = 0
        self.failures = 0  # starts that failed in a row
        self._falls = 0  # the same, and those that ran for a moment only
        self._pause_s = pause_s

    @property
    def ready(self) -> SupervisedBrowser | None:
        kept = self.kept
        return kept if kept is not None and kept.takes else None

    def pause_after(self, lived_s: float) -> float:
        """Before the next, when one lived so long: none at first, then ever longer ones."""
        if lived_s >= STEADY_S:
            self._falls = 0
        self._falls += 1
        return self._pause(self._falls - 1)

    def pause_after_failure(self) -> float:
        self.failures += 1
        self._falls += 1
        return self._pause(self._falls)

    def _pause(self, times: int) -> float:
        if times == 0:
            return 0.0
        doubled = min(times - 1, 16)  # by then it is beyond the longest
        return min(LONGEST_PAUSE_S, self._pause_s * 2.0**doubled)


def did_not_start(error: BaseException | None, within_s: float) -> BrowserGone:
    """Why there is no browser, in words that help."""
    if isinstance(error, BrowserGone):
        return BrowserGone(error.what, error.fix)
    lines = str(error).splitlines() or [type(error).__name__]
    why = f"it was not up within {within_s:g} s" if error is None else lines[0]
    return BrowserGone(f"no browser started ({why})", "run: rutter doctor")
