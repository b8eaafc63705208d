"""A plain fleet is the daemon bench's limit: as many Playwright scripts at once, in one process.

`python -m bench.plain_fleet SITE BROWSERS`. It reads how many from its input, a line each, and does
the order so many times at once: a context each, spread over browsers that are started as ours are,
with a driver and a proxy each. It answers with how long all took, how long each call, and which
orders there are.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Any, NamedTuple, cast

import msgspec
from playwright.async_api import Browser, Page, async_playwright

from bench.plain import play_order
from rutter.actors.world.browser.chromium import POPUP_BLOCKER_OFF, arguments, new_context
from rutter.actors.world.egress.gate import NOTHING, Gate
from rutter.events.policy import Policy
from rutter.pipeline.config.chromium_install import Installer

CUSTOMER = "Fairlead Offshore"


class Played(msgspec.Struct, frozen=True):
    took_s: float
    calls_ms: list[float]
    orders: list[str]


class Berth(NamedTuple):
    browser: Browser
    gate: Gate


class Timed:
    """A timed page notes how long each call took."""

    def __init__(self, page: Page, calls_ms: list[float]) -> None:
        self._page = page
        self._calls_ms = calls_ms

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._page, name)

        async def timed(*given: Any, **more: Any) -> Any:
            began = perf_counter()
            answer = await call(*given, **more)
            self._calls_ms.append((perf_counter() - began) * 1_000)
            return answer

        return timed


async def open_berth(stack: AsyncExitStack) -> Berth:
    playwright = await stack.enter_async_context(async_playwright())
    gate = await stack.enter_async_context(Gate())
    browser = await playwright.chromium.launch(
        executable_path=Installer(lambda _: None).ensure(),
        args=arguments(await gate.open(NOTHING)),
        ignore_default_args=[POPUP_BLOCKER_OFF],
    )
    stack.push_async_callback(browser.close)
    return Berth(browser, gate)


async def play(berth: Berth, site: str, calls_ms: list[float]) -> str:
    """A script as anybody would write it, in a context that goes out by the gate."""
    policy = Policy("1", hosts=("127.0.0.1",), public_hosts=False, public_resources=False)
    passage = await berth.gate.open(policy)
    context = await new_context(berth.browser, passage)
    page = cast(Page, Timed(await context.new_page(), calls_ms))
    number = await play_order(page, site, CUSTOMER)
    await context.close()
    await passage.close()
    return number


async def play_at_once(berths: list[Berth], site: str, number: int) -> Played:
    calls_ms: list[float] = []
    began = perf_counter()
    plays = (play(berths[turn % len(berths)], site, calls_ms) for turn in range(number))
    came_to = await asyncio.gather(*plays, return_exceptions=True)
    took = perf_counter() - began
    return Played(took, calls_ms, [each for each in came_to if isinstance(each, str)])


async def main(site: str, browsers: int) -> None:
    async with AsyncExitStack() as stack:
        berths = await asyncio.gather(*(open_berth(stack) for _ in range(browsers)))
        answer(b"{}")
        while line := await asyncio.to_thread(sys.stdin.readline):
            answer(msgspec.json.encode(await play_at_once(berths, site, int(line))))


def answer(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
