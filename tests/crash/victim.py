"""The child of the kill tests: appends for ever and says on stdout what it was told is on disk.

Run as `python -m tests.crash.victim LOG SEED WRITERS [early]`.
"""

import asyncio
import os
import sys
from pathlib import Path
from random import Random

from rutter.events.sqlite_log import SqliteLog
from tests.crash.workload import Ack, append_turns, checkpoint_often

FOREVER = 1_000_000
OPENING = "opening"


def say(line: str) -> None:
    """In one write: a line is in the pipe as a whole or not at all, whenever we are killed."""
    os.write(1, f"{line}\n".encode())


def acknowledge(ack: Ack) -> None:
    say(f"{ack.seq} {ack.hash.hex()}")


async def append(path: Path, seed: int, writers: int, early: bool) -> None:
    say(OPENING)
    log = await SqliteLog.open(path)
    await append_turns(
        log, acknowledge, rng=Random(seed), writers=writers, turns=FOREVER, early=early
    )


def main() -> None:
    path, seed, writers, *early = sys.argv[1:]
    checkpoint_often()
    asyncio.run(append(Path(path), int(seed), int(writers), early == ["early"]))


if __name__ == "__main__":
    main()
