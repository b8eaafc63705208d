"""What a person's hand does beside clicks and keys is recorded as it was meant, and done again."""

from collections.abc import Awaitable, Callable

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.events.log import EventLog
from tests.actors.observer.test_person_recorder import log, said, steps_of
from tests.actors.world.browser.test_mouse import BY_POINTER, NATIVE
from tests.support.human_hand import Hand
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
__all__ = ["log"]

DONE = "document.body.insertAdjacentHTML('beforeend', '<h2>Done</h2>')"
ROWS = f"""<table><tr><td id=a role=gridcell aria-label=Berth ondblclick="{DONE}">Berth</table>
    <button id=b onclick="n.textContent++">More</button><h2 id=n>0</h2>"""
MENU = f"""<div id=a role=gridcell aria-label=Berth oncontextmenu="event.preventDefault(); {DONE}">
    Berth</div>"""
PICKED = f"""<div role=option aria-label=First id=a onclick="if (event.ctrlKey) {DONE}">First</div>
    <a id=l href="/another">Away</a>"""
BY_STYLE = f"""<style>#m {{ display: none }} #h:hover > #m {{ display: block }}</style>
    <div id=h role=navigation aria-label=Fleet>Fleet <div id=m><button id=b onclick="{DONE}">Ships
    </button></div></div>"""
BY_SCRIPT = f"""<div id=h role=navigation aria-label=Fleet onmouseenter="m.hidden = false">Fleet
    <div id=m hidden><button id=b onclick="{DONE}">Ships</button></div></div>"""
LONG_LIST = f"""<div id=s role=listbox aria-label=Ships style="height:60px;overflow:auto"><div
    style="height:2000px;position:relative" id=in></div></div><script>
    const draw = () => {{ const top = Math.floor(s.scrollTop / 20);
      document.getElementById("in").replaceChildren(...[0, 1, 2, 3].map((n) => {{
        const row = document.createElement("button");
        row.textContent = "Ship " + (top + n); row.id = "ship" + (top + n);
        row.style = "position:absolute;height:20px;top:" + 20 * (top + n) + "px";
        row.onclick = () => {{ {DONE} }};
        return row }})) }};
    s.onscroll = draw; draw()</script>"""
COMBO = f"""<label>Port <input id=a role=combobox aria-expanded=false autocomplete=off></label>
    <ul id=u role=listbox hidden></ul><script>
    a.onkeyup = () => {{ u.hidden = false; u.replaceChildren(...["Rotterdam", "Rostock"]
      .filter((port) => port.toLowerCase().startsWith(a.value.toLowerCase())).map((port) => {{
        const li = document.createElement("li");
        li.role = "option"; li.id = port; li.textContent = port;
        li.onclick = () => {{ a.value = port; u.hidden = true; {DONE} }};
        return li }})) }}</script>"""
PICKER = f"""<label>Day <input id=a readonly onclick="g.hidden = false"></label>
    <table id=g role=grid hidden><tr><td id=d5 role=gridcell onclick="pick(5)">5<td id=d6
    role=gridcell onclick="pick(6)">6</table><script>function pick(day) {{
      a.value = "2026-03-0" + day; g.hidden = true; {DONE} }}</script>"""
EDITOR = """<div id=a contenteditable role=textbox aria-label=Text></div><script>
    a.onbeforeinput = (e) => { e.preventDefault(); if (e.data) a.textContent += e.data };
    a.onpaste = (e) => { e.preventDefault(); a.textContent += e.clipboardData.getData("text") };
    </script>"""
# All that is written is taken, and what is shown again a moment later lacks its last letters.
HANDED_BACK = """<div id=a contenteditable role=textbox aria-label=Text></div><script>
    a.onkeydown = (e) => { if (e.shiftKey && e.key === "Enter") e.preventDefault() };
    let due; a.oninput = () => { const all = a.textContent; clearTimeout(due);
      due = setTimeout(() => { a.textContent = all.slice(0, -3); document.title = all }, 300) };
    </script>"""
# Takes the last letter back when it is asked to, in its own time, and tells nobody.
TAKEN_BACK = """<div id=a contenteditable role=textbox aria-label=Text></div><script>
    const back = () => { a.textContent = a.textContent.slice(0, -1); document.title = "back" };
    a.onkeydown = (e) => { if (e.key !== "Backspace" && !(e.ctrlKey && e.key === "z")) return;
      e.preventDefault(); setTimeout(back, 100) }</script>"""

