"""A log whose events are written one by one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.timed_log import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "log.db") as ledger:
        yield ledger
