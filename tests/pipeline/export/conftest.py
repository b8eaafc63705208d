"""The browser of the browser tests, one for each file."""

from tests.support.browser_fixtures import anyio_backend, chromium, server, tab, window

__all__ = ["anyio_backend", "chromium", "server", "tab", "window"]
