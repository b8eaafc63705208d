"""The memory bench measures resident memory of our process, without the browser and Playwright's
driver beside it.

Measured in a process of its own, so that no other bench is in the figures.
"""

import asyncio
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

from bench.pipeline import run_sessions
from bench.tables import Cell, print_table
from rutter.events.sqlite_log import SqliteLog
from rutter.pipeline.app import App

SIDE_BY_SIDE = 8
FEW, MANY = 100, 2_000
BARE = "import psutil; print(psutil.Process().memory_info().rss)"
IMPORTED = (
    "import rutter.pipeline.app, playwright.async_api, rutter.events.sqlite_log, bench.memory; "
)


def main() -> None:
    """The figures come from children: a bare Python, one with our modules, and one that works."""
    bare = _child(BARE)[0]
    imported = _child(IMPORTED + BARE)[0]
    idle, few, many = _child("from bench.memory import measure; measure()")
    growth = (many - few) * 1_000 / MANY
    rows: list[list[Cell]] = [
        ["bare Python", bare, bare / imported],
        ["Python with our modules and their libraries", imported, 1.0],
        ["idle: the pipeline open on its log", idle, idle / imported],
        [f"after {FEW} scripted sessions", few, few / imported],
        [f"after {FEW + MANY:,} scripted sessions", many, many / imported],
        ["growth per 1,000 sessions", growth, growth / imported],
    ]
    print_table(
        "resident memory, MiB (ratio to a process that only imports)",
        ["when", "MiB", "ratio"],
        rows,
    )


def measure() -> None:
    """Prints resident bytes: idle, after a few sessions, after many more."""
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as directory:
        asyncio.run(_measure(Path(directory)))


async def _measure(directory: Path) -> None:
    log = await SqliteLog.open(directory / "log.db")
    async with App.open(log) as app:
        _print_resident()
        for sessions in (FEW, MANY):
            await run_sessions(app, sessions, SIDE_BY_SIDE)
            _print_resident()


def _print_resident() -> None:
    gc.collect()
    print(psutil.Process().memory_info().rss)


def _child(code: str) -> list[float]:
    """What a fresh Python prints, as MiB."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return [int(line) / 2**20 for line in done.stdout.split()]


if __name__ == "__main__":
    main()
