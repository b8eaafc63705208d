"""A person is recorded in a window: the same workflow as from a script, and no secret anywhere."""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
import pytest
from playwright.async_api import Error as PlaywrightError

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import DialogAnswer, Parameter, Secret, Text
from rutter.events.checks import HERE, ReadBack, ServerAnswered, TextVisible
from rutter.events.critic import ActionJudged, ReadBackFound
from rutter.events.executor import PersonActed
from rutter.events.log import EventLog
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import RecordingFinished, SessionEnded
from rutter.events.signature import signature
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.demo_sites.chandlery import Site, order_script
from rutter.pipeline.demo_sites.sign_ins import USER
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare
from rutter.replay.story.wording import in_words
from tests.support import xvfb
from tests.support.command_shell import places_of
from tests.support.human_hand import Hand, recorded
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

Done = Callable[[Hand], Awaitable[None]]
CUSTOMER = {"customer": "Aurora Shipping"}
PASSWORD = "quay-side & Windlass 7"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(password=PASSWORD) as running:
        yield running


@pytest.fixture
async def log(replayed: Replayed, tmp_path: Path) -> AsyncIterator[EventLog]:
    opened = await replayed.sqlite(tmp_path / "log.db")
    yield opened
    await opened.close()


async def learned(log: EventLog) -> Workflow:
    [*_, last] = [e.event async for e in log.read(kinds=["WorkflowLearned"])]
    assert isinstance(last, WorkflowLearned)
    return last.workflow


async def place_an_order(hand: Hand) -> None:
    """The bundled order flow, done by mouse and keyboard."""
    await hand.fill("#login-user", USER)
    await hand.press("Tab")
    await hand.type(PASSWORD)
    await hand.click("#login-submit")
    await hand.arrives("/desk")
    await hand.click("#nav-customers")
    await hand.arrives("/customers")
    await hand.fill("#customer-search", CUSTOMER["customer"])
    await hand.press("Enter")
    await hand.arrives("/customers?*")
    await hand.click('[data-testid="customer-link"]')
    await hand.arrives("/customers/*")
    await hand.click("#new-order")
    await hand.arrives("/orders/new?*")
    await hand.reach("#order-product")
    await hand.type("Mooring")
    await hand.fill("#order-quantity", "3")
    await hand.reach("#order-delivery")
    await hand.type("03202026")
    await hand.fill("#order-berth", "Waalhaven pier 7")
    await hand.click('label[for="priority-urgent"]')
    await hand.fill("#order-note", "Call the bosun on arrival.")
    await hand.click("#review-order")
    await hand.sees("#place-order")
    await hand.click("#place-order")
    await hand.sees("#order-number")
    await hand.click("#nav-orders")
    await hand.arrives("/orders")


def script_of(site: Site) -> RecorderScript:
    """The same flow as DevTools writes it; reading a number is nothing that a hand does."""
    written = order_script(site.base_url, password=PASSWORD)
    script = msgspec.convert(written, RecorderScript)
    script.steps = [step for step in script.steps if step.type != "customStep"]
    return script


async def by_script(app: App, chromium: Chromium, site: Site) -> SessionEnded:
    secrets = {"password": PASSWORD}
    script = prepare(script_of(site), CUSTOMER, secrets)
    host = site.base_url.removeprefix("http://")
    started = session_started.recording("scripted", script.steps, CUSTOMER, secrets, allow=[host])
    return await app.run_in_browser(
        started,
        chromium,
        answers=ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm")),
        secrets=secrets,
        typed=script.typed,
    )


def signatures(flow: Workflow) -> list[str]:
    return [signature(step.action) for step in flow.steps]


