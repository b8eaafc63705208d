"""One Chromium and one server for all browser tests of a file; a fresh page for each test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate
from rutter.pipeline.config.chromium_install import find_chromium
from tests.support.page_server import PageServer
from tests.support.policies import HERE


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


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


@pytest.fixture
async def window(chromium: Chromium) -> AsyncIterator[Window]:
    opened = await chromium.open_window(HERE)
    yield opened
    await opened.close()


@pytest.fixture
def tab(window: Window) -> Tab:
    """The first page of the window."""
    return window.tab
