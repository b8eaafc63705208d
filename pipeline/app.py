"""The composition root makes and joins every part, for the product and for its tests."""

import asyncio
import platform
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import Any

import anyio
import anyio.lowlevel

from rutter.actors.advisor.actor import Advisor
from rutter.actors.answers import Answers, Nobody
from rutter.actors.decider import DecidingActor
from rutter.actors.effector import Effector
from rutter.actors.executor.actor import Executor
from rutter.actors.observer.actor import Observer
from rutter.actors.person.actor import Person
from rutter.actors.person.question_window import QuestionWindow
from rutter.actors.predictor import Predictor
from rutter.actors.timer.actor import Timer
from rutter.actors.vision import Vision
from rutter.actors.world.browser.login_state import CarriesLogins
from rutter.actors.world.browser.screen import OpensWindows, Screen
from rutter.actors.world.models.prices import PricedModel, PricedReader
from rutter.actors.world.secrets.bindings import Bindings
from rutter.actors.world.secrets.login_tokens import LoginTokens
from rutter.actors.world.secrets.redacted_artifacts import CleanArtifacts
from rutter.actors.world.secrets.redaction import Redactor, check_secrets, hide, redactor_of
from rutter.events.action import Action
from rutter.events.artifacts import ArtifactStore
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BadInput, LogCorrupt
from rutter.events.log import EventLog
from rutter.events.runtime import (
    LogSealed,
    ProcessStarted,
    ProcessStopped,
    SessionEnded,
    SessionInterrupted,
    SessionPaused,
    SessionResumed,
    SessionStarted,
    StopRequested,
)
from rutter.events.sqlite_log import SqliteLog
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.runtime.mailbox import MailboxStatistics
from rutter.pipeline.runtime.recovery import close_interrupted, learn_from_log, unsealed_heads
from rutter.pipeline.runtime.sequencer import Sequencer
from rutter.pipeline.runtime.session import Session, Submit
from rutter.pipeline.runtime.shutdown import Phase, PhaseReport, shut_down
from rutter.pipeline.traces.live import LiveExport
from rutter.replay.verify import fresh_deciders

STOP_S = 15.0  # running sessions: a page that hangs has deadlines shorter than this
DRAIN_S = 10.0
CLOSE_S = 10.0
TRACES_S = 3.0  # what is not out by then is sent by the next process: the log has it
FOLD_ROWS = 256  # of what was learned, in one go: some 20 ms
SEAL_EVERY = 1_000  # events: what a lost tail could hide at most, in a process that goes on

Listener = Callable[[Envelope], None]


