"""The child of the durable-read test: looks at the log from outside whenever it is to be synced."""

import asyncio
import sys
from pathlib import Path
from random import Random

import msgspec

from rutter.events.sqlite_reader import SqliteReader
from tests.crash.appender import open_log
from tests.crash.vfs import RecordingVfs
from tests.crash.workload import append_turns


class Seen(msgspec.Struct):
    """How far a reader saw, each time before a sync of the WAL, and when all was appended."""

    before_syncs: list[int]
    at_the_end: int = 0


async def run(path: Path, synchronous: str, vfs: RecordingVfs) -> Seen:
    log, seen = await open_log(path, synchronous), Seen([])
    try:
        vfs.before_sync = lambda: seen.before_syncs.append(last_seq(path))
        await append_turns(log, lambda ack: None, rng=Random(1), writers=1, turns=30)
        vfs.before_sync = lambda: None
        seen.at_the_end = last_seq(path)
    finally:
        await log.close()
    return seen


def last_seq(path: Path) -> int:
    with SqliteReader(path) as reader:
        return reader.last_seq()


def main() -> None:
    vfs = RecordingVfs().install()
    seen = asyncio.run(run(Path(sys.argv[1]), sys.argv[2], vfs))
    sys.stdout.buffer.write(msgspec.json.encode(seen))


if __name__ == "__main__":
    main()
