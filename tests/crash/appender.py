"""The child of the power-cut tests: appends under the recording VFS and leaves its recording."""

import asyncio
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec

from rutter.events.sqlite_log import SqliteLog
from tests.crash.vfs import Op, RecordingVfs
from tests.crash.workload import Ack, append_turns, checkpoint_often

ROOT = Path(__file__).parents[2]


class Plan(msgspec.Struct, frozen=True):
    directory: str
    seed: int
    writers: int = 5
    turns: int = 10
    lives: int = 3
    synchronous: str = ""  # as the log has it by default
    lying: bool = False
    often: bool = True  # checkpoints


class AckedAt(msgspec.Struct, frozen=True, array_like=True):
    """An acknowledgement, and how many operations the disk had been asked for by then."""

    after: int
    ack: Ack


class Recording(msgspec.Struct, frozen=True):
    ops: list[Op]
    acks: list[AckedAt]
    checkpoints: int
    commits: int


def record(plan: Plan) -> Recording:
    """Carries out the plan in a child process, where the VFS does not reach us."""
    directory = Path(plan.directory)
    directory.mkdir()
    command = [sys.executable, "-m", "tests.crash.appender", msgspec.json.encode(plan).decode()]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    body = (directory / "recording").read_bytes()
    return msgspec.msgpack.decode(body, type=Recording)


async def open_log(path: Path, synchronous: str) -> SqliteLog:
    """The log as everyone opens it, unless a control wants it worse."""
    if not synchronous:
        return await SqliteLog.open(path)
    return await SqliteLog.open(path, synchronous=synchronous)


async def run(plan: Plan, vfs: RecordingVfs) -> Recording:
    acks: list[AckedAt] = []
    rng = Random(plan.seed)
    checkpoints = commits = 0
    for _ in range(plan.lives):
        log = await open_log(Path(plan.directory, "log.db"), plan.synchronous)
        await append_turns(
            log,
            lambda ack: acks.append(AckedAt(len(vfs.ops), ack)),
            rng=rng,
            writers=plan.writers,
            turns=plan.turns,
        )
        checkpoints += log.statistics().checkpoints
        commits += log.statistics().commits
        await log.close()
    return Recording(vfs.ops, acks, checkpoints, commits)


def main() -> None:
    plan = msgspec.json.decode(sys.argv[1], type=Plan)
    if plan.often:
        checkpoint_often()
    vfs = RecordingVfs(lying=plan.lying).install()
    vfs.record_names()
    recording = asyncio.run(run(plan, vfs))
    Path(plan.directory, "recording").write_bytes(msgspec.msgpack.encode(recording))


if __name__ == "__main__":
    main()
