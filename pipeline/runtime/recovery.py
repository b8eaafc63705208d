"""Recovery closes the sessions that a process left behind when it died: as interrupted, never
resumed."""

from collections.abc import Sequence
from typing import Any

from rutter.actors.decider import DecidingActor
from rutter.actors.predictor import Predictor
from rutter.actors.rules.steps.already_done import under_way, unknown_outcomes
from rutter.events.causes import OTHER
from rutter.events.envelope import kind
from rutter.events.log import EventLog
from rutter.events.planner import RunStopped
from rutter.events.predictor import LEARNED
from rutter.events.runtime import (
    ActorFailed,
    ChainHead,
    LogSealed,
    SessionEnded,
    SessionInterrupted,
    SessionStarted,
)
from rutter.events.validator import ActionStarted
from rutter.pipeline.runtime.sequencer import Sequencer
from rutter.pipeline.runtime.session import end_of

WHY = "the process that ran it died"


async def learn_from_log(log: EventLog, predictor: Predictor) -> None:
    """Folds every learned fact of the log: the model is nothing but this.

    Every turn of the log is over, so what it taught counts at once; to hold a long log's lessons
    until the first turn of this process would take memory, and hold that turn up.
    """
    kinds = sorted(kind(event) for event in LEARNED)
    async for envelope in log.read(kinds=kinds):
        predictor.knowledge.open_turn(envelope.seq)
        predictor.knowledge.take_in(envelope)
    predictor.knowledge.open_turn(log.next_seq)


async def open_sessions(log: EventLog) -> list[str]:
    """Sessions that were started and never ended, oldest first."""
    found: dict[str, None] = {}
    async for envelope in log.read(kinds=[kind(SessionStarted), kind(SessionEnded)]):
        if isinstance(envelope.event, SessionStarted):
            found[envelope.session] = None
        else:
            found.pop(envelope.session, None)
    return list(found)


async def unsealed_heads(log: EventLog) -> list[ChainHead]:
    """The heads of what was appended since the last seal: a process that dies seals nothing."""
    sealed = 0
    async for envelope in log.read(kinds=[kind(LogSealed)]):
        sealed = envelope.seq
    heads: dict[str, ChainHead] = {}
    async for envelope in log.read(sealed):
        heads[envelope.session] = ChainHead(envelope.session, envelope.n, envelope.hash)
    return list(heads.values())


async def close_interrupted(
    log: EventLog, sequencer: Sequencer, deciders: Sequence[DecidingActor[Any]]
) -> list[str]:
    """Each open session is told that it was interrupted; its deciders say what follows.

    One that had stopped, or of which an actor had failed, has nothing more to say: it only ends.
    What was started there and never judged is unknown, whoever could not say so (E7).
    """
    sessions = await open_sessions(log)
    for session in sessions:
        stop: RunStopped | ActorFailed | None = None
        left: tuple[ActionStarted, ...] = ()
        async for envelope in log.read(session=session):
            sequencer.adopt(ChainHead(session, envelope.n, envelope.hash))
            if isinstance(envelope.event, RunStopped | ActorFailed):
                stop = stop or envelope.event
            left = under_way(left, envelope.event)
        if stop is None:
            await _fold(log, session, deciders)
            await sequencer.submit(session, "runtime", SessionInterrupted(WHY))
        if isinstance(stop, ActorFailed):
            for unknown in unknown_outcomes(left, f"{stop.actor} failed"):
                await sequencer.submit(session, "runtime", unknown)
        ended = end_of(stop) if stop is not None else SessionEnded("interrupted", "", WHY, OTHER)
        await sequencer.submit(session, "runtime", ended)
    return sessions


async def _fold(log: EventLog, session: str, deciders: Sequence[DecidingActor[Any]]) -> None:
    async for envelope in log.read(session=session):
        for actor in deciders:
            if not (actor.name == "predictor" and type(envelope.event) in LEARNED):
                actor.fold(envelope)
