"""The browser process is launched once, with one context per session; nothing phones home.

Each session goes out by its own passage through the gate; the browser itself goes nowhere. A
process that died or answers no more is replaced when the next session asks for a window; one that
is only stuck keeps the windows that it has until they are closed. Whoever keeps several of these
replaces them itself (`open_here`, `processes`, `when_gone`, `kill`).
"""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import anyio
from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.browser.window_session import OPEN_MS
from rutter.actors.world.egress.gate import NOTHING, OpensPassages, Passage
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy

QUIET: tuple[str, ...] = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--deny-permission-prompts",
)
# A connection that is opened ahead of what goes by it counts as one that has served: what goes by
# it may go twice. Preferences are read by a browser that begins for the first time, as each of
# ours does; of that it shows nothing (`--no-first-run`).
NOTHING_AHEAD = (
    f"--initial-preferences-file={Path(__file__).with_name('initial_preferences.json')}",
    "--force-first-run",
)
# No way past the proxy: not for loopback, not by datagrams, not by asking for a name.
GUARDED = (
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
# Playwright switches it off. With it a page opens one other page for each click, as for a person.
POPUP_BLOCKER_OFF = "--disable-popup-blocking"
VIEWPORT = (1280, 800)
CLOSE_MS = 5_000  # then the process is killed
PROC = Path("/proc")
PROFILE = b"--user-data-dir="
OF_THE_DRIVER = "playwright_"


class Running:
    """A browser process runs with so many windows open in it."""

    def __init__(
        self, browser: Browser, process: int | None, asking: CDPSession | None = None
    ) -> None:
        self.browser = browser
        self.process = process
        self._group = _group_of(process)
        self._profile = _profile_of(process)
        self.asking = asking  # kept, to ask the browser itself how it is
        self.windows = 0
        self.stuck = False

    @property
    def lives(self) -> bool:
        return self.browser.is_connected()

    async def end(self) -> None:
        """Closed, or killed: nothing of it is left running."""
        if not self.lives:
            return
        with anyio.move_on_after(CLOSE_MS / 1000), contextlib.suppress(PlaywrightError):
            await self.browser.close()
        if self.lives:
            self.kill()

    async def clear_up(self) -> None:
        """The driver removes the profile, unless processes of one that was killed still write into
        it, or it is ended itself before: then it would stay for ever."""
        if self._profile is not None:
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)

    def kill(self) -> None:
        """With all its processes: one that is stopped does not hear that its parent is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._group is not None:
                os.killpg(self._group, signal.SIGKILL)
            elif self.process is not None:
                os.kill(self.process, signal.SIGKILL)


class Chromium:
    """Chromium is one browser process; `open_window` gives pages in a context of their own."""

    def __init__(
        self,
        executable: Path,
        gate: OpensPassages,
        *,
        headless: bool = True,
        crowd: WindowLoad | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        # None: as this process has it.
        self._env: dict[str, str | float | bool] | None = None if env is None else {**env}
        self._crowd = crowd or WindowLoad()  # one for all browsers of a process
        self._executable = executable
        self._gate = gate  # of this browser alone: started and ended with it
        self._headless = headless
        self._playwright: Playwright | None = None
        self._driver: int | None = None
        self._running: Running | None = None
        self._retired: set[Running] = set()  # stuck, with windows that may be well
        self._ending: set[asyncio.Task[None]] = set()
        self._replacing = asyncio.Lock()
        self._tell_gone: Callable[[], None] = lambda: None
        self._nowhere: Passage | None = None

    @property
    def _browser(self) -> Browser | None:
        return self._running.browser if self._running is not None else None

    async def start(self) -> None:
        """The gate first: without a proxy there is no browser."""
        try:
            self._playwright = await _both(async_playwright().start(), self._gate.start())
            self._running = await self._launched(self._playwright)
        except (PlaywrightError, OSError) as error:
            await self.close()
            first = str(error).splitlines()[0]
            raise BrowserGone(
                f"Chromium at {self._executable} did not start ({first})", "run: rutter doctor"
            ) from error
        except BaseException:
            with anyio.CancelScope(shield=True):  # which takes a few seconds at most
                await self.close()
            raise

    async def _launched(self, playwright: Playwright) -> Running:
        self._nowhere = nowhere = await self._gate.open(NOTHING)
        nowhere.when_lost(lambda: self._tell_gone())
        browser = await playwright.chromium.launch(
            executable_path=self._executable,
            headless=self._headless,
            env=self._env,
            args=arguments(nowhere),
            ignore_default_args=[POPUP_BLOCKER_OFF],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=30_000,
        )
        browser.on("disconnected", lambda _: self._tell_gone())
        asking = await browser.new_browser_cdp_session()
        process = next(iter(await _processes(asking, "browser")), None)
        self._driver = _child_above(process)
        return Running(browser, process, asking)

    # -- for whoever keeps it ------------------------------------------------------------------

    @property
    def process(self) -> int | None:
        """The number of the browser's own process."""
        return self._running.process if self._running is not None else None

    @property
    def lives(self) -> bool:
        """Whether its process and its proxy run, as far as that is known."""
        return self._running is not None and self._running.lives and self._gate.alive

    @property
    def well(self) -> bool:
        """Whether it lives, and opened and closed all windows in time."""
        return self.lives and self._running is not None and not self._running.stuck

    def when_gone(self, tell: Callable[[], None]) -> None:
        """Who is told when the browser's process or its proxy ends."""
        self._tell_gone = tell

    async def processes(self, within_s: float) -> tuple[int, ...]:
        """The processes that it consists of, by its own answer; its proxy must answer as well.
        Raises `TimeoutError` when there is no answer in time, else `BrowserGone`."""
        running, nowhere = self._running, self._nowhere
        if running is None or running.asking is None or nowhere is None:
            raise BrowserGone("the browser is not running")
        try:
            with anyio.fail_after(within_s):
                found = await _processes(running.asking)
                await nowhere.contacts()
                return found
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0]) from error

    async def open_here(self, policy: Policy, on_closed: Callable[[], None]) -> Window:
        """A window of the process that runs: when it is gone, no other is started. `on_closed` is
        called when the window is closed; it may be when none comes of it."""
        if self._running is None or not self.well:
            raise BrowserGone("the browser is gone", "run again")
        self._running.windows += 1
        return await self._open_in(self._running, policy, on_closed)

    def kill(self) -> None:
        """Ends its processes at once: whoever waits for one of its pages waits no longer. What is
        left of it goes with `close`."""
        for each in (*self._retired, *([self._running] if self._running is not None else [])):
            each.kill()

    # -- windows -------------------------------------------------------------------------------

    async def open_window(self, policy: Policy) -> Window:
        try:
            return await self._open(policy)
        except BrowserGone:
            if self.well:
                raise
            return await self._open(policy)  # it had died, and that was not known yet

    async def open_tab(self, policy: Policy) -> Tab:
        """The first page of a window of its own, which is closed with it."""
        return (await self.open_window(policy)).tab

    async def _open(self, policy: Policy) -> Window:
        async with self._replacing:
            if not self.well:
                await self._renew()
            assert self._running is not None
            running = self._running
            running.windows += 1  # from here on: nobody ends it under us
        return await self._open_in(running, policy)

    async def _open_in(
        self, running: Running, policy: Policy, on_closed: Callable[[], None] = lambda: None
    ) -> Window:
        def left() -> None:
            self._crowd.leave()
            self._left(running)
            on_closed()

        self._crowd.join()
        try:
            await self._crowd.opening.acquire()
        except BaseException:
            left()
            raise
        try:
            return await self._opened(running, policy, left)
        finally:
            self._crowd.opening.release()

    async def _opened(self, running: Running, policy: Policy, left: Callable[[], None]) -> Window:
        try:
            context, passage = await self._context(running, policy)
        except BaseException:
            left()
            raise
        try:
            return await Window.open(
                context,
                lambda: self._stuck(running),
                passage=passage,
                download_mb=policy.download_mb,
                on_closed=left,
                crowd=self._crowd,
            )
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0], "run again") from error

    async def _context(self, running: Running, policy: Policy) -> tuple[BrowserContext, Passage]:
        passage = await self._gate.open(policy)
        context: BrowserContext | None = None
        limit_ms = self._crowd.patient(OPEN_MS)
        try:
            with anyio.fail_after(limit_ms / 1000):
                context = await new_context(running.browser, passage)
            return context, passage
        except TimeoutError as error:
            self._stuck(running)
            raise BrowserGone(f"no context was open within {limit_ms} ms", "run again") from error
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0], "run again") from error
        finally:
            if context is None:
                limit = anyio.move_on_after(CLOSE_MS / 1000, shield=True)
                with limit, contextlib.suppress(BrowserGone):
                    await passage.close()

    async def _renew(self) -> None:
        """Another browser. One that is only stuck may have windows that are well: it goes with
        the last of them."""
        old = self._running
        if old is None or not old.lives or not self._gate.alive or self._playwright is None:
            await self.close()
            await self.start()
            return
        self._running = None
        self._retired.add(old)
        self._end_if_empty(old)
        try:
            self._running = await self._launched(self._playwright)
        except PlaywrightError as error:
            first = str(error).splitlines()[0]
            raise BrowserGone(f"no other Chromium started ({first})", "run again") from error

    def _stuck(self, running: Running) -> None:
        running.stuck = True

    def _left(self, running: Running) -> None:
        running.windows -= 1
        self._end_if_empty(running)

    def _end_if_empty(self, running: Running) -> None:
        if running in self._retired and running.windows <= 0:
            self._retired.discard(running)
            ending = asyncio.ensure_future(_ended(running))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Closed, or killed: nothing of it is left running."""
        running, self._running = self._running, None
        playwright, self._playwright = self._playwright, None
        driver, self._driver = self._driver, None
        all_of_them = [*self._retired, *([running] if running is not None else [])]
        self._retired.clear()
        await asyncio.gather(*(each.end() for each in all_of_them), *self._ending)
        if playwright is not None:
            await _stopped(playwright, driver)
        await asyncio.gather(*(each.clear_up() for each in all_of_them))
        await self._gate.close()  # last: until then the browser has no other way out

    async def __aenter__(self) -> "Chromium":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def arguments(nowhere: Passage) -> list[str]:
    """What the process is started with. What is no session's traffic goes by `nowhere`."""
    given = [*QUIET, *NOTHING_AHEAD]
    if nowhere.server:
        given += [f"--proxy-server={nowhere.server}", *GUARDED]
    if os.geteuid() == 0:
        given.append("--no-sandbox")  # Chromium refuses to sandbox as root
    return given


