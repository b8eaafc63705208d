"""A test of the command gets a data directory, whose logs are checked, and a site and a screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.pipeline.config.data_directory import DataDirectory
from tests.support import scripted_logs, xvfb
from tests.support.command_shell import Rutter, check_logs
from tests.support.data_directories import sailed
from tests.support.recorded_site import Harbour, WatchedSite


@pytest.fixture
def rutter(tmp_path: Path) -> Iterator[Rutter]:
    """The command on a directory of its own; every log that it leaves is derived again."""
    command = Rutter(tmp_path / "data")
    yield command
    check_logs(command.data)


@pytest.fixture
def with_orders(rutter: Rutter) -> Rutter:
    """`order` recorded and sailed twice, `half` of it recorded."""
    scripted_logs.keep(rutter.data / "log.db")
    return rutter


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    """A recording and two runs of it, of years ago."""
    return sailed(tmp_path / "data")


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    with WatchedSite() as site:
        yield Harbour(tmp_path_factory.mktemp("harbour"), site)


@pytest.fixture
def display() -> Iterator[str]:
    # `make test` installs them where it may; a developer without root need not have them.
    if missing := xvfb.missing():
        pytest.skip(f"no {' and '.join(missing)}: python -m tests.support.xvfb")
    with xvfb.screen() as name:
        yield name
