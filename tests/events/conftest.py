"""Async tests here run on asyncio, which the log is built on."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
