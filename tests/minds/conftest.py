"""The browser of the browser tests."""

from tests.browser.conftest import anyio_backend, chromium

__all__ = ["anyio_backend", "chromium"]
