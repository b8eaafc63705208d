"""Given a daemon that has the data directory: whoever speaks MCP on stdio speaks to the daemon."""

import anyio
import pytest
from mcp import Client

from rutter.actors.answers import PersonAnswer
from rutter.events.errors import WorldBroken
from rutter.events.runtime import SessionEnded
from rutter.pipeline.mcp.bridge import across
from tests.support.guarded_app import AGENT
from tests.support.log_checks import Replayed, events_of
from tests.support.mcp_clients import BOTH, mcp_on_a_port
from tests.support.scripted_tool_sessions import START, body, refs, rehearsed

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", BOTH)
async def test_what_is_asked_here_is_asked_there_whatever_is_spoken(
    replayed: Replayed, mode: str
) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host, mcp_on_a_port(host, host.app) as mcp:
        async with across(mcp.url, AGENT) as server, Client(server, mode=mode) as client:
            there = await client.list_tools()
            first = await client.call_tool("open_session", {"url": START})
            # The daemon remembers the session for the bridge: no call must name it.
            found = await client.call_tool("browser_click", {"ref": refs(first)["Find"]})
            stale = await client.call_tool("browser_click", {"ref": "@e77"})
        session = body(first)["session"]
        await host.tools[session].finished.wait()
    assert there.tools[0].name == "open_session"
    assert body(found)["success"] is True
    assert (stale.is_error, body(stale)["error"]) == (True, "ref_invalid")
    [ended] = [each for each in await events_of(log, session) if isinstance(each, SessionEnded)]
    assert ended.reason == "cancelled"
    assert host.agents == [True]


async def test_progress_comes_back_and_calling_off_goes_there(replayed: Replayed) -> None:
    told: list[str | None] = []
    heard = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)
        heard.set()

    async with (
        rehearsed(replayed.memory()) as host,
        mcp_on_a_port(host, host.app) as mcp,
        across(mcp.url, AGENT) as server,
        Client(server, mode="legacy") as client,
    ):
        first = await client.call_tool("open_session", {"url": START})
        session = body(first)["session"]
        async with anyio.create_task_group() as group:

            async def call_off() -> None:
                await heard.wait()
                group.cancel_scope.cancel()

            group.start_soon(call_off)
            ref = refs(first)["Order"]
            await client.call_tool("browser_click", {"ref": ref}, progress_callback=hear)
        [question] = host.questions.pending(session)
        host.questions.answer(session, question.approval, PersonAnswer(False, "too late"))
        again = await client.call_tool("get_snapshot", {})
    assert told[0] == f"a person is being asked (policy) in session {session}"
    assert body(again)["success"] is True
    assert [action.type for action in host.worlds[session].done] == ["navigate"]


async def test_a_wrong_token_and_a_daemon_that_is_gone_are_errors_that_say_so(
    replayed: Replayed,
) -> None:
    async with rehearsed(replayed.memory()) as host, mcp_on_a_port(host, host.app) as mcp:
        with pytest.raises(WorldBroken, match="does not answer"):
            async with across(mcp.url, "x" * 43):
                pass
    with pytest.raises(WorldBroken, match="does not answer"):
        async with across(mcp.url, AGENT):
            pass
