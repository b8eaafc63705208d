"""A page that hangs can be left: going away, closing and opening anew work in time."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import anyio
import psutil
import pytest

from rutter.actors.executor import page_input
from rutter.actors.executor.actor import Executor
from rutter.actors.observer.actor import Observer
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.page_session import PageTimeout
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action
from rutter.events.executor import ActionDone
from rutter.events.observer import PageObserved
from rutter.events.planner import ObservationRequested
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted
from tests.support.browser_fixtures import show, tell
from tests.support.example_counts import SOAK
from tests.support.page_server import PageServer
from tests.support.policies import HERE
from tests.support.until_true import until

pytestmark = [pytest.mark.browser, pytest.mark.soak, pytest.mark.anyio]

SECOND = 1_000
A_LOT_S = 1.0  # of a processor: more than a process takes that only begins
BOTH = ("same site", "elsewhere")
LOOP = "while (true);"
ASKS = "while (true) alert('Again')"
SYNC = "const x = new XMLHttpRequest(); x.open('GET', '/never', false); x.send()"
PROMISES = "const on = () => Promise.resolve().then(on); on()"
AWAY = "setInterval(() => location = '/none?' + Date.now())"
WORKS = "const end = Date.now() + 8000; while (Date.now() < end);"


class Hang(NamedTuple):
    """A page does this when it is clicked, and has this besides. `replaced`: to which sites it lets
    nobody go, so that another page takes its place."""

    does: str = ""
    has: str = ""
    replaced: tuple[str, ...] = ("same site",)


HANGS = {
    "loops": Hang(LOOP),
    "loops a moment later": Hang(f"setTimeout(() => {{ {LOOP} }}, 50)"),
    "goes on by promises": Hang(PROMISES),
    "asks without end": Hang(ASKS),
    "asks again and again": Hang("setInterval(() => alert('Again'))", replaced=()),
    "waits for its server": Hang(SYNC),
    "wants to be stayed on": Hang(has="onbeforeunload = (e) => e.preventDefault()", replaced=()),
    "loops when it is asked": Hang(has=f"onbeforeunload = () => {{ {LOOP} }}", replaced=BOTH),
    "loops when it is left": Hang(has=f"onpagehide = () => {{ {LOOP} }}"),
    "waits for nobody's answer": Hang("location = '/never'", replaced=()),
    "goes elsewhere all the time": Hang(AWAY, replaced=()),
    "is stopped": Hang(WORKS),
}
SOME = ("loops", "asks without end", "loops when it is asked", "is stopped")
MAYBE = ("asks again and again", "goes elsewhere all the time")  # whoever is faster


def goes_on() -> None:
    """Nothing stands."""


def worked() -> dict[psutil.Process, float]:
    """How long each renderer has worked so far."""
    found: dict[psutil.Process, float] = {}
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # others end meanwhile
            if "--type=renderer" in each.cmdline():
                found[each] = sum(each.cpu_times()[:2])
    return found


async def stopped(before: dict[psutil.Process, float]) -> Callable[[], None]:
    """The process that worked most since then stops: that of the page, told to. What lets it go
    on."""

    def working() -> list[psutil.Process]:
        return [each for each, s in worked().items() if s - before.get(each, s) > A_LOT_S]

    await until(working)
    busiest = working()[0]
    busiest.suspend()

    def resume() -> None:
        with suppress(psutil.Error):
            busiest.resume()

    return resume


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        *((kind, "same site") for kind in HANGS),
        *((kind, "elsewhere") for kind in (HANGS if SOAK else SOME)),
    ],
)
async def test_a_page_is_left_in_time_whatever_it_does(
    chromium: Chromium,
    server: PageServer,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    where: str,
) -> None:
    monkeypatch.setattr(page_input, "HUNG_MS", 2 * SECOND)
    hang, resume = HANGS[kind], goes_on
    url = server.url if where == "same site" else server.url.replace("127.0.0.1", "localhost")
    screen = Screen(chromium, HERE)
    await screen.open()
    window = screen.window
    button = f'<button style="position: fixed; inset: 0" onclick="{hang.does}">Go</button>'
    await show(window.tab, server, f"{button}<script>{hang.has}</script>")
    before = worked()
    with suppress(PageTimeout):
        await window.tab.click(200, 200, within_ms=SECOND // 2)
        await window.tab.change(SECOND // 2)
    if kind == "is stopped":
        resume = await stopped(before)
    try:
        with anyio.fail_after(40):
            go = ActionStarted(1, 1, Action("navigate", url=f"{url}/another"))
            done = await tell(Executor(screen, Bindings({}, {}), RunSettings()), go)
            seen = await tell(Observer(screen, None), ObservationRequested("tool", 0))
            assert isinstance(done, ActionDone), done
            assert isinstance(seen, PageObserved), seen
            assert (seen.page.url, seen.page.tab, seen.page.tabs) == (f"{url}/another", 0, 1)
            assert kind in MAYBE or done.hung is (where in hang.replaced)
            await screen.close()
            assert chromium.well
            again = await chromium.open_window(HERE)
            await show(again.tab, server, "<h1>Here</h1>")
            await again.close()
    finally:
        resume()


@pytest.mark.parametrize("kind", HANGS if SOAK else SOME)
async def test_a_page_is_closed_in_time_whatever_it_does(
    chromium: Chromium, server: PageServer, kind: str
) -> None:
    hang = HANGS[kind]
    window = await chromium.open_window(HERE)
    button = f'<button style="position: fixed; inset: 0" onclick="{hang.does}">Go</button>'
    await show(window.tab, server, f"{button}<script>{hang.has}</script>")
    before = worked()
    with suppress(PageTimeout):
        await window.tab.click(200, 200, within_ms=SECOND // 2)
    resume = await stopped(before) if kind == "is stopped" else goes_on
    try:
        with anyio.fail_after(40):
            await window.close()
            again = await chromium.open_window(HERE)
            await show(again.tab, server, "<h1>Here</h1>")
            await again.close()
    finally:
        resume()
