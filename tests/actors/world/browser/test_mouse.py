"""What a hand does beside a plain click: the page hears of it as of a person's."""

from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Action, ByCss, Target, Text
from rutter.events.executor import ActionDone, ActionFailed
from tests.actors.executor.test_actor import act_on, executor, perform
from tests.support import browser_fixtures
from tests.support.browser_fixtures import show
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window
__all__ = ["executor"]

SPY = """<body style="margin:0"><script>
    seen = [];
    for (const type of ["mousedown", "mouseup", "click", "dblclick", "contextmenu", "auxclick",
        "mouseover", "dragstart", "drop", "paste"])
      addEventListener(type, (e) => seen.push([type, e.target.id, e.button || 0, e.detail || 0,
        ...["ctrlKey", "shiftKey"].filter((held) => e[held])].join(" ")), true)</script>"""
CLICKED = ["mousedown a 0 1", "mouseup a 0 1", "click a 0 1"]
HELD = [f"{one} ctrlKey shiftKey" for one in CLICKED]
BOX = "<div id=a style='width:80px;height:40px'>Box</div>"


@pytest.mark.parametrize(
    ("how", "heard"),
    [
        ({}, CLICKED),
        (
            {"count": 2},
            [*CLICKED, "mousedown a 0 2", "mouseup a 0 2", "click a 0 2", "dblclick a 0 2"],
        ),
        (
            {"button": "right"},
            ["mousedown a 2 1", "contextmenu a 2 0", "mouseup a 2 1", "auxclick a 2 1"],
        ),
        ({"button": "middle"}, ["mousedown a 1 1", "mouseup a 1 1", "auxclick a 1 1"]),
        ({"modifiers": ("Control", "Shift")}, HELD),
        ({"ms": 120}, CLICKED),
    ],
)
async def test_clicks(
    executor: Executor, tab: Tab, server: PageServer, how: dict[str, Any], heard: list[str]
) -> None:
    await show(tab, server, SPY + BOX)
    assert isinstance(await perform(executor, act_on("click", "#a", **how)), ActionDone)
    # The middle button pastes what is marked, on some systems.
    seen = await tab.page.evaluate("seen.filter((one) => !/^(mouseover|paste)/.test(one))")
    assert seen == heard


async def test_what_is_pointed_at_is_shown_and_a_wheel_turns_what_it_is_over(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    menu = """<style>#m { display: none } #h:hover #m { display: block }</style>
      <div id=h>Menu<button id=m onclick="document.title = 'chosen'">Deep</button></div>
      <div id=s style="height:50px;overflow:auto"><div style="height:900px">long</div></div>"""
    await show(tab, server, menu)
    assert isinstance(await perform(executor, act_on("hover", "#h")), ActionDone)
    assert isinstance(await perform(executor, act_on("click", "#m")), ActionDone)
    assert await tab.page.title() == "chosen"
    assert isinstance(await perform(executor, act_on("wheel", "#s", by=(0, 120))), ActionDone)
    await tab.page.wait_for_function("s.scrollTop === 120")


NATIVE = """<p id=a draggable=true>Card</p><section id=b style="height:60px">Done</section><script>
    a.ondragstart = (e) => e.dataTransfer.setData("text/plain", "a");
    b.ondragover = (e) => e.preventDefault();
    b.ondrop = (e) => { e.preventDefault(); b.append(a) }</script>"""
BY_POINTER = """<body style="user-select:none"><p id=a style="touch-action:none">Card</p>
    <section id=b style="height:60px">Done</section><script>let held = false;
    a.onpointerdown = () => held = true;
    onpointermove = (e) => { if (held) a.style.opacity = .5 };
    onpointerup = (e) => { if (held && b.contains(document.elementFromPoint(e.x, e.y))) b.append(a);
      held = false }</script>"""
FAR = NATIVE.replace("<section", "<div style='height:400px'></div><section")


@pytest.mark.parametrize("page", [NATIVE, BY_POINTER, FAR])
async def test_drags(executor: Executor, tab: Tab, server: PageServer, page: str) -> None:
    await show(tab, server, page)
    onto = act_on("drag", "#a", to=Target((ByCss("#b"),)))
    assert isinstance(await perform(executor, onto), ActionDone)
    assert await tab.page.locator("#b > #a").count() == 1


@pytest.mark.parametrize(("drop", "half"), [((9, 12), "upper"), ((9, 50), "lower"), ((9, 600), "")])
async def test_what_is_dragged_is_let_go_where_it_was(
    executor: Executor, tab: Tab, server: PageServer, drop: tuple[int, int], half: str
) -> None:
    """Somewhere on it, if it is not that large any more."""
    told = "; b.ondrop = (e) => document.title = e.offsetY < 30 ? 'upper' : 'lower'</script>"
    await show(tab, server, NATIVE.replace("</script>", told))
    onto = act_on("drag", "#a", to=Target((ByCss("#b"),)), drop=drop)
    assert isinstance(await perform(executor, onto), ActionDone)
    assert await tab.page.title() in ([half] if half else ["upper", "lower"])


async def test_nothing_is_dragged_to_what_is_not_there(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, SPY + BOX)
    failed = await perform(executor, act_on("drag", "#a", to=Target((ByCss("#none"),))))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("element_not_found", False)
    assert await tab.page.evaluate("seen") == []


TAKES_IT = """<div id=a contenteditable>old</div><script>a.onpaste = (e) => { e.preventDefault();
    a.textContent = "[" + e.clipboardData.getData("text/plain") + "]" }</script>"""


@pytest.mark.parametrize(
    ("page", "append", "holds"),
    [
        ("<input id=a value=old>", False, "new text"),
        ("<textarea id=a>old </textarea>", True, "old new text"),
        (TAKES_IT, False, "[new text]"),
        ("<div id=a contenteditable>old</div>", False, "new text"),
    ],
)
async def test_pastes(
    executor: Executor, tab: Tab, server: PageServer, page: str, append: bool, holds: str
) -> None:
    await show(tab, server, SPY + page)
    action: Action = act_on("type", "#a", Text("new text"), pasted=True, append=append)
    done = await perform(executor, action)
    assert isinstance(done, ActionDone)
    assert done.value_set
    assert await tab.page.evaluate("a.value ?? a.innerText") == holds
    assert await tab.page.evaluate("seen.filter((one) => one.startsWith('paste')).length") == 1
