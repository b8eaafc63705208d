"""A real page comes to rest: what is waited for, what is not, and what a page sends meanwhile."""

from typing import NamedTuple

import pytest

from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.events.page import Exchange, Rest, Resting
from tests.actors.world.browser.test_tab import click
from tests.support.browser_fixtures import show
from tests.support.page_server import PATIENT, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

FIELD = "<input id=go>"
POST = "const post = (path) => fetch(path, {method: 'POST', body: 'x'});"
# What every page is given: something to click on, and a way to send.
FRAME = f"{FIELD}<script>const go = document.querySelector('#go');{POST}%s</script>"
SHORT = 700  # for what never ends
CAREFUL = 500
AN_HOUR = 3_600_000  # of a limit that is not reached


class Case(NamedTuple):
    script: str
    waited: frozenset[str]  # for at least this
    sent: tuple[str, ...] = ()  # by then
    never: frozenset[str] = frozenset()  # waited for
    quiet_ms: int = 0
    restless: tuple[str, ...] = ()
    within_ms: int = PATIENT


def on_click(what: str) -> str:
    return f"go.addEventListener('click', () => {{{what}}});"


TIMER, REQUEST, NOTHING = frozenset({"timer"}), frozenset({"request"}), frozenset[str]()
BOTH = TIMER | REQUEST
CHAINS = "let n = 0; const next = () => setTimeout(new Function('f', `/*${n++}*/ f()`), 50, next);"
LIES = """
JSON.stringify = () => '{"due": 3600000, "frame": 9, "every": 2000}';
Map.prototype.forEach = Map.prototype.get = () => 1;
Reflect.apply = () => { throw new Error('no'); };
window.CustomEvent = document.dispatchEvent = EventTarget.prototype.dispatchEvent = () => true;
performance.now = () => 0;
"""

CASES = {
    "nothing at all": Case("", NOTHING, never=BOTH | {"interval", "quiet", "change"}),
    "an answer": Case(on_click("post('/none')"), NOTHING, ("/none x",)),
    "saved a while after the last input, and once more after the answer": Case(
        on_click("setTimeout(() => post('/none?1').then(() => post('/none?2')), 300)"),
        TIMER,
        ("/none?1 x", "/none?2 x"),
    ),
    "in the next frame, and when there is time": Case(
        on_click("requestAnimationFrame(() => requestIdleCallback(() => post('/none')))"),
        NOTHING,
        ("/none x",),
    ),
    "looked after every so often, with care": Case(
        "let dirty = false; setInterval(() => { if (dirty) post('/none'); dirty = false; }, 400);"
        + on_click("dirty = true"),
        frozenset({"interval"}),
        ("/none x",),
        quiet_ms=CAREFUL,
    ),
    "looked after every so often": Case(
        "setInterval(() => 1, 400);", NOTHING, never=frozenset({"interval"})
    ),
    "a poll that was open before": Case("fetch('/never');", NOTHING, never=REQUEST),
    "a poll that begins anew and anew": Case(
        "const poll = () => fetch('/never', {signal: AbortSignal.timeout(1100)}).catch(poll);"
        + on_click("poll()"),
        REQUEST,
    ),
    "an answer that never comes": Case(
        on_click("fetch('/never')"), REQUEST, restless=("request",), within_ms=SHORT
    ),
    "an event stream": Case(
        on_click("new EventSource('/stream'); fetch('/stream');"), NOTHING, ("/stream", "/stream")
    ),
    "a beacon": Case(on_click("navigator.sendBeacon('/never', 'x')"), NOTHING, never=REQUEST),
    "a chain of timers without end": Case(
        "const tick = () => setTimeout(tick, 60); tick();", NOTHING
    ),
    "a clock that is told apart by nothing": Case(
        CHAINS + on_click("next()"), TIMER, restless=("timer",), within_ms=SHORT
    ),
    "put off for an hour": Case(on_click(f"setTimeout(() => 1, {AN_HOUR})"), NOTHING, never=TIMER),
    "a page that changes what it is asked by": Case(
        LIES + on_click("setTimeout(() => post('/none'), 200)"), TIMER, ("/none x",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_page_comes_to_rest(name: str, tab: Tab, server: PageServer) -> None:
    case = CASES[name]
    await show(tab, server, FRAME % case.script)
    before = len(server.asked)
    await click(tab, "#go")
    rest = await tab.rest(Resting(case.within_ms, case.quiet_ms))
    waited = frozenset(rest.waited_for)
    assert case.waited <= waited
    assert not waited & case.never
    assert rest.restless == case.restless
    sent = server.asked[before:]
    assert [each for each in case.sent if each not in sent] == []


async def test_what_came_before_is_waited_for_though_nothing_announces_it(
    tab: Tab, server: PageServer
) -> None:
    """A worker's clock is nobody's timer."""
    work = "new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(1), 400)'])))"
    await show(tab, server, FRAME % on_click(f"{work}.onmessage = () => post('/none')"))
    kind = f"POST {server.url}/none"
    await click(tab, "#go")
    rest = await tab.rest(Resting(PATIENT, awaits=(kind,)))
    assert (kind in rest.waited_for, rest.restless) == (True, ())
    assert "/none x" in server.asked


async def test_what_is_awaited_and_does_not_come_is_said(
    tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.actors.world.browser.tab.BEGUN_MS", 50)
    await show(tab, server, FRAME % "")
    kind = f"POST {server.url}/none"
    rest = await tab.rest(Resting(PATIENT, awaits=(kind,)))
    assert (rest.waited_for, rest.restless) == ((kind,), (kind,))


async def test_what_was_sent_is_told_once_with_its_answer(
    tab: Tab, window: Window, server: PageServer
) -> None:
    script = on_click("post('/broken'); navigator.sendBeacon('/none', 'x'); fetch('/kept')")
    await show(tab, server, FRAME % script)
    window.step = 4
    await click(tab, "#go")
    await tab.rest(Resting(PATIENT))
    await tab.sent_off()
    told: dict[int, Exchange] = {each.number: each for each in window.exchanges()}
    assert {
        (each.to.rpartition("/")[2], each.step, each.status, each.beacon) for each in told.values()
    } == {("broken", 4, 500, False), ("none", 4, 204, True)}
    assert window.exchanges() == ()


async def test_a_document_that_was_posted_is_an_exchange_of_its_own(
    tab: Tab, window: Window, server: PageServer
) -> None:
    await show(tab, server, '<form method=post action="/hop"><button id=go>Go</button></form>')
    await click(tab, "#go")
    assert await tab.rest(Resting(PATIENT)) is not None
    [told] = window.exchanges()
    assert (told.to, told.status, told.document) == (f"POST {server.url}/hop", 303, True)


async def test_a_page_that_is_left_while_it_rests_is_waited_for(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, FRAME % on_click("setTimeout(() => location = '/another', 200)"))
    await click(tab, "#go")
    rest = await tab.rest(Resting(PATIENT))
    assert isinstance(rest, Rest)
    assert (tab.page.url, rest.restless) == (f"{server.url}/another", ())
