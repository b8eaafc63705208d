"""A shop that counts its orders, and the command that runs rows in it."""

import asyncio
import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from events.sqlite_log import SqliteLog
from events.vocabulary import AnyEvent
from pipeline.app import App
from pipeline.cli import row_runs
from tests.cli.shell import ROOT, Ended, Rutter, check_logs
from tests.rows.rehearsed import KILL, ORDERS, open_rehearsed, orders_in, record


class Shop:
    """A data directory in which `order` is known, the orders so far, and the rows of a test."""

    def __init__(self, folder: Path) -> None:
        self.rutter = Rutter(folder / "data")
        self.file = folder / "orders.csv"
        self.results = folder / "orders.results.csv"
        self._orders = folder / "taken"

    @property
    def orders(self) -> list[str]:
        return orders_in(self._orders)

    @property
    def env(self) -> Mapping[str, str]:
        return {ORDERS: str(self._orders)}

    def write(self, *rows: str, header: str = "customer,quantity") -> None:
        self.file.write_text("\n".join((header, *rows)) + "\n")

    def run(self, *more: str | Path) -> Ended:
        return self.rutter("run", "order", "--rows", self.file, *more)

    def outcomes(self) -> list[str]:
        """The outcome of every row, as the file of results has it."""
        return [row["outcome"] for row in self.table()]

    def table(self) -> list[dict[str, str]]:
        with self.results.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def killed(self, when: str = "") -> int:
        """The same command in a process of its own, which dies then, if it does."""
        arguments = ["--data", str(self.rutter.data), "run", "order", "--rows", str(self.file)]
        process = subprocess.run(
            [sys.executable, "-m", "tests.rows.rehearsed", *arguments],
            cwd=ROOT,
            env={**os.environ, **self.env, KILL: when},
            capture_output=True,
            check=False,
        )
        return process.returncode


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


def rows_of(count: int, *, bad: Sequence[int] = ()) -> list[str]:
    """So many rows, each with a quantity of its own; the bad ones name nobody."""
    names = ("Aurora Shipping", "Fairlead Offshore", "Juniper Tankers")
    return [f"{'Nobody & Sons' if at in bad else names[at % 3]},{at}" for at in range(1, count + 1)]


async def say(shop: Shop, event: AnyEvent) -> None:
    """As a daemon would have."""
    log = await SqliteLog.open(shop.rutter.data / "log.db")
    async with App.open(log) as app:
        await app.say_process(event)
