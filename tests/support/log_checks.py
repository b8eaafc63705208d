"""Every log of a test must pass a check at its end; some logs misbehave on purpose."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from rutter.actors.decider import DecidingActor
from rutter.events.codec import decode, encode
from rutter.events.envelope import Envelope, Record
from rutter.events.errors import LogWriteFailed
from rutter.events.event import Event
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.runtime import LogSealed
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.replay.verify import Verifier, fresh_deciders
from tests.support.chain_links import check_link

Deciders = Callable[[], list[DecidingActor[Any]]]


class TurnsLog:
    """This log keeps what was handed in by one call together, as it was handed in."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.turns: list[list[Record]] = []

    @property
    def next_seq(self) -> int:
        return self._log.next_seq

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        self.turns.append(list(turn))
        return self._log.append(turn)

    def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        return self._log.read(after, session=session, kinds=kinds)

    async def close(self) -> None:
        await self._log.close()


def any_turn(turn: Sequence[Record]) -> bool:
    return True


def turn_with(kind: type[Event]) -> Callable[[Sequence[Record]], bool]:
    return lambda turn: any(isinstance(record.envelope.event, kind) for record in turn)


class HeldLog(TurnsLog):
    """This disk is slow from such a turn on: nothing is acknowledged until the test lets go."""

    def __init__(
        self, log: EventLog, slow_from: Callable[[Sequence[Record]], bool] = any_turn
    ) -> None:
        super().__init__(log)
        self._slow_from = slow_from
        self._let_go = False
        self._held: list[asyncio.Future[None]] = []

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        written = super().append(turn)
        if self._let_go or not (self._held or self._slow_from(turn)):
            return written
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held.append(held)
        return held

    @property
    def holding(self) -> bool:
        return bool(self._held)

    def appended(self, kind: type[Event]) -> bool:
        """Whether such an event was handed in, acknowledged or not."""
        return any(turn_with(kind)(turn) for turn in self.turns)

    def let_go(self) -> None:
        """Everything that waits is acknowledged, in order, and from now on at once."""
        self._let_go = True
        held, self._held = self._held, []
        for each in held:
            each.set_result(None)


class BrokenLog(TurnsLog):
    """This disk fails once `breaks` says so: nothing more gets on it."""

    def __init__(self, log: EventLog, breaks: Callable[[Sequence[Record]], bool]) -> None:
        super().__init__(log)
        self._breaks = breaks
        self._next_seq = log.next_seq
        self.broken: LogWriteFailed | None = None

    @property
    def next_seq(self) -> int:
        return self._next_seq

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        self._next_seq += len(turn)
        if self.broken is None and self._breaks(turn):
            self.broken = LogWriteFailed("the disk is gone")
        if self.broken is None:
            return super().append(turn)
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        failed.set_exception(self.broken)
        return failed


class Replayed:
    """A test's logs are each derived again when it ends, and their chains are followed."""

    def __init__(self) -> None:
        self._kept: list[tuple[MemoryLog | Path, Deciders]] = []

    def memory(self, *turns: Sequence[Record], deciders: Deciders = fresh_deciders) -> MemoryLog:
        """A log in memory, that may begin with some turns. Call it where a loop runs."""
        log = MemoryLog()
        for turn in turns:
            log.append(turn)
        self._kept.append((log, deciders))
        return log

    async def sqlite(self, path: Path, deciders: Deciders = fresh_deciders) -> SqliteLog:
        """A log on disk. Whoever opens it closes it; an `App` does."""
        self._kept.append((path, deciders))
        return await SqliteLog.open(path)

    def check(self) -> None:
        for log, deciders in self._kept:
            check_log(records_of(log), deciders)

    async def check_now(self) -> None:
        """While what the test changed is still changed. It is not derived again at the end."""
        kept, self._kept = self._kept, []
        for log, deciders in kept:
            assert isinstance(log, MemoryLog)
            check_log(await read_all(log), deciders)


_CHECKED: set[bytes] = set()


def check_log(records: Sequence[Record], deciders: Deciders = fresh_deciders) -> None:
    """Every decision follows from the facts, every chain holds, every seal is true. Many tests read
    copies of one log, or make the same in memory and on disk: of those one is checked."""
    told = repr([(*msgspec.structs.astuple(each)[:6], each.hash, body) for each, body in records])
    digest = sha256(told.encode()).digest()
    if deciders is fresh_deciders and digest in _CHECKED:
        return
    check_chains(records)
    verifier = Verifier(deciders())
    for record in records:
        verifier.take(record.envelope)
        assert verifier.divergence is None, verifier.divergence
    report = verifier.report()
    assert report.ok, report.divergence
    if deciders is fresh_deciders:
        _CHECKED.add(digest)


def check_chains(records: Sequence[Record]) -> None:
    heads: dict[str, tuple[int, bytes]] = {}
    past: set[tuple[str, int, bytes]] = set()
    for seq, (envelope, payload) in enumerate(records, 1):
        n, previous = heads.get(envelope.session, (0, None))
        assert (envelope.seq, envelope.n) == (seq, n + 1)
        assert decode(payload) == envelope.event
        check_link(previous, envelope, payload)
        heads[envelope.session] = (envelope.n, envelope.hash)
        past.add((envelope.session, envelope.n, envelope.hash))
        if isinstance(envelope.event, LogSealed):
            for head in envelope.event.heads:
                assert (head.session, head.n, head.hash) in past


def records_of(log: MemoryLog | Path) -> list[Record]:
    """What is in the log now, read without a running loop."""
    if isinstance(log, Path):
        with SqliteReader(log) as reader:
            payloads = [row[7] for row in reader.rows()]
            return [Record(*pair) for pair in zip(reader.read(), payloads, strict=True)]
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(read_all(log))
    finally:
        loop.close()


async def read_all(log: EventLog) -> list[Record]:
    """With the bytes that were stored, where they can be had: what is read may have got its tag."""
    read = [envelope async for envelope in log.read()]
    if isinstance(log, MemoryLog):
        kept = [payload for _, payload in log._records]
    else:
        kept = [encode(envelope.event) for envelope in read]
    return [Record(*pair) for pair in zip(read, kept, strict=True)]


async def envelopes_of(log: EventLog, session: str) -> list[Envelope]:
    return [envelope async for envelope in log.read(session=session)]


async def events_of(log: EventLog, session: str) -> list[Any]:
    """The events of one session, without their envelopes."""
    return [envelope.event async for envelope in log.read(session=session)]
