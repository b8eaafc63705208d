"""A site that gives orders."""

from collections.abc import Iterator

import pytest

from tests.hostile.injection.hostile_site import HostileSite


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with HostileSite() as running:
        yield running
