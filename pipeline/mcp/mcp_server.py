"""The MCP server leads a client's calls to the sessions of tools and answers by the contract.

A client's connection has a `Seat`, which remembers the session that it opened, and its sessions are
closed when it goes. Clients of the newest protocol keep no connection over HTTP: they name the
session in every call, and one that they leave behind is closed when nobody has called for a while.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any, Protocol, TypeVar

import anyio
import msgspec
from mcp.server import Server, ServerRequestContext
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.events.envelope import Envelope
from rutter.events.errors import RutterError
from rutter.events.person import ApprovalAnswered
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ApprovalRequested, ApprovalVoided
from rutter.pipeline.app import App
from rutter.pipeline.mcp.tool_answer import failed, refused, told
from rutter.pipeline.mcp.tool_list import CLOSE, INSTRUCTIONS, OPEN, SESSION, listed
from rutter.pipeline.tools.dispatcher import Caller, ToolResponse, Tools
from rutter.pipeline.tools.tool_sessions import NoSuchSession, ToolWish, TooMany

KEPT = 1_000  # whose a session was; of older ones nobody asks any more
BEAT_S = 10.0  # while a person is asked: clients give up on what is silent for half a minute

Context = ServerRequestContext[Any, Any]
Came = TypeVar("Came")


class Host(Protocol):
    """A host has the sessions: `rutter.pipeline.tools.tool_sessions.ToolSessions`, or one around
    it."""

    async def open(self, wish: ToolWish, *, agent: bool, by: Caller = "agent") -> Tools: ...

    async def call(self, session: str, tool: object, arguments: object) -> ToolResponse: ...

    async def close(self, session: str) -> Tools: ...


class Seat:
    """A seat is one client and the sessions that it opened. `caller` is whose token it shows;
    without `remembers` it is gone with its request."""

    def __init__(self, caller: str, *, remembers: bool = True) -> None:
        self.caller = caller
        self.remembers = remembers
        self.session = ""
        self.opened: list[str] = []
        self.left = False


Seated = Callable[[Context], Seat]


class Agents:
    """The server answers what MCP clients ask. `seated` says from which seat a request comes."""

    def __init__(self, host: Host, app: App, seated: Seated) -> None:
        self._host = host
        self._app = app
        self._seated = seated
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._under_way: set[asyncio.Task[Any]] = set()

    def server(self) -> Server[Any]:
        return Server(
            "rutter",
            version=metadata.version("rutter-agent"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._answer,
        )

    async def leave(self, seat: Seat) -> None:
        """The client has gone: its sessions end, each in a true state."""
        seat.left = True
        for session in seat.opened:
            await self._close(session)

    async def settled(self) -> None:
        """Until nothing that a client left behind is under way any more."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    # -- what is asked -------------------------------------------------------------------------

    async def _list(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed())

    async def _answer(self, context: Context, asked: CallToolRequestParams) -> CallToolResult:
        """Nothing is raised to a client: whatever is wrong is an answer that its model can read."""
        seat, given = self._seated(context), dict(asked.arguments or {})
        try:
            if asked.name == OPEN:
                return await self._open(seat, given)
            if asked.name != CLOSE and asked.name not in TOOLS:
                return told(failed(asked.name, "invalid_params", f"no tool {asked.name!r}"))
            session = self._meant(seat, given.pop(SESSION, None))
            if not session:
                return told(failed(asked.name, "unavailable", _nowhere(seat), retriable=True))
            if asked.name == CLOSE:
                return await self._closed(seat, session)
            async with self._telling(context, session):
                return told(await self._called(session, asked.name, given))
        except RutterError as error:
            return told(refused(asked.name, error))

    async def _called(self, session: str, tool: str, given: dict[str, Any]) -> ToolResponse:
        try:
            return await self._carried_out(self._host.call(session, tool, given))
        except RutterError as error:
            return refused(tool, error)

    def _meant(self, seat: Seat, named: object) -> str:
        """The session of a call: one that the same token opened, and no other."""
        if named is None:
            return seat.session
        if not isinstance(named, str) or self._owners.get(named) != seat.caller:
            raise NoSuchSession(f"you have no session {named!r}", f"open one: {OPEN}")
        return named

    async def _open(self, seat: Seat, given: dict[str, Any]) -> CallToolResult:
        try:
            wish = msgspec.convert(given, ToolWish)
        except msgspec.ValidationError as error:
            return told(failed(OPEN, "invalid_params", str(error)))
        try:
            tools = await self._carried_out(self._opened(seat, wish))
        except TooMany as error:
            return told(failed(OPEN, "unavailable", str(error), retriable=True))
        session = tools.session
        first = await self._called(session, "get_snapshot", {})
        return told(first, session=session, note=_how_to_go_on(seat, session))

    async def _opened(self, seat: Seat, wish: ToolWish) -> Tools:
        tools = await self._host.open(wish, agent=seat.caller != "person")
        self._owners[tools.session] = seat.caller
        while len(self._owners) > KEPT:
            self._owners.popitem(last=False)
        if seat.remembers:
            seat.session = tools.session
            seat.opened.append(tools.session)
        if seat.left:  # it went while this was opening
            await self._close(tools.session)
        return tools

    async def _closed(self, seat: Seat, session: str) -> CallToolResult:
        tools = await self._host.close(session)
        if seat.session == session:
            seat.session = ""
        ended = tools.ended
        how = f"{ended.reason}: {ended.detail}" if ended is not None else "it is over"
        return told(ToolResponse(CLOSE, "", True, message=how), session=session)

    async def _close(self, session: str) -> None:
        try:
            await self._host.close(session)
        except NoSuchSession:
            return  # it ended long ago

    # -- how it is done ------------------------------------------------------------------------

    async def _carried_out(self, what: Coroutine[Any, Any, Came]) -> Came:
        """What is begun comes to a true state, also when nobody waits for it any more.

        A call that is called off may still have to wait for its step, or for a person who is being
        asked. It does that by itself: held up by it, the client's connection could not end, and the
        session that would let go of all of it could not be closed.
        """
        scope = anyio.CancelScope()

        async def run() -> Came:
            with scope:
                return await what
            raise asyncio.CancelledError  # called off: nobody hears of it

        task = asyncio.ensure_future(run())
        self._under_way.add(task)
        task.add_done_callback(self._over)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            scope.cancel()
            raise

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # whoever still waits is told; nobody else needs to know

    @asynccontextmanager
    async def _telling(self, context: Context, session: str) -> AsyncIterator[None]:
        """While a person is being asked, a client that wants to know is told so again and again."""
        if (context.meta or {}).get("progress_token") is None:
            yield
            return
        asked = _Asked(session)
        self._app.listen(asked.hear)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(asked.tell, context)
                yield
                group.cancel_scope.cancel()
        finally:
            self._app.unlisten(asked.hear)


