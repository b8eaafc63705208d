"""One recorded workflow for the tests of a file."""

from pathlib import Path

import pytest

from tests.support.daemon_on_site import record_order
from tests.support.recorded_site import Harbour


@pytest.fixture(scope="module")
def recorded(harbour: Harbour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("recorded") / "data"
    record_order(harbour, data)
    return data
