"""The dispatcher runs a caller's tools over one running session (D3, S4 W2).

A call is checked, handed to the session as a fact, and answered by what its deciders say. Nothing
is raised to the caller: whatever happens is an answer of the contract. One call at a time.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Literal

import anyio
import anyio.to_thread
import msgspec

from rutter.actors.answers import Answers
from rutter.actors.rules.pages.barrier_words import barrier_told
from rutter.actors.rules.text.untrusted import normalised, suspicions
from rutter.actors.rules.tools.arguments import BoundNames, LoggedCall, order
from rutter.actors.rules.tools.tool_table import GHOST_MS, TOOLS, WITHOUT_SNAPSHOT
from rutter.actors.world.allowed_files import read_file
from rutter.actors.world.browser.screen import OpensWindows
from rutter.actors.world.models.prices import PricedReader
from rutter.events.action import RenderMode, Untrusted
from rutter.events.critic import ActionJudged, Barrier
from rutter.events.envelope import Envelope
from rutter.events.errors import LogCorrupt, RutterError
from rutter.events.executor import ActionFailed, QueryAnswered, QueryFailed
from rutter.events.faults import failed_call
from rutter.events.observer import ObservationFailed, PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import PlanProposed
from rutter.events.runtime import (
    DeadlinePassed,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    SessionStarted,
)
from rutter.events.tools import ErrorType, FileRead, ToolAnswered, ToolCalled, ToolError
from rutter.events.validator import ActionRejected, ApprovalRequested, QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.sessions.models import closing
from rutter.pipeline.tools.snapshot import Snapshot, snapshot_of

# S3 2.4.1: the network gets three tries, a second and then two apart, never more than ten.
NETWORK_TRIES = 3
FIRST_DELAY_MS = 1_000
MAX_DELAY_MS = 10_000
# What an answer may still take when its time is up: one look at the page with its picture.
GRACE_MS = 10_000

Caller = Literal["agent", "model", "terminal"]


class ToolResponse(msgspec.Struct, frozen=True):
    """A caller gets this response. `body` is the JSON of S3 1.1.2, with S4's fields beside it."""

    tool: str
    call: str
    success: bool
    error: ToolError = ""
    error_code: ErrorType = ""
    retriable: bool = False
    message: str = ""
    result: str | None = None
    snapshot: Snapshot | None = None
    suspicious: tuple[str, ...] = ()
    barrier: Barrier | None = None
    pages: int = 0
    render_mode: RenderMode = "dom"
    artifacts: tuple[str, ...] = ()

    def body(self, *, screenshots: bool = True) -> dict[str, Any]:
        said: dict[str, Any] = {"message": self.message or None}
        if self.tool == "request_human_approval":
            said = {"approved": self.success, **said}
        elif self.tool == "complete_task":
            said = {"acknowledged": self.success, **said}
        else:
            snapshot = msgspec.to_builtins(self.snapshot)
            if snapshot is not None and not screenshots:
                del snapshot["screenshot"]
            said = {"success": self.success, "snapshot": snapshot, **self._failure(), **said}
        if self.error:
            said |= self._failure()
        if self.suspicious:  # what looks like an order to a model: only a mark (docs/quarantine.md)
            said["suspicious"] = list(self.suspicious)
        if self.barrier is not None:
            said["barrier"] = barrier_told(self.barrier)
        if self.pages:
            said["pages"] = self.pages
        if self.render_mode != "dom":
            said |= {"render_mode": self.render_mode, "artifacts": list(self.artifacts)}
        return said if self.result is None else {**said, "result": self.result}

    def _failure(self) -> dict[str, Any]:
        return {
            "error": self.error or None,
            "error_code": self.error_code or None,
            "retriable": self.retriable,
        }


class _AnswerParts(msgspec.Struct, frozen=True):
    """An answer speaks of a page and a file."""

    answer: ToolAnswered
    seen: Envelope | None
    file: FileRead | None


