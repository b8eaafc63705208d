"""A shop with rows counts its orders and runs the command over the rows of a file."""

import csv
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rutter.events.sqlite_log import SqliteLog
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from tests.support.command_shell import ROOT, Ended, Rutter
from tests.support.scripted_rows import KILL, ORDERS, orders_in


class Shop:
    """A shop has a data directory that knows `order`, the orders so far, and a test's rows."""

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
            [sys.executable, "-m", "tests.support.scripted_rows", *arguments],
            cwd=ROOT,
            env={**os.environ, **self.env, KILL: when},
            capture_output=True,
            check=False,
        )
        return process.returncode


def rows_of(count: int, *, bad: Sequence[int] = ()) -> list[str]:
    """So many rows, each with a quantity of its own; the bad ones name nobody."""
    names = ("Aurora Shipping", "Fairlead Offshore", "Juniper Tankers")
    return [f"{'Nobody & Sons' if at in bad else names[at % 3]},{at}" for at in range(1, count + 1)]


async def say(shop: Shop, event: AnyEvent) -> None:
    """As a daemon would have."""
    log = await SqliteLog.open(shop.rutter.data / "log.db")
    async with App.open(log) as app:
        await app.say_process(event)