class _Asked:
    """A session asks a person or does not. Not what: that may hold words of a page."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._kind = ""
        self._again = ""
        self._changed = anyio.Event()

    def hear(self, envelope: Envelope) -> None:
        if envelope.session != self._session:
            return
        match envelope.event:
            case ApprovalRequested(kind=kind, maybe_done_by=step):
                self._kind = kind
                self._again = f"; step {step} may have done it already" if step else ""
            case ApprovalAnswered() | ApprovalVoided() | SessionEnded():
                self._kind = ""
            case _:
                return
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def tell(self, context: Context) -> None:
        beats = 0
        while True:
            changed = self._changed
            if self._kind:
                beats += 1
                said = f"a person is being asked ({self._kind}) in session {self._session}"
                said += self._again
                await context.session.report_progress(beats, message=said)
            with anyio.move_on_after(BEAT_S if self._kind else None):
                await changed.wait()


def _nowhere(seat: Seat) -> str:
    if seat.remembers:
        return f"no session is open: call {OPEN} first"
    return f'name the session: "{SESSION}" as {OPEN} answered it; without one, call {OPEN} first'


def _how_to_go_on(seat: Seat, session: str) -> str:
    if seat.remembers:
        return "This session is used until another is opened: calls need not name it."
    return f'Every call must name this session: "{SESSION}": "{session}".'
