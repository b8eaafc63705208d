"""A command runs one session here: lock, log, browser, Ctrl-C, and the story afterwards."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rutter.actors.answers import Answers, Nobody, PersonAnswer, TerminalPerson, Who
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.errors import BadInput, RutterError
from rutter.events.page import Artifact
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.app import App
from rutter.pipeline.browser import browser_maker
from rutter.pipeline.cli.terminal import LiveSteps, MovingLine, RunProgress, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.open_app import on_signal, open_own_app
from rutter.pipeline.queries.look_back import story_of
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.attendant import Attendant, typed
from rutter.pipeline.sessions.start import StartedSession
from rutter.pipeline.tools.dispatcher import Tools, open_tools
from rutter.pipeline.upkeep.expiry import is_due, rules_of, tidy
from rutter.replay.story.told_session import Story
from rutter.replay.story.wording import in_words


@dataclass(frozen=True)
class CommandPipeline:
    """A command has an open pipeline with its browser."""

    app: App
    browser: Chromium
    settings: Settings
    terminal: Terminal

    async def run(
        self,
        session: StartedSession,
        answers: Answers,
        what: str,
        live: LiveSteps | None = None,
    ) -> Story:
        """Runs a session to its end and tells its story. Ctrl-C stops it in a true state: a
        recording by hand is then complete."""
        name = self.app.clock.new_id(session.started.purpose)
        with RunProgress(self.terminal, what=what) as progress:
            self.app.listen(progress.hear)
            if live is not None:
                self.app.listen(live.hear)
            invite = live.invite if live is not None else None
            asked = PausedWhileAsked(answers, progress, self.where)
            with _interruptible(self.app, name, by_hand=live is not None):
                await session.run(
                    self.app,
                    self.browser,
                    name,
                    asked,
                    on_listening=invite,
                    bar_words=in_words if live is not None else None,
                )
            self.app.unlisten(progress.hear)
        await self._tidy()
        return story_of(self.settings, name)

    def where(self, picture: Artifact) -> None:
        """Says where a picture is that belongs to a question."""
        self.terminal.note(f"picture: {self.settings.directory.artifacts.path(picture)}")

    async def _tidy(self) -> None:
        """What has expired goes, at most once a day. A run does not fail by it."""
        directory, clock = self.settings.directory, self.app.clock
        if not is_due(directory, clock.now_ns()):
            return
        rules = rules_of(self.settings.config)
        try:
            done = await tidy(directory, self.app.say_process, rules, clock)
        except RutterError as error:
            self.terminal.note(f"what has expired could not go: {error}")
            return
        if done.files:
            self.terminal.note(f"{done.files} artifacts have expired and went (rutter log)")

    @asynccontextmanager
    async def tools(self, session: StartedSession, answers: Answers) -> AsyncIterator[Tools]:
        """A session to be driven by calls of tools. Ctrl-C stops it."""
        async with open_tools(
            self.app,
            self.browser,
            session.started,
            answers=answers,
            secrets=session.secrets,
            by="terminal",
            readers=session.readers,
        ) as tools:
            with _interruptible(self.app, tools.session):
                yield tools


def run_here(
    session: StartedSession,
    tables: Tables,
    terminal: Terminal,
    what: str,
    *,
    answers: Path | None,
    live: LiveSteps | None = None,
) -> Story:
    """Runs a session in this process and a browser of its own; the tables know of it then."""
    who = person(terminal, answers)

    async def run() -> Story:
        async with open_pipeline(tables.settings, terminal) as opened:
            return await opened.run(session, who, what, live)

    story = asyncio.run(run())
    tables.now()
    return story


@asynccontextmanager
async def open_pipeline(settings: Settings, terminal: Terminal) -> AsyncIterator[CommandPipeline]:
    """Takes the data directory, opens the log and starts the browser; lets go of all of it."""
    made = browser_maker(settings)
    async with open_own_app(settings, terminal.note) as app:
        browser = made()
        try:
            await browser.start()
            yield CommandPipeline(app, browser, settings, terminal)
        finally:
            await browser.close()


def attendant(terminal: Terminal) -> Attendant:
    """Who is asked for what is missing: the person at the terminal, or nobody."""
    if not terminal.interactive:
        return Attendant(None, terminal.ask_secret, None, terminal.note)

    def passphrase(question: str) -> str:
        return typed("a passphrase", terminal.ask_secret, question)

    return Attendant(terminal.ask, terminal.ask_secret, passphrase, terminal.note)


def person(terminal: Terminal, answers: Path | None) -> Answers:
    """Who answers: a script given by name, the person at the terminal, or nobody."""
    if answers is None:
        return TerminalPerson(terminal.ask, terminal.note) if terminal.interactive else Nobody()
    try:
        listed = msgspec.json.decode(answers.read_bytes(), type=list[PersonAnswer])
    except OSError as error:
        raise BadInput(f"{answers} cannot be read ({error.strerror})", "check --answers") from error
    except msgspec.DecodeError as error:
        what = f"{answers} is not a list of answers: {error}"
        raise BadInput(what, 'write [{"approved": true}, ...]') from error
    return _ListedAnswers(listed)


class _ListedAnswers:
    """A list gives answers, as somebody wrote them down; behind the last one nobody is there."""

    def __init__(self, answers: Sequence[PersonAnswer]) -> None:
        self._left = list(answers)
        self.who: Who = "scripted"

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        if self._left:
            return self._left.pop(0)
        self.who = "nobody"
        return PersonAnswer(False, f"the list of answers has no more: {question.question}")


@dataclass(frozen=True)
class PausedWhileAsked:
    """The moving line stands still while a person is asked."""

    answers: Answers
    progress: MovingLine
    shows: Callable[[Artifact], object] = lambda _: None
    pictures: dict[str, Artifact] = field(default_factory=dict, kw_only=True)

    @property
    def who(self) -> Who:
        """Read when it is answered: a list of answers may be over by then."""
        return self.answers.who

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        with self.progress.still():
            picture = self.pictures.pop(question.approval, None)
            if picture is not None and self.who == "terminal":  # a list of answers looks at none
                self.shows(picture)
            return await self.answers.ask(question)

    def see(self, question: ApprovalRequested, picture: Artifact) -> None:
        self.pictures[question.approval] = picture


@contextmanager
def _interruptible(app: App, session: str, *, by_hand: bool = False) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) asks the session to stop; the session ends `cancelled`.

    A recording by hand is finished by it; a second one stops that too.
    """
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()
    finishing = by_hand

    def stop() -> None:
        nonlocal finishing
        if session not in app.running() or stopping:
            return
        if finishing and app.finish(session):
            finishing = False
        else:
            stopping.add(loop.create_task(app.stop(session, "the person at the terminal")))

    with on_signal(stop):
        yield
