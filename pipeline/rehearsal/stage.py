"""The stage runs a whole session in a scripted world: every decider is the real one, and so is the
Advisor.

No browser, key or network is needed. When it is over its log is decided again; a log that does not
follow from its facts is an error of ours, and raises.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar

import anyio
import msgspec

from rutter.actors.advisor.actor import Advisor
from rutter.actors.answers import Answers
from rutter.actors.effector import Effector
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.timer.actor import Timer
from rutter.actors.world.models.messages import ModelClient
from rutter.actors.world.models.prices import Price, PricedModel
from rutter.actors.world.secrets.redaction import check_secrets, redactor_of
from rutter.events.envelope import Envelope, Record
from rutter.events.event import Event
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.predictor import WorkflowLearned
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.rehearsal.effectors import effectors
from rutter.pipeline.rehearsal.scripted_screen import ScriptedScreen
from rutter.pipeline.rehearsal.world import ScriptedWorld
from rutter.pipeline.tools.dispatcher import Tools, serving
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import Story
from rutter.replay.verify import verify

WITHIN_S = 60.0  # nothing in a rehearsal takes time: this is for what never comes

Kind = TypeVar("Kind", bound=Event)
Asked = ModelClient | Sequence[ModelClient] | None


class NotReplayed(AssertionError):
    """A decision does not follow from the log."""


class Stalled(AssertionError):
    """Nobody had anything more to say, and the session did not end."""


class Rehearsal(msgspec.Struct, frozen=True):
    """A rehearsal says how a session ended, with all of its events, and its story as `rutter show`
    tells it."""

    session: str
    ended: SessionEnded
    events: tuple[AnyEvent, ...]
    story: Story

    def all_of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    @property
    def learned(self) -> Workflow | None:
        """The workflow that this session taught, if it taught one."""
        lessons = self.all_of(WorkflowLearned)
        return lessons[-1].workflow if lessons else None


class _Cast(NamedTuple):
    """The cast is who takes part in a rehearsal."""

    world: ScriptedWorld
    model: Asked = None
    answers: Answers | None = None
    secrets: Mapping[str, str] = {}
    price: Price | None = None


async def rehearse(
    started: SessionStarted,
    world: ScriptedWorld,
    *,
    model: Asked = None,
    answers: Answers | None = None,
    secrets: Mapping[str, str] | None = None,
    typed: Iterable[str] = (),
    price: Price | None = None,
    log: EventLog | None = None,
    within_s: float = WITHIN_S,
) -> Rehearsal:
    """Runs a session to its end. What one session teaches another knows when both are given the
    same `log`. `model` is who is asked, or several in this order; `answers` who is asked in person.
    One that takes longer than `within_s` has stalled, and raises.
    """
    log = log if log is not None else MemoryLog()
    cast = _Cast(world, model, answers, secrets or {}, price)
    ended: SessionEnded | None = None
    async with _pipeline(log) as app:
        name = app.clock.new_id(started.purpose)
        with anyio.move_on_after(within_s):
            ended = await _play(app, with_models(started, model), cast, list(typed), name)
    if ended is None:
        said = [type(envelope.event).__name__ async for envelope in log.read(session=name)]
        raise Stalled(f"it did not end within {within_s:g} s; last: {', '.join(said[-5:])}")
    return await _told(log, name, ended)


@asynccontextmanager
async def rehearsing_tools(
    started: SessionStarted,
    world: ScriptedWorld,
    *,
    answers: Answers | None = None,
    secrets: Mapping[str, str] | None = None,
    log: EventLog | None = None,
) -> AsyncIterator[Tools]:
    """The tools of a session, for whoever calls them from outside."""
    log = log if log is not None else MemoryLog()
    cast = _Cast(world, None, answers, secrets or {})
    async with _pipeline(log) as app:
        tools = Tools(app, started)

        async def run_in_browser(opened: Tools) -> SessionEnded:
            return await _play(app, started, cast, opened.typed, opened.session)

        async with serving(app, tools, run_in_browser):
            yield tools
    await _check(log)


def with_models(started: SessionStarted, model: Asked) -> SessionStarted:
    """The session with Mode B on, if it is given whom to ask and does not say so itself."""
    if started.models is not None or not _several(model):
        return started
    models = tuple(LanguageModel(each.provider, each.model) for each in _several(model))
    return msgspec.structs.replace(
        started, models=ModelUse(models, tuple(each.name for each in SEVEN))
    )


def _several(model: Asked) -> Sequence[ModelClient]:
    if model is None:
        return ()
    return model if isinstance(model, Sequence) else (model,)


async def _play(
    app: App, started: SessionStarted, cast: _Cast, typed: list[str], name: str
) -> SessionEnded:
    """As `App.sail` does it, with a scripted world in place of a browser. One list of what is typed
    for both: what the Advisor adds, the Executor types."""
    check_secrets(started, cast.secrets)
    redact = redactor_of(started, cast.secrets)
    models = {each.provider: PricedModel(each, cast.price) for each in _several(cast.model)}
    screen = ScriptedScreen(cast.world, started.policy)
    parts: list[Effector] = [
        *effectors(
            cast.world,
            started,
            answers=cast.answers,
            secrets=cast.secrets,
            typed=typed,
            clock=app.clock,
        ),
        Timer(),
        Advisor(screen, None, models, redact=redact, typed=typed),
    ]
    return await app.run_session(started, parts, name=name, redact=redact)


class _Clock(CountingClock):
    """The clock goes on where the log is: no name is given twice in it."""

    def __init__(self, position: int) -> None:
        super().__init__(1_700_000_000_000_000_000 + position * 1_000_000_000)
        self._ids = position


class _KeptOpen:
    """The log outlasts the pipeline: the next session goes on in it."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    @property
    def next_seq(self) -> int:
        return self._log.next_seq

    def append(self, turn: Sequence[Record]) -> asyncio.Future[None]:
        return self._log.append(turn)

    def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Envelope]:
        return self._log.read(after, session=session, kinds=kinds)

    async def close(self) -> None:
        return


@asynccontextmanager
async def _pipeline(log: EventLog) -> AsyncIterator[App]:
    async with App.open(_KeptOpen(log), clock=_Clock(log.next_seq)) as app:
        yield app


async def _told(log: EventLog, session: str, ended: SessionEnded) -> Rehearsal:
    envelopes = await _check(log)
    own = [envelope for envelope in envelopes if envelope.session == session]
    events = tuple(envelope.event for envelope in own)
    return Rehearsal(session, ended, events, tell(own))


async def _check(log: EventLog) -> list[Envelope]:
    envelopes = [envelope async for envelope in log.read()]
    report = verify(envelopes)
    if not report.ok:
        raise NotReplayed(str(report.divergence))
    return envelopes