# Enter with shift runs what is written, as in a notebook; without, it makes a line.
NOTEBOOK = f"""<div id=a contenteditable role=textbox aria-label=Cell></div><script>
    a.onkeydown = (e) => {{ if (e.key !== "Enter") return; e.preventDefault();
      if (e.shiftKey) {{ {DONE} }} else document.execCommand("insertLineBreak") }}</script>"""
FRAME_WRITTEN = """<label>Title <input id=t></label> <iframe id=f title=Editor></iframe><script>
    const inner = f.contentDocument; inner.open();
    inner.write("<textarea id=a aria-label=Body></textarea>"); inner.close()</script>"""
GROUPS = f"""<label>Groups <select id=a multiple size=3 ondblclick="{DONE}"><option>Deck</option>
    <option id=o>Engine</option></select></label>"""
# The calendar is a part of the field's label, and gone before there is a click.
IN_LABEL = f"""<label>Day <input id=a readonly onclick="g.hidden = false"><table id=g hidden><tr>
    <td id=d5 tabindex=0 onmouseup="g.remove(); {DONE}"><span>5</span></table></label>"""
SWITCH = f"""<div role=switch aria-label="Pilot wanted" aria-checked=false
    onclick="this.ariaChecked = 'true'; {DONE}"><i>o</i> <span id=b>Pilot wanted</span></div>"""
TAB = f"""<a id=a href="#sheet" ondblclick="{DONE}">Sheet 1</a>"""
CARRIED = """<body style="user-select:none"><p id=a>Card</p><svg id=b width=300 height=80
    aria-label=Board role=group><path d="M0 40H300" stroke=black stroke-width=1 /></svg><script>
    let held = null;
    a.onpointerdown = () => { held = document.body.appendChild(a.cloneNode(true)); held.id = "" };
    onpointermove = (e) => { if (held) held.style = `position:fixed;margin:0;
      left:${e.x - 5}px;top:${e.y - 5}px` };
    onpointerup = (e) => { if (!held) return; held.remove(); held = null;
      if (b.contains(document.elementFromPoint(e.x, e.y))) document.title = "moved" }</script>"""


async def ran(hand: Hand) -> None:
    await hand.click("#a")
    await hand.type("one")
    await hand.press("Enter")
    await hand.type("two")
    await hand.press("Shift+Enter")
    await hand.looks(2)


async def written_in_frame(hand: Hand) -> None:
    await hand.fill("#t", "Log")
    field = hand.page.frame_locator("#f").locator("#a")
    await field.click()
    await hand.type("Fair wind")
    await hand.click("#t")
    await hand.looks(2)


async def twice(hand: Hand) -> None:
    await hand.page.locator("#o").dblclick()
    await hand.looks(2)


async def pressed(hand: Hand) -> None:
    await hand.click("#a")
    await hand.sees("#d5")
    await hand.page.locator("#d5 span").hover()
    await hand.page.mouse.down()
    await hand.page.mouse.up()
    await hand.looks(2)


async def switched(hand: Hand) -> None:
    await hand.click("#b")
    await hand.looks(1)


async def opened(hand: Hand) -> None:
    await hand.page.locator("#a").dblclick()
    await hand.looks(1)


async def carried(hand: Hand) -> None:
    await hand.page.locator("#a").drag_to(hand.page.locator("#b"))
    await hand.page.wait_for_function("document.title === 'moved'")
    await hand.looks(1)


async def double(hand: Hand) -> None:
    await hand.page.locator("#a").dblclick()
    await hand.looks(1)
    await hand.page.locator("#b").dblclick()
    await hand.looks(3)


async def right(hand: Hand) -> None:
    await hand.page.locator("#a").click(button="right")
    await hand.looks(1)


async def held(hand: Hand) -> None:
    await hand.page.locator("#a").click(modifiers=["Control"])
    await hand.looks(1)


async def pointed(hand: Hand) -> None:
    await hand.page.mouse.move(600, 400)
    await hand.page.locator("#h").hover(position={"x": 5, "y": 5})
    await hand.sees("#b")
    await hand.click("#b")
    await hand.looks(2)


async def dragged(hand: Hand) -> None:
    await hand.page.locator("#a").drag_to(hand.page.locator("#b"))
    await hand.sees("#b > #a")
    await hand.looks(1)


async def wheeled(hand: Hand) -> None:
    await hand.page.locator("#s").hover()
    await hand.page.mouse.wheel(0, 800)
    await hand.sees("#ship40")
    await hand.page.wait_for_function("s.scrollTop === 800")
    await hand.click("#ship41")
    await hand.looks(2)


