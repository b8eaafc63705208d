"""A receiver, a log to export, and waits that are short."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.pipeline.traces import sink
from tests.support import golden_logs
from tests.support.otlp_receiver import Receiver


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "FIRST_WAIT_S", 0.01)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three sessions that really ran."""
    path = tmp_path / "log.db"
    golden_logs.to_database(path, golden_logs.rows("order"))
    return path
