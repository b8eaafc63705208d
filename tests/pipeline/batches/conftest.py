"""A shop that counts its orders, and the command that runs rows in it."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.pipeline.cli import row_runs
from tests.support.command_shell import check_logs
from tests.support.scripted_rows import open_rehearsed, record
from tests.support.shop_with_rows import Shop


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("recorded") / "data"
    asyncio.run(record(data))
    return data


@pytest.fixture
def shop(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """Every log that a test leaves is derived again."""
    shutil.copytree(recorded, tmp_path / "data")
    shop = Shop(tmp_path)
    monkeypatch.setattr(row_runs, "open_pipeline", open_rehearsed)
    for name, value in shop.env.items():
        monkeypatch.setenv(name, value)
    yield shop
    check_logs(shop.rutter.data)
