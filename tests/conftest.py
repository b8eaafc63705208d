"""What every test can ask for."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
