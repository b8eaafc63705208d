"""A long log is made in minutes as long use leaves it: every session in it was really run.

Deciders and sequencer are the real ones, so what was predicted, learned and forgotten follows from
the log, which can be decided again. Made up are the pages (`bench.coast`) and the clock, and the
disk is not waited for. The same number of events is the same log.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec

from bench import coast
from bench.append import row_of, statement
from bench.coast import Way
from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.effector import Effector
from rutter.actors.person.actor import Person
from rutter.actors.rules.pages.page_state import phrases_for
from rutter.actors.world.secrets.bindings import Bindings
from rutter.actors.world.secrets.redaction import redactor_of
from rutter.events import sqlite_schema as schema
from rutter.events.action import Action, ByCss, Parameter, Target, Text
from rutter.events.envelope import Envelope, Record
from rutter.events.executor import PersonActed
from rutter.events.log import EventLog, check_turn
from rutter.events.planner import PersonAwaited
from rutter.events.predictor import SessionForgotten, WorkflowLearned
from rutter.events.run_settings import Limits, RunSettings
from rutter.events.runtime import RecordingFinished, SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Criteria, Indicator, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.rehearsal.effectors import ScriptedExecutor, ScriptedObserver
from rutter.pipeline.rehearsal.world import ScriptedWorld
from rutter.pipeline.sessions import session_started
from rutter.pipeline.tools.dispatcher import Tools, serving

SIDE_BY_SIDE = 8
PROCESSES = 10  # a log of long use was written by many
BATCH = 2_000
FORGOTTEN = 5  # sessions
NEW = 0.06  # of all sessions record another way, until all are known
REDESIGNED = 0.03  # of all runs find buttons that are not as they were recorded
# Of all others: what a person is watched doing, runs, runs without a workflow, an agent's calls.
MIX = {"watched": 15, "sailed": 35, "free": 25, "called": 25}
SELDOMER = 0.4  # the second way on a site is gone so many times as often as the first, and so on
YES = PersonAnswer(True, phrase="confirm")
KEPT = session_started.Given(criteria=Criteria(success=(Indicator("heading", "is kept"),)))
LIMITS = Limits(max_steps=20)

Progress = Callable[[int], None]


async def make(path: Path, events: int, progress: Progress = lambda _: None) -> None:
    """A new log of at least so many events."""
    schema.create_file(path)
    use = Use(events // (FORGOTTEN + 1), progress)
    for process in range(1, PROCESSES + 1):
        log = UnsafeLog(path)
        async with App.open(log, clock=LaterClock(log.next_seq)) as app:
            await use.sail_until(app, log, events * process // PROCESSES)


class UnsafeLog:
    """An unsafe log writes the same file in large batches without a thread: nobody waits for the
    disk, and nothing would be left of a batch after a crash."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA synchronous=OFF")
        self._rows: list[tuple[object, ...]] = []
        self.next_seq = int(self._db.execute("SELECT max(seq) FROM events").fetchone()[0] or 0) + 1

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        check_turn(turn, self.next_seq)
        self.next_seq += len(turn)
        self._rows += map(row_of, turn)
        if len(self._rows) > BATCH:
            self._write()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    async def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        self._write()
        with SqliteReader(self._path) as reader:
            for envelope in reader.read(after, session=session, kinds=kinds):
                yield envelope

    async def close(self) -> None:
        self._write()
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._db.close()

    def _write(self) -> None:
        with self._db:
            self._db.executemany(statement(1), self._rows)
        self._rows.clear()


class LaterClock(CountingClock):
    """The clock goes on where the log is: no time comes back, no name is given twice in it."""

    def __init__(self, position: int) -> None:
        super().__init__(1_700_000_000_000_000_000 + position * 60_000_000_000)
        self._ids = position


class Use:
    """Sessions of every kind follow one another, and each knows what those before it taught. One is
    forgotten every so many events."""

    def __init__(self, forget_every: int, progress: Progress = lambda _: None) -> None:
        self._forget_every = self._forget_next = forget_every
        self._progress = progress
        self._sessions = 0
        self._ways = 0
        self._known: dict[str, Workflow] = {}
        self._taught: list[str] = []

    def hear(self, envelope: Envelope) -> None:
        """What may be sailed from now on."""
        if isinstance(envelope.event, WorkflowLearned):
            workflow = envelope.event.workflow
            self._known[workflow.name] = workflow
            self._taught.append(envelope.session)

    def take_over(self) -> None:
        """All ways are known by what was heard: none is recorded anew."""
        self._ways = coast.WAYS

    async def sail_until(self, app: App, log: EventLog, events: int) -> None:
        """Until the log has so many events."""

        async def sail() -> None:
            while log.next_seq <= events:
                await self._sail_next(app)
                await self._forget(app, log.next_seq)
                self._progress(log.next_seq - 1)

        await self._side_by_side(app, sail)

    async def sail_many(self, app: App, sessions: int) -> None:
        last = self._sessions + sessions

        async def sail() -> None:
            while self._sessions < last:
                await self._sail_next(app)

        await self._side_by_side(app, sail)

    async def _side_by_side(self, app: App, sail: Callable[[], Coroutine[Any, Any, None]]) -> None:
        app.listen(self.hear)
        async with anyio.create_task_group() as group:
            for _ in range(SIDE_BY_SIDE):
                group.start_soon(sail)
        app.unlisten(self.hear)

    async def _sail_next(self, app: App) -> None:
        self._sessions += 1
        await self.sail(app, Random(self._sessions))

    async def sail(self, app: App, chance: Random) -> SessionEnded | None:
        """One session more, of the kind that chance has."""
        if not self._known or (self._ways < coast.WAYS and chance.random() < NEW):
            way = coast.way(self._ways)
            self._ways += 1
            return await recorded(app, way, chance)
        way = coast.way(self._usual(chance))
        match chance.choices(list(MIX), list(MIX.values()))[0]:
            case "watched":
                return await watched(app, way, chance)
            case "free":
                return await free(app, way, chance)
            case "called":
                return await called(app, way, chance)
            case _:
                newest = self._known.get(way.name)
                return await sailed(app, way, newest, chance) if newest is not None else None

    def _usual(self, chance: Random) -> int:
        """A way that was begun to be known: on any site, those that were first are usual."""
        first = chance.randrange(min(self._ways, coast.SITES))
        of_site = range(first, self._ways, coast.SITES)
        return chance.choices(of_site, [SELDOMER**place for place in range(len(of_site))])[0]

    async def _forget(self, app: App, position: int) -> None:
        if position >= self._forget_next and self._taught:
            self._forget_next += self._forget_every
            await app.say_process(SessionForgotten(self._taught.pop(), "it was only tried out"))


