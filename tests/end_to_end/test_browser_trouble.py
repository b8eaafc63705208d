"""Pages and browsers that go wrong under a running session: a typed error in time, the true reason
at its end, a browser for the next session, and nothing left running."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import anyio
import psutil
import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Action, ByCss, Target
from rutter.events.critic import OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionFailed, QueryAnswered
from rutter.events.observer import BrowserLost, DialogOpened, ObservationFailed, PopupOpened
from rutter.events.page import Page
from rutter.events.policy import Policy
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ActionStarted, QueryStarted
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

LONG_S = 90  # a session that ends by its own deadlines ends well before this


def click(selector: str) -> Action:
    return Action("click", target=Target((ByCss(selector),)))


def read(selector: str) -> Action:
    return Action("extract", target=Target((ByCss(selector),)), name="text")


WAIT = Action("wait_for", target=Target((ByCss("#never"),)), ms=60_000)


class Sea:
    """Sails scripts in one Chromium, and keeps what it opened at hand."""

    def __init__(self, app: App, log: Any, browser: Chromium, server: PageServer) -> None:
        self._app, self._log = app, log
        self._browser, self._server = browser, server
        self.window: Window | None = None
        self.processes: set[psutil.Process] = set()
        self.facts: list[Any] = []

    async def open_window(self, policy: Policy) -> Window:
        self.window = await self._browser.open_window(policy)
        self.processes |= set(chromium_processes())
        return self.window

    async def sail(
        self, html: str, *actions: Action, meanwhile: Callable[[], Any] | None = None
    ) -> SessionEnded:
        """One session on that page. `meanwhile` is called once its last action has started."""
        steps = [Step(Action("navigate", url=self._server.show(html)))]
        steps += [Step(action) for action in actions]
        host = self._server.url.removeprefix("http://")
        started = session_started.recording("trouble", tuple(steps), {}, (), allow=[host])
        last = anyio.Event()

        def hear(envelope: Envelope) -> None:
            event = envelope.event
            if isinstance(event, ActionStarted | QueryStarted) and event.step == len(steps):
                last.set()

        self._app.listen(hear)
        name = f"session-{len(self.facts)}"
        with anyio.fail_after(LONG_S):
            sailing = asyncio.ensure_future(self._app.run_in_browser(started, self, name=name))
            if meanwhile is not None:
                await last.wait()
                await meanwhile()
            ended = await sailing
        self._app.unlisten(hear)
        self.facts = await events_of(self._log, name)
        return ended

    def told(self, kind: type) -> list[Any]:
        return [fact for fact in self.facts if isinstance(fact, kind)]

    async def goes_on(self) -> None:
        """Another session in the same Chromium object sails as if nothing had been."""
        ended = await self.sail(
            "<button id=go onclick=\"title.data = 'x'\">Go</button>", click("#go")
        )
        assert ended.reason == "completed", ended


def chromium_processes() -> list[psutil.Process]:
    """Those that run; one that is dead and not yet reaped has no name to ask for."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if child.status() != psutil.STATUS_ZOMBIE and "chrom" in child.name():
                found.append(child)
    return found


@pytest.fixture
async def sea(replayed: Replayed, server: PageServer) -> AsyncIterator[Sea]:
    executable = find_chromium()
    assert executable is not None
    log = replayed.memory()
    async with App.open(log) as app, Chromium(executable, Gate()) as browser:
        sea = Sea(app, log, browser, server)
        yield sea
        await sea.goes_on()
        await browser.close()
        gone = await anyio.to_thread.run_sync(psutil.wait_procs, list(sea.processes), 20)
        assert gone[1] == []
        assert chromium_processes() == []


async def test_a_page_that_hangs_ends_its_session_as_interrupted(sea: Sea) -> None:
    ended = await sea.sail('<button id=go onclick="while (true);">Go</button>', click("#go"))
    assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
    (failed,) = sea.told(ActionFailed)
    assert (failed.code, failed.dispatched) == ("timeout", True)
    assert [fact.code for fact in sea.told(ObservationFailed)] == ["timeout"]
    assert sea.told(OutcomeUnknown)