class App:
    """A running pipeline. Made by `App.open`; sessions run side by side in it."""

    def __init__(
        self,
        log: EventLog,
        artifacts: ArtifactStore | None,
        clock: Clock,
        deciders: list[DecidingActor[Any]],
    ) -> None:
        self.clock = clock
        self.log = log
        self.artifacts = artifacts
        self._sequencer = Sequencer(
            log, deciders, clock, at_once=self._at_once, durable=self._durable
        )
        self._deciders = deciders
        self._sessions: dict[str, Session] = {}
        self._screens: dict[str, Screen] = {}
        self._listeners: list[Listener] = []
        self._process = clock.new_id("process")
        self._closing = False
        self._unsealed = 0
        self._on_disk = 0  # the last position that is
        self._unwritten: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._traces: LiveExport | None = None
        self.interrupted: list[str] = []
        self.shutdown: tuple[PhaseReport, ...] = ()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        log: EventLog,
        *,
        artifacts: ArtifactStore | None = None,
        clock: Clock | None = None,
        deciders: list[DecidingActor[Any]] | None = None,
    ) -> AsyncIterator["App"]:
        """Folds the log, closes what a dead process left open, runs until left."""
        made = deciders if deciders is not None else fresh_deciders()
        app = cls(log, artifacts, clock or Clock(), made)
        try:
            for predictor in app._predictors():
                await learn_from_log(log, predictor)
        except LogCorrupt:
            await log.close()  # its thread would keep the process alive
            raise
        async with anyio.create_task_group() as group:
            group.start_soon(app._sequencer.run, name="sequencer")
            try:
                for head in await unsealed_heads(log):
                    app._sequencer.adopt(head)
                app.interrupted = await close_interrupted(log, app._sequencer, made)
                version, python = metadata.version("rutter-agent"), platform.python_version()
                await app._say(ProcessStarted(version, python, platform.system()))
                yield app
            finally:
                app.shutdown = await shut_down(app._phases())
                group.cancel_scope.cancel()

    # -- sessions ------------------------------------------------------------------------------

    async def run_in_browser(
        self,
        started: SessionStarted,
        browser: OpensWindows,
        *,
        answers: Answers | None = None,
        secrets: Mapping[str, str] | None = None,
        typed: Sequence[str] = (),
        name: str | None = None,
        vision: Vision | None = None,
        on_listening: Callable[[], None] | None = None,
        bar_words: Callable[[Action, str], str] | None = None,
        models: Mapping[str, PricedModel] | None = None,
        logins: CarriesLogins | None = None,
        readers: Mapping[str, PricedReader] | None = None,
    ) -> SessionEnded:
        """Runs one session to its end. `secrets` and `typed` are never logged, nor is what is in
        `logins`. `on_listening` is called when what a person does is heard; a bar says it by
        `bar_words`. `models` are those that `started.models` names; `readers` read pictures."""
        secrets = secrets or {}
        hide(secrets)
        check_secrets(started, secrets)
        screen = _screen(browser, started, secrets, logins, on_listening, bar_words)
        # One list for both: what the Advisor adds, the Executor types.
        typed = typed if isinstance(typed, list) else list(typed)
        bindings = Bindings(started.values, secrets, typed, started.policy.secret_origins)
        redact = _redactor(started, secrets, screen, logins)
        artifacts = CleanArtifacts(self.artifacts, redact) if self.artifacts else None
        effectors: list[Effector] = [
            Observer(screen, artifacts),
            _executor(screen, bindings, started, artifacts),
            _person(answers, screen, started, artifacts),
            Timer(),
            Advisor(
                screen,
                artifacts,
                models,
                redact=redact,
                typed=typed,
                vision=vision,
                readers=readers,
            ),
        ]
        name = name or self.clock.new_id(started.purpose)
        self._screens[name] = screen
        try:
            return await self.run_session(started, effectors, name=name, redact=redact)
        finally:
            del self._screens[name]
            screen.give_up()

    async def run_session(
        self,
        started: SessionStarted,
        effectors: list[Effector],
        *,
        name: str | None = None,
        redact: Redactor | None = None,
    ) -> SessionEnded:
        """Runs one session with these effectors: real ones, or scripted ones in tests."""
        if self._closing:
            raise BadInput("the pipeline is stopping", "start it again")
        if name in self._sessions:
            raise BadInput(f"a session {name!r} is running", "name another one")
        session = Session(
            name or self.clock.new_id(started.purpose), effectors, self._submitter(redact)
        )
        await self._prepare(started)
        self._sessions[session.name] = session
        ended: SessionEnded | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._abort_with_the_log, group.cancel_scope)
                ended = await session.run(started)
                group.cancel_scope.cancel()
        finally:
            del self._sessions[session.name]
            session.ended.cancel()  # when it did not end, nobody need wait for it
        if ended is None:
            raise self._sequencer.failed.result()
        if self._unsealed >= SEAL_EVERY and not self._closing:
            await self._seal()
        return ended

    async def _prepare(self, started: SessionStarted) -> None:
        """A session that predicts needs its model folded. In the first prediction, all others would
        wait for it; so it is done before, a piece at a time."""
        if started.workflow is not None:
            return
        for predictor in self._predictors():
            while not predictor.knowledge.prepare(started.settings.predictor, FOLD_ROWS):
                await anyio.lowlevel.checkpoint()

    def _predictors(self) -> list[Predictor]:
        deciders = (actor.decider for actor in self._deciders)
        return [each for each in deciders if isinstance(each, Predictor)]

    def _submitter(self, redact: Redactor | None) -> Submit:
        """Facts of a session go to the sequencer without what they must not hold."""
        if redact is None:
            return self._sequencer.submit

        async def submit(session: str, actor: Actor, event: AnyEvent, cause: int) -> Envelope:
            actor, event = redact.fact(actor, event)
            return await self._sequencer.submit(session, actor, event, cause)

        return submit

    async def stop(self, session: str, by: str, why: str = "") -> None:
        await self._stop(self._known(session), StopRequested(by, why))

    async def pause(self, session: str, by: str) -> None:
        """Nothing new begins in it: the step under way comes to its end and is judged, and whoever
        has its window may go on there. Raises `BadInput` where there is nothing to pause."""
        running = self._known(session, stopped=False)
        if running.paused:
            raise BadInput(f"session {session!r} is paused", f"resume it: rutter resume {session}")
        if running.by_hand:
            raise BadInput(
                f"session {session!r} is a recording of what a person does: nothing of ours runs",
                "leave the window alone as long as you like, or close it to finish",
            )
        running.paused = True  # now: who pauses it at the same moment must not pause it twice
        await self._hand_over(running, SessionPaused(by))

    async def resume(self, session: str, by: str) -> None:
        """It goes on from where its page is now. Raises `BadInput` where it is not paused."""
        running = self._known(session, stopped=False)
        if not running.paused:
            raise BadInput(f"session {session!r} is not paused", "see: rutter sessions")
        running.paused = False
        await self._hand_over(running, SessionResumed(by))

    def paused(self) -> tuple[str, ...]:
        """The sessions that are paused now."""
        return tuple(name for name, each in self._sessions.items() if each.paused)

    def _known(self, session: str, *, stopped: bool = True) -> Session:
        """One that is not over; where it must not have `stopped`, one that goes on."""
        running = self._sessions.get(session)
        if running is None or (running.stopped and not stopped):
            raise BadInput(f"no session {session!r} is running", "see: rutter sessions")
        return running

    async def _hand_over(self, running: Session, said: SessionPaused | SessionResumed) -> None:
        handed = await running.hand_in("runtime", said)
        if handed is None:
            raise BadInput(f"session {running.name!r} has just ended", "see: rutter sessions")
        await self._written(handed.seq)

    async def say_process(self, event: AnyEvent) -> None:
        """A fact of this process's own session, for whoever asked for it: of jobs, of what sets
        them off, of what is known. On disk when this returns, so that they may be told."""
        said = await self._sequencer.submit(self._process, "runtime", event)
        await self._written(said.seq)

    async def _written(self, seq: int) -> None:
        """Until this position is on disk."""
        if seq <= self._on_disk:
            return
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unwritten.append((seq, written))
        either: set[asyncio.Future[Any]] = {written, self._sequencer.failed}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not written.done():
            raise self._sequencer.failed.result()

    async def interrupt(self, session: str, why: str) -> None:
        """Ends a session because its process does: as if that had died, only sooner (design 3)."""
        running = self._sessions.get(session)
        if running is not None and not running.stopped:
            await self._sequencer.submit(session, "runtime", SessionInterrupted(why))

    async def ended(self, session: str) -> SessionEnded:
        """How a session that runs ends, once it has."""
        return await asyncio.shield(self._known(session).ended)

    async def hand_in(self, session: str, actor: Actor, event: AnyEvent) -> bool:
        """A fact from outside for a running session; `False` when it has stopped."""
        running = self._sessions.get(session)
        return running is not None and await running.hand_in(actor, event) is not None

    def screen(self, session: str) -> Screen | None:
        """The pages of a session that runs here, for whoever shows them live."""
        return self._screens.get(session)

    def finish(self, session: str) -> bool:
        """Ends a recording by hand; `False` when no person is being recorded in that session."""
        screen = self._screens.get(session)
        return screen is not None and screen.finish()

    def listen(self, listener: Listener) -> None:
        """Calls `listener` with every event once it is on disk, in log order."""
        self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def follow(self, traces: LiveExport) -> None:
        """Exports traces beside the sessions, until the log is closed."""
        self._traces = traces
        self.listen(traces.hear)
        traces.start()

    def running(self) -> tuple[str, ...]:
        return tuple(self._sessions)

    def statistics(self) -> tuple[MailboxStatistics, ...]:
        sessions = [box for session in self._sessions.values() for box in session.statistics()]
        return (*self._sequencer.statistics(), *sessions)

    # -- how -----------------------------------------------------------------------------------

    def _at_once(self, envelope: Envelope) -> None:
        session = self._sessions.get(envelope.session)
        if session is not None:
            session.hear_at_once(envelope)

    def _durable(self, envelope: Envelope) -> None:
        self._unsealed += 1
        self._on_disk = envelope.seq
        while self._unwritten and self._unwritten[0][0] <= envelope.seq:
            _, written = self._unwritten.popleft()
            if not written.done():  # whoever waited may have gone
                written.set_result(None)
        session = self._sessions.get(envelope.session)
        if session is not None:
            session.hear(envelope)
        for listener in tuple(self._listeners):
            try:
                listener(envelope)
            except Exception as error:  # noqa: BLE001 - who watches must not stop what is watched
                self._listeners.remove(listener)
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "a listener failed and hears no more", "exception": error}
                )

    async def _abort_with_the_log(self, scope: anyio.CancelScope) -> None:
        await asyncio.shield(self._sequencer.failed)
        scope.cancel()

    async def _say(self, event: AnyEvent, actor: Actor = "runtime") -> None:
        await self._sequencer.submit(self._process, actor, event)

    # -- stopping ------------------------------------------------------------------------------

    def _phases(self) -> list[Phase]:
        phases = [
            Phase("stop sessions", STOP_S, self._stop_sessions),
            Phase("seal the log", CLOSE_S, self._close_process),
            Phase("drain the queues", DRAIN_S, self._sequencer.drain),
            Phase("close the log", CLOSE_S, self.log.close),
        ]
        if self._traces is not None:
            phases.append(Phase("export traces", TRACES_S, self._traces.stop))
        return phases

    async def _stop_sessions(self) -> None:
        self._closing = True
        waiting = [session.ended for session in self._sessions.values()]
        for session in tuple(self._sessions.values()):
            await self._stop(session, StopRequested("shutdown"))
        if waiting and not self._sequencer.failed.done():
            await asyncio.wait(waiting)

    async def _stop(self, session: Session, request: StopRequested) -> None:
        if not session.stopped:  # `SessionEnded` closes the chain: nothing may follow it
            await self._sequencer.submit(session.name, "runtime", request)

    async def _close_process(self) -> None:
        await self._say(ProcessStopped())
        await self._seal()

    async def _seal(self) -> None:
        self._unsealed = 0
        await self._say(LogSealed(self._sequencer.heads_to_seal()))


