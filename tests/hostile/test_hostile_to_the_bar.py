"""A page that is against the bar of a recording presses nothing, reads nothing, hides nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events.executor import PersonActed, StepMarked
from rutter.events.log import EventLog
from rutter.events.observer import BarDisturbed
from rutter.events.runtime import RecordingFinished
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from rutter.replay.story.wording import in_words
from tests.support.human_hand import Hand, recorded
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

# It is first in its document, patches what others may use, watches everything, presses what it can.
HOSTILE = """<!doctype html><script>
window.heard = []; window.found = [];
const own = new Set();
for (const type of ["pointerdown", "mousedown", "click", "keydown", "keyup"])
  addEventListener(type, (event) => event.isTrusted && heard.push(event.key || type), true);
const patched = [
  [Element.prototype, "attachShadow"], [EventTarget.prototype, "addEventListener"],
  [JSON, "stringify"], [Document.prototype, "createElement"], [Node.prototype, "appendChild"],
  [Element.prototype, "getBoundingClientRect"], [window, "getComputedStyle"],
];
for (const [owner, name] of patched) {
  const real = owner[name];
  owner[name] = function (...given) {
    // What the test itself asks of the page is none of ours.
    new Error().stack.includes("InjectedScript") || found.push(`called ${name}`);
    return real.apply(this, given);
  };
}
const all = { subtree: true, childList: true, attributes: true, characterData: true };
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes)
    for (const node of [target, ...addedNodes])
      own.has(node) || found.push(`changed ${node.nodeName}`);
}).observe(document, all);
new BroadcastChannel("rutter").onmessage = () => found.push("a message");
addEventListener("message", () => found.push("a message"));
const names = Object.getOwnPropertyNames(window);
function attack() {
  for (const key of ["F8", "d", "x", "u", "o", "r", "v", "Escape", "Enter"])
    for (const type of ["keydown", "keypress", "keyup"])
      document.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, cancelable: true }));
  for (const name of ["rutterBar", "rutterBarSays", "rutterHeard", "rutter", "rutterPick"]) {
    if (name in window) found.push(name);
    try { window[name]?.('{"do":"discard"}'); } catch {}
  }
  for (const name of Object.getOwnPropertyNames(window))
    names.includes(name) || name in mine || found.push(`name ${name}`);
  new BroadcastChannel("rutter bar").postMessage({ do: "discard" });
  if (window.opener || window.frames.length) found.push("a window");
}
const mine = { attack: 1, trap: 1 };
</script><body><h1>Fair and square</h1>
<p>Total: <b id=value>EUR 5</b></p>
<button id=open_over>Open</button> <button id=full>Full</button>
<script>
for (const el of document.querySelectorAll("*")) own.add(el);
const over = "popup,left=900,top=0,width=480,height=600";
open_over.onclick = () => (window.trap = open("about:blank", "", over));
full.onclick = () => document.documentElement.requestFullscreen();
// What is pointed at goes away from under the pointer, and something else comes.
value.onmousedown = value.onclick = () => (value.textContent = "EUR 5,000,000");
found.length = 0;
setInterval(attack, 30);
</script>"""


@pytest.fixture
async def log(replayed: Replayed, tmp_path: Path) -> AsyncIterator[EventLog]:
    opened = await replayed.sqlite(tmp_path / "log.db")
    yield opened
    await opened.close()


def disturbed(hand: Hand) -> list[BarDisturbed]:
    return [each for each in hand.heard.events if isinstance(each, BarDisturbed)]


async def test_nothing_is_pressed_or_read_and_nothing_goes_unnoticed(
    server: PageServer, log: EventLog, display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = find_chromium()
    assert executable is not None
    monkeypatch.setenv("DISPLAY", display)
    async with Chromium(executable, Gate(), headless=False) as chromium, App.open(log) as app:
        started = session_started.watching("it", server.show(HOSTILE), {})
        async with recorded(app, chromium, started, bar_words=in_words) as (hand, ended):
            bar = hand.bar
            await hand.press("F8")
            await bar.says("1 step")
            # A press right after the pointer came: something may have lain here just before.
            box = await bar.page.locator("#discard").bounding_box()
            assert box is not None
            await bar.page.mouse.click(box["x"] + 9, box["y"] + 9)
            await bar.says("came too soon")
            await bar.press("#read")
            await bar.says("Which value")
            await hand.click("#value")
            await bar.says("Read this value")
            assert await bar.page.locator("#quote").inner_text() == "EUR 5"
            heard = await hand.page.evaluate("heard")
            assert heard == []
            await bar.press("#yes")
            await bar.says("2 steps")
            await hand.click("#full")
            await hand.heard.until(BarDisturbed)
            await hand.press("Escape")
            await hand.click("#open_over")
            await hand.heard.until(BarDisturbed, 2)
            over = [
                BarDisturbed("full_screen", restored=True),
                BarDisturbed("window", restored=True),
            ]
            assert disturbed(hand) == over
            found = await hand.page.evaluate("found")
            assert found == []
            assert hand.heard.count(StepMarked) == hand.heard.count(RecordingFinished) == 0
            await bar.press("#done")
            await hand.heard.until(RecordingFinished)
        assert ended["it"].reason == "completed", ended
        kinds = [each.action.type for each in hand.heard.events if isinstance(each, PersonActed)]
        assert kinds.count("extract") == 1
