"""What stands beside some words of a page is read: the value of a label, the line around them."""

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, ByBeside, Target
from rutter.events.executor import QueryAnswered, TargetMissing
from rutter.events.run_settings import RunSettings
from rutter.events.validator import PlanAdmitted, QueryStarted
from tests.support import browser_fixtures
from tests.support.browser_fixtures import OneWindow, show, tell
from tests.support.page_server import PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

PAGE = """<nav><a href=/o>Order number</a> <a>State: open</a></nav>
<p style="position: absolute; left: -9999px">Order number: HIDE</p>
<main><h1>Thank you, Ann</h1><p>We sent it under the number <b>No. 4711</b> <i>today</i>.</p>
<dl><dt>Order  number<dd>No. <a href=/4711>4711</a><dt>Paid by:<dd>card</dl>
<table><tr><th>Ship<td>Aurora<td>7 m<tr><th>Flag<td>Dutch</table>
<table><thead><tr><th>Port<th>Berth</thead><tr><td>Botlek<td>12</table>
<p><b>Weight:</b> 5 kg <b>Size:</b> 5 m</p><p>State: packed</p>
<div><div>Total</div><div>9 EUR</div></div><div><h4>Address</h4><p>Quay 7<br>Rotterdam</p></div>
<div><strong>42</strong><small>Open orders</small></div>
<label>Remark <input value="by hand"></label><label for=p>Password</label>
<input id=p type=password value=hunter-2><p>Note: one</p><p>Note: two</p><p>Twin: same</p>
<p>Twin: same</p><p>Nothing follows</p></main>"""


@pytest.fixture
async def executor(window: Window) -> Executor:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    return Executor(screen, Bindings({"what": "Order number"}, {}), RunSettings())


async def test_words_say_what_is_read(
    executor: Executor, window: Window, server: PageServer
) -> None:
    await show(window.tab, server, PAGE)

    async def read(way: ByBeside) -> str:
        action = Action("extract", target=Target((way,)))
        found = await tell(executor, PlanAdmitted(1, 1, action, 0))
        if isinstance(found, TargetMissing):
            return found.code
        told = await tell(executor, QueryStarted(1, 1, action, found.element.exact))
        assert isinstance(told, QueryAnswered), told
        assert told.text is not None
        return told.text.text

    values = {
        "order number": "No. 4711",
        "${what}": "No. 4711",
        "Paid by": "card",
        "Ship": "Aurora",
        "Berth": "12",
        "Weight": "5 kg",
        "Size": "5 m",
        "State": "packed",
        "Total": "9 EUR",
        "Address": "Quay 7 Rotterdam",
        "Open orders": "42",
        "Remark": "by hand",
        "Password": "",
        "Twin": "same",
        "Note": "element_ambiguous",
        "Order": "element_not_found",
        "HIDE": "element_not_found",
    }
    assert {label: await read(ByBeside(label)) for label in values} == values
    around = {
        "under the number": "We sent it under the number No. 4711 today.",
        "Aurora": "Ship | Aurora | 7 m",
        "thank you": "Thank you, Ann",
        "Total": "Total\n9 EUR",
        "Quay": "Quay 7 Rotterdam",
        "note": "element_ambiguous",
        "HIDE": "element_not_found",
    }
    assert {words: await read(ByBeside(words, "near")) for words in around} == around
