"""The browser process: launched once, one context per session, nothing phones home.

A process that died or answers no more is replaced when the next session asks for a window.
"""

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from types import TracebackType

import anyio
from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from actors.browser.tab import Tab
from actors.browser.window import OPEN_MS, Window
from events.errors import BrowserGone

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
)
# Playwright switches it off. With it a page opens one other page for each click, as for a person.
POPUP_BLOCKER_OFF = "--disable-popup-blocking"
VIEWPORT = (1280, 800)
CLOSE_MS = 5_000  # then the process is killed


class Chromium:
    """One browser process; `open_window` gives pages in a context of their own."""

    def __init__(self, executable: Path, *, headless: bool = True) -> None:
        self._executable = executable
        self._headless = headless
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._process: int | None = None
        self._stuck = False
        self._replacing = asyncio.Lock()

    async def start(self) -> None:
        arguments = list(QUIET)
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium refuses to sandbox as root
        self._playwright = await async_playwright().start()
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._executable,
                headless=self._headless,
                args=arguments,
                ignore_default_args=[POPUP_BLOCKER_OFF],
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=30_000,
            )
            self._process = await _process_of(self._browser)
        except PlaywrightError as error:
            await self.close()
            first = str(error).splitlines()[0]
            raise BrowserGone(
                f"Chromium at {self._executable} did not start ({first})", "run: rutter doctor"
            ) from error

    async def open_window(self) -> Window:
        try:
            return await self._open()
        except BrowserGone:
            if self._lives():
                raise
            return await self._open()  # it had died, and that was not known yet

    async def open_tab(self) -> Tab:
        """The first page of a window of its own, which is closed with it."""
        return (await self.open_window()).tab

    async def _open(self) -> Window:
        async with self._replacing:
            if not self._lives():
                await self.close()
                await self.start()
        assert self._browser is not None
        width, height = VIEWPORT
        try:
            with anyio.fail_after(OPEN_MS / 1000):
                context = await self._browser.new_context(
                    viewport={"width": width, "height": height}, service_workers="block"
                )
            return await Window.open(context, self._replace)
        except TimeoutError as error:
            self._replace()
            raise BrowserGone(f"no context was open within {OPEN_MS} ms", "run again") from error
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0], "run again") from error

    def _lives(self) -> bool:
        return not self._stuck and self._browser is not None and self._browser.is_connected()

    def _replace(self) -> None:
        self._stuck = True

    async def close(self) -> None:
        """Closed, or killed: nothing of it is left running."""
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        process, self._process = self._process, None
        self._stuck = False
        if browser is not None and browser.is_connected():
            with anyio.move_on_after(CLOSE_MS / 1000), contextlib.suppress(PlaywrightError):
                await browser.close()
            if browser.is_connected() and process is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        if playwright is not None:
            await playwright.stop()

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


async def _process_of(browser: Browser) -> int | None:
    """The number of the browser's own process, to end it when it does not end itself."""
    session = await browser.new_browser_cdp_session()
    try:
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        return next((int(each["id"]) for each in processes if each["type"] == "browser"), None)
    finally:
        await session.detach()
