"""What the crash tests append: seeded turns of many sizes from several writers at once."""

import asyncio
from collections.abc import Callable
from random import Random

import msgspec

from rutter.events import sqlite_log
from rutter.events.log import EventLog
from tests.support.envelopes import Scribe, marked_turn


class Ack(msgspec.Struct, frozen=True, array_like=True):
    """A turn that its writer was told is on disk: its last event, whose hash covers the rest."""

    seq: int
    hash: bytes


async def append_turns(
    log: EventLog,
    acknowledge: Callable[[Ack], None],
    *,
    rng: Random,
    writers: int,
    turns: int,
    early: bool = False,
) -> None:
    """`turns` from each writer. `early` acknowledges before the commit: a fault on purpose."""
    scribe = Scribe(log.next_seq)
    life = f"from-{log.next_seq}"

    async def write(session: str) -> None:
        for _ in range(turns):
            for _ in range(rng.randrange(4)):  # so that batches are of many sizes
                await asyncio.sleep(0)
            turn = scribe.turn(session, marked_turn(log.next_seq, _texts(rng)))
            last = turn[-1].envelope
            durable = log.append(turn)
            if early:
                acknowledge(Ack(last.seq, last.hash))
            await durable
            if not early:
                acknowledge(Ack(last.seq, last.hash))

    async with asyncio.TaskGroup() as group:
        for writer in range(writers):
            group.create_task(write(f"{life}-writer-{writer}"))


def checkpoint_often() -> None:
    """Checkpoints and reuse of the WAL belong to every crash test, not to large logs alone."""
    sqlite_log.CHECKPOINT_IDLE_BYTES = 12 << 10
    sqlite_log.CHECKPOINT_BYTES = 48 << 10


def _texts(rng: Random) -> list[str]:
    """Mostly small; some fill a page of the database, a few need overflow pages."""
    longest = rng.choice((20, 200, 200, 2_000, 9_000))
    return [rng.randbytes(rng.randint(1, longest) // 2 + 1).hex() for _ in range(rng.randint(1, 7))]
