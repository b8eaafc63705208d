"""Given facts handed in: how they are numbered, decided on, written down and carried away."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import anyio
import pytest

from rutter.actors.decider import DecidingActor
from rutter.actors.topology import DECIDERS
from rutter.events.causes import OTHER
from rutter.events.critic import PageAssessed
from rutter.events.envelope import Actor, Envelope, Record, kind
from rutter.events.errors import LogWriteFailed
from rutter.events.executor import ActionDone
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.observer import PageObserved, PopupOpened
from rutter.events.planner import PlanProposed, PlanWithheld, RunStopped
from rutter.events.predictor import PredictionMade
from rutter.events.runtime import ActorFailed, ChainHead, SessionEnded, SessionStarted
from rutter.events.validator import ActionApproved, ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock, CountingClock
from rutter.pipeline.runtime import sequencer as module
from rutter.pipeline.runtime.sequencer import Sequencer
from rutter.replay.verify import fresh_deciders
from tests.support.log_checks import (
    BrokenLog,
    HeldLog,
    Replayed,
    TurnsLog,
    check_chains,
    events_of,
    read_all,
)
from tests.support.shop_facts import go_to, page, recording_of, saw
from tests.support.until_true import until

pytestmark = pytest.mark.anyio

START = recording_of(go_to("/"), max_steps=9)
SAW = saw(page("/"))


class Hub:
    """A sequencer at work, and what it carried away."""

    def __init__(self, log: EventLog, deciders: list[DecidingActor[Any]], clock: Clock) -> None:
        self.at_once: list[Envelope] = []
        self.durable: list[Envelope] = []
        self.sequencer = Sequencer(
            log, deciders, clock, at_once=self.at_once.append, durable=self.durable.append
        )

    async def bring(self, session: str, *facts: AnyEvent, actor: Actor = "runtime") -> None:
        for fact in facts:
            await self.sequencer.submit(session, actor, fact)


@asynccontextmanager
async def sequencing(
    log: EventLog,
    deciders: list[DecidingActor[Any]] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Hub]:
    hub = Hub(log, fresh_deciders() if deciders is None else deciders, clock or CountingClock())
    async with anyio.create_task_group() as group:
        group.start_soon(hub.sequencer.run)
        yield hub
        await hub.sequencer.drain()


class Scripted:
    """A decider that says what a function says, and keeps nothing."""

    def __init__(self, name: Actor, say: Callable[[Envelope], Iterable[AnyEvent]]) -> None:
        self.name = name  # type: ignore[misc]
        self._say = say

    name: ClassVar[Actor]

    def initial(self) -> None:
        return None

    def evolve(self, state: None, envelope: Envelope) -> None:
        return None

    def decide(self, state: None, envelope: Envelope) -> Iterable[AnyEvent]:
        return self._say(envelope)


def scripted(
    **say: Callable[[Envelope], Iterable[AnyEvent]],
) -> Callable[[], list[DecidingActor[Any]]]:
    """The four deciders, those that are named with a script and the others with nothing to say."""

    def nothing(envelope: Envelope) -> Iterable[AnyEvent]:
        return ()

    return lambda: [DecidingActor(Scripted(name, say.get(name, nothing))) for name in DECIDERS]


# -- turns ---------------------------------------------------------------------------------------


async def test_decisions_follow_their_fact_and_name_their_cause(replayed: Replayed) -> None:
    log = replayed.memory()
    async with sequencing(log) as hub:
        await hub.bring("s", START, SAW)
    told = [(e.n, e.cause, e.actor, type(e.event)) for e, _ in await read_all(log)]
    assert told == [
        (1, 0, "runtime", SessionStarted),
        (2, 0, "runtime", PageObserved),
        (3, 2, "critic", PageAssessed),
        (4, 3, "predictor", PredictionMade),
        (5, 4, "planner", PlanProposed),
        (6, 5, "validator", ActionApproved),
        (7, 5, "validator", ActionStarted),
    ]


async def test_a_turn_is_one_append(replayed: Replayed) -> None:
    log = TurnsLog(replayed.memory())
    async with sequencing(log) as hub:
        await hub.bring("s", START, SAW)
    assert [len(turn) for turn in log.turns] == [1, 6]


async def test_turns_of_many_sessions_are_contiguous(replayed: Replayed) -> None:
    log = TurnsLog(replayed.memory())
    async with sequencing(log) as hub, anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(hub.bring, f"s{number}", START, SAW, ActionDone(1, 1, 1), SAW)
    for turn in log.turns:
        sessions = {record.envelope.session for record in turn}
        facts = [record for record in turn if record.envelope.actor == "runtime"]
        assert len(sessions) == 1
        assert facts == [turn[0]]
    assert Counter(len(turn) for turn in log.turns)[6] >= 10


async def test_the_cause_of_a_fact_is_the_event_that_it_answers(replayed: Replayed) -> None:
    log = replayed.memory()
    async with sequencing(log) as hub:
        started = await hub.sequencer.submit("s", "runtime", START)
        numbered = await hub.sequencer.submit("s", "observer", SAW, started.n)
    assert (numbered.n, numbered.actor, numbered.cause) == (2, "observer", 1)


async def test_of_several_hearers_decisions_come_in_the_tables_order(replayed: Replayed) -> None:
    def say(name: str) -> Callable[[Envelope], Iterable[AnyEvent]]:
        return lambda heard: (
            [PlanWithheld(f"{name} {turn}") for turn in (1, 2)]
            if isinstance(heard.event, SessionStarted)
            else []
        )

    deciders = scripted(**{name: say(name) for name in DECIDERS})
    log = replayed.memory(deciders=deciders)
    async with sequencing(log, deciders()) as hub:
        await hub.bring("s", START)
    said = [event.reason for event in (await events_of(log, "s"))[1:]]
    assert said == [f"{name} {turn}" for name in DECIDERS for turn in (1, 2)]


async def test_each_session_counts_from_one(replayed: Replayed) -> None:
    log = replayed.memory()
    async with sequencing(log) as hub:
        for session in ("a", "b", "a"):
            await hub.bring(session, PopupOpened("x"))
    assert [(e.seq, e.session, e.n) for e, _ in await read_all(log)] == [
        (1, "a", 1),
        (2, "b", 1),
        (3, "a", 2),
    ]


class Backwards(Clock):
    """A clock that was set back."""

    def __init__(self) -> None:
        self._now_ns = 1_000

    def now_ns(self) -> int:
        self._now_ns -= 10
        return self._now_ns

    def new_id(self, prefix: str) -> str:
        return prefix

    async def sleep_ms(self, ms: int) -> None:
        return


async def test_time_never_runs_backwards_in_the_log(replayed: Replayed) -> None:
    log = replayed.memory()
    async with sequencing(log, clock=Backwards()) as hub:
        await hub.bring("process", PopupOpened("x"), PopupOpened("y"))
    assert {e.at_ns for e, _ in await read_all(log)} == {990}


async def test_the_time_of_a_session_goes_on_whatever_the_clock_is_set_to(
    replayed: Replayed,
) -> None:
    """What waits for so long does wait for so long."""
    log = replayed.memory()
    async with sequencing(log, clock=Backwards()) as hub:
        await hub.bring("s", START, SAW)
    times = [e.at_ns for e, _ in await read_all(log)]
    assert times == sorted(times)
    assert times[-1] > times[0]


# -- durable before effect -----------------------------------------------------------------------


async def test_a_fact_is_numbered_before_it_is_on_disk(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory())
    async with sequencing(log) as hub:
        numbered = await hub.sequencer.submit("s", "runtime", START)
        assert numbered.n == 1
        assert hub.durable == []
        log.let_go()


async def test_what_leaves_waits_for_the_disk_and_reading_does_not(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory())
    async with sequencing(log) as hub:
        await hub.bring("s", START, SAW)
        await until(lambda: len(hub.at_once) == 7)
        assert hub.durable == []
        log.let_go()
        await until(lambda: len(hub.durable) == 7)
    assert hub.durable == hub.at_once


async def test_everything_leaves_in_the_order_of_the_log(replayed: Replayed) -> None:
    log = replayed.memory()
    async with sequencing(log) as hub, anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(hub.bring, f"s{number}", START, SAW)
    assert [e.seq for e in hub.durable] == list(range(1, 36))


async def test_turns_far_ahead_of_the_disk_wait_for_it(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_UNWRITTEN", 3)
    log = HeldLog(replayed.memory())
    facts = [PopupOpened(f"{number}") for number in range(8)]
    async with sequencing(log) as hub, anyio.create_task_group() as group:
        group.start_soon(hub.bring, "s", *facts)
        await until(lambda: len(log.turns) == 3)
        for _ in range(50):
            await anyio.sleep(0)
        assert len(log.turns) == 3
        log.let_go()
    assert len(log.turns) == 8


async def test_a_failed_write_is_said_once_and_nothing_leaves_after_it(
    replayed: Replayed,
) -> None:
    def third(turn: Sequence[Record]) -> bool:
        return turn[0].envelope.seq >= 3

    log = BrokenLog(replayed.memory(), third)
    async with sequencing(log) as hub:
        for number in range(5):
            await hub.bring("s", PopupOpened(f"{number}"))
        failed = await hub.sequencer.failed
    assert failed is log.broken
    assert isinstance(failed, LogWriteFailed)
    assert [e.seq for e in hub.durable] == [1, 2]


async def test_draining_returns_when_what_was_handed_in_is_on_disk(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory())
    drained = anyio.Event()

    async def drain(hub: Hub) -> None:
        await hub.sequencer.drain()
        drained.set()

    hub = Hub(log, fresh_deciders(), CountingClock())
    async with anyio.create_task_group() as group:
        group.start_soon(hub.sequencer.run)
        await hub.bring("s", START, SAW)
        group.start_soon(drain, hub)
        await until(lambda: len(hub.at_once) == 7)
        assert not drained.is_set()
        log.let_go()
        await drained.wait()
    assert len(hub.durable) == 7


# -- deciders that break -------------------------------------------------------------------------


def broken_for(session: str) -> Callable[[], list[DecidingActor[Any]]]:
    def say(heard: Envelope) -> Iterable[AnyEvent]:
        if heard.session == session and isinstance(heard.event, PageObserved):
            raise KeyError("no such page")
        return [PlanWithheld("fine")] if isinstance(heard.event, PageObserved) else []

    return scripted(critic=say)


async def test_a_decider_that_raises_ends_its_turn_with_the_failure(replayed: Replayed) -> None:
    deciders = broken_for("s")
    log = replayed.memory(deciders=deciders)
    async with sequencing(log, deciders()) as hub:
        await hub.bring("s", START, SAW)
    last, _ = (await read_all(log))[-1]
    assert (last.actor, last.cause) == ("runtime", 2)
    assert last.event == ActorFailed("critic", "KeyError", "'no such page'")


async def test_a_decider_that_raises_in_one_session_decides_in_another(
    replayed: Replayed,
) -> None:
    deciders = broken_for("bad")
    log = replayed.memory(deciders=deciders)
    async with sequencing(log, deciders()) as hub:
        await hub.bring("bad", START, SAW)
        await hub.bring("good", START, SAW)
    assert [kind(event) for event in await events_of(log, "good")] == [
        "SessionStarted",
        "PageObserved",
        "PlanWithheld",
    ]


async def test_the_state_of_a_broken_session_is_forgotten(replayed: Replayed) -> None:
    def fail(heard: Envelope) -> Iterable[AnyEvent]:
        if isinstance(heard.event, PageObserved):
            raise ValueError("broken")
        return ()

    deciders = [*fresh_deciders()[1:], DecidingActor(Scripted("critic", fail))]
    async with sequencing(replayed.memory(deciders=scripted(critic=fail)), deciders) as hub:
        await hub.bring("s", START, SAW)
    assert [actor.state("s") for actor in deciders] == [None] * 4


async def test_a_message_of_any_length_is_cut(replayed: Replayed) -> None:
    def fail(heard: Envelope) -> Iterable[AnyEvent]:
        raise ValueError("x" * 1_000)

    deciders = scripted(validator=fail)
    log = replayed.memory(deciders=deciders)
    async with sequencing(log, deciders()) as hub:
        await hub.bring("s", START)
    assert (await events_of(log, "s"))[-1] == ActorFailed("validator", "ValueError", "x" * 200)


def talks(times: int) -> Callable[[Envelope], Iterable[AnyEvent]]:
    """Follows each of its own events with the next: a turn of `times` decisions."""

    def say(heard: Envelope) -> Iterable[AnyEvent]:
        return [RunStopped("failed", step=heard.n, cause=OTHER)] if heard.n <= times else []

    return say


async def test_a_decider_that_never_ends_is_cut() -> None:
    # Not `replayed`: tests/replay/test_verify.py says how replay takes a turn that was cut.
    log = TurnsLog(MemoryLog())
    async with sequencing(log, scripted(planner=talks(10**9))()) as hub:
        await hub.bring("s", START)
        await hub.bring("other", PopupOpened("x"))
    [endless, other] = log.turns
    assert len(endless) == module.MAX_TURN + 1
    assert endless[-1].envelope.event == ActorFailed(
        "runtime", "TurnTooLong", f"{module.MAX_TURN} events in one turn"
    )
    assert len(other) == 1
    check_chains([*endless, *other])


async def test_a_long_turn_that_ends_is_no_failure(replayed: Replayed) -> None:
    deciders = scripted(planner=talks(module.MAX_TURN - 1))
    log = TurnsLog(replayed.memory(deciders=deciders))
    async with sequencing(log, deciders()) as hub:
        await hub.bring("s", START)
    [turn] = log.turns
    assert len(turn) == module.MAX_TURN
    assert isinstance(turn[-1].envelope.event, RunStopped)


# -- heads and queues ----------------------------------------------------------------------------


async def test_what_moved_since_the_last_seal_is_sealed(replayed: Replayed) -> None:
    log = replayed.memory()
    async with sequencing(log) as hub:
        await hub.bring("b", PopupOpened("1"))
        await hub.bring("a", PopupOpened("1"), PopupOpened("2"))
        first = hub.sequencer.heads_to_seal()
        await hub.bring("a", PopupOpened("3"))
        second = hub.sequencer.heads_to_seal()
        third = hub.sequencer.heads_to_seal()
    hashes = {(e.session, e.n): e.hash for e, _ in await read_all(log)}
    assert first == (ChainHead("a", 2, hashes["a", 2]), ChainHead("b", 1, hashes["b", 1]))
    assert second == (ChainHead("a", 3, hashes["a", 3]),)
    assert third == ()


async def test_a_session_that_ended_is_sealed_once_more(replayed: Replayed) -> None:
    async with sequencing(replayed.memory()) as hub:
        await hub.bring("s", START, SessionEnded("completed"))
        await until(lambda: len(hub.durable) == 2)
        assert [head.n for head in hub.sequencer.heads_to_seal()] == [2]
        assert hub.sequencer.heads_to_seal() == ()


async def test_an_adopted_session_goes_on_where_it_was_left(replayed: Replayed) -> None:
    log = TurnsLog(replayed.memory())
    async with sequencing(log) as hub:
        await hub.bring("s", PopupOpened("1"))
    [left] = log.turns[0]
    second = replayed.memory(*log.turns)
    async with sequencing(second) as hub:
        hub.sequencer.adopt(ChainHead("s", 1, left.envelope.hash))
        numbered = await hub.sequencer.submit("s", "runtime", PopupOpened("2"))
    assert (numbered.seq, numbered.n) == (2, 2)


async def test_every_queue_counts(replayed: Replayed) -> None:
    async with sequencing(replayed.memory()) as hub:
        await hub.bring("s", START, SAW)
        await until(lambda: len(hub.durable) == 7)
        counted = {box.name: box for box in hub.sequencer.statistics()}
    assert set(counted) == {"intake", "answers", *DECIDERS}
    assert counted["intake"].total == 2
    assert counted["answers"].total == sum(counted[name].total for name in DECIDERS)
    assert all(box.size == 0 and box.most <= box.limit for box in counted.values())
