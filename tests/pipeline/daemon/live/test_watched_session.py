"""Given a session that sails: it is watched in a browser and by a program, until it ends."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import anyio
import pytest
from litestar import Litestar
from playwright.async_api import Page, async_playwright
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Action, ByCss, Secret, Target
from rutter.events.envelope import Envelope
from rutter.events.log import EventLog
from rutter.events.runtime import SessionEnded
from rutter.events.validator import QueryStarted
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.daemon.http.http_server import listen
from rutter.pipeline.daemon.http.tokens import COOKIE, Tickets
from rutter.pipeline.daemon.live.live_views import LiveViews, StreamSettings
from rutter.pipeline.daemon.live.streaming import STREAM_TABLE, stream_handlers
from rutter.pipeline.sessions import session_started
from tests.actors.world.browser.test_screencast import MOVING
from tests.support.guarded_app import PERSON, guarded, line_to, serving
from tests.support.jpeg_reader import quality_of, reds, size_of
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

ON = StreamSettings(enabled=True, quality=30, max_width=640)
WITHIN_S = 60
AS_PERSON = {"Authorization": f"Bearer {PERSON}"}
SESSION = "voyage-1"
WAIT = Action("wait_for", target=Target((ByCss("#done"),)), ms=60_000)
SECRET = "Canary-9-sons-sail"
TYPE = Action("type", target=Target((ByCss("input"),)), value=Secret("password"))


class Voyage(NamedTuple):
    app: App
    chromium: Chromium
    views: LiveViews
    port: int
    tickets: Tickets

    def socket(self) -> connect:
        return connect(f"ws://127.0.0.1:{self.port}/stream/{SESSION}", additional_headers=AS_PERSON)

    async def nobody_watches(self) -> None:
        with anyio.fail_after(WITHIN_S):
            while self.views.statistics().sessions:
                await anyio.sleep(0.001)


@asynccontextmanager
async def served(app: App, chromium: Chromium, settings: StreamSettings) -> AsyncIterator[Voyage]:
    views, at, tickets = LiveViews(app.screen, settings), listen(), Tickets()
    routes = Litestar(stream_handlers(views), openapi_config=None, logging_config=None)
    async with serving(guarded(routes, at.port, table=STREAM_TABLE, tickets=tickets), at):
        yield Voyage(app, chromium, views, at.port, tickets)
        await views.close()


@pytest.fixture
def log(replayed: Replayed) -> EventLog:
    return replayed.memory()


@asynccontextmanager
async def sailing(
    app: App,
    chromium: Chromium,
    server: PageServer,
    html: str,
    *actions: Action,
    settings: StreamSettings = ON,
) -> AsyncIterator[tuple[Voyage, "asyncio.Future[SessionEnded]"]]:
    """A session that has done all its steps but the last, which waits for the test."""
    steps = [Action("navigate", url=server.show(html)), *actions, WAIT]
    secrets = {"password": SECRET}
    started = session_started.recording(
        "watched",
        tuple(Step(each) for each in steps),
        {},
        tuple(secrets),
        allow=[server.url.removeprefix("http://")],
    )
    waits = anyio.Event()

    def hear(envelope: Envelope) -> None:
        if isinstance(envelope.event, QueryStarted):
            waits.set()

    app.listen(hear)
    async with served(app, chromium, settings) as voyage:
        ended = asyncio.ensure_future(
            app.run_in_browser(started, chromium, name=SESSION, secrets=secrets)
        )
        try:
            with anyio.fail_after(WITHIN_S):
                await waits.wait()
                yield voyage, ended
                await ended
        finally:
            app.unlisten(hear)


async def finish(voyage: Voyage) -> None:
    """What the last step waits for."""
    screen = voyage.app.screen(SESSION)
    assert screen is not None
    add = "document.body.insertAdjacentHTML('beforeend', '<p id=done>done</p>')"
    await screen.tab.page.evaluate(add)


async def closed_with(client: ClientConnection) -> tuple[int, str]:
    """Whatever pictures come before."""
    with anyio.fail_after(WITHIN_S):
        with suppress(ConnectionClosed):  # it only ends the loop when that is in order
            async for _ in client:
                pass
    assert client.close_code is not None
    return client.close_code, client.close_reason or ""


async def test_a_program_sees_it_move_as_wished_and_is_told_of_the_end(
    log: EventLog, chromium: Chromium, server: PageServer
) -> None:
    async with App.open(log) as app, sailing(app, chromium, server, MOVING) as (voyage, ended):
        async with voyage.socket() as client:
            pictures = [await client.recv() for _ in range(10)]
            assert len(set(pictures)) > 5  # one may be told twice; that it moves is seen
            for each in pictures:
                assert isinstance(each, bytes)
                assert size_of(each) == (640, 400)
                assert abs(quality_of(each) - 30) <= 2
            await finish(voyage)
            assert await closed_with(client) == (1000, "the session has ended")
        assert (await ended).reason == "completed"
        await voyage.nobody_watches()
        assert app.screen(SESSION) is None


async def test_it_moves_in_a_browsers_image_and_stops_with_the_session(
    log: EventLog, chromium: Chromium, server: PageServer
) -> None:
    async with (
        App.open(log) as app,
        sailing(app, chromium, server, MOVING) as (voyage, ended),
        another_browser(voyage) as page,
    ):
        await page.goto(f"http://127.0.0.1:{voyage.port}/stream/{SESSION}", wait_until="commit")
        await shown_in(page)
        natural = (
            "[...document.querySelectorAll('img')].map(i => [i.naturalWidth, i.naturalHeight])"
        )
        assert await page.evaluate(natural) == [[640, 400]]
        seen = {await page.screenshot()}
        with anyio.fail_after(WITHIN_S):
            while len(seen) < 4:
                seen.add(await page.screenshot())
        assert voyage.views.statistics().watchers == 1
        await finish(voyage)
        assert (await ended).reason == "completed"
        await voyage.nobody_watches()


async def test_a_page_that_stands_still_shows_in_an_image_at_once(
    log: EventLog, chromium: Chromium, server: PageServer
) -> None:
    still = "<body style='background:#0a0'>"
    async with (
        App.open(log) as app,
        sailing(app, chromium, server, still) as (voyage, _),
        another_browser(voyage) as page,
    ):
        await page.goto(f"http://127.0.0.1:{voyage.port}/stream/{SESSION}", wait_until="commit")
        await shown_in(page)
        await finish(voyage)


async def shown_in(page: Page) -> None:
    """Asked again and again: the page's own policy lets nobody wait in it."""
    with anyio.fail_after(WITHIN_S):
        while not await page.evaluate("document.querySelector('img')?.naturalWidth"):
            await anyio.sleep(0.01)


