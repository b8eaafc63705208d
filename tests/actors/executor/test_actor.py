"""The Executor on a real page: what it reports, and that nothing is done that was not judged."""

from pathlib import Path
from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import (
    Action,
    ByCss,
    ByRef,
    Parameter,
    Secret,
    Target,
    Text,
    Untrusted,
    Value,
)
from rutter.events.chain import GENESIS
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    LookalikesFound,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import BrowserLost
from rutter.events.planner import LookalikesRequested
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from tests.support.browser_fixtures import OneWindow, show, tell
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

SECRET = "hunter-2"


@pytest.fixture
async def executor(window: Window) -> Executor:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    bindings = Bindings({"customer": "Aurora"}, {"password": SECRET})
    return Executor(screen, bindings, RunSettings())


def act_on(kind: Any, selector: str | None, value: Value | None = None, **more: Any) -> Action:
    target = Target((ByCss(selector),)) if selector else None
    return Action(kind, target=target, value=value, **more)


async def resolve(executor: Executor, action: Action, within_ms: int = 1_000) -> Any:
    return await tell(executor, PlanAdmitted(1, 1, action, within_ms))


async def perform(executor: Executor, action: Action) -> Any:
    """Resolved, judged by nobody, and done."""
    found = await resolve(executor, action)
    assert isinstance(found, TargetResolved)
    return await tell(executor, ActionStarted(1, 1, action, digest=found.element.exact))


async def title(tab: Tab) -> str:
    seen = await tab.call("observe", within_ms=PATIENT)
    return str(seen["title"][0])


async def test_a_step_is_resolved_and_done(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, '<input id=a onchange="document.title = value"><button>Go</button>')
    typed = await perform(executor, act_on("type", "#a", Parameter("customer")))
    clicked = await perform(executor, act_on("click", "button"))
    assert (typed.value_set, typed.navigated) == (True, False)
    assert (clicked.value_set, clicked.navigated) == (None, False)
    assert await title(tab) == "Aurora"


async def test_a_navigation_is_done_when_the_document_is_there(
    executor: Executor, server: PageServer
) -> None:
    action = Action("navigate", url=f"{server.url}/another")
    done = await tell(executor, ActionStarted(1, 1, action))
    assert isinstance(done, ActionDone)
    extract = act_on("extract", "h1", name="heading")
    found = await resolve(executor, extract)
    read = await tell(executor, QueryStarted(2, 1, extract, found.element.exact))
    assert read.text == Untrusted("Another")


@pytest.mark.parametrize("kind", ["extract", "wait_for", "wait"])
async def test_an_observation_is_never_done_as_an_action(
    executor: Executor, tab: Tab, server: PageServer, kind: str
) -> None:
    await show(tab, server, "<h1>Orders</h1>")
    failed = await perform(executor, act_on(kind, "h1", ms=1))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", False)
    assert failed.message == f"{kind} is an observation"


async def test_a_field_that_sends_its_form_by_itself_leads_away(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, '<form action="/another"><input id=a oninput="form.submit()"></form>')
    done = await perform(executor, act_on("type", "#a", Text("123456")))
    assert isinstance(done, ActionDone)
    assert done.navigated
    assert await title(tab) == "Another"


