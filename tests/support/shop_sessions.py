"""Sessions in the scripted shop are ready to be run: the order recorded, run, thought over."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from rutter.actors.answers import Answers, PersonAnswer, ScriptedPerson, Who
from rutter.actors.decider import DecidingActor
from rutter.events.action import Action
from rutter.events.errors import BrowserGone
from rutter.events.log import EventLog
from rutter.events.predictor import WorkflowLearned
from rutter.events.run_settings import Limits
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.validator import ApprovalRequested
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.clock import Clock, CountingClock
from rutter.pipeline.sessions import session_started
from tests.support.scripted_shop import AURORA, FAIRLEAD, ORDER, Raises, World, effectors, shop

YES = PersonAnswer(True, phrase="confirm")


def open_app(
    log: EventLog, deciders: list[DecidingActor[Any]] | None = None, clock: Clock | None = None
) -> AbstractAsyncContextManager[App]:
    """A pipeline on this log, with a clock that counts."""
    return App.open(log, clock=clock or CountingClock(), deciders=deciders)


def recording(*actions: Action, **more: Any) -> SessionStarted:
    """The recording of the order, or of these actions; `more` are settings."""
    script = tuple(Step(action=action) for action in actions) or ORDER
    values = {} if actions else AURORA
    return with_settings(session_started.recording("order", script, values, ()), **more)


def with_settings(started: SessionStarted, **more: Any) -> SessionStarted:
    """With other settings. Patience is short unless said: the clock of tests counts in events."""
    limits = {key: more.pop(key) for key in list(more) if key.startswith("max_")}
    settings = msgspec.structs.replace(
        started.settings, **{"settle_ms": 20, "place_ms": 20, "answer_ms": 20, **more}
    )
    changed: Limits = msgspec.structs.replace(settings.limits, **limits)
    settings = msgspec.structs.replace(settings, limits=changed)
    return msgspec.structs.replace(started, settings=settings)


async def sail(
    app: App,
    started: SessionStarted,
    world: World | None = None,
    *,
    answers: Answers | None = None,
    name: str | None = None,
) -> SessionEnded:
    world = world or shop()
    return await app.run_session(started, effectors(world, started, answers=answers), name=name)


async def record_order(app: App, log: EventLog, name: str | None = None) -> Workflow:
    """Records the order to its end and hands back what was learned."""
    ended = await sail(app, recording(), answers=ScriptedPerson(otherwise=YES), name=name)
    assert ended.reason == "completed", ended
    lessons = [envelope.event async for envelope in log.read(kinds=["WorkflowLearned"])]
    lesson = lessons[-1]
    assert isinstance(lesson, WorkflowLearned)
    return lesson.workflow


async def break_off(path: Path) -> None:
    """The browser dies while the order is being placed."""
    path.parent.mkdir(parents=True)
    world = shop().trouble("#place", Raises(BrowserGone("it died")))
    log = await SqliteLog.open(path)
    async with open_app(log) as app:
        workflow = await record_order(app, log)
        await sail(app, run_for_fairlead(workflow), world, name="cut")


def run_for_fairlead(workflow: Workflow, **more: Any) -> SessionStarted:
    return with_settings(session_started.run_of(workflow, FAIRLEAD, ()), **more)


class NextClock(CountingClock):
    """The next process has a later clock, with names of its own."""

    def __init__(self) -> None:
        super().__init__(start_ns=1_800_000_000_000_000_000)

    def new_id(self, prefix: str) -> str:
        return f"next-{super().new_id(prefix)}"


class Thinks:
    """A person says yes when the test lets them."""

    who: Who = "scripted"

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.answer = anyio.Event()

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.set()
        await self.answer.wait()
        return YES


def kinds(events: Sequence[object]) -> list[str]:
    return [type(event).__name__ for event in events]
