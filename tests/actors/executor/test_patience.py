"""What a person would wait for: an element that is covered, off, moving or drawn anew is used as
soon as it can be, and given up, untouched, when the step's patience is over."""

import asyncio
from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, ByCss, ByRole, Count, Target, Text
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from tests.support import browser_fixtures
from tests.support.browser_fixtures import OneWindow, tell
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

SOON = 400  # ms until a page lets go, which is more than the first looks take
NEVER = 1_000_000
BRIEF = 300  # ms that are waited in vain
OVER = "position:fixed;inset:0;background:#fff8"
BUTTON = "<button id=a onclick=\"document.title += 'clicked'\">Save</button>"
CLICK = Action("click", target=Target((ByCss("#a"),)))
TYPE = Action("type", target=Target((ByCss("#a"),)), value=Text("Aurora"))
SELECT = Action("select", target=Target((ByCss("#a"),)), value=Text("Aurora"))

# What is in the way, until `over` is called; what is done; and the code of giving it up.
PAGES = {
    "spinner": (
        f"{BUTTON}<div id=w style='{OVER}'>Loading</div><script>over = () => w.remove()</script>",
        CLICK,
        "element_obscured",
    ),
    "spinner, and the button below the fold": (
        f"<p style='height:3000px'>{BUTTON}<div id=w style='{OVER}'>Loading</div>"
        "<script>over = () => w.remove()</script>",
        CLICK,
        "element_obscured",
    ),
    "spinner over a field": (
        f"<input id=a><div id=w role=dialog aria-modal=true style='{OVER}'>Loading</div>"
        "<script>over = () => w.remove()</script>",
        TYPE,
        "element_obscured",
    ),
    "disabled": (
        f"{BUTTON}<script>a.disabled = true; over = () => (a.disabled = false)</script>",
        CLICK,
        "element_disabled",
    ),
    "aria-disabled": (
        f"<p id=w aria-disabled=true>{BUTTON}<script>over = () => w.ariaDisabled = null</script>",
        CLICK,
        "element_disabled",
    ),
    "read-only": (
        "<input id=a readonly><script>over = () => (a.readOnly = false)</script>",
        TYPE,
        "element_disabled",
    ),
    "options that come later": (
        "<select id=a><option>Loading</select><script>over = () => a.add(new Option('Aurora'))"
        "</script>",
        SELECT,
        "option_not_found",
    ),
    "running over the page": (
        f"<div id=w style='position:absolute'>{BUTTON}</div><script>let at = 0, on = true;"
        "const step = () => { w.style.left = (at = (at + 40) % 700) + 'px'; if (on)"
        " requestAnimationFrame(step) }; step(); over = () => (on = false)</script>",
        CLICK,
        "element_moving",
    ),
}


@pytest.fixture
async def executor(window: Window) -> Executor:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    return Executor(screen, Bindings({}, {}), RunSettings())


async def find(executor: Executor, action: Action, within_ms: int, **more: Any) -> Any:
    return await tell(executor, PlanAdmitted(1, 1, action, within_ms, **more))


async def do(executor: Executor, action: Action, within_ms: int) -> Any:
    found = await find(executor, action, within_ms)
    assert isinstance(found, TargetResolved)
    return await tell(executor, ActionStarted(1, 1, action, digest=found.element.exact))


async def show(tab: Tab, server: PageServer, html: str, after_ms: int) -> None:
    page = f"{html}<script>setTimeout(over, {after_ms})</script>"
    await tab.navigate(server.show(page), within_ms=PATIENT)


@pytest.mark.parametrize("what", PAGES)
async def test_what_passes_is_waited_for(
    executor: Executor, tab: Tab, server: PageServer, what: str
) -> None:
    page, action, _ = PAGES[what]
    await show(tab, server, page, SOON)
    done = await do(executor, action, PATIENT)
    assert isinstance(done, ActionDone), done
    assert await tab.page.evaluate("document.title || a.value") in ("clicked", "Aurora")


@pytest.mark.parametrize("what", PAGES)
async def test_what_stays_is_given_up_when_the_patience_is_over(
    executor: Executor, tab: Tab, server: PageServer, what: str
) -> None:
    page, action, code = PAGES[what]
    await show(tab, server, page, NEVER)
    failed = await do(executor, action, BRIEF)
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == (code, False)
    assert failed.waited_ms >= BRIEF
    assert await tab.page.evaluate("document.title || a.value") not in ("clicked", "Aurora")