async def test_an_element_that_changed_is_not_touched(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    spy = "onclick=\"document.title = 'clicked'\""
    await show(tab, server, f"<button id=a {spy}>Go</button>")
    action = act_on("click", "#a")
    found = await resolve(executor, action)
    changed = await tell(executor, ActionStarted(1, 1, action, digest="of another element"))
    assert isinstance(changed, TargetChanged)
    assert changed.element == found.element
    assert await title(tab) == ""


async def test_what_cannot_be_done_says_why_and_that_nothing_was_dispatched(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<button disabled>Go</button><input readonly value=x><select></select>")
    failures = [
        await perform(executor, act_on("click", "button")),
        await perform(executor, act_on("type", "input", Text("y"))),
        await perform(executor, act_on("select", "select", Text("y"))),
        await perform(executor, act_on("type", "input", Parameter("nobody"))),
    ]
    assert all(isinstance(failure, ActionFailed) for failure in failures)
    assert [(failure.code, failure.dispatched) for failure in failures] == [
        ("element_disabled", False),
        ("element_disabled", False),
        ("option_not_found", False),
        ("value_unbound", False),
    ]


async def test_nothing_but_a_field_takes_text(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    kinds = ["button", "submit", "reset", "image"]
    buttons = "".join(f"<input type={kind} id={kind} value='Look' alt=Look>" for kind in kinds)
    others = """<button id=own contenteditable>Look</button><a id=link href=/a contenteditable>Look
        </a><div id=role role=button tabindex=0 contenteditable>Look</div><label id=label for=box>
        Look</label><input type=checkbox id=box><select id=list><option>Look</select>
        <section contenteditable><input type=button id=inside value=Look></section>
        <input type=date id=day><input type=color id=colour>"""
    await show(tab, server, buttons + others)
    said = {"own": "button", "link": "a", "role": "div", "label": "checkbox", "list": "select",
            "inside": "button"}  # fmt: skip
    for name, kind in {**{kind: kind for kind in kinds}, **said}.items():
        failed = await perform(executor, act_on("type", f"#{name}", Text("Pay now")))
        assert isinstance(failed, ActionFailed), name
        assert (failed.code, failed.dispatched) == ("action_failed", False), name
        assert failed.message == f"{kind} takes no text"
        found = await resolve(executor, act_on("click", f"#{name}"))
        assert await tab.call("setValue", found.element.exact, "Pay", within_ms=PATIENT) == {
            "code": "action_failed",
            "message": f"{kind} takes no text",
        }
    values = "[...document.querySelectorAll('input')].map((input) => input.value).join()"
    assert "Pay" not in await tab.page.evaluate(f"document.body.innerText + {values}")
    for name, value in {"day": "2026-03-20", "colour": "#00ff00"}.items():
        done = await perform(executor, act_on("type", f"#{name}", Text(value)))
        assert (type(done), done.value_set) == (ActionDone, True)


async def test_what_is_not_there_is_missing_with_every_try(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<i>1</i><i>2</i><b hidden>3</b>")
    codes = {}
    for selector in ("u", "i", "b"):
        missing = await resolve(executor, act_on("click", selector), within_ms=50)
        assert isinstance(missing, TargetMissing)
        codes[selector] = missing.code
    assert codes == {"u": "element_not_found", "i": "element_ambiguous", "b": "element_not_visible"}


async def test_an_element_that_no_look_has_named_is_an_invalid_ref(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<button>Go</button>")
    await tab.call("observe", within_ms=PATIENT)
    found = await resolve(executor, Action("click", target=Target((ByRef("@e0"),))))
    missing = await resolve(executor, Action("click", target=Target((ByRef("@e7"),))))
    assert isinstance(found, TargetResolved)
    assert isinstance(missing, TargetMissing)
    assert missing.code == "ref_invalid"


async def test_a_secret_is_typed_and_said_nowhere(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, '<input id=a type=password oninput="document.title = value.length">')
    action = act_on("type", "#a", Secret("password"))
    said = [await resolve(executor, action), await perform(executor, action)]
    assert await title(tab) == str(len(SECRET))
    assert SECRET not in repr(said)
    assert SECRET not in repr(await tab.call("observe", within_ms=PATIENT))


async def test_a_page_that_hangs_in_a_click_may_have_been_clicked(
    executor: Executor, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.actors.executor.page_input.INPUT_MS", 500)
    await show(tab, server, '<button onclick="while (true);">Go</button>')
    failed = await perform(executor, act_on("click", "button"))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("timeout", True)


# -- what was not judged is not acted on ---------------------------------------------------------


async def test_what_was_found_on_a_page_that_closed_is_not_looked_for_on_another(
    executor: Executor, window: Window, tab: Tab, server: PageServer
) -> None:
    button = "<button id=go onclick=\"document.title = 'wrong'\">Go</button>"
    popup = server.show(button)
    await show(tab, server, f"{button}<a href='{popup}' target=_blank>Open</a>")
    await resolve(executor, act_on("click", "#go"))  # pinned here too, by a step before
    await perform(executor, act_on("click", "a"))
    action = act_on("click", "#go")
    found = await resolve(executor, action)
    await window.tabs[1].page.close()
    failed = await tell(executor, ActionStarted(1, 1, action, digest=found.element.exact))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("ref_invalid", False)
    assert await title(tab) == ""


@pytest.mark.parametrize("append", [False, True])
async def test_nothing_is_typed_into_a_field_that_the_focus_was_moved_to(
    executor: Executor, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch, append: bool
) -> None:
    fields = "<input id=a type=password><input id=b aria-label=Notes value=mine>"
    await show(
        tab, server, f"{fields}<script>a.onfocus = () => setTimeout(() => b.focus())</script>"
    )
    insert = tab.insert

    async def insert_late(text: str, *more: Any, **how: Any) -> None:
        await tab.page.wait_for_function("document.activeElement.id === 'b'")
        await insert(text, *more, **how)

    monkeypatch.setattr(tab, "insert", insert_late)
    failed = await perform(executor, act_on("type", "#a", Secret("password"), append=append))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", False)
    assert failed.message == "the focus moved to input Notes"
    assert await tab.page.input_value("#b") == "mine"


async def test_a_person_may_type_elsewhere_once_the_step_is_over(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<input id=a><iframe srcdoc='<input id=b>'></iframe>")
    for selector in ("#a", "#b", "#a"):
        done = await perform(executor, act_on("type", selector, Text("rope")))
        assert isinstance(done, ActionDone)
        assert done.value_set
    await tab.page.frame_locator("iframe").locator("#b").press("x")
    assert await tab.page.frame_locator("iframe").locator("#b").input_value() == "xrope"


async def test_a_secret_is_not_typed_into_what_a_field_became_when_it_got_the_focus(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    moved = "onfocus=\"form.action = 'http://elsewhere.test/take'\""
    await show(tab, server, f"<form method=post><input id=a type=password {moved}></form>")
    action = act_on("type", "#a", Secret("password"))
    changed = await perform(executor, action)
    assert isinstance(changed, TargetChanged)
    assert changed.element.form_action == "http://elsewhere.test/take"
    assert await tab.page.input_value("#a") == ""


async def test_nothing_is_typed_when_the_form_leads_elsewhere_by_then(
    executor: Executor, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, "<form method=post><input id=a type=password></form>")
    insert = tab.insert

    async def insert_late(text: str, *more: Any, **how: Any) -> None:
        await tab.page.evaluate("document.forms[0].action = 'http://elsewhere.test/'")
        await insert(text, *more, **how)

    monkeypatch.setattr(tab, "insert", insert_late)
    failed = await perform(executor, act_on("type", "#a", Secret("password")))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", False)
    assert await tab.page.input_value("#a") == ""


KEYED = """<input id=a aria-label=Notes><form method=post action=/another><input id=b>
    <button id=c>Pay</button></form><iframe id=d srcdoc="<input id=e><button id=f>Go</button>">
    </iframe><div id=host></div><script>
    host.attachShadow({mode: 'open'}).innerHTML = '<input id=g><input id=h>';
    onkeydown = (e) => document.title += e.key</script>"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a.focus()", "c.focus()"),
        ("a.focus()", "a.blur()"),
        ("a.focus()", "d.contentDocument.getElementById('f').focus()"),
        (
            "d.contentDocument.getElementById('e').focus()",
            "d.contentDocument.getElementById('f').focus()",
        ),
        (
            "host.shadowRoot.getElementById('g').focus()",
            "host.shadowRoot.getElementById('h').focus()",
        ),
        ("b.focus()", "b.form.action = '/pay'"),
        ("b.focus()", "c.formAction = '/pay'"),
        ("b.focus()", "c.textContent = 'Delete'"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
async def test_a_key_is_not_pressed_where_the_focus_was_moved_to(
    executor: Executor,
    tab: Tab,
    server: PageServer,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    after: str,
    late: bool,
) -> None:
    await show(tab, server, KEYED)
    await tab.page.evaluate(before)
    action = Action("press", key="Enter")
    found = await resolve(executor, action)
    press = tab.press

    async def press_late(key: str, *, within_ms: int) -> None:
        await tab.page.evaluate(after)
        await press(key, within_ms=within_ms)

    if late:
        monkeypatch.setattr(tab, "press", press_late)
    else:
        await tab.page.evaluate(after)
    asked = len(server.asked)
    changed = await tell(executor, ActionStarted(1, 1, action, digest=found.element.exact))
    assert isinstance(changed, TargetChanged)
    assert changed.element.exact != found.element.exact
    assert await title(tab) == ""
    assert len(server.asked) == asked


async def test_a_key_is_pressed_on_what_was_judged_wherever_it_is(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, KEYED)
    focus = {
        "a.focus()": "x",
        "d.contentDocument.getElementById('e').focus()": "x",
        "host.shadowRoot.getElementById('h').focus()": "y",
        "host.shadowRoot.activeElement.blur()": "Shift+Z",
    }
    for script, key in focus.items():
        await tab.page.evaluate(script)
        assert isinstance(await perform(executor, Action("press", key=key)), ActionDone)
    assert await title(tab) == "xyShiftZ"
    assert await tab.page.frame_locator("iframe").locator("#e").input_value() == "x"
    found = await resolve(executor, act_on("press", "#b", key="Enter"))
    assert (found.element.submits, found.element.form_method) == (True, "post")
    found = await resolve(executor, act_on("press", "#b", key="a"))
    assert not found.element.submits
    tabbed = await perform(executor, act_on("press", "#b", key="Tab"))
    assert isinstance(tabbed, ActionDone)
    sent = await perform(executor, act_on("press", "#b", key="Enter"))
    assert (sent.navigated, server.asked[-1][:8]) == (True, "/another")


async def test_a_focus_that_moves_between_two_keys_leaves_it_open_what_was_done(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<input id=a onkeydown=b.focus()><input id=b value=mine>")
    failed = await perform(executor, act_on("press", "#a", key="Shift+X"))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", True)
    assert await tab.page.input_value("#b") == "mine"


async def test_files_larger_than_the_policy_allows_are_not_sent(
    executor: Executor, window: Window, server: PageServer, tmp_path: Path
) -> None:
    await show(window.tab, server, "<input id=a type=file multiple>")
    big, small = tmp_path / "big", tmp_path / "small"
    big.write_bytes(bytes(1_000_001))
    small.write_bytes(bytes(10))
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    bounded = Executor(screen, Bindings({}, {}), RunSettings(), upload_mb=1)
    failed = await perform(bounded, act_on("type", "#a", Text(f"{small}\n{big}")))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", False)
    assert "1 MB" in failed.message
    assert isinstance(await perform(bounded, act_on("type", "#a", Text(str(small)))), ActionDone)


@pytest.mark.parametrize("key", ["Foo", "Control+Foo", "Foo+a"])
async def test_a_key_that_there_is_not_is_not_pressed(
    executor: Executor, tab: Tab, server: PageServer, key: str
) -> None:
    await show(tab, server, "<input id=a>")
    failed = await perform(executor, act_on("press", "#a", key=key))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", False)
    assert "Unknown key" in failed.message
    await perform(executor, act_on("press", "#a", key="b"))
    assert await tab.page.input_value("#a") == "b"  # no other key is still down


async def test_an_element_that_cannot_be_described_is_a_failed_step(
    executor: Executor, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, "<button>Go</button>")
    action = act_on("click", "button")
    call = tab.call

    async def call_and_garble(function: str, *given: object, within_ms: int) -> Any:
        answer = await call(function, *given, within_ms=within_ms)
        if function == "lookalikes":
            answer["elements"] = [{**each, "tag": 1.5} for each in answer["elements"]]
        for key in {"element", "changed"} & set(answer):
            answer[key]["tag"] = 1.5
        return answer

    found = await resolve(executor, action)
    monkeypatch.setattr(tab, "call", call_and_garble)
    missing = await resolve(executor, action)
    assert isinstance(missing, TargetMissing)
    assert missing.code == "action_failed"
    failed = await tell(executor, ActionStarted(1, 1, action, digest="of another element"))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched) == ("action_failed", False)
    alike = await tell(executor, LookalikesRequested(1, 1, found.element.fingerprint))
    assert alike == LookalikesFound(1, 1)


async def test_a_page_that_is_gone_ends_the_session(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<button>Go</button>")
    action = act_on("click", "button")
    found = await resolve(executor, action)
    await tab.close()
    started = ActionStarted(1, 1, action, digest=found.element.exact)
    with pytest.raises(BrowserGone) as gone:
        await tell(executor, started)
    envelope = Envelope(1, "run", 1, 0, "validator", 0, started, GENESIS)
    assert executor.failed(envelope, gone.value) == BrowserLost("the page was closed")
