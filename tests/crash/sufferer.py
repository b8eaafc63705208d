"""The child of the disk-error tests: appends on a disk that fails, and tells how that went."""

import asyncio
import resource
import subprocess
import sys
from pathlib import Path

import msgspec

from rutter.events import sqlite_log
from rutter.events.errors import LogWriteFailed
from rutter.events.sqlite_log import SqliteLog
from tests.crash.appender import ROOT
from tests.crash.vfs import Fault, RecordingVfs
from tests.crash.workload import Ack, checkpoint_often
from tests.support.envelopes import Scribe, marked_turn

ROUNDS = 200  # of turns; every fault that the tests ask for comes long before


class Case(msgspec.Struct, frozen=True):
    """`limit_bytes`: how long a file may get. `unguarded`: a fault of the log's, on purpose."""

    directory: str
    fault: Fault | None = None
    writers: int = 4
    limit_bytes: int | None = None
    unguarded: bool = False


class Outcome(msgspec.Struct):
    """What the writers were told, and what the log showed of itself afterwards."""

    acks: list[Ack] = []
    errors: list[str] = []
    refusals: list[str] = []
    visible: int = 0


def suffer(cases: list[Case]) -> list[Outcome]:
    """Goes through the cases in one child process."""
    command = [sys.executable, "-m", "tests.crash.sufferer"]
    body = msgspec.json.encode(cases)
    done = subprocess.run(command, cwd=ROOT, input=body, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=list[Outcome])


async def append_until_refused(log: SqliteLog, writers: int, outcome: Outcome) -> None:
    """Rounds of one turn from each writer, all handed in at once, until one fails."""
    scribe = Scribe(log.next_seq)
    for size in range(ROUNDS):
        handed_in = []
        for writer in range(writers):
            events = marked_turn(log.next_seq, ["x" * 40 * size] * 3)
            turn = scribe.turn(f"writer-{writer}", events)
            handed_in.append((Ack(turn[-1].envelope.seq, turn[-1].envelope.hash), log.append(turn)))
        for ack, durable in handed_in:
            try:
                await durable
                outcome.acks.append(ack)
            except LogWriteFailed as error:
                outcome.errors.append(type(error).__name__)
        if outcome.errors:
            return


async def refusals(log: SqliteLog) -> list[str]:
    """What three more appends are answered: the error must be the one that came first."""
    answers = []
    for _ in range(3):
        try:
            await log.append(Scribe(log.next_seq).turn("late", marked_turn(log.next_seq, ["x"])))
            answers.append("taken")
        except LogWriteFailed as error:
            answers.append(type(error).__name__)
    return answers


async def run(case: Case, vfs: RecordingVfs) -> Outcome:
    outcome = Outcome()
    log = await SqliteLog.open(Path(case.directory, "log.db"))
    vfs.fail(case.fault)
    await append_until_refused(log, case.writers, outcome)
    outcome.refusals = await refusals(log)
    async for envelope in log.read():
        outcome.visible += 1
        assert envelope.seq == outcome.visible or case.unguarded
    await log.close()
    vfs.fail(None)
    return outcome


def drop_the_guard() -> None:
    """Statements as they would be if none looked whether the one before it is in."""
    guarded = sqlite_log._statement

    def unguarded(rows: int) -> str:
        return guarded(rows).replace("CASE total_changes() WHEN ?", "CASE WHEN ? >= 0")

    sqlite_log._statement = unguarded  # type: ignore[assignment]


def main() -> None:
    cases = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Case])
    checkpoint_often()
    vfs = RecordingVfs().install()
    outcomes = []
    for case in cases:
        if case.limit_bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (case.limit_bytes, resource.RLIM_INFINITY))
        if case.unguarded:
            drop_the_guard()
        outcomes.append(asyncio.run(run(case, vfs)))
    sys.stdout.buffer.write(msgspec.json.encode(outcomes))


if __name__ == "__main__":
    main()
