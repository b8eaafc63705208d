"""A secret is typed on the origin it belongs to, whatever was judged before."""

from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, ByCss, DialogAnswer, Secret, Target
from rutter.events.executor import ActionDone, ActionFailed, TargetResolved
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted, PlanAdmitted
from tests.support.browser_fixtures import OneWindow, tell
from tests.support.page_server import PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

SECRET = "hunter-2"
PAGE = """<input id=a type=password><select id=s><option>none<option>hunter-2</select>
<button onclick="document.title = prompt('Who?')">Ask</button>
<iframe sandbox="allow-same-origin" srcdoc="<input id=b>"></iframe>"""


async def bound_to(window: Window, *origins: str) -> Executor:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    origins_of = [("password", origin) for origin in origins]
    return Executor(screen, Bindings({}, {"password": SECRET}, (), origins_of), RunSettings())


async def perform(executor: Executor, kind: Any, selector: str, **more: Any) -> Any:
    action = Action(kind, target=Target((ByCss(selector),)), **more)
    found = await tell(executor, PlanAdmitted(1, 1, action, 1_000))
    assert isinstance(found, TargetResolved)
    return await tell(executor, ActionStarted(1, 1, action, digest=found.element.exact))


async def held(tab: Tab) -> Any:
    return await tab.page.evaluate("[a.value, s.value, document.title]")


async def test_it_is_not_typed_chosen_or_told_elsewhere(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show(PAGE), within_ms=10_000)
    elsewhere = await bound_to(window, "https://shop.example", server.url + "1")
    for kind, selector in (("type", "#a"), ("select", "#s"), ("type", "#b")):
        failed = await perform(elsewhere, kind, selector, value=Secret("password"))
        assert isinstance(failed, ActionFailed)
        assert (failed.code, failed.dispatched) == ("value_unbound", False)
        assert "does not belong to" in failed.message
        assert SECRET not in repr(failed)
    said = DialogAnswer(accept=True, secret="password")
    assert isinstance(await perform(elsewhere, "click", "button", dialogs=(said,)), ActionDone)
    assert await held(tab) == ["", "none", "null"]


async def test_it_is_typed_chosen_and_told_where_it_belongs(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show(PAGE), within_ms=10_000)
    here = await bound_to(window, "https://shop.example", server.url)
    for kind, selector in (("type", "#a"), ("select", "#s")):
        done = await perform(here, kind, selector, value=Secret("password"))
        assert isinstance(done, ActionDone)
    said = DialogAnswer(accept=True, secret="password")
    await perform(here, "click", "button", dialogs=(said,))
    assert await held(tab) == [SECRET, SECRET, SECRET]
