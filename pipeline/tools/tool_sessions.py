"""Tool sessions are driven by calls from outside (Mode A): opened, called, closed; each in a task
of its own, and closed by itself when nobody calls any more."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial

import anyio
import anyio.abc
import msgspec

from rutter.actors.answers import Answers
from rutter.actors.world.browser.screen import OpensWindows
from rutter.events.errors import BadInput, PolicyDenied, RutterError
from rutter.pipeline.app import App
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.runtime.cut_short import cut_short_by
from rutter.pipeline.sessions.attendant import BoundSecrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.session_started import MAX_TURNS
from rutter.pipeline.sessions.start import StartedSession, start_tools
from rutter.pipeline.tools.agent_hosts import check_agents_reach
from rutter.pipeline.tools.dispatcher import Caller, ToolResponse, Tools, open_tools

KEPT = 200  # sessions that ended and are still told so; of older ones the log knows


class NoSuchSession(BadInput):
    """No calls drive this session, or not any more."""

    code = "no_such_session"


class TooMany(BadInput):
    """Callers have as many sessions open as there may be."""

    code = "busy"


class ToolWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A caller opens a session for this. `success` and `failure` are signs of its end, each as
    `WHERE=TEXT`; `secrets` are names that the configuration knows."""

    url: str = ""
    goal: str = ""
    values: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    success: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    max_turns: int = MAX_TURNS
    screenshots: bool = False
    allow_ghost: bool = False


class ToolSession:
    """A session has a holder who drives it. `by_person`: it was opened with the person's token, so
    it may reach what no agent may name."""

    def __init__(self, tools: Tools, by_person: bool) -> None:
        self.tools = tools
        self.by_person = by_person
        self.calls = 0
        self.closing = anyio.Event()
        self.stirred = anyio.Event()

    def stir(self) -> None:
        stirred, self.stirred = self.stirred, anyio.Event()
        stirred.set()


class ToolSessions:
    """Tool sessions run with `keep`; all that are open are closed when it is cancelled."""

    def __init__(
        self,
        app: App,
        browser: OpensWindows,
        settings: Settings,
        answers_of: Callable[[str], Answers],
        bind: Callable[[Iterable[str]], BoundSecrets],
        *,
        at_most: int = 20,
        idle_s: float = 900.0,
    ) -> None:
        self._app = app
        self._browser = browser
        self._settings = settings
        self._answers_of = answers_of
        self._bind = bind
        self._at_most = at_most
        self._idle_s = idle_s
        self._open: dict[str, ToolSession] = {}
        self._opening = 0
        self._ended: OrderedDict[str, ToolSession] = OrderedDict()
        self._group: anyio.abc.TaskGroup | None = None

    async def keep(
        self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        async with anyio.create_task_group() as group:
            self._group = group
            task_status.started()
            await anyio.sleep_forever()

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(self._open)

    async def open(self, wish: ToolWish, *, agent: bool, by: Caller = "agent") -> Tools:
        """A session that is in the log, and its first page on the way. `agent`: whoever asks has
        no more than the agent's token."""
        if agent:
            check_agents_reach(self._settings.policy, wish.url, wish.allow)
        if self._group is None or len(self._open) + self._opening >= self._at_most:
            raise TooMany(f"{self._at_most} sessions are open", "close one of them first")
        self._opening += 1
        try:
            started = await anyio.to_thread.run_sync(self._started, wish)
            hold = partial(self._hold, by_person=not agent)
            tools: Tools = await self._group.start(hold, started, by)
        finally:
            self._opening -= 1
        return tools

    async def call(
        self, session: str, tool: object, arguments: object, *, agent: bool = False
    ) -> ToolResponse:
        """`agent`: whoever calls has no more than the agent's token."""
        held = self.find(session, agent)
        if session not in self._open:
            return await held.tools.call(tool, arguments)
        held.calls += 1
        held.stir()
        try:
            return await held.tools.call(tool, arguments)
        finally:
            held.calls -= 1
            held.stir()

    def find(self, session: str, agent: bool = False) -> ToolSession:
        """One that is open, or was until a while ago: its calls are then answered so."""
        held = self._open.get(session) or self._ended.get(session)
        if held is None:
            raise NoSuchSession(
                f"no session {session!r} is driven by calls", "open one: POST /sessions"
            )
        if agent and held.by_person:
            # It may reach hosts that an agent may not name: driving it would be naming them.
            raise PolicyDenied(
                f"session {session!r} was opened with the person's token",
                "open one of your own: POST /sessions",
            )
        return held

    async def close(self, session: str, *, agent: bool = False) -> Tools:
        """Ends it; what it came to is in `ended`."""
        held = self.find(session, agent)
        if session in self._open:
            held.closing.set()
            held.stir()
            await held.tools.finished.wait()
        return held.tools

    async def close_all(self) -> None:
        """No more are opened; those that are open are let go of."""
        group, self._group = self._group, None
        if group is not None:
            group.cancel_scope.cancel()
        for held in tuple(self._open.values()):
            await held.tools.finished.wait()

    # -- how -----------------------------------------------------------------------------------

    def _started(self, wish: ToolWish) -> StartedSession:
        asked = {**msgspec.structs.asdict(wish), "headed": not self._settings.headless}
        with Tables(self._settings) as tables:
            return start_tools(RunRequest(**asked), tables, self._bind(wish.secrets))

    async def _hold(
        self,
        started: StartedSession,
        by: Caller,
        *,
        by_person: bool,
        task_status: anyio.abc.TaskStatus[Tools],
    ) -> None:
        session = self._app.clock.new_id(started.started.purpose)
        told = False
        try:
            async with open_tools(
                self._app,
                self._browser,
                started.started,
                answers=self._answers_of(session),
                secrets=started.secrets,
                by=by,
                session=session,
                readers=started.readers,
            ) as tools:
                if not await tools.begun():
                    return  # why is raised on leaving
                self._open[session] = held = ToolSession(tools, by_person)
                task_status.started(tools)
                told = True
                await self._until_let_go(held)
        except RutterError:
            if not told:  # else whoever calls next is told how the session ended
                raise
        finally:
            self._let_go(session)

    def _let_go(self, session: str) -> None:
        held = self._open.pop(session, None)
        if held is not None:
            self._ended[session] = held
            while len(self._ended) > KEPT:
                self._ended.popitem(last=False)

    async def _until_let_go(self, held: ToolSession) -> None:
        """Until it is closed, has ended, or nobody called for so long."""
        tools = held.tools
        async with cut_short_by(tools.finished.wait):
            while not held.closing.is_set():
                stirred = held.stirred
                with anyio.move_on_after(None if held.calls else self._idle_s) as idle:
                    await stirred.wait()
                if idle.cancelled_caught and tools.session not in self._app.paused():
                    break
