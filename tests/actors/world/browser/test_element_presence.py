"""What can be operated on a page is there, whatever the page is like; what only another page has
is not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from rutter.actors.predictor.learning.recording import canonical
from rutter.actors.predictor.position.element_presence import LISTED, is_there
from rutter.actors.rules.pages.address import blur
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Action, ActionType, ByCss, Target
from rutter.events.page import Page, Resolved
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER
from tests.support import browser_fixtures
from tests.support.page_server import PATIENT, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

SECOND = 1_000
PATHS = ("/desk", "/customers", "/customers/1", "/orders", "/orders/new", "/orders/1001")
PAGES = sorted((Path(__file__).parent / "accessible").glob("*.html"))
STYLE = "<style>body{margin:8px}</style>"

# What a look leaves out, or tells otherwise than the element does, and can be operated still.
ODD = f"""
<style>.drawn {{ display: none }} .loud {{ text-transform: uppercase }}</style>
<label>Keep me signed in<input class=drawn type=checkbox name=keep></label>
<label>By post<input class=drawn type=radio name=how value=post></label>
<label>Your picture<input class=drawn type=file name=picture></label>
<button class=loud>Send now</button>
<button>{"very " * 60}long</button>
<button>3 messages</button>
<button><svg width=9 height=9></svg></button>
<div role=combobox tabindex=0><input placeholder="Any town"></div>
<div role=tab>Details</div> <div role=switch aria-checked=false tabindex=-1>Dark</div>
<div role=menuitem>Rename</div> <span role=link onclick="1">More</span>
<input type=search tabindex=-1 aria-label="Find"> <input type=number aria-label="How many">
<div contenteditable aria-label="Note" style="height:20px">Call <a href=/bosun>the bosun</a></div>
<div tabindex=0 style="width:20px;height:20px" onclick="1">box</div>
<details><summary>Terms</summary>All of them</details>
<select aria-label="Berth"><option>one<option>two</select>
<textarea aria-label="Remarks">none</textarea>
<a href="/x" title="To the harbour"><img alt="" width=9 height=9></a>
"""

# Selectors of all that may be operated, each of one element. What is hidden from whoever listens to
# a page is in no look at it, though somebody who sees it can click it: the one known mistake.
OPERABLE = """() => {
  const nth = (el) => [...el.parentElement.children].indexOf(el) + 1;
  const selector = (el) => {
    const parts = [];
    for (let at = el; at !== document.documentElement; at = at.parentElement)
      parts.unshift(`${CSS.escape(at.localName)}:nth-child(${nth(at)})`);
    return parts.join(' > ');
  };
  const native = 'a[href],button,input,select,textarea,summary,label';
  return [...document.querySelectorAll(native + ',[role],[tabindex],[contenteditable]')]
    .filter((el) => !el.closest('[aria-hidden="true"]')).map(selector);
}"""


class Shown(NamedTuple):
    """A page, and what can be done on it, recorded as the page names it."""

    page: Page
    actions: list[Action]


async def on_page(tab: Tab) -> Shown:
    page = msgspec.convert(await tab.call("observe", within_ms=10 * SECOND), Page)
    actions = []
    for selector in await tab._page.evaluate(OPERABLE):
        action = await operated(tab, selector)
        if action is not None:
            actions.append(action)
    return Shown(page, actions)


async def operated(tab: Tab, selector: str) -> Action | None:
    """What a click on it, or typing into it, is recorded as; nothing where neither is possible."""
    way = {"by": "css", "selector": selector}
    answer = await tab.call("resolve", [way], 0, within_ms=PATIENT)
    if answer["element"] is None:
        return None
    element = msgspec.convert(answer["element"], Resolved)
    at: Any = await tab.call("check", element.exact, True, within_ms=PATIENT)
    if "x" not in at and element.kind != "file":
        return None
    kind: ActionType = "type" if element.kind == "file" else "click"
    return canonical(Action(kind, target=Target((ByCss(selector),))), element, {})


def known_as(action: Action) -> tuple[str, str]:
    assert action.target is not None
    assert action.target.fingerprint is not None
    return action.target.fingerprint.role, blur(action.target.fingerprint.name.text)


@pytest.fixture
async def signed_in(tab: Tab) -> AsyncIterator[Site]:
    with Site() as site:
        await tab.navigate(f"{site.base_url}/login", within_ms=20 * SECOND)
        await tab._page.fill("[name=user]", USER)
        await tab._page.fill("[name=password]", DEFAULT_PASSWORD)
        await tab._page.press("[name=password]", "Enter")
        await tab._page.wait_for_url("**/desk")
        yield site


async def test_all_that_can_be_operated_is_there_and_what_another_page_has_is_not(
    tab: Tab, signed_in: Site
) -> None:
    shown = []
    for path in PATHS:
        await tab.navigate(f"{signed_in.base_url}{path}", within_ms=20 * SECOND)
        shown.append(await on_page(tab))
    absent = 0
    for here in shown:
        missing = [known_as(each) for each in here.actions if not is_there(each, here.page)]
        assert here.actions
        assert missing == [], here.page.url
        names = {blur(element.name.text) for element in here.page.elements}
        for elsewhere in shown:
            for action in elsewhere.actions:
                role, name = known_as(action)
                if role in LISTED and name and name not in names:
                    assert not is_there(action, here.page), (here.page.url, role, name)
                    absent += 1
    assert absent > 100


async def test_no_page_hides_what_can_be_operated_on_it(tab: Tab, server: PageServer) -> None:
    operable, missing = 0, []
    for file in PAGES:
        await tab.navigate(server.show(STYLE + file.read_text("utf-8")), within_ms=20 * SECOND)
        here = await on_page(tab)
        operable += len(here.actions)
        missing += [
            (file.stem, *known_as(each)) for each in here.actions if not is_there(each, here.page)
        ]
    assert missing == []
    assert operable > 200


async def test_what_a_look_leaves_out_may_be_there(tab: Tab, server: PageServer) -> None:
    await tab.navigate(server.show(ODD), within_ms=20 * SECOND)
    here = await on_page(tab)
    assert [known_as(each) for each in here.actions if not is_there(each, here.page)] == []
    assert len(here.actions) > 20
    listed = {element.role for element in here.page.elements}
    assert "checkbox" not in listed
    assert ("checkbox", "keep me signed in") in map(known_as, here.actions)
    assert ("button", "your picture") in map(known_as, here.actions)


async def test_what_is_disabled_is_not_there(tab: Tab, server: PageServer) -> None:
    await tab.navigate(server.show("<button id=go>Go</button>"), within_ms=20 * SECOND)
    (go,) = (await on_page(tab)).actions
    await tab._page.evaluate("document.getElementById('go').disabled = true")
    assert not is_there(go, (await on_page(tab)).page)
    await tab._page.evaluate("document.body.innerHTML = '<div aria-disabled=true><button>Go'")
    assert not is_there(go, (await on_page(tab)).page)


async def test_what_is_behind_a_modal_dialog_is_not_there(tab: Tab, server: PageServer) -> None:
    html = "<button>Go</button><dialog id=ask><button>Yes</button></dialog>"
    await tab.navigate(server.show(html), within_ms=20 * SECOND)
    (go,) = (await on_page(tab)).actions
    await tab._page.evaluate("document.getElementById('ask').showModal()")
    asked = await on_page(tab)
    assert [known_as(each) for each in asked.actions] == [("button", "yes")]
    assert not is_there(go, asked.page)