class Tools:
    """A session has these tools. Made by `open_tools`."""

    def __init__(
        self,
        app: App,
        started: SessionStarted,
        *,
        by: Caller = "agent",
        timeouts_ms: Mapping[str, int] | None = None,
        session: str = "",
    ) -> None:
        self.session = session or app.clock.new_id(started.purpose)
        self.typed: list[str] = []
        self.ended: SessionEnded | None = None
        self.finished = anyio.Event()
        self._app = app
        self._names = BoundNames(started.values, started.secrets)
        self._folders = started.policy.folders
        self._by = by
        self._timeouts_ms = timeouts_ms or {}
        self._one_at_a_time = anyio.Lock()
        self._changed = anyio.Event()
        self._began = False
        self._opened = False
        self._flying = False
        self._over = False
        self._asking = False
        self._paused = False
        self._pictured = False  # the open call goes on with a picture of the page
        self._seen: Envelope | None = None
        self._file: FileRead | None = None
        self._heard: dict[str, _AnswerParts] = {}
        self._failed = ""

    # -- the caller's side ---------------------------------------------------------------------

    async def call(self, tool: object, arguments: object = None) -> ToolResponse:
        """Uses a tool. Whatever comes of it is the answer; nothing is raised."""
        async with self._one_at_a_time:
            await self.opened()
            wanted = order(tool, arguments, number=len(self.typed), names=self._names)
            if wanted.typed is not None:
                self.typed.append(wanted.typed)
            name = self._app.clock.new_id("call")
            heard = await self._tried(wanted, name)
            return await self._response(wanted.tool, name, heard)

    async def _tried(self, wanted: LoggedCall, name: str) -> _AnswerParts | None:
        """By its retry profile: the network's failures are tried again here, after a delay. Once
        is the Planner's own."""
        descriptor = TOOLS.get(wanted.tool)
        network = descriptor is not None and descriptor.retry_profile == "network"
        default_ms = descriptor.timeout_ms if descriptor is not None else GRACE_MS
        patience = CallPatience(self._timeouts_ms.get(wanted.tool, default_ms))
        heard: _AnswerParts | None = None
        for attempt in range(1, NETWORK_TRIES + 1):
            self._failed = ""
            heard = await self._once(wanted, name, attempt, patience)
            if not network or self._failed != "navigation_failed" or attempt == NETWORK_TRIES:
                break
            if heard is None or heard.answer.success or heard.answer.error == "timeout":
                break
            await self._app.clock.sleep_ms(min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS))
        return heard

    async def _once(
        self, wanted: LoggedCall, name: str, attempt: int, patience: "CallPatience"
    ) -> _AnswerParts | None:
        called = ToolCalled(name, wanted.tool, wanted.arguments, self._by, attempt, wanted.invalid)
        self._heard.pop(name, None)
        self._pictured = answered = False
        try:
            if not await self._app.hand_in(self.session, "runtime", called):
                return None
            if wanted.tool == "read_file" and not wanted.invalid:
                read = await anyio.to_thread.run_sync(read_file, name, wanted.path, self._folders)
                await self._app.hand_in(self.session, "runtime", read)
            heard = await self._answer(name, patience)
            answered = True
            return heard
        finally:
            if not answered and not self._over:  # its caller went away: the next one must not wait
                with anyio.CancelScope(shield=True):
                    await self._answer(name, CallPatience(0), awaited=False)

    async def _answer(
        self, name: str, patience: "CallPatience", *, awaited: bool = True
    ) -> _AnswerParts | None:
        """Waits for what is said to a call. When its time is up that is a fact too, and the
        answer is what follows from it. A pause is not counted, unless nobody waits any more."""
        told = False
        while name not in self._heard and not self._over:
            changed = self._changed
            still = self._asking or (self._paused and awaited)
            if self._pictured and awaited:
                patience.allow(GHOST_MS)
            with patience.counted(still=still) as wait:
                await changed.wait()
            if not wait.cancelled_caught:
                continue
            if told:
                return None
            told = True
            passed = DeadlinePassed("tool", patience.limit_ms)
            patience = CallPatience(GRACE_MS)
            await self._app.hand_in(self.session, "clock", passed)
        return self._heard.pop(name, None)

    async def begun(self) -> bool:
        """Until the session is in the log: nothing can be handed in before. `False` when it is over
        without having been there."""
        await self._until(lambda: self._began)
        return self._began

    async def opened(self) -> None:
        """Until its first page is there, or is known not to come: that is no call's time."""
        if not self._opened:
            await self._until(lambda: self._seen is not None and not self._flying)
            self._opened = True

    async def _until(self, so: Callable[[], bool]) -> None:
        while not (so() or self._over):
            await self._changed.wait()

    async def _response(self, tool: str, name: str, heard: _AnswerParts | None) -> ToolResponse:
        answer = heard.answer if heard is not None else self._unanswered(name)
        seen = heard.seen if heard is not None else self._seen
        result = answer.result
        if heard is not None and heard.file is not None and heard.file.call == name:
            result = heard.file.text
        snapshot = None if tool in WITHOUT_SNAPSHOT else await self._snapshot(seen)
        text = normalised(result.text) if result is not None else None
        marks = _marks(seen if snapshot is not None else None, result)
        why = answer.error, answer.error_code, answer.retriable, answer.message
        more = snapshot, marks, answer.barrier, answer.pages
        told = ToolResponse(tool, name, answer.success, *why, text, *more)
        pictures = tuple(each.sha256 for each in answer.pictures)
        return msgspec.structs.replace(told, render_mode=answer.render_mode, artifacts=pictures)

    def _unanswered(self, name: str) -> ToolAnswered:
        """The session ended before it said anything, or does not answer any more."""
        if not self._over:
            return failed_call(name, "timeout", "no answer", retriable=False)
        ended = self.ended
        how = f"the session has ended: {ended.reason} {ended.detail}" if ended else "it has ended"
        lost = ended is not None and ended.failure == "browser_lost"
        error: ToolError = "browser_gone" if lost else "unavailable"
        return failed_call(name, error, how.strip(), retriable=False)

    async def _snapshot(self, seen: Envelope | None) -> Snapshot | None:
        if seen is None:
            return None
        observed = seen.event
        assert isinstance(observed, PageObserved)
        picture = b""
        if self._app.artifacts is not None and observed.screenshot is not None:
            # An answer without its picture is better than none.
            with suppress(LogCorrupt, OSError):
                picture = await anyio.to_thread.run_sync(
                    self._app.artifacts.get, observed.screenshot
                )
        return snapshot_of(
            observed.page, session=seen.session, n=seen.n, at_ns=seen.at_ns, screenshot=picture
        )

    # -- the session's side --------------------------------------------------------------------

    def hear(self, envelope: Envelope) -> None:
        """Every event of the session, once it is on disk."""
        if envelope.session != self.session:
            return
        match envelope.event:
            case SessionStarted():
                self._began = True
            case PageObserved():
                self._seen = envelope
            case FileRead() as read:
                self._file = read
            case ActionFailed(code=code):
                self._failed = code
            case ApprovalRequested():
                self._asking = True
            case ApprovalAnswered():
                self._asking = False
            case ToolAnswered(call=call) as answer:
                self._heard[call] = _AnswerParts(answer, self._seen, self._file)
            case SessionEnded() as ended:
                self.ended = ended
                self._over = True
            case _ as event:
                self._follow(event)
        self._tell()

    def _follow(self, event: AnyEvent) -> None:
        """Whether a step is under way, or nothing is to begin."""
        match event:
            case SessionPaused():
                self._paused = True
            case SessionResumed():
                self._paused = False
            case PlanProposed():
                self._flying = True
            case QueryStarted(render_mode="ghost"):
                self._pictured = True
            case ActionJudged() | ActionRejected() | ObservationFailed():
                self._flying = False
            case QueryAnswered() | QueryFailed():
                self._flying = False
            case _:
                return

    def over(self) -> None:
        """The session runs no more, however it ended."""
        self._over = True
        self.finished.set()
        self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class CallPatience:
    """A call may still take so long. The time that a person is asked for is not counted."""

    def __init__(self, limit_ms: int) -> None:
        self.limit_ms = limit_ms
        self._left_s = limit_ms / 1000

    def allow(self, limit_ms: int) -> None:
        """It turns out to be one that may take as long as this in all."""
        if limit_ms > self.limit_ms:
            self._left_s += (limit_ms - self.limit_ms) / 1000
            self.limit_ms = limit_ms

    @contextmanager
    def counted(self, *, still: bool) -> Iterator[anyio.CancelScope]:
        """A wait that is cut off when the time is used up, unless the clock stands still."""
        began = anyio.current_time()
        try:
            with anyio.move_on_after(None if still else max(0.0, self._left_s)) as wait:
                yield wait
        finally:
            if not still:
                self._left_s -= anyio.current_time() - began


