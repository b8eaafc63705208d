"""Given the log of a process that died at any moment: what the next one makes of it."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.actors.decider import DecidingActor
from rutter.actors.planner.actor import Planner
from rutter.actors.planner.state import PlannerState
from rutter.actors.predictor import Predictor
from rutter.events.action import Action, Text
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope, Record
from rutter.events.executor import TargetChanged
from rutter.events.memory_log import MemoryLog
from rutter.events.planner import PlanWithheld, RunStopped
from rutter.events.predictor import PredictionMade, WorkflowLearned
from rutter.events.runtime import (
    ActorFailed,
    LogSealed,
    SessionEnded,
    SessionInterrupted,
    SessionStarted,
)
from rutter.events.sqlite_log import SqliteLog
from rutter.events.upcast import with_causes
from rutter.events.validator import ActionStarted, ApprovalVoided
from rutter.pipeline.runtime.recovery import learn_from_log, open_sessions, unsealed_heads
from rutter.pipeline.sessions import session_started
from rutter.replay.verify import fresh_deciders
from tests.support.case_table import for_each
from tests.support.log_checks import Replayed, TurnsLog, events_of, read_all
from tests.support.scripted_shop import (
    FAIRLEAD,
    ORIGIN,
    Becomes,
    Raises,
    ScriptedElement,
    by_css,
    shop,
)
from tests.support.shop_sessions import (
    YES,
    NextClock,
    kinds,
    open_app,
    record_order,
    recording,
    run_for_fairlead,
    sail,
    with_settings,
)

pytestmark = pytest.mark.anyio

Turns = list[list[Record]]
DIED = "the process that ran it died"


async def voyage() -> Turns:
    """A recording, in which an element changed once, and a run; then the process ends in order."""
    log = TurnsLog(MemoryLog())
    sends = ScriptedElement(name="Find", leads_to="/results", submits=True, method="post")
    world = shop().trouble("#find", Becomes(sends))
    async with open_app(log) as app:
        await sail(app, recording(), world, answers=ScriptedPerson([YES, YES]), name="record")
        lesson = [event async for event in log.read(kinds=["WorkflowLearned"])][-1].event
        assert isinstance(lesson, WorkflowLearned)
        await sail(app, run_for_fairlead(lesson.workflow), world=world_like_it(sends), name="run")
    return log.turns


def world_like_it(sends: ScriptedElement) -> Any:
    world = shop()
    world.replace_at("/", "#find", sends)
    return world


@pytest.fixture(scope="module")
def turns() -> Turns:
    """The whole voyage, turn by turn: where a test stops reading, the process died."""
    return anyio.run(voyage)


MOMENTS = range(1, 69)


def flat(turns: Turns, session: str) -> list[Any]:
    envelopes = [record.envelope for turn in turns for record in turn]
    return [envelope.event for envelope in envelopes if envelope.session == session]


def in_flight(events: Sequence[Any]) -> bool:
    """Whether an action was started of which nothing more is known."""
    started = False
    for event in events:
        if isinstance(event, ActionStarted):
            started = True
        elif isinstance(event, ActionJudged | OutcomeUnknown | TargetChanged):
            started = False
    return started


def test_every_moment_of_the_voyage_is_tried(turns: Turns) -> None:
    assert len(turns) == MOMENTS.stop


@for_each("moment", MOMENTS)
async def test_whenever_it_dies_every_session_is_closed_and_none_is_resumed(
    replayed: Replayed, turns: Turns, moment: int
) -> None:
    left = turns[:moment]
    log = replayed.memory(*left)
    dead = await open_sessions(log)
    async with open_app(log, clock=NextClock()) as app:
        assert app.interrupted == dead
        # What it knows is what the log says: else replay predicts otherwise, and the test fails.
        free = session_started.free_run(ORIGIN + "/", FAIRLEAD, (), threshold=1_000_000)
        await sail(app, with_settings(free), name="next")
    assert await open_sessions(log) == []
    for session in dead:
        before, events = flat(left, session), await events_of(log, session)
        after = events[len(before) :]
        if any(isinstance(event, RunStopped) for event in before):
            assert kinds(after) == ["SessionEnded"]
            continue
        assert after[0] == SessionInterrupted(DIED)
        assert after[-1] == with_causes(SessionEnded("interrupted", detail=DIED))
        assert in_flight(before) is ("OutcomeUnknown" in kinds(after))
        assert not {"ActionStarted", "PlanProposed", "PlanAdmitted"} & set(kinds(after))


async def test_a_question_that_was_open_is_void(replayed: Replayed, turns: Turns) -> None:
    asked = next(
        place for place, turn in enumerate(turns) if "ApprovalRequested" in turn_kinds(turn)
    )
    log = replayed.memory(*turns[: asked + 1])
    async with open_app(log, clock=NextClock()):
        pass
    [voided] = [e for e in await events_of(log, "record") if isinstance(e, ApprovalVoided)]
    assert voided.why == "the run stopped"


def turn_kinds(turn: Sequence[Record]) -> list[str]:
    return kinds([record.envelope.event for record in turn])


async def test_an_interrupted_recording_is_an_incomplete_workflow(
    replayed: Replayed, turns: Turns
) -> None:
    log = replayed.memory(*turns[:12])
    async with open_app(log, clock=NextClock()):
        pass
    [lesson] = [e for e in await events_of(log, "record") if isinstance(e, WorkflowLearned)]
    assert (lesson.workflow.complete, lesson.stopped_at) == (False, DIED)


async def test_a_session_that_was_stopped_ends_as_it_was_stopped(
    replayed: Replayed, turns: Turns
) -> None:
    end = next(place for place, turn in enumerate(turns) if "SessionEnded" in turn_kinds(turn))
    log = replayed.memory(*turns[:end])
    async with open_app(log, clock=NextClock()):
        pass
    events = await events_of(log, "record")
    stopped = [event for event in events if isinstance(event, RunStopped)][-1]
    assert events[-1] == with_causes(SessionEnded(stopped.reason, stopped.failure, stopped.detail))


async def test_several_open_sessions_are_closed_oldest_first(replayed: Replayed) -> None:
    begun = TurnsLog(MemoryLog())
    async with open_app(begun) as app, anyio.create_task_group() as group:
        for name in ("zebra", "ant", "bear"):
            group.start_soon(partial(sail, app, recording(), name=name))
    opened = [turn for turn in begun.turns if turn_kinds(turn) == ["SessionStarted"]]
    started = begun.turns[: begun.turns.index(opened[-1]) + 1]
    log = replayed.memory(*started)
    async with open_app(log, clock=NextClock()) as app:
        assert app.interrupted == ["zebra", "ant", "bear"]


async def test_recovery_on_disk(replayed: Replayed, turns: Turns, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    first = await SqliteLog.open(path)
    for turn in turns[:20]:
        await first.append(turn)
    await first.close()
    second = await replayed.sqlite(path)
    async with open_app(second, clock=NextClock()) as app:
        assert app.interrupted == ["record"]
    third = await replayed.sqlite(path)
    async with open_app(third, clock=CountingClockOfThird()) as app:
        assert app.interrupted == []
        assert (await record_order(app, third)).version == 2


class CountingClockOfThird(NextClock):
    def new_id(self, prefix: str) -> str:
        return f"third-{super().new_id(prefix)}"


# -- a decider that broke ------------------------------------------------------------------------


class Breaks(Planner):
    """A Planner that cannot even take in what it is told."""

    def evolve(self, state: PlannerState, envelope: Envelope) -> PlannerState:
        if envelope.session == "bad" and isinstance(envelope.event, PredictionMade):
            raise ZeroDivisionError("a bug")
        return super().evolve(state, envelope)


def broken() -> list[DecidingActor[Any]]:
    others = [actor for actor in fresh_deciders() if actor.name != "planner"]
    return [*others, DecidingActor(Breaks())]


@pytest.mark.parametrize("deciders", [broken, fresh_deciders])
async def test_a_session_whose_decider_failed_is_ended_without_asking_it_again(
    replayed: Replayed, deciders: Callable[[], list[DecidingActor[Any]]]
) -> None:
    begun = TurnsLog(MemoryLog())
    async with open_app(begun, broken()) as app:
        await sail(app, recording(), name="bad")
    end = next(
        place for place, turn in enumerate(begun.turns) if "SessionEnded" in turn_kinds(turn)
    )
    log = replayed.memory(*begun.turns[:end], deciders=broken)
    async with open_app(log, deciders(), clock=NextClock()) as app:
        assert app.interrupted == ["bad"]
    events = await events_of(log, "bad")
    assert isinstance(events[-2], ActorFailed)
    assert events[-1] == with_causes(
        SessionEnded("failed", "actor_failed", "planner: ZeroDivisionError: a bug")
    )


# -- an actor that was given up on -----------------------------------------------------------------


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rutter.pipeline.runtime.session.BACKOFF_S", 0.001)


async def blinded(log: Any) -> None:
    """The Observer breaks for good right after the order was sent: nobody judges it any more."""
    world = shop()

    def blind(envelope: Envelope) -> None:
        if isinstance(envelope.event, ActionStarted) and envelope.event.irreversible:
            world.trouble("look", *[Raises(ValueError("odd"))] * 9)

    async with open_app(log) as app:
        app.listen(blind)
        ended = await sail(app, recording(), world, answers=ScriptedPerson([YES, YES]), name="s")
    assert (ended.reason, ended.failure) == ("failed", "actor_failed")


UNKNOWN = OutcomeUnknown(6, 1, "observer failed before its outcome was judged")


@pytest.mark.usefixtures("_impatient")
async def test_what_was_under_way_when_an_effector_was_given_up_is_unknown(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    await blinded(log)
    events = await events_of(log, "s")
    assert events[-2:] == [UNKNOWN, events[-1]]
    assert isinstance(events[-1], SessionEnded)


@pytest.mark.usefixtures("_impatient")
async def test_the_next_process_says_so_where_the_last_died_before_it_could(
    replayed: Replayed,
) -> None:
    begun = TurnsLog(MemoryLog())
    await blinded(begun)
    failed = next(n for n, turn in enumerate(begun.turns) if "ActorFailed" in turn_kinds(turn))
    log = replayed.memory(*begun.turns[: failed + 1])
    async with open_app(log, clock=NextClock()) as app:
        assert app.interrupted == ["s"]
    events = await events_of(log, "s")
    assert events[-2] == UNKNOWN
    assert kinds(events).count("OutcomeUnknown") == 1


async def test_of_several_sessions_each_is_told_of_its_own_step(replayed: Replayed) -> None:
    """Two are under way with a click, one is between two steps."""
    begun = TurnsLog(MemoryLog())
    async with open_app(begun) as app, anyio.create_task_group() as group:
        for name in ("a", "b", "c"):
            world, person = shop(), ScriptedPerson(otherwise=YES)
            group.start_soon(partial(sail, app, recording(), world, answers=person, name=name))
    for moment in range(6, len(begun.turns), 7):
        left = begun.turns[:moment]
        log = replayed.memory(*left)
        async with open_app(log, clock=NextClock()) as app:
            pass
        for session in app.interrupted:
            after = (await events_of(log, session))[len(flat(left, session)) :]
            assert in_flight(flat(left, session)) is ("OutcomeUnknown" in kinds(after))


# -- the parts -----------------------------------------------------------------------------------


async def test_open_sessions_are_those_that_never_ended(replayed: Replayed, turns: Turns) -> None:
    assert await open_sessions(replayed.memory()) == []
    assert await open_sessions(replayed.memory(*turns)) == []
    started = next(
        place
        for place, turn in enumerate(turns)
        if isinstance(turn[0].envelope.event, SessionStarted) and turn[0].envelope.session == "run"
    )
    log = MemoryLog()
    for turn in turns[: started + 1]:
        log.append(turn)
    assert await open_sessions(log) == ["run"]


async def test_what_is_unsealed_is_what_came_after_the_last_seal(
    replayed: Replayed, turns: Turns
) -> None:
    assert turn_kinds(turns[-1]) == ["LogSealed"]
    sealed = await unsealed_heads(replayed.memory(*turns))
    assert sealed == []
    log = MemoryLog()
    for turn in turns[:-1]:
        log.append(turn)
    last = turns[-1][0].envelope.event
    assert isinstance(last, LogSealed)
    assert sorted(await unsealed_heads(log), key=lambda head: head.session) == list(last.heads)


async def test_the_next_seal_holds_what_a_dead_process_left_unsealed(
    replayed: Replayed, turns: Turns
) -> None:
    log = replayed.memory(*turns[:30])
    async with open_app(log, clock=NextClock()):
        pass
    seal = (await read_all(log))[-1].envelope.event
    assert isinstance(seal, LogSealed)
    assert {head.session for head in seal.heads} >= {"process-0001", "record"}


async def test_what_an_interrupted_session_taught_counts_once(replayed: Replayed) -> None:
    home = Action("navigate", url=ORIGIN + "/")
    find = Action("click", target=by_css("#find"))
    fill = Action("type", target=by_css("#q"), value=Text("rope"))
    begun = TurnsLog(MemoryLog())
    async with open_app(begun) as app:
        for number, actions in enumerate(((home, find), (home, fill), (home, find, find))):
            await sail(app, recording(*actions), name=f"s{number}")
    taught = [
        place
        for place, turn in enumerate(begun.turns)
        if turn[0].envelope.session == "s2" and "TransitionLearned" in turn_kinds(turn)
    ]
    log = replayed.memory(*begun.turns[: taught[-1] + 1])
    assert await open_sessions(log) == ["s2"]
    free = session_started.free_run(ORIGIN + "/", {}, (), threshold=1_000_000)
    async with open_app(log, clock=NextClock()) as app:
        counts = with_settings(free, predictor="markov2", suggest=1_000_000)
        await sail(app, counts, name="free")
    [withheld] = [e for e in await events_of(log, "free") if isinstance(e, PlanWithheld)]
    assert withheld.reason == "confidence_too_low_0.67"


async def test_the_model_is_the_fold_of_what_was_learned(replayed: Replayed, turns: Turns) -> None:
    log = replayed.memory(*turns)
    predictor = Predictor()
    await learn_from_log(log, predictor)
    # Of two sessions, with their ends.
    assert len(predictor.knowledge.journal) == 14
    assert predictor.knowledge.versions.highest == {"order": 1}
