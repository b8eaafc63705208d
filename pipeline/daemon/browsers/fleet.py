"""The fleet keeps warm browsers for many sessions: each window is opened in the one that has the
fewest.

There are as many slots as browsers are wanted. One task keeps each slot: it starts a browser,
and another when that one is to be replaced. One task looks after each browser until it is closed:
what died or answers no more is killed, and its sessions are told by their pages; what is worn or
has grown keeps its windows until they are closed, while another has its slot. At most one more
than wanted runs at a time.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import msgspec

from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy
from rutter.pipeline.config.reader import Config
from rutter.pipeline.daemon.browsers.fair_queue import FairQueue
from rutter.pipeline.daemon.browsers.memory import resident_mb
from rutter.pipeline.daemon.browsers.supervised import (
    CAUSES,
    BrowserSlot,
    BrowserStatistics,
    Cause,
    FleetBrowser,
    SupervisedBrowser,
    did_not_start,
)

START_S = 60.0  # a browser has a limit of its own, which is half of it
CLOSE_S = 20.0  # it closes or is killed well before: all its parts have their limits
LINGER_S = 10.0  # the sessions of a dead browser still ask its proxy whom they spoke to
TRIES = 3  # browsers that a window may be asked of: each of them can die under it
ASKED = 2  # times: it may be we who were held up while the answer came
HOPELESS = 3  # starts in a row that failed: those who wait are told, and do not wait for ever


class FleetLimits(msgspec.Struct, frozen=True):
    size: int = 1
    max_windows: int = 20
    recycle_after: int = 200
    max_mb: int = 2_048
    check_s: float = 5.0
    answer_s: float = 5.0
    pause_s: float = 0.5


class FleetStatistics(msgspec.Struct, frozen=True):
    """The fleet counts what it `replaced` by cause; `failed` are starts that came to nothing."""

    browsers: tuple[BrowserStatistics, ...]
    windows: int
    max_windows: int
    waiting: int
    replaced: dict[str, int]
    failed: int


class Fleet:
    """The fleet opens windows, as one browser does. Use as an async context manager."""

    def __init__(
        self,
        make: Callable[[], FleetBrowser],
        limits: FleetLimits | None = None,
        *,
        measure: Callable[[tuple[int, ...]], int | None] = resident_mb,
    ) -> None:
        self._make = make
        self._limits = limits or FleetLimits()
        self._measure = measure
        self._slots = [BrowserSlot(self._limits.pause_s) for _ in range(self._limits.size)]
        self._line: FairQueue[SupervisedBrowser] = FairQueue(
            self._limits.max_windows, self._least_loaded
        )
        self._leaving: set[SupervisedBrowser] = set()
        self._spare: SupervisedBrowser | None = None  # runs beside the one that replaces it
        self._starting: dict[FleetBrowser, asyncio.Task[None]] = {}
        self._closing: dict[FleetBrowser, asyncio.Task[None]] = {}
        self._made: set[FleetBrowser] = set()  # and not closed yet
        self._tasks: set[asyncio.Task[None]] = set()
        self._replaced: Counter[Cause] = Counter()
        self._first_error: BrowserGone | None = None
        self._failed = 0
        self._up = anyio.Event()  # one is, or none is going to be
        self._closed = False

    async def start(self) -> None:
        """All at the same time; there when one is. When none starts it raises the first error."""
        try:
            for slot in self._slots:
                self._spawn(self._keep(slot))
            await self._up.wait()
            if self._first_error is not None and not any(each.kept for each in self._slots):
                raise self._first_error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Ends all of them, in a bounded time, whatever they do."""
        self._closed = True
        self._line.refuse(_closed_by_us)
        for task in self._tasks:
            task.cancel()
        with anyio.CancelScope(shield=True):
            if self._tasks:
                await asyncio.wait(tuple(self._tasks))
            await asyncio.gather(*(self._scrap(browser) for browser in tuple(self._made)))
        self._leaving.clear()

    async def open_window(self, policy: Policy) -> Window:
        """In the browser with the fewest; waits in line when there are as many as there may be."""
        for again in range(TRIES):
            if self._closed:
                raise _closed_by_us()
            place = await self._line.place(first=again > 0)
            kept = place.at
            try:
                return await kept.open(policy, place)
            except BrowserGone:
                # It may have died, and that is not known yet. Nothing was done in it so far.
                if await self._sound(kept) and kept.browser.well:
                    raise
            finally:
                self._look_at_wear(kept)
        raise BrowserGone(f"{TRIES} browsers ended while they opened a window", "run again")

    def statistics(self) -> FleetStatistics:
        there = [each for slot in self._slots if (each := slot.kept) and not each.gone]
        absent = [slot for slot in self._slots if slot.kept is None or slot.kept.gone]
        return FleetStatistics(
            browsers=(
                *(each.statistics(len(self._line.held_by(each))) for each in there),
                *(BrowserStatistics(None, "starting", restarts=each.restarts) for each in absent),
                *(each.statistics(len(self._line.held_by(each))) for each in self._leaving),
            ),
            windows=self._line.taken,
            max_windows=self._limits.max_windows,
            waiting=self._line.waiting,
            replaced={cause: self._replaced[cause] for cause in CAUSES},
            failed=self._failed,
        )

    async def __aenter__(self) -> "Fleet":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- the slots ----------------------------------------------------------------------------

    def _least_loaded(self) -> SupervisedBrowser | None:
        """Of two alike the one that opened fewer, so that they wear alike."""
        ready = [kept for slot in self._slots if (kept := slot.ready) is not None]
        return min(
            ready, key=lambda each: (len(self._line.held_by(each)), each.opened), default=None
        )

    async def _keep(self, slot: BrowserSlot) -> None:
        """There is always a browser in this slot, or one on its way."""
        while True:
            fresh = SupervisedBrowser(await self._started(slot), slot.restarts)
            old, slot.kept = slot.kept, fresh
            if old is not None and old.state == "ready":
                old.state = "leaving"
                self._leaving.add(old)
                old.stir()
            self._spawn(self._attend(fresh))
            self._up.set()
            self._line.serve()
            await fresh.replaced.wait()
            slot.restarts += 1
            if fresh.cause != "worn":  # which is no fall, and as often as windows are asked for
                await anyio.sleep(slot.pause_after(fresh.lived_s))

    async def _started(self, slot: BrowserSlot) -> FleetBrowser:
        """Tried until one starts, never in haste."""
        while True:
            browser = self._make()
            self._made.add(browser)
            starting = self._starting[browser] = asyncio.ensure_future(browser.start())
            await asyncio.wait({starting}, timeout=START_S)
            if starting.done() and not starting.cancelled() and starting.exception() is None:
                del self._starting[browser]
                slot.failures = 0
                return browser
            known = starting.done() and not starting.cancelled()
            pause = slot.pause_after_failure()
            self._note(did_not_start(starting.exception() if known else None, START_S))
            await self._scrap(browser)
            await anyio.sleep(pause)

    def _note(self, error: BrowserGone) -> None:
        """A start failed. Whoever waits is told when there is no hope any more."""
        self._failed += 1
        self._first_error = self._first_error or error
        # As long as none was ever up, whoever started us is told at once.
        least = HOPELESS if any(slot.kept for slot in self._slots) else 1
        if all(slot.failures >= least and not slot.ready for slot in self._slots):
            self._up.set()
            self._line.refuse(lambda: BrowserGone(error.what, error.fix))

    # -- looking after one ---------------------------------------------------------------------

    async def _attend(self, kept: SupervisedBrowser) -> None:
        while await self._sound(kept):
            self._look_at_wear(kept)
            if kept.state == "leaving" and not kept.unclosed:
                break
            with anyio.move_on_after(self._limits.check_s):
                await kept.stirred()
        with anyio.move_on_after(LINGER_S):
            while kept.unclosed:
                await kept.stirred()
        kept.state = "gone"
        await self._scrap(kept.browser)
        self._leaving.discard(kept)
        if self._spare is kept:
            self._spare = None
            for slot in self._slots:
                if slot.kept is not None:
                    slot.kept.stir()  # it may be its turn

    async def _sound(self, kept: SupervisedBrowser) -> bool:
        """Whether it runs and answers. If not it is ended, here and now."""
        for _ in range(ASKED):
            if kept.gone:
                return False
            if not kept.browser.lives:
                self._strike(kept, "died")
                return False
            try:
                processes = await kept.browser.processes(self._limits.answer_s)
            except TimeoutError:
                continue
            except BrowserGone:
                self._strike(kept, "died")
                return False
            kept.mb = self._measure(processes)
            return not kept.gone  # another may have ended it meanwhile
        self._strike(kept, "stuck")
        return False

    def _look_at_wear(self, kept: SupervisedBrowser) -> None:
        """One that is to go while it runs needs another beside it, and there is room for one."""
        cause = self._wear_of(kept)
        if cause is None or kept.state != "ready":
            return
        if cause == "unwell" and not kept.unclosed:
            self._strike(kept, cause)
        elif self._spare is None:
            self._spare = kept
            self._replace(kept, cause)

    def _wear_of(self, kept: SupervisedBrowser) -> Cause | None:
        if not kept.browser.well:
            return "unwell"
        if kept.opened >= self._limits.recycle_after:
            return "worn"
        grown = kept.mb is not None and kept.mb > self._limits.max_mb
        return "grown" if grown else None

    def _strike(self, kept: SupervisedBrowser, cause: Cause) -> None:
        """It opens no more windows, and those that it has are none."""
        if kept.gone:
            return
        self._replace(kept, cause)
        kept.state = "gone"
        kept.browser.kill()
        kept.stir()
        for place in self._line.held_by(kept):
            place.leave()

    def _replace(self, kept: SupervisedBrowser, cause: Cause) -> None:
        if kept.cause is None:
            kept.cause = cause
            self._replaced[cause] += 1
            kept.replaced.set()

    # -- how -----------------------------------------------------------------------------------

    async def _scrap(self, browser: FleetBrowser) -> None:
        """Closes it, or kills it when that takes too long. More than one may ask for that."""
        if browser not in self._closing:
            self._closing[browser] = asyncio.ensure_future(self._end(browser))
        closing = self._closing[browser]
        done, _ = await asyncio.wait({closing}, timeout=CLOSE_S)
        if not done:
            closing.cancel()
            browser.kill()
        elif not closing.cancelled() and (error := closing.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a browser did not close well", "exception": error}
            )
        self._closing.pop(browser, None)
        self._made.discard(browser)

    async def _end(self, browser: FleetBrowser) -> None:
        starting = self._starting.pop(browser, None)
        if starting is not None and not starting.done():
            starting.cancel()
            await asyncio.wait({starting})
        await browser.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def limits_of(config: Config) -> FleetLimits:
    return FleetLimits(
        size=config.number("browser.pool_size"),
        max_windows=config.number("browser.max_windows"),
        recycle_after=config.number("browser.recycle_after"),
        max_mb=config.number("browser.max_mb"),
        check_s=config.amount("browser.check_s"),
    )


def _closed_by_us() -> BrowserGone:
    return BrowserGone("the browsers were closed", "start it again")
