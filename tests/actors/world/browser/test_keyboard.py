"""What is typed is heard by a page as a person's keys are, whatever it makes of them."""

from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Secret, Text
from rutter.events.executor import ActionDone, ActionFailed
from tests.actors.executor.test_actor import act_on, executor, perform
from tests.support import browser_fixtures
from tests.support.browser_fixtures import show
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window
__all__ = ["executor"]

SPY = """<script>
    seen = [];
    for (const type of ["keydown", "keypress", "beforeinput", "input", "keyup", "compositionstart",
        "compositionend"])
      addEventListener(type, (e) => seen.push([type, e.key ?? e.data ?? "", e.code ?? e.inputType ??
        "", e.keyCode ?? 0, !!e.shiftKey, !!e.ctrlKey].join(" ")), true)</script>"""


async def seen(tab: Tab) -> list[str]:
    heard: list[str] = await tab.page.evaluate("seen.splice(0)")
    return heard


async def test_a_text_is_the_keys_that_a_person_presses(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    """The reference is Playwright's keyboard."""
    await show(tab, server, f"{SPY}<textarea id=a></textarea>")
    assert (await perform(executor, act_on("type", "#a", Text("aB!- 3\nz")))).value_set
    ours = await seen(tab)
    keyboard = tab.page.keyboard
    await tab.page.evaluate("a.value = ''; a.focus(); seen.length = 0")
    for key, shift in (("a", 0), ("B!", 1), ("- 3", 0), (["Enter"], 1), ("z", 0)):
        if shift:
            await keyboard.down("Shift")
        for sign in key:
            await keyboard.press(sign)
        if shift:
            await keyboard.up("Shift")
    assert ours == await seen(tab)
    assert (await perform(executor, act_on("type", "#a", Text("ok"), append=True))).value_set
    assert await tab.page.input_value("#a") == "aB!- 3\nzok"
    assert (await perform(executor, act_on("type", "#a", Text("")))).value_set
    assert (await seen(tab))[-4:-1] == [
        "keydown Delete Delete 46 false false",
        "beforeinput  deleteContentForward 0 false false",
        "input  deleteContentForward 0 false false",
    ]


async def test_what_has_no_key_is_composed_and_a_long_text_comes_whole(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, f"{SPY}<input id=a><p contenteditable id=b>old")
    for field in ("#a", "#b"):
        done = await perform(executor, act_on("type", field, Text("año 日本 ok")))
        assert done.value_set
        heard = await seen(tab)
        assert sum("compositionstart" in one for one in heard) == 2
        assert "keydown Process  229 false false" in heard
        long = "rope " * 100
        assert (await perform(executor, act_on("type", field, Text(f"{long}end")))).value_set
        heard = await seen(tab)
        assert [one.split()[1] for one in heard if one.startswith("keyup")][-3:] == [*"end"]
        assert len(heard) < 60


async def test_where_nobody_listens_to_keys_a_text_is_one_input(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    counting = "<script>n = 0; addEventListener('input', () => n++, true)</script>"
    for listener, inputs in (("", 1), ("<body onkeyup=1>", 6)):
        await show(tab, server, f"{listener}{counting}<div id=h></div><input id=a>")
        assert (await perform(executor, act_on("type", "#a", Text("mooring"[:6])))).value_set
        assert await tab.page.evaluate("n") == inputs
    await show(tab, server, f"{counting}<div id=h></div>")
    await tab.page.evaluate("""h.attachShadow({mode: 'open'}).innerHTML = '<input id=a>';
        h.shadowRoot.addEventListener('keydown', () => 1)""")
    assert (await perform(executor, act_on("type", "#a", Text("anchor")))).value_set
    assert await tab.page.evaluate("n") == 6


MASK = "<input id=a oninput='value = {}'>"
# An editor with a text and a selection of its own: the page shows what it has, and nothing else is
# ever in it. It hears of a selection from its keys alone.
MODEL = """<div id=a contenteditable>old</div><script>
    let text = "old", all = false;
    const write = (more) => { text = all ? more : text + more; all = false; a.textContent = text; };
    a.onkeydown = (e) => {
      if (e.key === "a" && e.ctrlKey) all = true;
      else if (e.key === "Enter" || e.key === "Delete") write(e.key === "Enter" ? "\\n" : "");
      else return;
      e.preventDefault();
    };
    a.onbeforeinput = (e) => {
      if (e.inputType === "insertText") write(e.data);
      e.preventDefault();
    };
    globalThis.model = () => text</script>"""
# The text is in a field that nobody sees and is put into the page when a key goes up.
PROXY = """<textarea id=a style="width:3px;height:3px;border:0;padding:0"></textarea>
    <pre id=t>old</pre><script>let all = false;
    a.onkeydown = (e) => { all = all || (e.ctrlKey && e.key === "a"); };
    a.oninput = (e) => { t.textContent = (all ? "" : t.textContent) + e.data; all = false; };
    globalThis.model = () => t.textContent</script>"""
FRAMED = """<iframe srcdoc="<body id=a contenteditable onkeyup='parent.n = innerText'>old"></iframe>
    <script>globalThis.model = () => n</script>"""
CHAT = """<textarea id=a onkeydown="if (event.key === 'Enter' && !event.shiftKey)
    document.title = 'sent'"></textarea>"""
LEXICAL = """<div id=a contenteditable><p><br></p></div><script>
    a.onbeforeinput = (e) => { e.preventDefault(); if (e.data) a.firstChild.append(e.data) };
    globalThis.model = () => a.innerText.trim()</script>"""


@pytest.mark.parametrize(
    ("page", "typed", "held", "model"),
    [
        (MASK.format('value.replace(/^(\\d{3})-?(\\d)/, "$1-$2")'), "5551234", True, "555-1234"),
        (MASK.format('value.replace(/^(\\d{3})-?(\\d)/, "$1-$2")'), "555 1234", True, None),
        (MASK.format("value.toUpperCase()"), "nl 1234 ab", True, "NL 1234 AB"),
        (MASK.format('value.replace(".", "")'), "1.50", False, "150"),
        (MASK.format('value.replace("-", "")'), "-5", False, "5"),
        (MASK.format('value.replace(" ", "")'), "Jan Smit", False, "JanSmit"),
        (MASK.format("value.slice(0, 3)"), "12345", False, "123"),
        (MODEL, "new text", True, "new text"),
        (MODEL, "", True, ""),
        (PROXY, "new", None, "new"),
        (FRAMED, "new", True, "new"),
        (LEXICAL, "new", True, "new"),
        (CHAT, "two\nlines", True, "two\nlines"),
        ("<div id=a contenteditable>\ufeffold</div>", "a  b\nc", True, None),
        ("<div contenteditable><p id=a>old</p></div>", "new", True, None),
        ("<button id=b disabled>Go</button><input id=a onkeyup='b.disabled = 0'>", "x", True, "x"),
    ],
)
async def test_fields_that_make_something_of_keys(
    executor: Executor,
    tab: Tab,
    server: PageServer,
    page: str,
    typed: str,
    held: bool | None,
    model: str | None,
) -> None:
    await show(tab, server, page)
    done = await perform(executor, act_on("type", "#a", Text(typed)))
    assert isinstance(done, ActionDone)
    if held is not None:
        assert done.value_set is held
    if model is not None:
        known = "globalThis.model ? model() : a.value"
        assert await tab.page.evaluate(known) == model
    assert await tab.page.title() == ""
    assert await tab.page.locator("button[disabled]").count() == 0


MOVES = """<input id=a {}="b.focus()"><input id=b value=mine aria-label=Notes><script>
    onkeyup = () => 1</script>"""


@pytest.mark.parametrize("when", ["onkeydown", "onkeyup", "oninput"])
@pytest.mark.parametrize("value", [Text("日本abc"), Text("abc日本"), Secret("password")])
async def test_keys_that_come_to_another_field_are_held_back(
    executor: Executor, tab: Tab, server: PageServer, when: str, value: Any
) -> None:
    await show(tab, server, MOVES.format(when))
    failed = await perform(executor, act_on("type", "#a", value))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", True)
    assert failed.message == "the focus moved to input Notes"
    assert await tab.page.input_value("#b") == "mine"
