"""Given an app: it is served on loopback, inside our loop, and ends when it is told to."""

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import anyio
import pytest
from litestar import Litestar, Request, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from litestar.response import ServerSentEvent, Stream

from rutter.events.errors import BadInput, PolicyDenied, WorldBroken
from rutter.pipeline.daemon.http.asgi import Receive, Scope, Send
from rutter.pipeline.daemon.http.guard import caller_of
from rutter.pipeline.daemon.http.http_server import AddressInUse, WebLimits, listen, serve_web
from tests.support.case_table import for_each
from tests.support.guarded_app import (
    AGENT,
    JSON,
    PERSON,
    WS_OPENING,
    Line,
    Spy,
    guarded,
    line_to,
    serving,
)

pytestmark = pytest.mark.anyio


def _request(port: int, target: str = "/", *headers: str, method: str = "GET") -> str:
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers, "", ""])


# -- binding ---------------------------------------------------------------------------------------


def test_any_free_port_is_known_once_it_is_bound() -> None:
    at = listen()
    assert at.port > 0
    assert [each.getsockname() for each in at.sockets] == [("127.0.0.1", at.port)]
    at.close()


def test_a_port_that_somebody_has_is_an_error_that_says_what_to_do() -> None:
    at = listen()
    with pytest.raises(AddressInUse, match=rf"port {at.port} .* in use; .*another port"):
        listen(port=at.port)
    at.close()
    listen(port=at.port).close()


def test_localhost_is_both_of_its_addresses_with_one_port() -> None:
    at = listen("localhost")
    assert {each.getsockname()[1] for each in at.sockets} == {at.port}
    assert at.sockets[0].getsockname()[0] == "127.0.0.1"
    at.close()


def test_half_of_localhost_is_not_enough_when_somebody_has_the_other() -> None:
    other = socket.socket(socket.AF_INET6)
    try:
        other.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no ::1")
    other.listen()
    with pytest.raises(AddressInUse):
        listen("localhost", other.getsockname()[1])
    other.close()


