"""One Chromium and one server serve all browser tests of a file; each test has a fresh page."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from rutter.actors.effector import Effector
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate
from rutter.events.chain import GENESIS
from rutter.events.envelope import Envelope
from rutter.events.policy import Policy
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.config.chromium_install import find_chromium
from tests.support.page_server import PageServer
from tests.support.policies import HERE

PATIENT = 20_000


@pytest.fixture(scope="module")
async def chromium(anyio_backend: str) -> AsyncIterator[Chromium]:
    executable = find_chromium()
    if executable is None:
        pytest.fail("no Chromium: run `make setup`, or set RUTTER_CHROMIUM")
    async with Chromium(executable, Gate()) as browser:
        yield browser


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


@pytest.fixture(scope="module")
async def one_window(chromium: Chromium) -> AsyncIterator[Window]:
    """For a file whose tests only look at pages: `window = browser_fixtures.one_window`."""
    opened = await chromium.open_window(HERE)
    yield opened
    await opened.close()


@pytest.fixture
async def window(chromium: Chromium) -> AsyncIterator[Window]:
    opened = await chromium.open_window(HERE)
    yield opened
    await opened.close()


@pytest.fixture
def tab(window: Window) -> Tab:
    """The first page of the window."""
    return window.tab


class OneWindow:
    """A browser that opens no other window than this."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def open_window(self, policy: Policy) -> Window:
        return self._window


async def show(tab: Tab, server: PageServer, html: str) -> None:
    await tab.navigate(server.show(html), within_ms=PATIENT)


async def tell(effector: Effector, event: AnyEvent) -> Any:
    """The one fact that it answers with."""
    envelope = Envelope(1, "run", 1, 0, "validator", 0, event, GENESIS)
    (said,) = [fact async for fact in effector.handle(envelope)]
    return said
