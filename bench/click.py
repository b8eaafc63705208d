"""The click bench measures one click that does not navigate: with all checks, against Playwright's
and bare input events."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter_ns

from playwright.async_api import CDPSession, Page

from bench.flow import SharedBrowser, shared_browser
from bench.plain import by_test_id
from bench.spans import ms
from bench.tables import Cell, middle, p90, print_table
from rutter.actors.world.browser.tab import Tab
from rutter.pipeline.demo_sites.chandlery import Site

TIMES = 60
FIELD = by_test_id("login-user")
AIM_MS = 20
WITHIN_MS = 2_000


async def click_bare(cdp: CDPSession, x: float, y: float) -> None:
    """The input events and nothing else: no look at what is there."""
    button = {"x": x, "y": y, "button": "left", "clickCount": 1}
    await asyncio.gather(
        cdp.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y}),
        cdp.send("Input.dispatchMouseEvent", {**button, "type": "mousePressed"}),
        cdp.send("Input.dispatchMouseEvent", {**button, "type": "mouseReleased"}),
    )


async def click_checked(tab: Tab, digest: str) -> None:
    """As the Executor does: the same element, visible, enabled, not covered; clicked; settled."""
    at = await tab.call("check", digest, True, within_ms=WITHIN_MS)
    await tab.click(at["x"], at["y"], within_ms=WITHIN_MS)
    await tab.settle(within_ms=WITHIN_MS)


async def find(tab: Tab) -> str:
    way = {"by": "css", "selector": FIELD}
    found = await tab.call("resolve", [way], WITHIN_MS, within_ms=2 * WITHIN_MS)
    return str(found["element"]["exact"])


async def step(tab: Tab) -> None:
    """A whole step's page work: found, checked, clicked, settled, looked at again."""
    await click_checked(tab, await find(tab))
    await tab.call("observe", within_ms=WITHIN_MS)


async def open_plain(browser: SharedBrowser, url: str) -> tuple[Page, CDPSession]:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(url)
    return page, await context.new_cdp_session(page)


async def measure() -> dict[str, list[float]]:
    with Site() as site:
        async with shared_browser() as browser:
            url = f"{site.base_url}/login"
            page, cdp = await open_plain(browser, url)
            tab = (await browser.open_window()).tab
            await tab.navigate(url, within_ms=5 * WITHIN_MS)
            digest = await find(tab)
            at = await tab.call("check", digest, True, within_ms=WITHIN_MS)
            clicks: dict[str, Callable[[], Awaitable[object]]] = {
                "Playwright's page.click": lambda: page.click(FIELD),
                "bare CDP input events": lambda: click_bare(cdp, at["x"], at["y"]),
                "ours: checked, clicked, settled": lambda: click_checked(tab, digest),
                "ours, found before and looked at after": lambda: step(tab),
            }
            took: dict[str, list[float]] = {name: [] for name in clicks}
            for _ in range(TIMES):
                for name, click in clicks.items():
                    began_ns = perf_counter_ns()
                    await click()
                    took[name].append(ms(perf_counter_ns() - began_ns))
            return took


def main() -> None:
    took = asyncio.run(measure())
    limit = middle(next(iter(took.values())))
    rows: list[list[Cell]] = [
        [name, middle(times), p90(times), min(times), middle(times) / limit]
        for name, times in took.items()
    ]
    print_table(
        f"a click that does not navigate, {TIMES} in turns, ms "
        f"(ratio to Playwright's; aim {AIM_MS} ms)",
        ["click", "median", "p90", "best", "ratio"],
        rows,
    )


if __name__ == "__main__":
    main()
