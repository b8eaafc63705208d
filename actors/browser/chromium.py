"""The browser process: launched once, one context per session, nothing phones home.

Each session goes out by its own passage through the gate; the browser itself goes nowhere. A
process that died or answers no more is replaced when the next session asks for a window; one that
is only stuck keeps the windows that it has until they are closed.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio
from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from actors.browser.tab import Tab
from actors.browser.window import OPEN_MS, Window
from actors.egress.gate import NOTHING, OpensPassages, Passage
from events.errors import BrowserGone
from events.workflow import Policy

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--deny-permission-prompts",
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


class Running:
    """A browser process, and how many windows are open in it."""

    def __init__(self, browser: Browser, process: int | None) -> None:
        self.browser = browser
        self.process = process
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
        if self.lives and self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)


class Chromium:
    """One browser process; `open_window` gives pages in a context of their own."""

    def __init__(self, executable: Path, gate: OpensPassages, *, headless: bool = True) -> None:
        self._executable = executable
        self._gate = gate  # of this browser alone: started and ended with it
        self._headless = headless
        self._playwright: Playwright | None = None
        self._running: Running | None = None
        self._retired: set[Running] = set()  # stuck, with windows that may be well
        self._ending: set[asyncio.Task[None]] = set()
        self._replacing = asyncio.Lock()

    @property
    def _browser(self) -> Browser | None:
        return self._running.browser if self._running is not None else None

    @property
    def _process(self) -> int | None:
        return self._running.process if self._running is not None else None

    async def start(self) -> None:
        """The gate first: without a proxy there is no browser."""
        try:
            self._playwright, _ = await _both(async_playwright().start(), self._gate.start())
            self._running = await self._launched(self._playwright)
        except (PlaywrightError, OSError) as error:
            await self.close()
            first = str(error).splitlines()[0]
            raise BrowserGone(
                f"Chromium at {self._executable} did not start ({first})", "run: rutter doctor"
            ) from error
        except BaseException:
            await self.close()
            raise

    async def _launched(self, playwright: Playwright) -> Running:
        nowhere = await self._gate.open(NOTHING)
        browser = await playwright.chromium.launch(
            executable_path=self._executable,
            headless=self._headless,
            args=arguments(nowhere),
            ignore_default_args=[POPUP_BLOCKER_OFF],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=30_000,
        )
        return Running(browser, await _process_of(browser))

    async def open_window(self, policy: Policy) -> Window:
        try:
            return await self._open(policy)
        except BrowserGone:
            if self._lives():
                raise
            return await self._open(policy)  # it had died, and that was not known yet

    async def open_tab(self, policy: Policy) -> Tab:
        """The first page of a window of its own, which is closed with it."""
        return (await self.open_window(policy)).tab

    async def _open(self, policy: Policy) -> Window:
        async with self._replacing:
            if not self._lives():
                await self._renew()
            assert self._running is not None
            running = self._running
            running.windows += 1  # from here on: nobody ends it under us
        try:
            context, passage = await self._context(running, policy)
        except BaseException:
            self._left(running)
            raise
        try:
            return await Window.open(
                context,
                lambda: self._stuck(running),
                passage=passage,
                download_mb=policy.download_mb,
                on_closed=lambda: self._left(running),
            )
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0], "run again") from error

    async def _context(self, running: Running, policy: Policy) -> tuple[BrowserContext, Passage]:
        passage = await self._gate.open(policy)
        context: BrowserContext | None = None
        try:
            with anyio.fail_after(OPEN_MS / 1000):
                context = await new_context(running.browser, passage)
            return context, passage
        except TimeoutError as error:
            self._stuck(running)
            raise BrowserGone(f"no context was open within {OPEN_MS} ms", "run again") from error
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0], "run again") from error
        finally:
            if context is None:
                limit = anyio.move_on_after(CLOSE_MS / 1000, shield=True)
                with limit, contextlib.suppress(BrowserGone):
                    await passage.close()

    def _lives(self) -> bool:
        running = self._running
        well = running is not None and running.lives and not running.stuck
        return well and self._gate.alive

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
            ending = asyncio.ensure_future(running.end())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Closed, or killed: nothing of it is left running."""
        running, self._running = self._running, None
        playwright, self._playwright = self._playwright, None
        all_of_them = [*self._retired, *([running] if running is not None else [])]
        self._retired.clear()
        await asyncio.gather(*(each.end() for each in all_of_them), *self._ending)
        if playwright is not None:
            await playwright.stop()
        await self._gate.close()  # last: until then the browser has no other way out

    async def __aenter__(self) -> "Chromium":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def arguments(nowhere: Passage) -> list[str]:
    """What the process is started with. What is no session's traffic goes by `nowhere`."""
    given = list(QUIET)
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
) -> tuple[Playwright, None]:
    """At the same time: each takes a while. When either fails, what the other began is ended."""
    first, second = await asyncio.gather(driver, gate, return_exceptions=True)
    if isinstance(second, BaseException):
        if not isinstance(first, BaseException):
            await first.stop()
        raise second
    if isinstance(first, BaseException):
        raise first
    return first, None


async def _process_of(browser: Browser) -> int | None:
    """The number of the browser's own process, to end it when it does not end itself."""
    session = await browser.new_browser_cdp_session()
    try:
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        return next((int(each["id"]) for each in processes if each["type"] == "browser"), None)
    finally:
        await session.detach()
