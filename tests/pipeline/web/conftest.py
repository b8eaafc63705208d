"""One daemon with a recorded workflow, and one browser of a person, for the tests of a file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.support.daemon_on_site import Anchored, anchored, record_order
from tests.support.recorded_site import Harbour
from tests.support.web_visitor import Visitor, one_browser, visiting


@pytest.fixture(scope="module")
def recorded(harbour: Harbour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("recorded") / "data"
    record_order(harbour, data)
    return data


@pytest.fixture(scope="module")
async def ship(
    harbour: Harbour, recorded: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Anchored]:
    data = tmp_path_factory.mktemp("daemon") / "data"
    async with anchored(harbour, data, recorded=recorded) as served:
        yield served


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncIterator[Browser]:
    async with one_browser() as opened:
        yield opened


@pytest.fixture
async def visitor(browser: Browser, ship: Anchored) -> AsyncIterator[Visitor]:
    async with visiting(browser, ship) as one:
        yield one
