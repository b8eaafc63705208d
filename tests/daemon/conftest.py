"""One site with one recorded workflow for the tests of a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.harbour import Harbour, WatchedSite
from tests.daemon.anchorage import record_order


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    with WatchedSite() as site:
        yield Harbour(tmp_path_factory.mktemp("harbour"), site)


@pytest.fixture(scope="module")
def recorded(harbour: Harbour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("recorded") / "data"
    record_order(harbour, data)
    return data
