"""The kill tests' child tidies a directory and is killed at a point of the test's choosing.

Run as `python -m tests.support.killed_expiry DIRECTORY POINT`: `said` is when the fact is on disk
and no file has gone, `begun` when one has, `gone` when all have and nothing else was done;
`backwards` is the control: the files go first, and it is killed before it says so.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from rutter.events.artifacts import ArtifactStore
from rutter.events.sqlite_log import SqliteLog
from rutter.pipeline.app import App
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep import expiry
from rutter.pipeline.upkeep.artifact_survey import survey
from rutter.pipeline.upkeep.expiry import ExpiryRules, plan, remove


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_behind(work: Any) -> Any:
    def fatal(*given: Any) -> None:
        work(*given)
        die()

    return fatal


async def backwards(directory: DataDirectory, *_: Any) -> None:
    remove(directory, plan(survey(directory), ExpiryRules(), 2**62))
    die()


def arm(point: str) -> Any:
    """What is called in place of `tidy`."""
    patches: dict[str, tuple[Any, str, Any]] = {
        "said": (expiry, "remove", die),
        "begun": (ArtifactStore, "drop", dies_behind(ArtifactStore.drop)),
        "gone": (expiry, "mark", die),
    }
    if point in patches:
        setattr(*patches[point])
    return backwards if point == "backwards" else expiry.tidy


async def main() -> None:
    root, point = sys.argv[1:]
    tidy = arm(point)
    directory = DataDirectory(Path(root))
    directory.lock()
    log = await SqliteLog.open(directory.log)
    async with App.open(log, artifacts=directory.artifacts) as app:
        await tidy(directory, app.say_process, ExpiryRules(), app.clock)


if __name__ == "__main__":
    asyncio.run(main())
