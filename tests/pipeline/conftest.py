"""What tests of what is kept can ask for: a disk that is soon full."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.small_disk import small_disk_of


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB. Only root can mount one: without, this one case is not shown."""
    with small_disk_of("8m", tmp_path) as place:
        yield place
