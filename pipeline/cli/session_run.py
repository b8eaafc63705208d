"""A command runs one session here: lock, log, browser, Ctrl-C, and the story afterwards."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from rutter.actors.answers import Answers, Nobody, PersonAnswer, TerminalPerson, Who
from rutter.actors.vision import Vision
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.login_state import CarriesLogins
from rutter.actors.world.egress.gate import Gate
from rutter.actors.world.models.prices import PricedModel
from rutter.events.errors import BadInput, RutterError
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.app import App, Listener
from rutter.pipeline.cli.terminal import RunProgress, Terminal
from rutter.pipeline.config.chromium_install import require_chromium
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.tools.dispatcher import Tools, open_tools
from rutter.pipeline.traces.live import live_export
from rutter.pipeline.upkeep.erase import finish_erasing
from rutter.pipeline.upkeep.expiry import is_due, rules_of, tidy
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import Story


class CommandPipeline:
    """A command has an open pipeline with its browser."""

    def __init__(self, app: App, browser: Chromium, settings: Settings, terminal: Terminal) -> None:
        self._app = app
        self._browser = browser
        self._settings = settings
        self._terminal = terminal

    async def run_in_browser(
        self,
        started: SessionStarted,
        *,
        answers: Answers,
        secrets: Mapping[str, str],
        what: str,
        typed: Sequence[str] = (),
        by_hand: Callable[[], None] | None = None,
        models: Mapping[str, PricedModel] | None = None,
        vision: Vision | None = None,
        logins: CarriesLogins | None = None,
    ) -> Story:
        """Runs a session to its end and tells its story. Ctrl-C stops it in a true state: a
        recording by hand is then complete. `by_hand` is called when the person may begin."""
        session = self._app.clock.new_id(started.purpose)
        with RunProgress(self._terminal, what=what) as progress:
            self._app.listen(progress.hear)
            asked = _PausedProgress(answers, progress)
            with _interruptible(self._app, session, by_hand=by_hand is not None):
                await self._app.run_in_browser(
                    started,
                    self._browser,
                    answers=asked,
                    secrets=secrets,
                    typed=typed,
                    name=session,
                    on_listening=by_hand,
                    models=models,
                    vision=vision,
                    logins=logins,
                )
            self._app.unlisten(progress.hear)
        await self._tidy()
        return self.story(session)

    async def _tidy(self) -> None:
        """What has expired goes, at most once a day. A run does not fail by it."""
        directory, clock = self._settings.directory, self._app.clock
        if not is_due(directory, clock.now_ns()):
            return
        rules = rules_of(self._settings.config)
        try:
            done = await tidy(directory, self._app.say_process, rules, clock)
        except RutterError as error:
            self._terminal.note(f"what has expired could not go: {error}")
            return
        if done.files:
            self._terminal.note(f"{done.files} artifacts have expired and went (rutter log)")

    def listen(self, listener: Listener) -> None:
        self._app.listen(listener)

    @asynccontextmanager
    async def tools(
        self,
        started: SessionStarted,
        *,
        answers: Answers,
        secrets: Mapping[str, str],
    ) -> AsyncIterator[Tools]:
        """A session to be driven by calls of tools. Ctrl-C stops it."""
        async with open_tools(
            self._app,
            self._browser,
            started,
            answers=answers,
            secrets=secrets,
            by="terminal",
        ) as tools:
            with _interruptible(self._app, tools.session):
                yield tools

    def story(self, session: str) -> Story:
        with SqliteReader(self._settings.directory.log) as reader:
            return tell(reader.read(session=session))


@asynccontextmanager
async def open_command_pipeline(
    settings: Settings, terminal: Terminal
) -> AsyncIterator[CommandPipeline]:
    async with open_pipeline(settings, terminal) as (app, browser):
        yield CommandPipeline(app, browser, settings, terminal)


@asynccontextmanager
async def open_pipeline(
    settings: Settings, terminal: Terminal
) -> AsyncIterator[tuple[App, Chromium]]:
    """Takes the data directory, opens the log and starts the browser; lets go of all of it."""
    executable = require_chromium(settings.chromium)
    directory = settings.directory
    directory.lock()
    try:
        if directory.tightened:
            terminal.note(f"made private, others could read it: {directory.root}")
        if finish_erasing(directory):
            terminal.note("finished an erasing that was cut short")
        log = await SqliteLog.open(directory.log)
        browser = Chromium(executable, Gate(), headless=settings.headless)
        async with App.open(log, artifacts=directory.artifacts) as app:
            traces = live_export(settings, terminal.note)
            if traces is not None:
                app.follow(traces)
            if app.interrupted:
                terminal.note(f"closed as interrupted: {', '.join(app.interrupted)}")
            try:
                await browser.start()
                yield app, browser
            finally:
                await browser.close()
    finally:
        directory.unlock()


def check_display(env: Mapping[str, str], otherwise: str) -> None:
    """A window needs a screen; on Linux a program finds it by these names."""
    if sys.platform.startswith("linux") and not (env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")):
        raise BadInput(
            "there is no screen to open a window on",
            f"run it in a desktop session, or {otherwise}",
        )


def person(terminal: Terminal, answers: Path | None) -> Answers:
    """Who answers: a script given by name, the person at the terminal, or nobody."""
    if answers is not None:
        return _scripted(answers)
    return TerminalPerson(terminal.ask) if terminal.interactive else Nobody()


def _scripted(path: Path) -> Answers:
    try:
        listed = msgspec.json.decode(path.read_bytes(), type=list[PersonAnswer])
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})", "check --answers") from error
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BadInput(
            f"{path} is not a list of answers: {error}", 'write [{"approved": true}, ...]'
        ) from error
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


class _PausedProgress:
    """The moving line stands still while a person is asked."""

    def __init__(self, answers: Answers, progress: RunProgress) -> None:
        self._answers = answers
        self._progress = progress

    @property
    def who(self) -> Who:
        """Read when it is answered: a list of answers may be over by then."""
        return self._answers.who

    @who.setter
    def who(self, _: Who) -> None:
        raise AttributeError("it is whoever answers")

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self._progress.pause()
        try:
            return await self._answers.ask(question)
        finally:
            self._progress.resume()


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

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
