"""The bar beside the page: what is pressed in it is a fact, and the workflow is made with it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Parameter, Text
from rutter.events.log import EventLog
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import RecordingFinished
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from rutter.replay.steps import steps_in
from rutter.replay.story.wording import in_words
from tests.support.human_hand import Hand, recorded
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

ORDER = """<h1>Order</h1><form onsubmit="return false">
<label>Customer <input id=customer></label><label>Note <input id=note></label>
<label>Berth <input id=berth></label><label>Item <input id=item></label>
<label>Count <input id=count></label><label>Day <input id=day></label>
<label><input type=checkbox id=urgent> Urgent</label>
<button type=button id=save onclick="said.hidden = false">Save</button></form>
<div id=said hidden role=status><p>Order placed</p>
<dl><dt>Order number</dt><dd>4711</dd><dt>Total</dt><dd id=total>EUR 12.50</dd></dl>
<table id=lines><caption>Lines</caption><tr><th>Item<th>Count<tr><td>Rope<td>3</table></div>"""


@pytest.fixture
async def log(replayed: Replayed, tmp_path: Path) -> AsyncIterator[EventLog]:
    opened = await replayed.sqlite(tmp_path / "log.db")
    yield opened
    await opened.close()


async def learned(log: EventLog) -> list[Workflow]:
    events = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
    return [each.workflow for each in events if isinstance(each, WorkflowLearned)]


async def work(hand: Hand) -> None:
    """Twelve steps, of which one is left out and one is optional, and what one typed varies."""
    bar = hand.bar
    await bar.says("1 step")
    await hand.fill("#customer", "Aurora")
    await bar.press("#varies")
    await bar.page.fill("#answer", "customer")
    await bar.press("#yes")
    await bar.says("Each run gets its own")
    await hand.fill("#note", "oops")
    await hand.press("Tab")
    await bar.says("3 steps")
    await bar.says("type 'oops'")
    await bar.press("#undo")
    await bar.says("2 steps")
    for field, text in TYPED.items():
        await hand.fill(field, text)
    await hand.click("#urgent")
    await bar.says("7 steps")
    await bar.press("#optional")
    await bar.says("goes on without it")
    await hand.click("#save")
    await bar.says("8 steps")


async def pick(hand: Hand) -> None:
    """A value by its label, a table by one of its cells, and a text that must be there."""
    bar = hand.bar
    await bar.press("#read")
    await bar.says("Which value")
    await hand.click("dd >> nth=0")
    await bar.says("Read this value")
    await bar.press("#yes")
    await bar.says("9 steps")
    await bar.press("#read")
    await bar.says("Which value")
    await hand.click("td >> nth=0")
    await bar.says("the whole table")
    await bar.press("[name=which][value=whole]")
    await bar.press("#yes")
    await bar.says("10 steps")
    await bar.press("#check")
    await bar.says("What must be so")
    await hand.click("#said p")
    await bar.press("#yes")
    await bar.says("11 steps")
    await bar.press("#done")
    await hand.heard.until(RecordingFinished)


TYPED = {"#berth": "Waalhaven", "#item": "Rope", "#count": "3", "#day": "Monday"}
STEPS = [
    ("type", "<customer>", False),
    *(("type", text, False) for text in TYPED.values()),
    ("click", "", True),
    ("click", "", False),
    ("extract", "order_number", False),
    ("extract", "lines", False),
    ("check", "Order placed", False),
]


def told(flow: Workflow) -> list[tuple[str, str, bool]]:
    """What each step does, by what it types, reads or checks; without the way to the page."""
    found: list[tuple[str, str, bool]] = []
    for step in flow.steps[1:]:
        value, action = step.action.value, step.action
        said = f"<{value.name}>" if isinstance(value, Parameter) else action.name or ""
        said = value.text if isinstance(value, Text) else said
        said = " ".join([said, *(check.value for check in action.verify)]).strip()
        found.append((action.type, said, step.optional))
    return found


async def check_the_bar(chromium: Chromium, server: PageServer, log: EventLog) -> None:
    async with App.open(log) as app:
        started = session_started.watching("it", server.show(ORDER), {})
        async with recorded(app, chromium, started, bar_words=in_words) as (hand, ended):
            await work(hand)
            await pick(hand)
        assert ended["it"].reason == "completed", ended
        [flow] = await learned(log)
        assert told(flow) == STEPS
        assert flow.parameters == ("customer",)
        run = session_started.run_of(flow, {"customer": "Juniper"}, ())
        done = await app.run_in_browser(run, chromium)
        assert (done.reason, done.failure) == ("completed", ""), done
        events = [each async for each in log.read()]
        results = steps_in(each for each in events if each.session.startswith("run")).results
        assert results.values["order_number"] == "4711"
        assert results.tables["lines"].rows == [["Rope", "3"]]


async def test_what_is_pressed_in_the_bar_becomes_of_the_workflow(
    chromium: Chromium, server: PageServer, log: EventLog
) -> None:
    await check_the_bar(chromium, server, log)


async def test_so_in_a_real_window(
    server: PageServer, log: EventLog, display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    executable = find_chromium()
    assert executable is not None
    async with Chromium(executable, Gate(), headless=False) as chromium:
        await check_the_bar(chromium, server, log)
