"""Given sessions and a cast that shows what it is told: who may watch, and what that costs."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, cast

import anyio
import psutil
import pytest
from litestar import Litestar
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone
from rutter.pipeline.config.reader import Config
from rutter.pipeline.daemon.http.http_server import listen
from rutter.pipeline.daemon.http.tokens import COOKIE, Tickets
from rutter.pipeline.daemon.live import streaming
from rutter.pipeline.daemon.live.live_views import (
    NO_SESSION,
    OFF,
    TOO_MANY,
    LiveViews,
    NotWatchable,
    StreamLimits,
    StreamSettings,
    stream_settings,
)
from rutter.pipeline.daemon.live.streaming import STREAM_TABLE, stream_handlers
from tests.support.case_table import for_each
from tests.support.guarded_app import AGENT, PERSON, WS_OPENING, Line, guarded, line_to, serving
from tests.support.until_true import until

pytestmark = pytest.mark.anyio

ON = StreamSettings(enabled=True)
WITHIN_S = 30


class FakeWindow:
    closed_by_us = False


class FakeScreen:
    """A session with a window, or one that is still waiting for it."""

    def __init__(self) -> None:
        self.window = FakeWindow()
        self.decided = anyio.Event()

    async def appeared(self) -> Window:
        await self.decided.wait()
        if self.window.closed_by_us:
            raise BrowserGone("the session has no page")
        return cast(Window, self.window)


class FakeCast:
    """Shows what a test gives it, until the test says that the browser is gone."""

    made: list["FakeCast"]

    def __init__(
        self, window: Window, show: Callable[[bytes], None], *, quality: int, max_width: int
    ) -> None:
        self.show, self.quality, self.max_width = show, quality, max_width
        self.shown = self.withheld = 0
        self.runs = False
        self.gone = anyio.Event()
        self.made.append(self)

    async def run(self) -> None:
        self.runs = True
        try:
            await self.gone.wait()
            raise BrowserGone("the browser is gone")
        finally:
            self.runs = False


class Harbour:
    """Sessions `s1` and `s2`, with windows unless said otherwise."""

    def __init__(
        self,
        settings: StreamSettings = ON,
        limits: StreamLimits | None = None,
        *,
        waiting: bool = False,
    ) -> None:
        self.screens = {"s1": FakeScreen(), "s2": FakeScreen()}
        if not waiting:
            for screen in self.screens.values():
                screen.decided.set()

        class Cast(FakeCast):
            made: list[FakeCast] = []  # noqa: RUF012 - of this harbour

        self.casts = Cast.made
        self.views = LiveViews(self.screens.get, settings, limits, cast=Cast)

    async def cast(self) -> FakeCast:
        await until(lambda: self.casts and self.casts[-1].runs)
        return self.casts[-1]


# -- watching --------------------------------------------------------------------------------------


async def test_pictures_are_taken_from_the_first_watcher_to_the_last() -> None:
    harbour = Harbour()
    assert not harbour.casts
    with harbour.views.watch("s1") as first:
        taking = await harbour.cast()
        with harbour.views.watch("s1") as second:
            assert len(harbour.casts) == 1
            taking.show(b"one")
            assert await first.next() == await second.next() == b"one"
        assert taking.runs
    await until(lambda: not taking.runs)
    assert harbour.views.statistics().sessions == 0
    with harbour.views.watch("s1"):
        assert await harbour.cast() is not taking


async def test_whoever_comes_later_sees_the_newest_at_once() -> None:
    harbour = Harbour()
    with harbour.views.watch("s1"):
        taking = await harbour.cast()
        taking.show(b"old")
        taking.show(b"new")
        with harbour.views.watch("s1") as late:
            assert await late.next() == b"new"


async def test_the_newest_wins_for_who_is_slow() -> None:
    harbour = Harbour()
    with harbour.views.watch("s1") as slow, harbour.views.watch("s1") as quick:
        taking = await harbour.cast()
        for number in range(100):
            taking.show(b"%d" % number)
            assert await quick.next() == b"%d" % number
        assert await slow.next() == b"99"
        with anyio.move_on_after(0) as waited:
            await slow.next()
        assert waited.cancelled_caught


async def test_quality_and_width_are_as_configured() -> None:
    harbour = Harbour(StreamSettings(True, 30, 640))
    with harbour.views.watch("s1"):
        taking = await harbour.cast()
    assert (taking.quality, taking.max_width) == (30, 640)


async def test_a_session_without_a_window_yet_is_waited_for() -> None:
    harbour = Harbour(waiting=True)
    with harbour.views.watch("s1") as watcher:
        harbour.screens["s1"].decided.set()
        (await harbour.cast()).show(b"here")
        assert await watcher.next() == b"here"


@for_each(
    "closing, ending",
    [(True, (1000, "the session has ended")), (False, (1011, "the browser is gone"))],
)
async def test_the_end_is_told_with_its_reason(closing: bool, ending: tuple[int, str]) -> None:
    harbour = Harbour()
    with harbour.views.watch("s1") as watcher:
        taking = await harbour.cast()
        taking.show(b"the last")
        harbour.screens["s1"].window.closed_by_us = closing
        taking.gone.set()
        await until(lambda: not taking.runs)
        assert await watcher.next() == ending
        assert await watcher.next() == ending


async def test_a_session_that_never_had_a_window_ends_too() -> None:
    harbour = Harbour(waiting=True)
    with harbour.views.watch("s1") as watcher:
        harbour.screens["s1"].window.closed_by_us = True
        harbour.screens["s1"].decided.set()
        assert await watcher.next() == (1000, "the session has ended")


async def test_a_view_that_breaks_is_told_and_breaks_nothing_else() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))

    class Broken(FakeCast):
        made: list[FakeCast] = []  # noqa: RUF012 - nobody looks

        async def run(self) -> None:
            raise ZeroDivisionError

    views = LiveViews(Harbour().screens.get, ON, cast=Broken)
    with views.watch("s1") as watcher:
        assert await watcher.next() == (1011, "the view failed")
    assert [what["message"] for what in told] == ["a live view failed"]
    asyncio.get_running_loop().set_exception_handler(None)


async def test_closing_tells_everybody() -> None:
    harbour = Harbour()
    with harbour.views.watch("s1") as one, harbour.views.watch("s2") as two:
        await harbour.cast()
        await harbour.views.close()
        assert await one.next() == await two.next() == (1012, "the daemon stops")
    assert not any(each.runs for each in harbour.casts)
    assert refused(harbour.views, "s1") == NO_SESSION


# -- who may ---------------------------------------------------------------------------------------


def refused(views: LiveViews, session: str) -> object:
    with pytest.raises(NotWatchable) as caught, views.watch(session):
        pass
    return caught.value.refusal


async def test_it_is_off_unless_somebody_switched_it_on() -> None:
    assert refused(Harbour(StreamSettings()).views, "s1") == OFF
    assert stream_settings(Config()) == StreamSettings(False, 25, 854)


async def test_only_what_runs_can_be_watched() -> None:
    assert refused(Harbour().views, "s3") == NO_SESSION


async def test_there_are_so_many_watchers_of_one_session_and_in_all() -> None:
    views = Harbour(limits=StreamLimits(per_session=2, in_all=3)).views
    with ExitStack() as held:
        for session in ("s1", "s1"):
            held.enter_context(views.watch(session))
        assert refused(views, "s1") == TOO_MANY
        held.enter_context(views.watch("s2"))
        assert refused(views, "s2") == TOO_MANY
        assert views.statistics().watchers == 3
    views.check("s1")


# -- on the wire -----------------------------------------------------------------------------------


class Port:
    def __init__(self, harbour: Harbour, number: int, tickets: Tickets) -> None:
        self.harbour, self.number, self.tickets = harbour, number, tickets

    @property
    def socket_url(self) -> str:
        return f"ws://127.0.0.1:{self.number}/stream/s1"

    def request(self, target: str, *headers: str, method: str = "GET", token: str = PERSON) -> str:
        said = [f"Authorization: Bearer {token}"] if token else []
        first = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{self.number}"]
        return "\r\n".join([*first, *said, *headers, "", ""])


@asynccontextmanager
async def on_a_port(harbour: Harbour) -> AsyncIterator[Port]:
    at, tickets = listen(), Tickets()
    routes = Litestar(stream_handlers(harbour.views), openapi_config=None, logging_config=None)
    app = guarded(routes, at.port, table=STREAM_TABLE, tickets=tickets)
    async with serving(app, at):
        yield Port(harbour, at.port, tickets)
        await harbour.views.close()


AS_PERSON = {"Authorization": f"Bearer {PERSON}"}


async def test_a_socket_gets_each_picture_as_one_message_and_the_reason_at_the_end() -> None:
    async with (
        on_a_port(Harbour()) as port,
        connect(port.socket_url, additional_headers=AS_PERSON) as client,
    ):
        taking = await port.harbour.cast()
        for picture in (b"one", b"two" * 50_000):
            taking.show(picture)
            assert await client.recv() == picture
        await client.send("whatever a client says")
        port.harbour.screens["s1"].window.closed_by_us = True
        taking.gone.set()
        with pytest.raises(ConnectionClosed) as closed:
            await client.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1000, "the session has ended")


async def test_a_client_that_leaves_is_no_watcher_any_more() -> None:
    async with on_a_port(Harbour()) as port:
        async with connect(port.socket_url, additional_headers=AS_PERSON):
            await port.harbour.cast()
        await _nobody_watches(port)
        async with line_to(port.number) as line:
            await line.say(port.request("/stream/s1/mjpeg"))
            assert (await line.answer()).status == 200
            await port.harbour.cast()
        await _nobody_watches(port)


async def _nobody_watches(port: Port) -> None:
    with anyio.fail_after(WITHIN_S):
        while port.harbour.views.statistics().watchers:
            await anyio.sleep(0.001)


def part(picture: bytes) -> bytes:
    head = b"Content-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture)
    return b"--rutter-picture\r\n" + head + picture + b"\r\n"


async def test_an_image_is_parts_between_boundaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "REPEAT_S", 10 * WITHIN_S)
    async with on_a_port(Harbour()) as port, line_to(port.number) as line:
        await line.say(port.request("/stream/s1/mjpeg"))
        taking = await port.harbour.cast()
        for number, picture in enumerate((b"\xff\xd8one\r\n--x", b"\xff\xd8two")):
            taking.show(picture)
            if number == 0:
                answer = await line.answer()
                kind = "multipart/x-mixed-replace; boundary=rutter-picture"
                assert (answer.status, answer.header("content-type")) == (200, [kind])
                assert answer.header("cache-control") == ["no-store"]
            assert await chunk(line) == part(picture)
        taking.gone.set()
        assert await chunk(line) == b"--rutter-picture--\r\n"
        assert await chunk(line) == b""


async def test_a_picture_that_none_follows_is_sent_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "REPEAT_S", 0)
    async with on_a_port(Harbour()) as port, line_to(port.number) as line:
        await line.say(port.request("/stream/s1/mjpeg"))
        taking = await port.harbour.cast()
        taking.show(b"one")
        await line.answer()
        assert await chunk(line) == part(b"one")
        assert await chunk(line) == part(b"one")
        taking.show(b"two")
        assert await chunk(line) == part(b"two"), "and no more often"


async def chunk(line: Line) -> bytes:
    """One chunk of an answer without a length."""
    size = int(await line._reader.readline(), 16)
    return (await line._reader.readexactly(size + 2))[:-2]


async def test_a_page_shows_the_image_and_may_load_nothing_else() -> None:
    async with on_a_port(Harbour()) as port, line_to(port.number) as line:
        await line.say(port.request("/stream/s1"))
        answer = await line.answer()
        assert answer.status == 200
        assert b'<img src="s1/mjpeg"' in answer.body
        (_, *own) = sorted(answer.header("content-security-policy"), key=len)
        assert "default-src 'none'; img-src 'self'" in own[0]
        assert "script" not in own[0]
        assert not port.harbour.casts, "nobody watches yet"


@for_each("target", ["/stream/s1", "/stream/s1/mjpeg"])
async def test_head_is_answered_and_nothing_is_watched(target: str) -> None:
    async with on_a_port(Harbour()) as port, line_to(port.number) as line:
        await line.say(port.request(target, method="HEAD"))
        assert (await line.answer(bodiless=True)).status == 200
        await line.say(port.request("/stream/s9", method="HEAD"))
        assert (await line.answer(bodiless=True)).status == 404
        assert not port.harbour.casts


@for_each("target", ["/stream/s1", "/stream/s1/mjpeg"])
@for_each(
    "settings, limits, status, error",
    [
        (StreamSettings(), StreamLimits(), 403, "stream_off"),
        (ON, StreamLimits(in_all=0), 429, "too_many_watchers"),
    ],
)
async def test_what_cannot_be_watched_says_why(
    target: str, settings: StreamSettings, limits: StreamLimits, status: int, error: str
) -> None:
    async with on_a_port(Harbour(settings, limits)) as port:
        opening = () if "mjpeg" in target else WS_OPENING
        async with line_to(port.number) as line:
            await line.say(port.request(target, *opening))
            answer = await line.answer()
            assert (answer.status, answer.error) == (status, error)


async def test_nothing_but_looking_is_done_here() -> None:
    async with on_a_port(Harbour()) as port, line_to(port.number) as line:
        for target in ("/stream/s1", "/stream/s1/mjpeg"):
            await line.say(port.request(target, "Content-Length: 0", method="DELETE"))
            assert (await line.answer()).status == 405


async def test_a_ticket_opens_one_session_and_an_agents_token_none() -> None:
    async with on_a_port(Harbour()) as port:
        ticket = port.tickets.issue("s1")
        cookie = f"Cookie: {COOKIE}={ticket}"
        for target, token, said, status in (
            ("/stream/s1", "", (cookie,), 200),
            ("/stream/s1/mjpeg", "", (cookie,), 200),
            ("/stream/s2/mjpeg", "", (cookie,), 401),
            ("/stream/s1/mjpeg", AGENT, (), 403),
            ("/stream/s1", "", (), 401),
        ):
            async with line_to(port.number) as line:
                await line.say(port.request(target, *said, token=token))
                assert (await line.answer()).status == status, (target, token)


# -- clients that do not read ----------------------------------------------------------------------


@contextmanager
def stalled(port: Port, target: str, *headers: str) -> Iterator[socket.socket]:
    """Asks, and never reads a byte of the answer."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port.number))
        client.sendall(port.request(target, *headers).encode())
        yield client


