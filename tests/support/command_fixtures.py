"""Every test has a data directory, whose logs are checked when the test ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_shell import Rutter, check_logs


@pytest.fixture
def rutter(tmp_path: Path) -> Iterator[Rutter]:
    """The command on a directory of its own; every log that it leaves is derived again."""
    command = Rutter(tmp_path / "data")
    yield command
    check_logs(command.data)