async def check_the_same(chromium: Chromium, site: Site, log: EventLog) -> None:
    """By hand, by script: the same signatures; and what was done by hand is then sailed alone."""
    async with App.open(log) as app:
        started = session_started.watching("by hand", f"{site.base_url}/login", CUSTOMER)
        async with recorded(app, chromium, started) as (hand, ended):
            await place_an_order(hand)
            await hand.looks(17)
        assert ended["it"].reason == "completed"
        flow = await learned(log)
        assert flow.complete
        assert flow.parameters == ("customer",)
        assert flow.secrets == ("password",)
        assert (await by_script(app, chromium, site)).reason == "completed"
        assert signatures(flow) == signatures(await learned(log))
        placed = len(site.orders)
        alone = session_started.run_of(flow, {"customer": "Juniper Tankers"}, ["password"])
        sailed = await app.run_in_browser(alone, chromium, secrets={"password": PASSWORD})
        assert (sailed.reason, sailed.failure) == ("completed", ""), sailed
        assert len(site.orders) == placed + 1
        assert site.orders[-1].customer == "Juniper Tankers"


async def test_by_hand_and_by_script_the_same_signatures(
    chromium: Chromium, site: Site, log: EventLog
) -> None:
    await check_the_same(chromium, site, log)


async def test_so_in_a_real_window(site: Site, log: EventLog) -> None:
    # `make test` installs it where it may; a developer without root need not have it.
    if xvfb.missing():
        pytest.skip("there is no Xvfb: python -m tests.support.xvfb")
    executable = find_chromium()
    assert executable is not None
    with xvfb.screen() as display, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", display)
        async with Chromium(executable, Gate(), headless=False) as chromium:
            await check_the_same(chromium, site, log)


# -- what becomes of one piece of input --------------------------------------------------------


async def steps_of(
    chromium: Chromium,
    server: PageServer,
    log: EventLog,
    html: str,
    do: Done,
    *,
    sail: bool = False,
    allow: Sequence[str] = (),
) -> list[PersonActed]:
    """What is heard of what a person does on a page of its own; then sailed alone, if asked."""
    url = server.show(html)
    async with App.open(log) as app:
        started = session_started.watching("it", url, {"name": "Ann Smith"}, allow=allow)
        async with recorded(app, chromium, started) as (hand, ended):
            await do(hand)
        assert ended["it"].reason == "completed", ended
        if sail:
            sailed = await app.run_in_browser(
                session_started.run_of(await learned(log), {}, ()), chromium
            )
            assert sailed.reason == "completed", sailed
        return hand.heard.acted


def said(acted: list[PersonActed]) -> list[str]:
    return [in_words(each.action, each.element.name.text if each.element else "") for each in acted]


FIELDS = """<h1>Fields</h1><form action="/another">
<label>Name <input id=name></label><label>Code <input id=code type=password></label>
<label>Note <textarea id=note></textarea></label>
<label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
<label><input type=checkbox id=agree> Agree</label>
<label>Papers <input type=file id=papers></label>
<div contenteditable role=textbox aria-label=Rich id=rich></div>
<button id=save>Save</button></form>"""


async def test_keys_in_one_field_are_one_step_with_the_click_into_it(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        await hand.click("#name")
        await hand.type("Amn")
        await hand.press("Backspace")
        await hand.press("Backspace")
        await hand.type("nn Smith")
        await hand.click("#note")
        await hand.type("one")
        await hand.press("Enter")
        await hand.type("two")
        await hand.press("Tab")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, FIELDS, do)
    assert [each.action.value for each in acted] == [Parameter("name"), Text("one\ntwo")]


# A click that does nothing by itself, in an editor that has the cursor and saves what is typed.
EDITOR = """<h1>Editor</h1><div id=pad>Pad</div><label>Text <input id=text></label>
<script>
pad.onmousedown = (event) => event.preventDefault();
text.oninput = () => fetch("/none", {method: "POST", body: text.value});
text.focus();
</script>"""


