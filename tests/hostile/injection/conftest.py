"""The browser of the browser tests, and a site that gives orders."""

from collections.abc import Iterator

import pytest

from tests.hostile.injection.hostile_site import HostileSite
from tests.support.browser_fixtures import anyio_backend, chromium, server, tab, window

__all__ = ["anyio_backend", "chromium", "server", "tab", "window"]


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with HostileSite() as running:
        yield running