# -- one session -----------------------------------------------------------------------------------


async def recorded(app: App, way: Way, chance: Random) -> SessionEnded:
    """A recording from a script."""
    started = session_started.recording(way.name, way.script(), coast.values(chance), ())
    return await _sail(app, started, coast.world(way.site, chance.randrange(100)))


async def watched(app: App, way: Way, chance: Random) -> SessionEnded:
    """A recording of a person, who goes astray now and then and sometimes comes back."""
    started = session_started.watching(f"{way.name}-by-hand", way.url, coast.values(chance))
    world = coast.world(way.site, chance.randrange(100))
    return await _sail(app, started, world, Stroller(world, app, way, chance))


async def sailed(app: App, way: Way, workflow: Workflow, chance: Random) -> SessionEnded:
    given = coast.values(chance)
    started = session_started.run_of(
        workflow, {name: given[name] for name in workflow.parameters}, ()
    )
    redesigned = chance.random() < REDESIGNED
    world = coast.world(way.site, chance.randrange(100), redesigned=redesigned)
    return await _sail(app, started, world)


async def free(app: App, way: Way, chance: Random) -> SessionEnded:
    """No workflow is named: it goes as far as it is sure, or the person says so."""
    given = coast.values(chance)
    started = session_started.free_run(way.url, given, (), given=KEPT, limits=LIMITS)
    return await _sail(app, started, coast.world(way.site, chance.randrange(100)))


async def called(app: App, way: Way, chance: Random) -> SessionEnded | None:
    """An agent goes the way by tools, element for element as the snapshot shows them."""
    started = session_started.tool_session(
        way.url, coast.values(chance), given=KEPT, screenshots=False
    )
    world = coast.world(way.site, chance.randrange(100))
    tools = Tools(app, started)

    async def sail(opened: Tools) -> SessionEnded:
        return await _sail(app, started, world, typed=opened.typed, name=opened.session)

    async with serving(app, tools, sail):
        await tools.call("get_snapshot")
        for action in coast.strolled(way, world, chance):
            await tools.call(*_order(world, action))
        await tools.call("complete_task", {"status": "success", "reason": "it was kept"})
    return tools.ended


def _order(world: ScriptedWorld, action: Action) -> tuple[str, dict[str, str]]:
    """The call that does this. The first element of every page is its heading."""
    if action.type == "navigate":
        return "navigate", {"url": action.url or ""}
    ref = f"@e{list(world.things()).index(selector_of(action)) + 1}"
    match action.value:
        case Parameter(name):
            return "browser_fill", {"ref": ref, "value": f"${{{name}}}"}
        case Text(text):
            return "browser_fill", {"ref": ref, "value": text}
        case _:
            return "browser_click", {"ref": ref}


async def _sail(
    app: App,
    started: SessionStarted,
    world: ScriptedWorld,
    observer: ScriptedObserver | None = None,
    typed: list[str] | None = None,
    name: str | None = None,
) -> SessionEnded:
    bound = Bindings(
        started.values, {}, [] if typed is None else typed, started.policy.secret_origins
    )
    effectors: list[Effector] = [
        observer or Lookout(world, app.clock),
        ScriptedExecutor(world, bound),
        Person(ScriptedPerson(otherwise=YES)),
    ]
    return await app.run_session(started, effectors, name=name, redact=redactor_of(started, {}))


class Lookout(ScriptedObserver):
    """A lookout works out once what most sessions are to look for."""

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if isinstance(envelope.event, SessionStarted):
            self._phrases = _phrases(envelope.event.settings)
            yield self._seen("start")
            return
        async for fact in super().handle(envelope):
            yield fact


_phrases: Callable[[RunSettings], tuple[str, ...]] = lru_cache(phrases_for)


class Stroller(Lookout):
    """A person acts in the window: the page before each step, the step, the page after."""

    def __init__(self, world: ScriptedWorld, app: App, way: Way, chance: Random) -> None:
        super().__init__(world, app.clock)
        self._strolled = coast.strolled(way, world, chance)

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if not isinstance(envelope.event, PersonAwaited):
            async for fact in super().handle(envelope):
                yield fact
            return
        for step, action in enumerate(self._strolled, envelope.event.step):
            world, selector = self._world, selector_of(action)
            yield msgspec.structs.replace(self._seen("requested"), why="before_input")
            element = world.resolved(selector) if selector else None
            if element is not None:
                target = Target(element.ways, element.fingerprint)
                action = msgspec.structs.replace(action, target=target)
            yield PersonActed(step, action, element)
            world.act(action, selector, "something")
            yield self._seen("after_action")
        yield RecordingFinished("window_closed")


def selector_of(action: Action) -> str:
    way = action.target.primary if action.target is not None else None
    return way.selector if isinstance(way, ByCss) else ""