async def test_what_is_typed_behind_a_click_is_no_effect_of_the_click(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async with App.open(log) as app:
        started = session_started.watching("it", server.show(EDITOR), {})
        async with recorded(app, chromium, started) as (hand, _):
            await hand.click("#pad")
            await hand.page.keyboard.type("at a person's pace", delay=90)
            await hand.press("Tab")
            await hand.looks(2)
        _, clicked, typed = (await learned(log)).steps
        assert (clicked.action.type, typed.action.type) == ("click", "type")
        assert not clicked.after.effect
        assert clicked.after.learned == ()
        assert ServerAnswered(f"POST {server.url}/none") in typed.after.learned
        sailed = await app.run_in_browser(
            session_started.run_of(await learned(log), {}, ()), chromium
        )
        assert sailed.reason == "completed", sailed


async def test_a_click_into_a_field_that_nothing_is_typed_into_is_a_step(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        await hand.click("#name")
        await hand.click("#agree")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, FIELDS, do)
    assert said(acted) == ["click 'Name'", "click 'Agree'"]


async def test_a_label_is_clicked_once_and_stands_for_its_control(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        box = await hand.page.locator("#agree").bounding_box()
        assert box is not None
        await hand.page.mouse.click(box["x"] + box["width"] + 12, box["y"] + 5)
        await hand.looks(1)

    [acted] = await steps_of(chromium, server, log, FIELDS, do)
    assert acted.element is not None
    assert (acted.action.type, acted.element.kind) == ("click", "checkbox")


async def test_enter_in_a_field_is_a_key_and_on_a_button_a_click(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        await hand.fill("#name", "x")
        await hand.press("Enter")
        await hand.arrives("/another*")
        await hand.page.goto(hand.began)
        await hand.reach("#save")
        await hand.press("Enter")
        await hand.arrives("/another*")
        await hand.looks(4)

    acted = await steps_of(chromium, server, log, FIELDS, do)
    kinds = [each.action.type for each in acted]
    assert kinds == ["type", "press", "navigate", "click"]


async def test_a_choice_in_a_list_and_by_keyboard(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        await hand.reach("#size")
        await hand.press("ArrowDown")
        await hand.reach("#agree")
        await hand.press("Space")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, FIELDS, do)
    assert said(acted) == ["select 'l' in 'Size'", "click 'Agree'"]


async def test_what_a_script_does_is_no_step_of_the_person(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        await hand.page.evaluate("document.querySelector('#agree').click()")
        await hand.page.evaluate(
            "document.querySelector('#name').dispatchEvent(new Event('input', {bubbles: true}))"
        )
        await hand.page.evaluate("document.querySelector('#save').click()")
        await hand.arrives("/another*")
        await hand.click("h1")
        await hand.looks(1)

    acted = await steps_of(chromium, server, log, FIELDS, do)
    assert said(acted) == ["click 'Another'"]


async def test_the_address_bar_and_going_back_are_navigations(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    async def do(hand: Hand) -> None:
        await hand.page.goto(f"{server.url}/another")
        await hand.looks(1)
        await hand.page.go_back()
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, FIELDS, do)
    assert [each.action.type for each in acted] == ["navigate", "navigate"]
    assert acted[0].action.url == f"{server.url}/another"


async def test_a_dialog_is_the_persons_to_answer_and_the_answer_goes_with_the_step(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    html = (
        """<button id=go onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Go</button>"""
    )

    async def do(hand: Hand) -> None:
        async with anyio.create_task_group() as group, hand.asked() as dialog:
            group.start_soon(hand.click, "button")
            await (await dialog()).accept()
        await hand.looks(1)
        assert await hand.page.title() == "yes"

    [acted] = await steps_of(chromium, server, log, html, do, sail=True)
    assert acted.action.dialogs == (DialogAnswer(True, kind="confirm", message="sure?"),)


async def test_a_file_that_is_chosen_becomes_a_parameter(
    chromium: Chromium, server: PageServer, log: EventLog, tmp_path: Path
) -> None:
    paper = tmp_path / "bill of lading.txt"
    paper.write_text("one crate")

    async def do(hand: Hand) -> None:
        async with hand.page.expect_file_chooser() as chosen:
            await hand.click("#papers")
        await (await chosen.value).set_files(paper)
        await hand.looks(1)

    [acted] = await steps_of(chromium, server, log, FIELDS, do)
    assert acted.action.value == Parameter("papers")


async def test_what_happens_in_a_frame_and_in_a_shadow_root_is_named_from_the_page(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    inner = server.show("<button id=inside>Inside</button>")
    html = f"""<iframe id=frame src="{inner}"></iframe><div id=host></div><script>
      host.attachShadow({{mode: "open"}}).innerHTML = "<button class=deep>Deep</button>";
    </script>"""

    async def do(hand: Hand) -> None:
        button = hand.page.frame_locator("#frame").locator("#inside")
        await button.wait_for()
        box = await button.bounding_box()
        assert box is not None
        await hand.page.mouse.click(box["x"] + 5, box["y"] + 5)
        await hand.click("#host .deep")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, html, do, sail=True)
    assert said(acted) == ["click 'Inside'", "click 'Deep'"]


async def test_steps_in_a_page_that_was_opened_say_in_which(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    other = server.show("<title>Other</title><button id=b>There</button>")
    html = f'<a href="{other}" target=_blank id=open>Open</a> <button id=a>Here</button>'

    async def do(hand: Hand) -> None:
        async with hand.context.expect_page() as opened:
            await hand.click("#open")
        page = await opened.value
        await page.wait_for_selector("#b")
        await hand.looks(1)
        await hand.click("#b", page=page)
        await hand.looks(2)
        await hand.page.bring_to_front()
        await hand.click("#a")
        await hand.looks(3)

    acted = await steps_of(chromium, server, log, html, do, sail=True)
    assert [each.action.tab for each in acted] == [None, 1, 0]


# -- how it ends -------------------------------------------------------------------------------


async def test_a_recording_that_is_interrupted_keeps_what_was_being_typed(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    url = server.show(FIELDS)
    async with App.open(log) as app:
        started = session_started.watching("it", url, {})
        async with recorded(app, chromium, started, name="it") as (hand, ended):
            await hand.click("#name")
            await hand.type("half")
            assert app.finish("it")
            with anyio.fail_after(10):
                await hand.heard.until(RecordingFinished)
                await hand.heard.until(SessionEnded)
        assert ended["it"].reason == "completed"
        assert [each.action.value for each in hand.heard.acted] == [Text("half")]
        assert (await learned(log)).complete


# A cookie stands for a server's store: every request takes it there.
SHIPS = """<h1>Ships</h1><label>Ship <input id=ship></label><button id=save>Save</button>
<ul id=list></ul><script>
const show = (name) => list.innerHTML = name ? `<li>${name}</li>` : "";
show(%s);
save.onclick = () => fetch("/kept", {method: "POST", body: ship.value}).then(() => {
  document.cookie = `ship=${ship.value}`; show(ship.value); ship.value = "" });</script>"""
KEPT, LOST = SHIPS % 'document.cookie.split("=")[1]', SHIPS % '""'
FOUND = ReadBack(HERE, (TextVisible("${name}"),))


@pytest.mark.parametrize(
    ("html", "attended", "closed", "found", "taken"),
    [
        (KEPT, False, False, [FOUND], FOUND),
        (KEPT, True, False, [FOUND], None),
        (KEPT, False, True, [], None),
        (LOST, False, False, [], None),
    ],
    ids=["taken", "proposed", "window closed", "nothing kept"],
)
async def test_what_was_typed_is_looked_for_when_the_person_is_done(
    chromium: Chromium,
    server: PageServer,
    log: EventLog,
    html: str,
    attended: bool,
    closed: bool,
    found: list[ReadBack],
    taken: ReadBack | None,
) -> None:
    values = {"name": "Aurora Borealis"}
    async with App.open(log) as app:
        started = session_started.watching("it", server.show(html), values, attended=attended)
        async with recorded(app, chromium, started, name="it") as (hand, ended):
            await hand.fill("#ship", values["name"])
            await hand.click("#save")
            await hand.sees("#list li")
            await hand.looks(2)
            if not closed:
                assert app.finish("it")
                await hand.heard.until(SessionEnded)
        assert ended["it"].reason == "completed"
        told = [each for each in hand.heard.events if isinstance(each, ReadBackFound)]
        assert [(each.step, each.read_back) for each in told] == [(3, back) for back in found]
        flow = await learned(log)
        assert flow.complete
        assert [step.action.type for step in flow.steps] == ["navigate", "type", "click"]
        assert flow.steps[2].after.read_back == taken
        assert hand.heard.count(ActionJudged) == len(flow.steps) + (not closed)


async def test_a_browser_that_dies_leaves_what_was_recorded(
    server: PageServer, log: EventLog
) -> None:
    url = server.show(FIELDS)
    executable = find_chromium()
    assert executable is not None
    async with Chromium(executable, Gate()) as chromium, App.open(log) as app:
        started = session_started.watching("it", url, {})
        async with recorded(app, chromium, started) as (hand, ended):
            await hand.click("#agree")
            await hand.looks(1)
            assert chromium.process is not None
            os.kill(chromium.process, signal.SIGKILL)
            await hand.heard.until(SessionEnded)
        assert (ended["it"].reason, ended["it"].failure) == ("interrupted", "browser_lost")
        flow = await learned(log)
        assert not flow.complete
        assert [step.action.type for step in flow.steps] == ["navigate", "click"]


# -- secrets -----------------------------------------------------------------------------------


async def test_a_secret_is_a_reference_and_its_value_never_left_the_page(
    chromium: Chromium, server: PageServer, log: EventLog, tmp_path: Path
) -> None:
    html = """<form action="/another" method=get>
    <label>Password <input id=p name=password type=password></label>
    <button type=button id=show onclick="p.type = 'text'">Show</button>
    <label>One-time code <input id=o autocomplete=one-time-code></label>
    <label>Card number <input id=c autocomplete=cc-number></label>
    <button id=send>Send</button></form>"""
    secrets = {"#p": "hunter2 & Co", "#o": "918273", "#c": "4111222233334444"}

    async def do(hand: Hand) -> None:
        for field, value in secrets.items():
            await hand.fill(field, value)
        await hand.click("#show")
        await hand.fill("#p", secrets["#p"])
        await hand.click("#send")
        await hand.arrives("/another*")
        await hand.looks(6)

    acted = await steps_of(chromium, server, log, html, do)
    named = [each.action.value for each in acted if each.action.type == "type"]
    assert named == [
        Secret("password"),
        Secret("one_time_code"),
        Secret("card_number"),
        Secret("password"),
    ]
    for value in secrets.values():
        assert places_of(value, tmp_path) == []


async def test_letters_that_go_where_we_cannot_see_are_not_told(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    html = """<div id=host style="padding:20px"></div><script>
      const field = document.createElement("input"); field.type = "password"; field.id = "in";
      host.attachShadow({mode: "closed"}).append(field); window.field = field;</script>"""

    async def do(hand: Hand) -> None:
        await hand.page.evaluate("field.focus()")
        await hand.type("hunter2")
        await hand.press("Escape")
        await hand.looks(1)

    acted = await steps_of(chromium, server, log, html, do)
    assert said(acted) == ["press Escape"]


@pytest.mark.parametrize(
    "field",
    [
        *("<span id=l>Card number</span><input id=f aria-labelledby=l>",),
        *("<input id=f title='Security code'>", "<input id=f name=ccnum>"),
        *("<label>Verification code<input id=f></label>", "<input id=f name=app_totp>"),
        *("<input id=f placeholder='Your pwd'>", "<label for=f>2FA</label><input id=f>"),
    ],
)
async def test_a_field_is_secret_by_whatever_names_it(
    chromium: Chromium, server: PageServer, log: EventLog, tmp_path: Path, field: str
) -> None:
    async def do(hand: Hand) -> None:
        await hand.fill("#f", "8675309123")
        await hand.press("Enter")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, field, do)
    assert isinstance(acted[0].action.value, Secret)
    assert places_of("8675309123", tmp_path) == []


async def test_what_a_dialog_asks_for_may_be_a_secret_or_a_parameter(
    chromium: Chromium, server: PageServer, log: EventLog, tmp_path: Path
) -> None:
    html = """<button id=a onclick="prompt('Your password?')">A</button>
      <button id=b onclick="prompt('Your name?')">B</button>"""
    typed = {"#a": "hunter2 & Co", "#b": "Ann Smith"}

    async def do(hand: Hand) -> None:
        for number, (button, text) in enumerate(typed.items(), 1):
            async with anyio.create_task_group() as group, hand.asked() as dialog:
                group.start_soon(hand.click, button)
                await (await dialog()).accept(text)
            await hand.looks(number)

    first, second = await steps_of(chromium, server, log, html, do)
    assert first.action.dialogs[0].secret == "answer"
    assert second.action.dialogs[0].text == "${name}"
    assert places_of(typed["#a"], tmp_path) == []


async def test_every_choice_in_a_list_of_several_is_told(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    html = "<label>Kinds <select id=s multiple size=3><option>a<option>b<option>c</select></label>"

    async def do(hand: Hand) -> None:
        await hand.reach("#s")
        await hand.press("Home")
        await hand.press("Shift+ArrowDown")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, html, do, sail=True)
    assert [each.action.value for each in acted] == [Text("a"), Text("a\nb")]


async def test_addresses_are_told_without_what_sounds_secret(
    chromium: Chromium, server: PageServer, log: EventLog, tmp_path: Path
) -> None:
    html = f'<a id=a target=_blank href="{server.url}/another?access_token=sesame-5">Open</a>'

    async def do(hand: Hand) -> None:
        async with hand.context.expect_page():
            await hand.click("#a")
        await hand.looks(1)
        await hand.page.goto(f"{server.url}/another?page=2&token=sesame-5")
        await hand.looks(2)

    acted = await steps_of(chromium, server, log, html, do)
    assert acted[1].action.url == f"{server.url}/another?page=2&token=(secret)"
    assert places_of("sesame-5", tmp_path) == []


async def test_ctrl_c_while_a_dialog_is_open_keeps_the_step_that_opened_it(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    url = server.show("<button onclick=\"alert('Wait')\">Go</button>")
    async with App.open(log) as app:
        started = session_started.watching("it", url, {})
        async with (
            recorded(app, chromium, started, name="it") as (hand, ended),
            anyio.create_task_group() as group,
            hand.asked() as dialog,
        ):

            async def click() -> None:
                with suppress(PlaywrightError):  # the window closes under it
                    await hand.click("button")

            group.start_soon(click)
            await dialog()
            assert app.finish("it")
            await hand.heard.until(SessionEnded)
        assert ended["it"].reason == "completed"
        assert said(hand.heard.acted) == ["click 'Go'"]


async def test_the_passwords_of_two_sites_have_two_names(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    login = "<input id=p type=password autocomplete=current-password>"
    with PageServer() as elsewhere:
        other = elsewhere.show(login)

        async def do(hand: Hand) -> None:
            await hand.fill("#p", "one of two")
            await hand.press("Tab")
            await hand.looks(1)
            await hand.page.goto(other)
            await hand.fill("#p", "two of two")
            await hand.press("Tab")
            await hand.looks(3)

        host = other.split("/")[2]
        acted = await steps_of(chromium, server, log, login, do, allow=[host])
    named = [each.action.value for each in acted if each.action.type == "type"]
    assert named == [Secret("password"), Secret("password_2")]