def _marks(seen: Envelope | None, result: Untrusted | None) -> tuple[str, ...]:
    """What in an answer looks like an order, by the names of the patterns."""
    found = set(suspicions(result.text)) if result is not None else set()
    if seen is not None and isinstance(seen.event, PageObserved):
        found.update(seen.event.suspicious)
    return tuple(sorted(found))


RunSession = Callable[[Tools], Awaitable[SessionEnded]]


@asynccontextmanager
async def open_tools(
    app: App,
    browser: OpensWindows,
    started: SessionStarted,
    *,
    answers: Answers | None = None,
    secrets: Mapping[str, str] | None = None,
    by: Caller = "agent",
    timeouts_ms: Mapping[str, int] | None = None,
    session: str = "",
    readers: Mapping[str, PricedReader] | None = None,
) -> AsyncIterator[Tools]:
    """A session of the purpose `tools`, with its tools, for as long as they are held; `readers` are
    let go of with it."""
    tools = Tools(app, started, by=by, timeouts_ms=timeouts_ms, session=session)

    async def run_in_browser(opened: Tools) -> SessionEnded:
        return await app.run_in_browser(
            started,
            browser,
            answers=answers,
            secrets=secrets,
            typed=opened.typed,
            name=opened.session,
            readers=readers,
        )

    async with closing(readers or {}), serving(app, tools, run_in_browser):
        yield tools


@asynccontextmanager
async def serving(app: App, tools: Tools, run_in_browser: RunSession) -> AsyncIterator[None]:
    """Runs the session beside whoever holds its tools; it is stopped when they are let go."""
    broken: list[RutterError] = []

    async def run() -> None:
        try:
            tools.ended = await run_in_browser(tools)
        except RutterError as error:
            broken.append(error)
        finally:
            tools.over()

    app.listen(tools.hear)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await tools.begun()
                    if tools.session in app.running():
                        await app.stop(tools.session, "the caller of its tools")
    finally:
        app.unlisten(tools.hear)
    if broken:
        raise broken[0]
