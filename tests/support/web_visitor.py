"""A visitor looks at the daemon's web pages with a real Chromium, and hears whatever it complains
of."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Page, Response, async_playwright

from rutter.pipeline.config.chromium_install import require_chromium
from tests.support.daemon_on_site import Anchored

# Before any script of a page: what its policy keeps from happening is told to nobody else.
LISTENS = """addEventListener('securitypolicyviolation', event =>
  console.error('POLICY ' + event.violatedDirective + ' ' + event.blockedURI))"""


class Visitor:
    """A visitor has one page, opened by a link; `complaints` is what the browser said of it."""

    def __init__(self, ship: Anchored, page: Page) -> None:
        self.ship = ship
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, said: Any) -> None:
        # A status is the test's to judge.
        if said.type == "error" and "Failed to load resource" not in said.text:
            self.complaints.append(said.text)

    async def link(self) -> str:
        made = await self.ship.ask("POST", "/web/links")
        assert made.status == 201, made
        return str(self.ship.url + made.json["path"])

    async def open(self, path: str = "/web/now") -> None:
        await self.page.goto(await self.link())
        if path != "/web/now":
            assert (await self.go(path)).status == 200

    async def go(self, path: str) -> Response:
        response = await self.page.goto(self.ship.url + path)
        assert response is not None
        return response

    async def text(self, selector: str = "main") -> str:
        return await self.page.inner_text(selector)


@asynccontextmanager
async def one_browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=require_chromium(None), args=["--no-sandbox"]
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def visiting(browser: Browser, ship: Anchored, **more: Any) -> AsyncIterator[Visitor]:
    """Nothing may be complained of when it ends."""
    context = await browser.new_context(**more)
    await context.add_init_script(LISTENS)
    visitor = Visitor(ship, await context.new_page())
    yield visitor
    await context.close()
    assert visitor.complaints == []
