"""What a page makes of an element between the press and what the press does is not done unseen."""

from collections.abc import Mapping
from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import ByCss, Target
from rutter.events.executor import ActionDone, ActionFailed, TargetChanged
from tests.actors.executor.test_actor import act_on, executor, perform
from tests.support.browser_fixtures import show
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
__all__ = ["executor"]

FORM = """<form id=f action=/approved method=get><input id=field name=who value=Aurora>
<button id=it>Show orders</button></form><form id=other action=/evil></form>
<script>const it = document.getElementById('it'), f = document.getElementById('f');
const once = (type, then) => addEventListener(type, then, {once: true, capture: true});</script>"""
LINK = """<a id=it href=/approved>Show orders</a>
<script>const it = document.getElementById('it');
const once = (type, then) => addEventListener(type, then, {once: true, capture: true});</script>"""
MOMENTS = ("pointermove", "pointerdown", "mousedown", "pointerup", "mouseup")
SWAPS: Mapping[str, tuple[str, str]] = {
    "its form's address": (FORM, "f.action = '/evil'"),
    "an address of its own": (FORM, "it.formAction = '/evil'"),
    "its form's method": (FORM, "f.method = 'post'; f.action = '/evil'"),
    "its form": (FORM, "it.setAttribute('form', 'other')"),
    "what it says": (FORM, "it.textContent = 'Delete all'; f.action = '/evil'"),
    "its link": (LINK, "it.href = '/evil'"),
    "another element": (LINK, "it.outerHTML = '<a href=/evil>Delete all</a>'"),
    "what lies above it": (
        LINK,
        "document.body.insertAdjacentHTML('beforeend', '<a href=/evil style=position:fixed;"
        "inset:0>Delete all</a>')",
    ),
    "what is in it": (LINK, "it.removeAttribute('href'); it.innerHTML = '<a href=/evil>x</a>'"),
}


def asked(server: PageServer, since: int) -> set[str]:
    """Where the browser went: input is over when what it asked for is there. Its icon it asks for
    when it likes."""
    went = {path.partition("?")[0].partition(" ")[0] for path in server.asked[since:]}
    return went - {"/favicon.ico"}


def as_judged(said: Any, went: set[str]) -> bool:
    """Held back, or done as it was judged: what changed came too late."""
    held = isinstance(said, TargetChanged | ActionFailed) or not said.navigated
    return went == (set() if held else {"/approved"})


@pytest.mark.parametrize("moment", MOMENTS)
async def test_what_changes_under_a_press_is_not_clicked(
    executor: Executor, tab: Tab, server: PageServer, moment: str
) -> None:
    for name, (page, swap) in SWAPS.items():
        await show(tab, server, f"{page}<script>once('{moment}', () => {{ {swap} }})</script>")
        since = len(server.asked)
        said = await perform(executor, act_on("click", "#it"))
        assert as_judged(said, asked(server, since)), f"{name}, {moment}: {said}"


@pytest.mark.parametrize("moment", ["focusin", "keydown", "keypress"])
@pytest.mark.parametrize("swap", ["its form's address", "an address of its own", "its form"])
async def test_what_changes_under_a_key_is_not_sent(
    executor: Executor, tab: Tab, server: PageServer, moment: str, swap: str
) -> None:
    page, does = SWAPS[swap]
    await show(tab, server, f"{page}<script>once('{moment}', () => {{ {does} }})</script>")
    since = len(server.asked)
    said = await perform(executor, act_on("press", "#field", key="Enter"))
    assert as_judged(said, asked(server, since)), said


FAIR: Mapping[str, str] = {
    "a menu that opens with the press": """<button id=it>Menu</button><script>
        it.onpointerdown = () => {
          document.title = 'done';
          document.body.insertAdjacentHTML('beforeend',
            '<div style="position:fixed;inset:0"></div>');
        };</script>""",
    "a ripple": """<button id=it>Save</button><script>
        it.onmousedown = () => it.insertAdjacentHTML('beforeend', '<span class=ripple></span>');
        it.onclick = () => document.title = 'done';</script>""",
    "a button that says that it is pressed": """<button id=it>Bold</button><script>
        it.onmousedown = () => it.setAttribute('aria-pressed', 'true');
        it.onclick = () => document.title = 'done';</script>""",
    "a button that relabels itself": """<form id=f action=/approved><button id=it>Send</button>
        </form><script>it.onclick = () => it.textContent = 'Sending';
        f.onsubmit = (e) => { e.preventDefault(); document.title = 'done'; };</script>""",
    "a form that gets its address by the click": """<form id=f action=/draft><button id=it>Send
        </button></form><script>it.onclick = () => f.action = '/approved';
        f.onsubmit = (e) => { e.preventDefault(); document.title = 'done'; };</script>""",
}


@pytest.mark.parametrize("name", FAIR)
async def test_what_a_page_does_of_its_own_with_a_press_is_left_to_it(
    executor: Executor, tab: Tab, server: PageServer, name: str
) -> None:
    named = "<script>const it = document.getElementById('it'), f = document.forms[0];"
    await show(tab, server, FAIR[name].replace("<script>", named, 1))
    said: Any = await perform(executor, act_on("click", "#it"))
    assert isinstance(said, ActionDone), said
    assert await tab.page.title() == "done"


CARD = """<p id=it draggable=true style=height:30px>Order 1</p>
<section id=to style=height:60px>Archive</section><script>
addEventListener('dragstart', (e) => e.dataTransfer.setData('text/plain', e.target.id));
addEventListener('dragover', (e) => e.preventDefault());
addEventListener('drop', (e) => {
  e.preventDefault();
  document.title = `${e.dataTransfer.getData('text/plain')} ${e.target.id}`;
});
const it = document.getElementById('it'), to = document.getElementById('to');
const once = (type, then) => addEventListener(type, then, {once: true, capture: true});</script>"""
DRAGS: Mapping[str, str] = {
    "what is dragged": "it.outerHTML = '<p id=evil draggable=true>All orders</p>'",
    "where it is dropped": "to.outerHTML = '<section id=evil style=height:60px>Delete</section>'",
    "what lies there": "to.insertAdjacentHTML('beforebegin', '<section id=evil"
    " style=position:fixed;inset:0>Delete</section>')",
}


@pytest.mark.parametrize("moment", ["pointermove", "pointerdown", "dragstart", "dragover"])
async def test_what_changes_under_a_drag_is_not_dropped(
    executor: Executor, tab: Tab, server: PageServer, moment: str
) -> None:
    for name, swap in DRAGS.items():
        await show(tab, server, f"{CARD}<script>once('{moment}', () => {{ {swap} }})</script>")
        onto = act_on("drag", "#it", to=Target((ByCss("#to"),)))
        said = await perform(executor, onto)
        assert await tab.page.title() in ("", "it to"), f"{name}, {moment}: {said}"
