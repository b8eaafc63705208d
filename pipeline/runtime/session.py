"""A session runs with a task and a queue per effector, supervised, closed in order.

A slow page stalls nobody else: everything that waits for the world waits here. An effector that
breaks is started again with backoff where its work may be repeated; what it cannot repeat it
reports as a fact.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import anyio

from rutter.actors.effector import Effector
from rutter.actors.person.actor import Person
from rutter.actors.rules.steps.already_done import under_way, unknown_outcomes
from rutter.actors.timer.actor import Timer
from rutter.actors.topology import row
from rutter.events.causes import OTHER
from rutter.events.critic import OutcomeUnknown
from rutter.events.envelope import Actor, Envelope
from rutter.events.planner import RunStopped
from rutter.events.runtime import ActorFailed, SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted, ApprovalVoided
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.runtime.mailbox import Mailbox, MailboxStatistics

INBOX = 32  # one step is in flight: an effector never has more than a few events waiting
RESTARTS = 3
BACKOFF_S = 0.05
CLOSING_S = 10.0  # a browser that does not close is left behind after this

Submit = Callable[[str, Actor, AnyEvent, int], Awaitable[Envelope]]


class Session:
    """A session runs its effectors until it has stopped, then ends itself."""

    def __init__(self, name: str, effectors: Sequence[Effector], submit: Submit) -> None:
        self.name = name
        self._effectors = effectors
        self._submit = submit
        self._inboxes: dict[Actor, Mailbox[Envelope]] = {
            effector.name: Mailbox(f"{name}/{effector.name}", INBOX) for effector in effectors
        }
        self._stopped = anyio.Event()
        self._stop: Envelope | None = None
        self._open: tuple[ActionStarted, ...] = ()
        self.paused = False
        self.by_hand = False  # what a person does is recorded
        self.ended: asyncio.Future[SessionEnded] = asyncio.get_running_loop().create_future()

    def hear_at_once(self, envelope: Envelope) -> None:
        self._post(envelope, row(envelope.event).at_once)

    def hear(self, envelope: Envelope) -> None:
        """A durable event: to the effectors that wait for it, and to those who wait for the end."""
        event = envelope.event
        self._open = under_way(self._open, event)
        if isinstance(event, RunStopped | ActorFailed):
            self._stop = self._stop or envelope
            self._stopped.set()
        elif isinstance(event, SessionEnded) and not self.ended.done():
            self.ended.set_result(event)
        else:
            if isinstance(event, ApprovalVoided):
                self._void(event.approval)
            self._post(envelope, row(event).when_durable)

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    async def hand_in(self, actor: Actor, event: AnyEvent) -> Envelope | None:
        """A fact from outside, as it is numbered; None once it has stopped, for `SessionEnded`
        closes the chain."""
        if self.stopped:
            return None
        handed = await self._submit(self.name, actor, event, 0)
        return None if self.stopped else handed

    def statistics(self) -> tuple[MailboxStatistics, ...]:
        return tuple(box.statistics() for box in self._inboxes.values())

    async def run(self, started: SessionStarted) -> SessionEnded:
        """From `SessionStarted` to `SessionEnded`, both on disk."""
        self.by_hand = started.driver == "person"
        await self._submit(self.name, "runtime", started, 0)
        async with anyio.create_task_group() as group:
            for effector in self._effectors:
                group.start_soon(self._serve, effector, name=f"{self.name}/{effector.name}")
                if isinstance(effector, Timer):
                    group.start_soon(self._watch, effector)
            await self._stopped.wait()
            # Whatever still waits for the world waits no longer: its outcome is unknown.
            group.cancel_scope.cancel()
        assert self._stop is not None
        with anyio.move_on_after(CLOSING_S):
            for effector in self._effectors:
                if effector.name in row(self._stop.event).when_durable:
                    await self._handle(effector, self._stop)
        for unknown in self._unjudged(self._stop.event):
            await self._submit(self.name, "runtime", unknown, self._stop.n)
        await self._submit(self.name, "runtime", end_of(self._stop.event), self._stop.n)
        return await self.ended

    def _unjudged(self, stop: AnyEvent) -> list[OutcomeUnknown]:
        """An actor that was given up on took the deciders of its session with it: what it had
        started nobody judges any more (E7). A run that stopped heard that from the Critic."""
        if not isinstance(stop, ActorFailed):
            return []
        return unknown_outcomes(self._open, f"{stop.actor} failed")

    # -- effectors -----------------------------------------------------------------------------

    def _post(self, envelope: Envelope, names: Sequence[Actor]) -> None:
        for name in names:
            inbox = self._inboxes.get(name)
            if inbox is not None:
                inbox.put_nowait(envelope)

    def _void(self, approval: str) -> None:
        """Whoever is asked is asked no longer. By their queue they would hear it too late."""
        for effector in self._effectors:
            if isinstance(effector, Person):
                effector.void(approval)

    async def _serve(self, effector: Effector) -> None:
        inbox = self._inboxes[effector.name]
        while True:
            await self._handle(effector, await inbox.get())

    async def _handle(self, effector: Effector, envelope: Envelope) -> None:
        """One event, tried again with backoff where that is harmless."""
        for attempt in range(RESTARTS + 1):
            try:
                async for fact in effector.handle(envelope):
                    await self._submit(self.name, effector.name, fact, envelope.n)
            except Exception as error:  # noqa: BLE001 - supervision: it becomes a fact or a restart
                report = effector.failed(envelope, error)
                if report is not None:
                    await self._submit(self.name, effector.name, report, envelope.n)
                    return
                if attempt == RESTARTS:
                    said = ActorFailed(effector.name, type(error).__name__, str(error)[:200])
                    await self._submit(self.name, "runtime", said, envelope.n)
                    return
                await anyio.sleep(BACKOFF_S * 2**attempt)
            else:
                return

    async def _watch(self, timer: Timer) -> None:
        while True:
            await self._submit(self.name, "clock", await timer.passed(), 0)


def end_of(stop: AnyEvent) -> SessionEnded:
    """How a session ends that was stopped so."""
    match stop:
        case RunStopped(reason=reason, failure=failure, detail=detail, cause=cause):
            return SessionEnded(reason, failure, detail, cause)
        case ActorFailed(actor=actor, error=error, message=message):
            return SessionEnded("failed", "actor_failed", f"{actor}: {error}: {message}", OTHER)
        case _:
            return SessionEnded("failed", cause=OTHER)