async def test_a_page_that_hangs_while_it_loads_ends_its_session_as_interrupted(sea: Sea) -> None:
    ended = await sea.sail("<h1>Here</h1><script>while (true);</script>", click("#go"))
    assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
    assert [fact.code for fact in sea.told(ActionFailed)] == ["timeout"]


async def test_a_page_that_crashes_ends_its_session_as_interrupted(sea: Sea) -> None:
    async def crash() -> None:
        assert sea.window is not None
        await sea.window.tab.kill()

    ended = await sea.sail("<h1>Here</h1>", WAIT, meanwhile=crash)
    assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
    assert [fact.why for fact in sea.told(BrowserLost)] == ["the page crashed"]
    assert not sea.told(OutcomeUnknown), "nothing but waiting was under way"


async def test_a_browser_that_is_killed_ends_its_session_as_interrupted(sea: Sea) -> None:
    async def kill() -> None:
        for process in chromium_processes():
            # A helper of its own accord may end between the listing and the question.
            with suppress(psutil.Error):
                if not any(part.startswith("--type=") for part in process.cmdline()):
                    os.kill(process.pid, signal.SIGKILL)

    ended = await sea.sail("<h1>Here</h1>", WAIT, meanwhile=kill)
    assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
    assert len(sea.told(BrowserLost)) == 1


async def test_a_page_that_asks_without_end_ends_its_session_as_interrupted(sea: Sea) -> None:
    loop = "while (true) alert('Again')"
    ended = await sea.sail(f'<button id=go onclick="{loop}">Go</button>', click("#go"))
    assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
    assert [fact.code for fact in sea.told(ActionFailed)] == ["timeout"]
    asked = sea.told(DialogOpened)
    assert {(fact.message.text, fact.answer) for fact in asked} == {("Again", "dismissed")}
    assert len(asked) <= 3
    assert sum(fact.repeats for fact in asked) > 10


async def test_200_pages_are_a_few_facts_and_the_session_goes_on(sea: Sea) -> None:
    flood = "for (let i = 0; i < 200; i++) window.open('/another?' + i)"
    button = f'<button id=go onclick="{flood}">Go</button>'
    ended = await sea.sail(button, click("#go"), read("h1"))
    assert ended.reason == "completed"
    opened = sea.told(PopupOpened)
    assert len(opened) <= 5
    assert sum(fact.repeats for fact in opened) == 200
    assert [fact.text.text for fact in sea.told(QueryAnswered)] == ["Another"]


@pytest.mark.parametrize("heard", ["onmousemove", "onpointerdown", "onmouseup"])
async def test_a_page_that_is_left_during_a_click_is_arrived_from(sea: Sea, heard: str) -> None:
    button = f"<button id=go {heard}=\"location = '/another'\">Go</button>"
    ended = await sea.sail(button, click("#go"), read("h1"))
    assert ended.reason == "completed"
    assert [fact.text.text for fact in sea.told(QueryAnswered)] == ["Another"]


async def test_an_element_that_flees_the_pointer_is_a_typed_failure_and_nothing_is_clicked(
    sea: Sea,
) -> None:
    under = (
        "<button style='position:absolute;inset:0' onclick=\"document.title = 'x'\">Delete</button>"
    )
    above = "style='position:relative;z-index:1'"
    flees = f'<button id=go {above} onmouseover="this.remove()">Go</button>'
    ended = await sea.sail(under + flees, click("#go"))
    assert ended.reason == "failed"
    failed = sea.told(ActionFailed)
    assert failed[0].code == "element_obscured"
    assert not any(fact.dispatched for fact in failed)
    pages: list[Page] = [fact.page for fact in sea.facts if hasattr(fact, "page")]
    assert {page.title.text for page in pages} == {""}