async def new_context(browser: Browser, passage: Passage) -> BrowserContext:
    width, height = VIEWPORT
    return await browser.new_context(
        viewport={"width": width, "height": height},
        service_workers="block",
        proxy={"server": passage.server, "bypass": "<-loopback>"} if passage.server else None,
        permissions=[],
    )


async def _both(
    driver: Coroutine[Any, Any, Playwright], gate: Coroutine[Any, Any, None]
) -> Playwright:
    """At the same time: each takes a while. When either fails, what the other began is ended; so is
    a driver that nobody waits for any more: cancelled in its start, its process would stay."""
    starting = asyncio.ensure_future(driver)
    try:
        await gate
        return await asyncio.shield(starting)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await asyncio.wait({starting}, timeout=CLOSE_MS / 1000)
            if starting.done() and not starting.cancelled() and starting.exception() is None:
                await _stopped(starting.result(), None)
        raise


async def _ended(running: Running) -> None:
    await running.end()
    await running.clear_up()


async def _stopped(playwright: Playwright, driver: int | None) -> None:
    """The driver ends when it is told to, and is killed when it does not."""
    stopping = asyncio.ensure_future(playwright.stop())
    done, _ = await asyncio.wait({stopping}, timeout=CLOSE_MS / 1000)
    if not done and driver is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(driver, signal.SIGKILL)
        done, _ = await asyncio.wait({stopping}, timeout=CLOSE_MS / 1000)
    if done:
        stopping.result()
    else:
        stopping.cancel()


