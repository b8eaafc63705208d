"""The fleet with real browsers: what is killed, stopped or worn goes alone, and nothing is left.

And what the fleet's other tests take for granted of a browser, asked of the real one and of theirs.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import anyio
import psutil
import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Action, ByCss, Target
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.observer import BrowserLost, HostsContacted
from rutter.events.runtime import SessionEnded
from rutter.events.validator import QueryStarted
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.daemon.browsers.fleet import Fleet, FleetLimits
from rutter.pipeline.daemon.browsers.supervised import BrowserStatistics, FleetBrowser
from rutter.pipeline.sessions import session_started
from tests.support.fake_browsers import FakeBrowser
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

LONG_S = 60  # a busy machine is no reason to fail
ROUNDS = 5 if os.environ.get("RUTTER_SOAK") else 2  # each replaces two browsers


def chromium() -> Chromium:
    executable = find_chromium()
    assert executable is not None
    return Chromium(executable, Gate())


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(LONG_S):
        while not condition():
            await anyio.sleep(0.02)


def ready(fleet: Fleet) -> list[BrowserStatistics]:
    return [each for each in fleet.statistics().browsers if each.state == "ready"]


DRIVERS = ("node", "python")  # one of each for every browser: its driver and its proxy


async def full(fleet: Fleet, size: int) -> None:
    """Until all are up again, and none of those before them is there any more."""
    await until(lambda: len(ready(fleet)) == size == len(fleet.statistics().browsers))
    await until(lambda: len(children(*DRIVERS)) == 2 * size)


def children(*names: str) -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any(name in child.name() for name in names):
                found.append(child)
    return found


def descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def zombies() -> list[psutil.Process]:
    found = []
    for child in descendants():
        with suppress(psutil.Error):
            if child.status() == psutil.STATUS_ZOMBIE:
                found.append(child)
    return found


def handles() -> int:
    return psutil.Process().num_fds()


def kill(process: int | None, how: int = signal.SIGKILL) -> None:
    assert process is not None
    os.kill(process, how)


# -- sessions --------------------------------------------------------------------------------------

FOR_EVER = Action("wait_for", target=Target((ByCss("#never"),)), ms=60_000)
BUTTON = "<button id=go onclick=\"document.title = 'done'\">Go</button>"
CLICK = Action("click", target=Target((ByCss("#go"),)))


async def test_a_killed_browser_ends_its_own_sessions_and_disturbs_no_other(
    replayed: Replayed, server: PageServer
) -> None:
    log = replayed.memory()
    waits = {name: anyio.Event() for name in ("lost", "kept")}

    def hear(envelope: Envelope) -> None:
        if isinstance(envelope.event, QueryStarted):
            waits[envelope.session].set()

    async with App.open(log) as app, Fleet(chromium, FleetLimits(size=2)) as fleet:
        await until(lambda: len(ready(fleet)) == 2)
        app.listen(hear)

        async def sail(name: str, html: str, last: Action) -> SessionEnded:
            steps = (Step(Action("navigate", url=server.show(html))), Step(last))
            host = server.url.removeprefix("http://")
            return await app.run_in_browser(
                session_started.recording(name, steps, {}, (), allow=[host]), fleet, name=name
            )

        with anyio.fail_after(LONG_S):
            lost = asyncio.ensure_future(sail("lost", "<h1>Here</h1>", FOR_EVER))
            await waits["lost"].wait()
            (victim,) = [each.pid for each in ready(fleet) if each.windows]
            kept = asyncio.ensure_future(sail("kept", "<h1>There</h1>", FOR_EVER))
            await waits["kept"].wait()
            kill(victim)
            ended = await lost
            assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
            assert not kept.done()
            await app.stop("kept", "person")
            assert (await kept).reason == "cancelled"
            assert (await sail("next", BUTTON, CLICK)).reason == "completed"
        facts = await events_of(log, "lost")
        assert any(isinstance(fact, BrowserLost) for fact in facts)
        (contacted,) = [fact for fact in facts if isinstance(fact, HostsContacted)]
        assert contacted.contacts, "its proxy was there until the session had ended"
        assert fleet.statistics().replaced["died"] == 1
        await until(lambda: len(ready(fleet)) == 2)
        assert victim not in [each.pid for each in fleet.statistics().browsers]
    assert descendants() == []


async def test_a_browser_that_is_stopped_is_killed_and_another_opens_the_next_window() -> None:
    limits = FleetLimits(check_s=0.2, answer_s=1.0)
    async with Fleet(chromium, limits) as fleet:
        window = await fleet.open_window(HERE)
        (stopped,) = [psutil.Process(each.pid) for each in ready(fleet)]
        gone = [stopped, *stopped.children(recursive=True)]
        for process in gone:
            process.suspend()  # all of them: none hears that another is gone
        asking = asyncio.ensure_future(window.tab.call("parsed", within_ms=LONG_S * 1000))
        await until(lambda: fleet.statistics().replaced["stuck"] == 1)
        with pytest.raises(BrowserGone):
            await asking
        again = await fleet.open_window(HERE)
        await again.tab.call("parsed", within_ms=LONG_S * 1000)
        _, left = await anyio.to_thread.run_sync(psutil.wait_procs, gone, LONG_S)
        assert left == []
    assert descendants() == []


# -- one after the other ---------------------------------------------------------------------------


@pytest.mark.soak
async def test_replacements_leave_no_process_and_no_file_handle_behind() -> None:
    limits = FleetLimits(size=2, recycle_after=2, pause_s=0.05)
    async with Fleet(chromium, limits) as fleet:
        await full(fleet, 2)
        before = handles()
        for _ in range(ROUNDS):
            windows = [await fleet.open_window(HERE) for _ in range(2)]
            kill(ready(fleet)[0].pid)
            worn = await fleet.open_window(HERE)
            for window in (*windows, worn):
                await window.close()
            await full(fleet, 2)
        told = fleet.statistics().replaced
        assert (told["died"], told["worn"]) == (ROUNDS, ROUNDS)
        # The last of them may be a moment behind its process.
        await until(lambda: zombies() == [] and handles() <= before)
    assert descendants() == []
    assert handles() < before


async def test_a_driver_or_a_proxy_that_dies_takes_its_browser_along_and_no_other() -> None:
    async with Fleet(chromium, FleetLimits(check_s=0.2, pause_s=0.05)) as fleet:
        for times, name in enumerate(DRIVERS, start=1):
            window = await fleet.open_window(HERE)
            (browser,) = [psutil.Process(each.pid) for each in ready(fleet)]
            (victim,) = children(name)
            kill(victim.pid)
            await until(lambda: fleet.statistics().replaced["died"] == times)  # noqa: B023
            await window.close()
            await (await fleet.open_window(HERE)).close()
            _, left = await anyio.to_thread.run_sync(psutil.wait_procs, [browser], LONG_S)
            assert left == []
    assert descendants() == []


async def test_closing_ends_browsers_and_drivers_that_do_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rutter.actors.world.browser.chromium.CLOSE_MS", 500)
    async with Fleet(chromium, FleetLimits(size=2)) as fleet:
        await until(lambda: len(ready(fleet)) == 2)
        kill(ready(fleet)[0].pid, signal.SIGSTOP)
        kill(psutil.Process(ready(fleet)[1].pid).ppid(), signal.SIGSTOP)
    await until(lambda: descendants() == [])


# -- what a browser promises -----------------------------------------------------------------------


@pytest.fixture(params=["fake", "chromium"])
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[FleetBrowser]:
    made: FleetBrowser = chromium() if request.param == "chromium" else FakeBrowser(1)
    yield made
    await made.close()


async def test_fake_and_real_ones_keep_the_same_promises(browser: FleetBrowser) -> None:
    told = anyio.Event()
    closed: list[Window] = []
    assert (browser.lives, browser.well, browser.process) == (False, False, None)
    await browser.start()
    browser.when_gone(told.set)
    assert (browser.lives, browser.well) == (True, True)
    assert browser.process in await browser.processes(LONG_S)
    windows = [await browser.open_here(HERE, lambda: closed.append(windows[0])) for _ in range(2)]
    for _ in range(2):  # closed twice, told once
        await windows[0].close()
    assert closed == windows[:1]
    browser.kill()
    with anyio.fail_after(LONG_S):
        await told.wait()
    assert (browser.lives, browser.well) == (False, False)
    with pytest.raises(BrowserGone):
        await browser.processes(LONG_S)
    with pytest.raises(BrowserGone):
        await browser.open_here(HERE, lambda: None)
    await windows[1].close()
    assert len(closed) == 2
    await browser.close()
    await browser.close()
    assert descendants() == []


async def test_a_start_that_is_called_off_or_fails_leaves_nothing_running() -> None:
    starting = asyncio.ensure_future(chromium().start())
    await until(lambda: len(children(*DRIVERS)) == 2)
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    assert descendants() == []
    broken = Chromium(chromium()._executable.parent / "no-such-browser", Gate())
    with pytest.raises(BrowserGone, match="did not start") as caught:
        await Fleet(lambda: broken).start()
    assert caught.value.fix
    assert descendants() == []
