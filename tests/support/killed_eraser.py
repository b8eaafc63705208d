"""The kill tests' child erases a session and is killed at a point of the test's choosing.

Run as `python -m tests.support.killed_eraser DIRECTORY SESSION [POINT]`, where a point is
`call:NAME` (before that function of `rutter.pipeline.upkeep.erase`), `done:NAME` (after it) or
`sql:NTH:STATEMENT`.
"""

import asyncio
import os
import signal
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import Any

from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep import erase

STARTED = "started"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Fatal(sqlite3.Connection):
    """A fatal connection does not outlive a certain statement."""

    statement = ""
    left = 0

    def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
        if Fatal.statement and sql.startswith(Fatal.statement):
            Fatal.left -= 1
            if Fatal.left == 0:
                die()
        return super().execute(sql, *more)


def arm(point: str) -> None:
    how, _, where = point.partition(":")
    if how == "sql":
        nth, _, Fatal.statement = where.partition(":")
        Fatal.left = int(nth)
        sqlite3.connect = partial(sqlite3.connect, factory=Fatal)  # type: ignore[assignment]
        return
    real = getattr(erase, where)

    def fatal(*arguments: Any) -> Any:
        if how == "call":
            die()
        real(*arguments)
        die()

    setattr(erase, where, fatal)
    erase.STEPS = tuple(fatal if step is real else step for step in erase.STEPS)


def main() -> None:
    root, session, *point = sys.argv[1:]
    for each in point:
        arm(each)
    directory = DataDirectory(Path(root))
    directory.lock()
    os.write(1, f"{STARTED}\n".encode())
    asyncio.run(erase.erase(directory, session, None, "killed in the middle"))


if __name__ == "__main__":
    main()
