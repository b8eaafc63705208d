"""Routes give sessions: what ran and runs, events as they happen; and those that calls drive (Mode
A)."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, TypeVar

import anyio
import msgspec
from litestar import MediaType, Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import HeaderParameter, JSONBody
from litestar.response import Stream

from rutter.events.codec import to_json
from rutter.events.envelope import kind
from rutter.events.runtime import SessionEnded
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.http.errors import PROBLEMS
from rutter.pipeline.daemon.http.routes.common import (
    Asked,
    Flag,
    HowMany,
    Session,
    Tool,
    by_agent,
    check_session,
    daemon_of,
    delete,
    get,
    post,
    running_daemon,
)
from rutter.pipeline.output.failure import told
from rutter.pipeline.queries.look_back import events_about, events_behind
from rutter.pipeline.queries.workflows_and_sessions import project, step_trace
from rutter.pipeline.tools.tool_sessions import ToolWish
from rutter.replay.story.session_story import tell
from rutter.replay.traces.fold import spans_of
from rutter.replay.verify import Verification, verify

BY = "the person"
Looked = TypeVar("Looked")
SPANS = ResponseSpec(
    data_container=dict[str, Any], description="one ExportTraceServiceRequest",
    generate_examples=False,
)  # fmt: skip


class EventTold(msgspec.Struct, frozen=True):
    """An event of the stream has its position in the log, its kind, and itself as JSON."""

    id: str
    event: str
    data: str


EVENTS = ResponseSpec(
    data_container=EventTold, description="each event of the stream",
    media_type="text/event-stream", generate_examples=False,
)  # fmt: skip


class OpenedSession(msgspec.Struct, frozen=True):
    session: str


class SessionOutcome(msgspec.Struct, frozen=True):
    """A session's outcome says how it ended; `reason` is `running` while it has not."""

    session: str
    reason: str
    failure: str = ""
    detail: str = ""


@get("/sessions", summary="What ran and runs, newest first", sync_to_thread=True)
def sessions(request: Asked, last: HowMany = 20) -> list[dict[str, Any]]:
    with project(daemon_of(request).settings) as store:
        return store.rows("SELECT * FROM sessions ORDER BY seq DESC LIMIT ?", last)


@get("/sessions/{session:str}", summary="One, step by step")
async def session(request: Asked, session: Session) -> dict[str, Any]:
    return await _looked_back(request, _story, session)


async def _looked_back(
    request: Asked, look: Callable[[Settings, str], Looked], session: str
) -> Looked:
    """A whole session is read, and decided again: so many at once that those that run, which share
    this process, are not held up by whoever asks for it again and again."""
    daemon = daemon_of(request)
    return await anyio.to_thread.run_sync(
        look, daemon.settings, session, limiter=daemon.looking_back
    )


def _story(settings: Settings, session: str) -> dict[str, Any]:
    check_session(settings, session)
    with SqliteReader(settings.directory.log) as reader:
        story = tell([*reader.read(session=session), *events_about(reader, session)])
    answer = told(story, settings)
    if isinstance(lesson := answer.get("lesson"), dict):
        lesson.pop("screenshot", None)  # a path of this machine; the picture is an artifact
    return answer


@get(
    "/sessions/{session:str}/events",
    summary="Its events as they happen",
    responses={**PROBLEMS, 200: EVENTS},
)
async def events(
    request: Asked,
    session: Session,
    after: Annotated[
        int,
        HeaderParameter(name="Last-Event-ID", ge=0, description="goes on behind this position"),
    ] = 0,
) -> Stream:
    """Server-sent events, until it has ended. Whoever comes back misses none."""
    daemon = daemon_of(request)
    if session not in daemon.app.running():
        await anyio.to_thread.run_sync(check_session, daemon.settings, session)
    return Stream(_told(daemon, session, after), media_type="text/event-stream")


async def _told(daemon: Daemon, session: str, after: int) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    async for envelope in daemon.feed.follow(session, after):
        if envelope is None:
            yield b": nothing new\n\n"
            continue
        head = f"id: {envelope.seq}\nevent: {kind(envelope.event)}\ndata: ".encode()
        yield head + to_json(envelope) + b"\n\n"