async def chosen(hand: Hand) -> None:
    await hand.click("#a")
    await hand.type("Rott")
    await hand.sees("#Rotterdam")
    await hand.click("#Rotterdam")
    await hand.looks(2)


async def picked(hand: Hand) -> None:
    await hand.click("#a")
    await hand.sees("#d6")
    await hand.click("#d6")
    await hand.looks(2)


async def written(hand: Hand) -> None:
    await hand.click("#a")
    await hand.type("Call the mate")
    await hand.press("Tab")
    await hand.looks(1)


async def handed_back(hand: Hand, key: str = "Tab", steps: int = 1) -> None:
    await hand.click("#a")
    await hand.type("Call the mate")
    await hand.page.wait_for_function("document.title === 'Call the mate'")
    await hand.press(key)
    await hand.looks(steps)


async def handed_back_and_sent(hand: Hand) -> None:
    await handed_back(hand, "Shift+Enter", 2)


async def taken_back(hand: Hand, key: str) -> None:
    await hand.click("#a")
    await hand.type("mates")
    await hand.press(key)
    await hand.page.wait_for_function("document.title === 'back'")
    await hand.press("Tab")
    await hand.looks(1)


async def erased(hand: Hand) -> None:
    await taken_back(hand, "Backspace")


async def undone(hand: Hand) -> None:
    await taken_back(hand, "Control+z")


@pytest.mark.parametrize(
    ("html", "do", "steps"),
    [
        (ROWS, double, ["double click 'Berth'", "click 'More'", "click 'More'"]),
        (MENU, right, ["right click 'Berth'"]),
        (PICKED, held, ["click with Control held on 'First'"]),
        (BY_STYLE, pointed, ["point at 'Fleet'", "click 'Ships'"]),
        (BY_SCRIPT, pointed, ["point at 'Fleet'", "click 'Ships'"]),
        (NATIVE, dragged, ["drag #a onto #b"]),
        (BY_POINTER, dragged, ["drag #a onto #b"]),
        (LONG_LIST, wheeled, ["turn the wheel over 'Ships'", "click 'Ship 41'"]),
        (COMBO, chosen, ["type 'Rott' into 'Port'", "click 'Rotterdam'"]),
        (PICKER, picked, ["click 'Day'", "click '6'"]),
        (EDITOR, written, ["type 'Call the mate' into 'Text'"]),
        (HANDED_BACK, handed_back, ["type 'Call the mate' into 'Text'"]),
        (
            HANDED_BACK,
            handed_back_and_sent,
            ["type 'Call the mate' into 'Text'", "press Shift+Enter"],
        ),
        (TAKEN_BACK, erased, ["type 'mate' into 'Text'"]),
        (TAKEN_BACK, undone, ["type 'mate' into 'Text'"]),
        (NOTEBOOK, ran, ["type 'one two' into 'Cell'", "press Shift+Enter"]),
        (
            FRAME_WRITTEN,
            written_in_frame,
            ["type 'Log' into 'Title'", "type 'Fair wind' into 'Body'", "click 'Title'"],
        ),
        (GROUPS, twice, ["select 'Engine' in 'Groups'", "double click 'Engine'"]),
        (IN_LABEL, pressed, ["click 'Day'", "click '5'"]),
        (SWITCH, switched, ["click 'Pilot wanted'"]),
        (TAB, opened, ["double click 'Sheet 1'"]),
        (CARRIED, carried, ["drag #a onto 'Board'"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_gestures(
    chromium: Chromium,
    server: PageServer,
    log: EventLog,
    html: str,
    do: Callable[[Hand], Awaitable[None]],
    steps: list[str],
) -> None:
    acted = await steps_of(chromium, server, log, f"<h1>It</h1>{html}", do, sail=True)
    assert said(acted) == steps


async def test_what_is_pasted_is_recorded_as_pasted_unless_more_is_typed(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    fields = "<label>One <input id=b></label><label>Two <input id=c></label>"

    async def do(hand: Hand) -> None:
        await hand.fill("#b", "rope")
        await hand.press("Control+a")
        await hand.press("Control+c")
        await hand.click("#a")
        await hand.press("Control+v")
        await hand.click("#c")
        await hand.press("Control+v")
        await hand.press("Tab")
        await hand.looks(3)

    acted = await steps_of(chromium, server, log, f"<h1>It</h1>{EDITOR}{fields}", do, sail=True)
    assert said(acted) == [
        "type 'rope' into 'One'",
        "paste 'rope' into 'Text'",
        "paste 'rope' into 'Two'",
    ]