@asynccontextmanager
async def another_browser(voyage: Voyage) -> AsyncIterator[Page]:
    """A person's own, with the cookie that opens this view and nothing else."""
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        context = await browser.new_context(viewport={"width": 700, "height": 500})
        await context.add_cookies(
            [
                {
                    "name": COOKIE,
                    "value": voyage.tickets.issue(SESSION),
                    "domain": "127.0.0.1",
                    "path": f"/stream/{SESSION}",
                    "httpOnly": True,
                    "sameSite": "Strict",
                }
            ]
        )
        try:
            yield await context.new_page()
        finally:
            await browser.close()


async def test_what_the_session_types_as_a_secret_is_in_no_picture(
    log: EventLog, chromium: Chromium, server: PageServer
) -> None:
    html = f"""{MOVING}<input type=password><p class=said id=echo></p>
    <script>document.querySelector("input").addEventListener("input", (event) => {{
      event.target.type = "text";
      echo.textContent = "you said " + event.target.value }})</script>"""
    async with App.open(log) as app:
        pictures: list[bytes] = []

        async def watch(voyage: Voyage, enough: int) -> None:
            async with voyage.socket() as client:
                while len(pictures) < enough:
                    got = await client.recv()
                    assert isinstance(got, bytes)
                    pictures.append(got)

        async with sailing(app, chromium, server, html, TYPE) as (voyage, ended):
            screen = app.screen(SESSION)
            assert screen is not None
            assert await screen.tab.page.evaluate("echo.textContent") == f"you said {SECRET}"
            await watch(voyage, 15)
            await finish(voyage)
            assert (await ended).reason == "completed"
        assert len(pictures) == 15
        assert max(map(reds, pictures)) == 0


async def test_a_browser_that_dies_ends_the_view(log: EventLog, server: PageServer) -> None:
    executable = find_chromium()
    assert executable is not None
    async with (
        Chromium(executable, Gate()) as chromium,
        App.open(log) as app,
        sailing(app, chromium, server, MOVING) as (voyage, ended),
    ):
        async with voyage.socket() as client:
            await client.recv()
            assert chromium.process is not None
            os.kill(chromium.process, signal.SIGKILL)
            assert await closed_with(client) == (1011, "the browser is gone")
        assert (await ended).failure == "browser_lost"
        await voyage.nobody_watches()


async def test_it_is_off_by_default(log: EventLog, chromium: Chromium, server: PageServer) -> None:
    off = StreamSettings()
    async with (
        App.open(log) as app,
        sailing(app, chromium, server, MOVING, settings=off) as (voyage, _),
    ):
        async with line_to(voyage.port) as line:
            head = f"Host: 127.0.0.1:{voyage.port}\r\nAuthorization: Bearer {PERSON}\r\n\r\n"
            await line.say(f"GET /stream/{SESSION}/mjpeg HTTP/1.1\r\n{head}")
            answer = await line.answer()
        assert (answer.status, answer.error) == (403, "stream_off")
        assert voyage.views.statistics().sessions == 0
        await finish(voyage)
