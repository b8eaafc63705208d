"""The sequencer numbers events, runs turns over the deciders' queues, appends, and fans out.

A turn is one fact from the world and every decision that follows from it, until nothing follows.
It is contiguous in its session and goes to the log as one transaction. Deciders hear an event
when it is numbered; effectors and everything outside hear it when it is on disk.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import anyio

from rutter.actors.decider import DecidingActor
from rutter.actors.topology import row
from rutter.events.chain import GENESIS, link
from rutter.events.codec import encode
from rutter.events.envelope import Actor, Envelope, Record, kind
from rutter.events.errors import LogWriteFailed
from rutter.events.log import EventLog
from rutter.events.runtime import ActorFailed, ChainHead, SessionEnded, SessionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock
from rutter.pipeline.runtime.mailbox import Mailbox, MailboxStatistics

INTAKE = 256  # facts waiting for their turn; whoever brings more waits
INBOX = 64  # one decider's queue; a turn drains it before the next begins
MAX_TURN = 256  # a turn that does not end is a bug in a decider, not a long story
MAX_UNWRITTEN = 512  # turns numbered ahead of the disk


class Fact(NamedTuple):
    session: str
    actor: Actor
    event: AnyEvent
    cause: int
    numbered: asyncio.Future[Envelope] | None = None


class _Answer(NamedTuple):
    actor: Actor
    events: Sequence[AnyEvent]
    error: Exception | None


class Sequencer:
    """A process has one. `submit` brings facts; `at_once` and `durable` carry events away."""

    def __init__(
        self,
        log: EventLog,
        deciders: Sequence[DecidingActor[Any]],
        clock: Clock,
        *,
        at_once: Callable[[Envelope], None],
        durable: Callable[[Envelope], None],
    ) -> None:
        self._log = log
        self._clock = clock
        self._at_once = at_once
        self._durable = durable
        self._intake: Mailbox[Fact | None] = Mailbox("intake", INTAKE)
        self._answers: Mailbox[_Answer] = Mailbox("answers", INBOX)
        self._deciders = {actor.name: actor for actor in deciders}
        self._inboxes: dict[Actor, Mailbox[Envelope]] = {
            actor.name: Mailbox(actor.name, INBOX) for actor in deciders
        }
        self._heads: dict[str, ChainHead] = {}
        self._moved: set[str] = set()
        self._unwritten: deque[asyncio.Future[None]] = deque()
        self._last_ns = 0
        self._times: dict[str, Callable[[], int]] = {}  # of each session that was begun here
        self._seq = log.next_seq - 1
        self._ended: set[str] = set()
        self._failed: set[str] = set()
        self._drained = anyio.Event()
        self.failed: asyncio.Future[LogWriteFailed] = asyncio.get_running_loop().create_future()

    # -- the world's side ----------------------------------------------------------------------

    async def submit(self, session: str, actor: Actor, event: AnyEvent, cause: int = 0) -> Envelope:
        """Hands in a fact and waits until it is numbered, not until it is on disk."""
        numbered: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        await self._intake.put(Fact(session, actor, event, cause, numbered))
        return await numbered

    def adopt(self, head: ChainHead) -> None:
        """Takes over what another process left open or unsealed."""
        self._heads[head.session] = head
        self._moved.add(head.session)

    def heads_to_seal(self) -> tuple[ChainHead, ...]:
        """The heads of the sessions that moved since the last seal; they count as sealed now."""
        moved, self._moved = self._moved, set()
        heads = tuple(self._heads[session] for session in sorted(moved))
        for session in self._ended:
            self._heads.pop(session, None)
        self._ended.clear()
        return heads

    def statistics(self) -> tuple[MailboxStatistics, ...]:
        boxes = [self._intake.statistics(), self._answers.statistics()]
        return (*boxes, *(box.statistics() for box in self._inboxes.values()))

    async def drain(self) -> None:
        """No more facts: returns when those handed in are through and on disk."""
        await self._intake.put(None)
        await self._drained.wait()

    # -- the turns -----------------------------------------------------------------------------

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            for actor in self._deciders.values():
                group.start_soon(self._decide, actor, name=actor.name)
            while (fact := await self._intake.get()) is not None:
                await self._room()
                self._hand_over(await self._turn(fact))
            while self._unwritten:
                await asyncio.wait([self._unwritten.popleft()])
            self._drained.set()
            group.cancel_scope.cancel()

    async def _decide(self, actor: DecidingActor[Any]) -> None:
        """The uniform step of every decider: one event in, its decisions out."""
        inbox = self._inboxes[actor.name]
        while True:
            envelope = await inbox.get()
            try:
                answer = _Answer(actor.name, actor.step(envelope), None)
            except Exception as error:  # noqa: BLE001 - the one place: a crash becomes ActorFailed
                answer = _Answer(actor.name, (), error)
            await self._answers.put(answer)

    async def _turn(self, fact: Fact) -> list[Record]:
        turn: list[Record] = []
        waiting = deque([(fact.actor, fact.event, fact.cause)])
        while waiting:
            record = self._number(fact.session, *waiting.popleft())
            turn.append(record)
            if len(turn) == 1 and fact.numbered is not None and not fact.numbered.done():
                fact.numbered.set_result(record.envelope)
            failure = await self._deliver(record.envelope, waiting)
            if failure is None and waiting and len(turn) >= MAX_TURN:
                failure = ActorFailed("runtime", "TurnTooLong", f"{MAX_TURN} events in one turn")
            if failure is not None:
                # What else would have followed never happened; the session ends here.
                cause = record.envelope.n
                turn.append(self._number(fact.session, "runtime", failure, cause))
                break
        last = turn[-1].envelope.event
        if isinstance(last, ActorFailed):  # a decider's, or an effector's that came as the fact
            self._failed.add(fact.session)
            for actor in self._deciders.values():
                actor.drop(fact.session)
        elif isinstance(last, SessionEnded):
            self._ended.add(fact.session)
            self._times.pop(fact.session, None)
            self._failed.discard(fact.session)
        return turn

    async def _deliver(
        self, envelope: Envelope, waiting: deque[tuple[Actor, AnyEvent, int]]
    ) -> ActorFailed | None:
        """Every decider that hears the event steps once; decisions queue in the table's order."""
        if envelope.session in self._failed:
            return None  # its deciders no longer know where it was; what still comes is only kept
        hearers = [name for name in row(envelope.event).deciders if name in self._inboxes]
        for name in hearers:
            await self._inboxes[name].put(envelope)
        answers = {(answer := await self._answers.get()).actor: answer for _ in hearers}
        for name in hearers:
            error = answers[name].error
            if error is not None:
                return ActorFailed(name, type(error).__name__, str(error)[:200])
            waiting.extend((name, event, envelope.n) for event in answers[name].events)
        return None

    def _number(self, session: str, actor: Actor, event: AnyEvent, cause: int) -> Record:
        head = self._heads.get(session)
        n = head.n + 1 if head else 1
        at_ns = self._time(session, event)
        payload = encode(event)
        digest = link(
            head.hash if head else GENESIS,
            session=session,
            n=n,
            at_ns=at_ns,
            actor=actor,
            cause=cause,
            kind=kind(event),
            payload=payload,
        )
        self._heads[session] = ChainHead(session, n, digest)
        self._moved.add(session)
        seq = self._seq = self._seq + 1
        return Record(Envelope(seq, session, n, at_ns, actor, cause, event, digest), payload)

    def _time(self, session: str, event: AnyEvent) -> int:
        """Deciders wait by it, so a session has a time of its own, which no setting of the system's
        clock moves. What is no session's is told by that clock, and never runs backwards."""
        if isinstance(event, SessionStarted):
            self._times[session] = self._clock.going_on()
        if (time := self._times.get(session)) is not None:
            return time()
        self._last_ns = max(self._clock.now_ns(), self._last_ns)
        return self._last_ns

    # -- to the disk, and out ------------------------------------------------------------------

    async def _room(self) -> None:
        while len(self._unwritten) >= MAX_UNWRITTEN:
            await asyncio.wait([self._unwritten.popleft()])
        while self._unwritten and self._unwritten[0].done():
            self._unwritten.popleft()

    def _hand_over(self, turn: list[Record]) -> None:
        written = self._log.append(turn)
        self._unwritten.append(written)
        for record in turn:
            self._at_once(record.envelope)
        written.add_done_callback(lambda done: self._release(turn, done))

    def _release(self, turn: list[Record], done: asyncio.Future[None]) -> None:
        error = done.exception()
        if error is None:
            for record in turn:
                self._durable(record.envelope)
        elif isinstance(error, LogWriteFailed) and not self.failed.done():
            self.failed.set_result(error)