@for_each("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_are_let_in_by_nobody_but_a_person(host: str) -> None:
    with pytest.raises(PolicyDenied, match=rf"other machines; .*--bind {host}"):
        listen(host)


def test_said_aloud_it_listens_everywhere() -> None:
    at = listen("0.0.0.0", exposed=True)
    assert at.sockets[0].getsockname()[0] == "0.0.0.0"
    at.close()


def test_an_address_that_is_not_this_machines_says_so() -> None:
    with pytest.raises(WorldBroken, match=r"nothing can listen on 192\.0\.2\.1"):
        listen("192.0.2.1", exposed=True)


@for_each("host", ["example.test", "", "127.0.0.1:80"])
def test_a_name_is_no_address(host: str) -> None:
    with pytest.raises(BadInput, match="no address to listen on"):
        listen(host)


# -- serving ---------------------------------------------------------------------------------------


@get("/")
async def hello(request: Request[None, None, State]) -> dict[str, str]:
    return {"caller": caller_of(request.scope)}


@post("/jobs")
async def job(
    data: JSONBody[dict[str, int]], request: Request[None, None, State]
) -> dict[str, object]:
    return {"caller": caller_of(request.scope), "sum": sum(data.values())}


@get("/sessions/{session:str}/events")
async def events(session: FromPath[str]) -> ServerSentEvent:
    async def endless() -> AsyncIterator[str]:
        yield session
        await anyio.sleep_forever()

    return ServerSentEvent(endless())


@get("/stream/{session:str}/mjpeg")
async def pictures(session: FromPath[str]) -> Stream:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"--frame\r\n"
            await anyio.sleep(0.01)

    return Stream(endless())


def _litestar() -> Litestar:
    return Litestar([hello, job, events, pictures], openapi_config=None, logging_config=None)


async def test_a_litestar_app_behind_the_guard_answers() -> None:
    at = listen()
    async with serving(guarded(_litestar(), at.port), at), line_to(at.port) as line:
        person = f"Authorization: Bearer {PERSON}"
        await line.say(_request(at.port, "/", person))
        assert (await line.answer()).json() == {"caller": "person"}
        said = b'{"a": 2, "b": 3}'
        agent = (f"Authorization: Bearer {AGENT}", JSON, f"Content-Length: {len(said)}")
        await line.say(_request(at.port, "/jobs", *agent, method="POST").encode() + said)
        answer = await line.answer()
        assert (answer.status, answer.json()) == (201, {"caller": "agent", "sum": 5})
        assert answer.header("x-frame-options") == ["DENY"]
        await line.say(_request(at.port, "/nowhere", person))
        assert (await line.answer()).status == 404


@pytest.mark.parametrize("target", ["/sessions/s1/events", "/stream/s1/mjpeg"])
async def test_an_answer_without_end_is_ended_properly_when_it_stops(
    target: str, caplog: pytest.LogCaptureFixture
) -> None:
    at = listen()
    async with serving(guarded(_litestar(), at.port), at) as (_, stop), line_to(at.port) as line:
        await line.say(_request(at.port, target, f"Authorization: Bearer {PERSON}"))
        assert (await line.answer()).status == 200
        stop.set()
        assert (await line.rest()).endswith(b"0\r\n\r\n")
    assert not caplog.records


class Waiting(Spy):
    """Answers when it may, and says when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = anyio.Event(), anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            self.begun.set()
            await self.go_on.wait()
        await super().__call__(scope, receive, send)


async def test_what_is_being_answered_is_finished_when_it_stops() -> None:
    app = Waiting()
    async with serving(app) as (at, stop), line_to(at.port) as line:
        await line.say(_request(at.port))
        await app.begun.wait()
        stop.set()
        await _refused(at.port)
        app.go_on.set()
        assert (await line.answer()).status == 200
        assert await line.rest() == b""


async def _refused(port: int) -> None:
    """Waits until nobody is taken in any more."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:
            return
        writer.close()


class Stuck:
    """Begins an answer and never ends it, whatever it hears."""

    def __init__(self) -> None:
        self.cancelled = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await Spy()(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled = True


async def test_what_does_not_end_is_cut_off() -> None:
    app = Stuck()
    limits = WebLimits(stop_within_s=0)
    async with serving(app, limits=limits) as (at, stop), line_to(at.port) as line:
        await line.say(_request(at.port))
        assert (await line.answer()).status == 200
        stop.set()
        assert b"0\r\n" not in await line.rest()
    assert app.cancelled


async def test_cancelled_it_leaves_nothing_behind() -> None:
    app, at = Stuck(), listen()
    before = asyncio.all_tasks()
    async with anyio.create_task_group() as group:

        async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
            await serve_web(app, at, stop=anyio.Event(), task_status=task_status)

        await group.start(serve)
        async with line_to(at.port) as line:
            await line.say(_request(at.port))
            assert (await line.answer()).status == 200
            group.cancel_scope.cancel()
    assert app.cancelled
    assert all(each.fileno() == -1 for each in at.sockets)
    assert asyncio.all_tasks() <= before
    listen(port=at.port).close()


async def test_signals_stay_with_whoever_had_them() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with serving(Spy()):
        during = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    assert during == before


async def test_an_app_that_does_not_start_is_an_error_and_no_exit(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no wind"})

    at = listen()
    with pytest.raises(WorldBroken, match="did not start"):
        await serve_web(broken, at, stop=anyio.Event())
    assert "no wind" in caplog.text
    assert all(each.fileno() == -1 for each in at.sockets)


# -- limits ----------------------------------------------------------------------------------------

HASTY = WebLimits(head_within_s=0.2, keep_alive_s=60)


async def _silence(line: Line) -> bool:
    return await line.rest() == b""


@for_each("begun", ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX: "])
async def test_a_head_that_does_not_end_is_not_waited_for(begun: str) -> None:
    spy = Spy()
    async with serving(spy, limits=HASTY) as (at, _), line_to(at.port) as line:
        await line.say(begun)
        assert await _silence(line)
    assert not spy.reached


async def test_a_second_head_is_not_waited_for_either() -> None:
    async with serving(Spy(), limits=HASTY) as (at, _), line_to(at.port) as line:
        await line.say(_request(at.port) + "GET / HT")
        assert (await line.answer()).status == 200
        assert await _silence(line)


async def test_a_refused_body_is_not_swallowed_for_ever() -> None:
    at = listen()
    async with serving(guarded(Spy(), at.port), at, HASTY), line_to(at.port) as line:
        await line.say(_request(at.port, "/", "Content-Length: 1000000", method="POST"))
        assert (await line.answer()).status == 401
        await line.say(b" " * 1000)
        assert await _silence(line)


@for_each("opening, status", [((), 200), (WS_OPENING, 101)])
async def test_who_is_being_answered_has_no_slow_head(
    opening: tuple[str, ...], status: int
) -> None:
    app = Waiting()
    async with serving(app, limits=HASTY) as (at, _), line_to(at.port) as line:
        await line.say(_request(at.port, "/", *opening))
        await app.begun.wait()
        async with line_to(at.port) as silent:
            assert await _silence(silent)  # whoever came later has run out of time by now
        app.go_on.set()
        assert (await line.answer()).status == status


async def test_a_head_that_is_too_large_is_refused() -> None:
    spy = Spy()
    limits = WebLimits(head_max_bytes=1024)
    async with serving(spy, limits=limits) as (at, _), line_to(at.port) as line:
        await line.say("GET / HTTP/1.1\r\nX: " + "x" * 2000)
        assert (await line.answer()).status == 400
    assert not spy.reached


async def test_there_are_so_many_connections_at_most() -> None:
    async with AsyncExitStack() as held:
        at, _ = await held.enter_async_context(serving(Spy(), limits=WebLimits(connections=2)))
        lines = [await held.enter_async_context(line_to(at.port)) for _ in range(2)]
        for line in lines:
            await line.say(_request(at.port))
            assert (await line.answer()).status == 200
        third = await held.enter_async_context(line_to(at.port))
        await third.say(_request(at.port))
        assert (await third.answer()).status == 503
        assert await third.rest() == b""
        await lines[0].say(_request(at.port))
        assert (await lines[0].answer()).status == 200


async def test_it_says_nothing_about_what_was_asked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    at = listen()
    async with serving(guarded(Spy(), at.port), at):
        for headers in ((), ("Connection: Upgrade", "Upgrade: websocket")):
            async with line_to(at.port) as line:
                key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
                more = (key, "Sec-WebSocket-Version: 13", f"Authorization: Bearer {PERSON}")
                await line.say(_request(at.port, f"/?token={PERSON}", *headers, *more))
                assert (await line.answer()).status == 400
    assert PERSON not in caplog.text
    assert not [each for each in caplog.records if each.name.startswith("uvicorn")]


async def test_nobody_is_believed_about_where_they_come_from() -> None:
    seen: list[Scope] = []

    async def keeping(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await Spy()(scope, receive, send)

    async with serving(keeping) as (at, _), line_to(at.port) as line:
        await line.say(
            _request(at.port, "/", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https")
        )
        assert (await line.answer()).status == 200
    assert (seen[-1]["client"][0], seen[-1]["scheme"]) == ("127.0.0.1", "http")
