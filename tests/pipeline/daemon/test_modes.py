"""Mode A and Mode B (H3): the same tool calls leave equal traces, whether a language model may be
asked by itself or not."""

import json
from pathlib import Path
from typing import Any

import pytest

from rutter.events.envelope import kind
from rutter.events.event import Event
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.demo import ALONE
from tests.support.daemon_on_site import Anchored, anchored
from tests.support.recorded_site import PASSWORD, Harbour

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

ON = """
[agent]
provider = "ollama"

[agent.internal]
enabled = true
allowed_tools = ["browser_click", "browser_fill", "complete_task"]
"""
# How often a page is looked at until it has come to rest is the machine's business.
LOOKS = ("ObservationRequested", "PageObserved", "PageAssessed", "RequestBlocked")
SAME = ("tool_name", "args_hash", "status", "error_code", "policy_flags", "render_mode", "kind")


async def called(ship: Anchored) -> tuple[list[dict[str, Any]], list[str], list[dict[str, Any]]]:
    """Some calls, good and bad: the step trace, the kinds of events, the answers' outlines."""
    opened = await ship.ask(
        "POST",
        "/sessions",
        {"url": f"{ship.site.base_url}/login", "secrets": ["password"]},
        scope="agent",
    )
    session = opened.json["session"]
    answers = []

    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        place = f"/sessions/{session}/tools/{tool}"
        answer = dict((await ship.ask("POST", place, arguments, scope="agent")).json)
        answers.append({name: answer.get(name) for name in ("success", "error", "error_code")})
        return answer

    seen = await call("get_snapshot")
    refs = {each["name"]: each["ref"] for each in seen["snapshot"]["elements"] if each["name"]}
    name = next(ref for said, ref in refs.items() if "name" in said.lower())
    await call("browser_fill", ref=name, value="mallory")
    await call("browser_click", ref="@e999")
    await call("browser_scroll", direction="down")
    await call("navigate", url="http://10.1.2.3/")
    await call("nothing_like_it")
    closed = await ship.ask("DELETE", f"/sessions/{session}", scope="agent")
    assert closed.status == 200
    steps = (await ship.ask("GET", f"/sessions/{session}/steps")).json
    with SqliteReader(ship.data / "log.db") as reader:
        events: list[Event] = [each.event for each in reader.read(session=session)]
    started = events[0]
    assert isinstance(started, SessionStarted)
    assert started.models is None  # nobody is asked in a session that somebody else drives
    kinds = [each for each in map(kind, events) if each not in LOOKS]
    return [{each: row[each] for each in SAME} for row in steps], kinds, answers


async def test_the_same_calls_leave_equal_traces_with_mode_b_on_and_off(
    harbour: Harbour, tmp_path: Path
) -> None:
    async with anchored(harbour, tmp_path / "off") as ship:
        off = await called(ship)
    async with anchored(harbour, tmp_path / "on", more=ON) as ship:
        assert (await ship.ask("POST", "/api/wraith", {"goal": "x"})).status != 403
        on = await called(ship)
    assert on == off
    assert len(on[0]) >= 4
    assert {each["error"] for each in on[2]} >= {"ref_invalid", "policy_denied", "invalid_params"}
    told = json.dumps([on, off])
    assert PASSWORD not in told
    assert ALONE["customer"] not in told