# -- by the person ---------------------------------------------------------------------------------


@post("/sessions/{session:str}/stop", summary="Ends it", status_code=200)
async def stop(request: Asked, session: Session) -> SessionOutcome:
    """In a true state: what was started is judged or said to be unknown."""
    daemon = running_daemon(request, session)
    await daemon.app.stop(session, BY)
    return _outcome(session, await daemon.app.ended(session))


@post("/sessions/{session:str}/pause", summary="Holds it", status_code=200)
async def pause(request: Asked, session: Session) -> SessionOutcome:
    """Nothing new begins; whoever has the window may go on in it."""
    daemon = running_daemon(request, session)
    await daemon.app.pause(session, BY)
    return SessionOutcome(session, "paused")


@post("/sessions/{session:str}/resume", summary="Goes on", status_code=200)
async def resume(request: Asked, session: Session) -> SessionOutcome:
    daemon = running_daemon(request, session)
    await daemon.app.resume(session, BY)
    return SessionOutcome(session, "running")


def _outcome(session: str, ended: SessionEnded) -> SessionOutcome:
    return SessionOutcome(session, ended.reason, ended.failure, ended.detail)


# -- by calls --------------------------------------------------------------------------------------


@post("/sessions", operation_id="open_session", summary="Opens one that is driven by calls")
async def open_(request: Asked, data: JSONBody[ToolWish]) -> OpenedSession:
    """It goes where `url` names and where the policy lets it, and nowhere else."""
    tools = await daemon_of(request).tools.open(data, agent=by_agent(request))
    return OpenedSession(tools.session)


@post("/sessions/{session:str}/tools/{tool:str}", summary="Calls a tool in it", status_code=200)
async def call(
    request: Asked,
    session: Session,
    tool: Tool,
    data: JSONBody[dict[str, Any]],
    screenshots: Flag = False,
) -> dict[str, Any]:
    """Whatever comes of it is the answer, with `success`, `error`, `error_code` and `retriable`
    (S3 1.1.2); what policy refuses too. One call at a time."""
    tools = daemon_of(request).tools
    response = await tools.call(session, tool, data, agent=by_agent(request))
    return response.body(screenshots=screenshots)


@delete("/sessions/{session:str}", summary="Closes one that is driven by calls", status_code=200)
async def close(request: Asked, session: Session) -> SessionOutcome:
    tools = daemon_of(request).tools
    ended = (await tools.close(session, agent=by_agent(request))).ended
    return SessionOutcome(session, "failed") if ended is None else _outcome(session, ended)


# -- afterwards ------------------------------------------------------------------------------------


@get("/sessions/{session:str}/replay", summary="Decides it again")
async def replay(request: Asked, session: Session) -> Verification:
    """From the log alone; `divergence` names the first difference."""
    return await _looked_back(request, _report, session)


def _report(settings: Settings, session: str) -> Verification:
    check_session(settings, session)
    with SqliteReader(settings.directory.log) as reader:
        return verify(events_behind(reader, session), session)


@get("/sessions/{session:str}/trace", summary="As OTLP JSON", responses={**PROBLEMS, 200: SPANS})
async def trace(request: Asked, session: Session) -> Response[bytes]:
    line = await _looked_back(request, _spans, session)
    return Response(line, media_type=MediaType.JSON)


def _spans(settings: Settings, session: str) -> bytes:
    check_session(settings, session)
    with SqliteReader(settings.directory.log) as reader:
        # Here and not above: only who asks for spans pays for what the SDK takes to import.
        from rutter.pipeline.traces.readable_span import json_line

        return json_line(list(spans_of(reader.read(session=session)))).strip()


@get("/sessions/{session:str}/steps", summary="The trace schema of S4 W4", sync_to_thread=True)
def steps(request: Asked, session: Session) -> list[dict[str, Any]]:
    settings = daemon_of(request).settings
    check_session(settings, session)
    with project(settings) as store:
        return step_trace(store, session)


ROUTES = [
    sessions, session, events, stop, pause, resume, open_, call, close, replay, trace, steps,
]  # fmt: skip
