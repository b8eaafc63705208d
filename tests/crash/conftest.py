"""How many crashes: enough to notice in a normal run, the full count with RUTTER_SOAK=1."""

import os
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def count() -> Callable[[int, int], int]:
    """`count(normal, soak)`."""
    soak = os.environ.get("RUTTER_SOAK") == "1"
    return lambda normal, long: long if soak else normal
