"""The browser process: launched once, one context per session, nothing phones home."""

import os
from pathlib import Path
from types import TracebackType

import anyio
from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from actors.browser.tab import OPEN_MS, Tab
from events.errors import BrowserGone

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
)
VIEWPORT = (1280, 800)


class Chromium:
    """One browser process; `open_tab` gives a page in a context of its own."""

    def __init__(self, executable: Path, *, headless: bool = True) -> None:
        self._executable = executable
        self._headless = headless
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

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
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=30_000,
            )
        except PlaywrightError as error:
            await self.close()
            first = str(error).splitlines()[0]
            raise BrowserGone(
                f"Chromium at {self._executable} did not start ({first})", "run: rutter doctor"
            ) from error

    async def open_tab(self) -> Tab:
        if self._browser is None or not self._browser.is_connected():
            await self.close()
            await self.start()
        assert self._browser is not None
        width, height = VIEWPORT
        try:
            with anyio.fail_after(OPEN_MS / 1000):
                context = await self._browser.new_context(
                    viewport={"width": width, "height": height}, service_workers="block"
                )
            return await Tab.open(context)
        except TimeoutError as error:
            raise BrowserGone(f"no context was open within {OPEN_MS} ms", "run again") from error
        except PlaywrightError as error:
            raise BrowserGone(str(error).splitlines()[0], "run again") from error

    async def close(self) -> None:
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        if browser is not None and browser.is_connected():
            await browser.close()
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
