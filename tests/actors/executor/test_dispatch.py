"""The Executor calls input dispatched before it sends it, never after (E7)."""

from pathlib import Path
from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Action, Parameter, Text
from rutter.events.executor import ActionDone
from rutter.events.validator import ActionStarted
from tests.actors.executor.test_actor import act_on, executor, perform
from tests.support.browser_fixtures import show, tell
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
__all__ = ["executor"]

PAGE = """<input id=a><select id=s><option>one<option>two</select><input id=f type=file>
<input id=d type=date><input id=b type=checkbox><button>Go</button>"""
SENDS = ("Input.", "Page.navigate", "DOM.setFileInputFiles")


async def test_whatever_is_sent_was_called_dispatched_before(
    executor: Executor,
    tab: Tab,
    server: PageServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that dies between the two has said too much, never too little."""
    await show(tab, server, PAGE)
    (tmp_path / "file").write_text("x")
    sent: list[tuple[str, bool]] = []
    real_send, real_act, real_press = Tab._send, Tab.act, Tab.press

    async def send(self: Tab, method: str, parameters: dict[str, object]) -> dict[str, Any]:
        if method.startswith(SENDS):
            sent.append((method, executor._held.dispatched))
        return await real_send(self, method, parameters)

    async def act(self: Tab, name: str, *more: Any, **limits: Any) -> Any:
        sent.append((name, executor._held.dispatched))
        return await real_act(self, name, *more, **limits)

    async def press(self: Tab, key: str, *, within_ms: int) -> None:
        sent.append((key, executor._held.dispatched))
        await real_press(self, key, within_ms=within_ms)

    for name, hook in (("_send", send), ("act", act), ("press", press)):
        monkeypatch.setattr(Tab, name, hook)
    for action in (
        act_on("type", "#a", Parameter("customer")),
        act_on("type", "#a", Text("")),
        act_on("select", "#s", Text("two")),
        act_on("type", "#f", Text(str(tmp_path / "file"))),
        act_on("type", "#d", Text("2026-03-20")),
        act_on("type", "#b", Text("on")),
        act_on("click", "button"),
        act_on("press", "#a", key="a"),
    ):
        assert isinstance(await perform(executor, action), ActionDone), action
    await tell(executor, ActionStarted(1, 1, Action("navigate", url=f"{server.url}/another")))
    assert {name for name, _ in sent} >= {
        *("Input.dispatchKeyEvent", "Input.insertText", "Input.dispatchMouseEvent"),
        *("DOM.setFileInputFiles", "Page.navigate", "choose", "setValue", "a"),
    }
    assert [name for name, dispatched in sent if not dispatched] == []