@asynccontextmanager
async def open_app(
    directory: DataDirectory, deciders: list[DecidingActor[Any]] | None = None
) -> AsyncIterator[App]:
    """A pipeline on the log of this directory. The caller holds its lock."""
    log = await SqliteLog.open(directory.log)
    async with App.open(log, artifacts=directory.artifacts, deciders=deciders) as app:
        yield app


async def close_interrupted_sessions(directory: DataDirectory) -> None:
    """What a dead process left open is closed, as any start does. The caller holds the lock."""
    async with open_app(directory):
        pass


def _redactor(
    started: SessionStarted,
    secrets: Mapping[str, str],
    screen: Screen,
    logins: CarriesLogins | None,
) -> Redactor:
    """What cleans the facts of the session, of tokens too that the browser learns on the way."""
    redact = redactor_of(started, secrets)
    if logins is not None:
        screen.on_state = LoginTokens(started, redact, screen.cover).take
        screen.on_state(logins.state)
    return redact


def _executor(
    screen: Screen, bindings: Bindings, started: SessionStarted, artifacts: ArtifactStore | None
) -> Executor:
    return Executor(
        screen,
        bindings,
        started.settings,
        upload_mb=started.policy.upload_mb,
        artifacts=artifacts,
    )


def _person(
    answers: Answers | None,
    screen: Screen,
    started: SessionStarted,
    artifacts: ArtifactStore | None,
) -> Person:
    window = QuestionWindow(screen, artifacts)
    return Person(answers or Nobody(), started.policy.approval_ms, window)


def _screen(
    browser: OpensWindows,
    started: SessionStarted,
    secrets: Mapping[str, str],
    logins: CarriesLogins | None,
    on_listening: Callable[[], None] | None,
    bar_words: Callable[[Action, str], str] | None,
) -> Screen:
    screen = Screen(browser, started.policy)
    screen.bar_words = bar_words
    screen.secrets = tuple(secrets.values())
    screen.logins = logins
    if on_listening is not None:  # on its own: whoever is told must not stop the session
        screen.on_listening = partial(asyncio.get_running_loop().call_soon, on_listening)
    return screen