MB = 1 << 20


async def test_clients_that_do_not_read_cost_little_and_slow_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harbour = Harbour()
    async with on_a_port(harbour) as port:
        with ExitStack() as held:
            for _ in range(3):
                held.enter_context(stalled(port, "/stream/s1/mjpeg"))
                held.enter_context(stalled(port, "/stream/s1", *WS_OPENING))
            async with connect(
                port.socket_url, additional_headers=AS_PERSON, max_size=None
            ) as quick:
                with anyio.fail_after(WITHIN_S):
                    while harbour.views.statistics().watchers < 7:
                        await anyio.sleep(0.001)
                taking = await harbour.cast()
                begun = psutil.Process().memory_info().rss
                for number in range(300):  # 60 MB for each of them
                    picture = b"%d" % number + bytes(200_000)
                    taking.show(picture)
                    assert await quick.recv() == picture
                # A picture each in its slot, in its transport and on its way there, and some air.
                assert psutil.Process().memory_info().rss - begun < 40 * MB
                assert harbour.views.statistics().watchers == 7
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


async def test_who_takes_nothing_for_too_long_gives_up_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "STALL_S", 0.05)
    harbour = Harbour()
    async with on_a_port(harbour) as port:
        with stalled(port, "/stream/s1/mjpeg"), stalled(port, "/stream/s1", *WS_OPENING):
            with anyio.fail_after(WITHIN_S):
                while harbour.views.statistics().watchers < 2:
                    await anyio.sleep(0.001)
                taking = await harbour.cast()
                while harbour.views.statistics().watchers:
                    taking.show(bytes(2 * MB))
                    await anyio.sleep(0.001)