async def test_what_throbs_and_stays_where_it_is_is_clicked(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    throbs = "<style>@keyframes t {to {transform:scale(1.3)}} #a {animation:t .3s infinite}</style>"
    await show(tab, server, f"{throbs}{BUTTON}<script>over = () => 0</script>", NEVER)
    assert isinstance(await do(executor, CLICK, PATIENT), ActionDone)


async def test_a_cover_that_may_be_a_known_step_is_waited_for_briefly(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    page, action, code = PAGES["spinner"]
    await show(tab, server, page, NEVER)
    found = await find(executor, action, PATIENT, cover_ms=BRIEF)
    assert (found.hindered, found.took_us < PATIENT * 1_000) == (code, True)
    failed = await tell(executor, ActionStarted(1, 1, action, digest=found.element.exact))
    assert (failed.code, failed.waited_ms) == (code, 0)  # it has patience left


AGAIN = """const old = document.querySelector('#a'), box = old.parentNode, html = old.outerHTML;
    old.remove(); setTimeout(() => { %s; box.insertAdjacentHTML('beforeend', %s) }, 100)"""


@pytest.mark.parametrize(
    ("before", "html", "expected"),
    [
        ("", "html", ActionDone),
        ("", "html.replace('Save', 'Delete')", TargetChanged),
        ("history.pushState(0, '', '/orders/2')", "html", ActionFailed),
        ("", "''", ActionFailed),
    ],
    ids=["the same", "another", "the same at another address", "never"],
)
async def test_what_is_drawn_anew_is_used_if_it_is_the_same(
    executor: Executor, tab: Tab, server: PageServer, before: str, html: str, expected: type
) -> None:
    await show(tab, server, f"<div>{BUTTON}</div><script>over = () => 0</script>", NEVER)
    within_ms = PATIENT if expected is not ActionFailed else BRIEF
    found = await find(executor, CLICK, within_ms)
    await tab.page.evaluate(AGAIN % (before, html))
    said = await tell(executor, ActionStarted(1, 1, CLICK, digest=found.element.exact))
    assert isinstance(said, expected)
    if isinstance(said, ActionFailed):
        assert (said.code, said.dispatched) == ("ref_invalid", False)
    assert await tab.page.title() == ("clicked" if expected is ActionDone else "")


FETCHES = """<button id=first onclick="fetch('/slow-file').then((sent) => sent.text()).then(() =>
    document.body.insertAdjacentHTML('beforeend', '<button id=a>Save</button>'))">Go</button>"""


async def test_the_patience_grows_while_the_page_waits_for_its_server(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show(FETCHES), within_ms=PATIENT)
    first = Action("click", target=Target((ByCss("#first"),)))
    await do(executor, first, PATIENT)
    missing = await find(executor, CLICK, BRIEF)
    assert (type(missing), missing.code) == (TargetMissing, "element_not_found")
    assert missing.waited_ms >= BRIEF
    longest = await find(executor, CLICK, BRIEF, answer_ms=3 * BRIEF)
    assert longest.waited_ms >= 3 * BRIEF
    asyncio.get_running_loop().call_later(2 * BRIEF / 1_000, server.release)
    assert isinstance(await find(executor, CLICK, BRIEF, answer_ms=PATIENT), TargetResolved)


@pytest.mark.parametrize(
    ("html", "count", "there"),
    [
        ("<i>1</i><i>2</i>", None, True),
        ("<i hidden>1</i>", None, False),
        ("<i>1</i>", Count(">=", 2), False),
        ("<i>1</i><i>2</i>", Count("==", 1), False),
        ("<i>1</i><i>2</i>", Count("!=", 1), True),
        ("<i hidden>1</i>", Count("<=", 0), True),
        ("<i>1</i>", Count("<=", 0), False),
        ("<i id=a>1</i><script>setTimeout(() => a.remove(), 200)</script>", Count("<=", 0), True),
    ],
)
async def test_so_many_elements_are_waited_for(
    executor: Executor, tab: Tab, server: PageServer, html: str, count: Count | None, there: bool
) -> None:
    await tab.navigate(server.show(html), within_ms=PATIENT)
    ms = PATIENT if there else 50
    wanted = Action("wait_for", Target((ByRole("", "no"), ByCss("i"))), ms=ms, wanted=count)
    answer = await tell(executor, QueryStarted(1, 1, wanted))
    assert isinstance(answer, QueryAnswered if there else QueryFailed)