async def _processes(asking: CDPSession, kind: str = "") -> tuple[int, ...]:
    """The numbers of the browser's processes, or of those of one kind."""
    told = (await asking.send("SystemInfo.getProcessInfo"))["processInfo"]
    return tuple(int(each["id"]) for each in told if kind in ("", each["type"]))


def _group_of(process: int | None) -> int | None:
    """The group of all the browser's processes, unless it is our own: the driver gives it one."""
    with contextlib.suppress(ProcessLookupError):
        group = os.getpgid(process) if process is not None else None
        return group if group != os.getpgrp() else None
    return None


def _profile_of(process: int | None) -> Path | None:
    """The folder that the driver made for it, which goes with it; no other."""
    try:
        told = (PROC / str(process) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    named = [os.fsdecode(each[len(PROFILE) :]) for each in told if each.startswith(PROFILE)]
    found = [Path(each) for each in named]
    return next((each for each in found if each.name.startswith(OF_THE_DRIVER)), None)


def _child_above(process: int | None) -> int | None:
    """The child of ours that started that process: the driver. Unknown where there is no /proc."""
    ours = os.getpid()
    while process is not None and process > 1:
        above = _parent_of(process)
        if above == ours:
            return process
        process = above
    return None


def _parent_of(process: int) -> int | None:
    try:
        told = (PROC / str(process) / "stat").read_text()
        return int(told.rpartition(")")[2].split()[1])  # the name before it may hold anything
    except (OSError, ValueError, IndexError):
        return None
