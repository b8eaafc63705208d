"""Given the daemon's guard and a stock client with the agent's token: MCP over streamable HTTP."""

import json

import anyio
import pytest
from mcp_types import CallToolResult

from rutter.events.runtime import SessionEnded
from tests.support.guarded_app import AGENT, PERSON
from tests.support.log_checks import Replayed, events_of
from tests.support.mcp_clients import BOTH, mcp_on_a_port
from tests.support.scripted_tool_sessions import START, body, refs, rehearsed, text
from tests.support.until_true import until

pytestmark = pytest.mark.anyio

ACCEPT = "Accept: application/json, text/event-stream"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}


@pytest.mark.parametrize("mode", BOTH)
async def test_a_stock_client_does_a_task(replayed: Replayed, mode: str) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host, mcp_on_a_port(host, host.app) as mcp:
        async with mcp.client(mode) as client:
            await client.list_tools()
            first = await client.call_tool(
                "open_session", {"url": START, "success": ["heading=Found"]}
            )
            session = body(first)["session"]
            # Who keeps no connection is told to name the session, and does.
            which = {} if mode == "legacy" else {"session": session}
            assert ("Every call must name this session" in text(first)) == (mode == "auto")
            found = await client.call_tool("browser_click", {"ref": refs(first)["Find"], **which})
            assert body(found)["success"] is True
            done = {"status": "success", "reason": "found", **which}
            over = await client.call_tool("complete_task", done)
        assert body(over)["acknowledged"] is True
    [ended] = [each for each in await events_of(log, session) if isinstance(each, SessionEnded)]
    assert ended.reason == "completed"
    assert host.agents == [True]


async def test_a_client_without_a_connection_must_name_its_session(replayed: Replayed) -> None:
    async with (
        rehearsed(replayed.memory()) as host,
        mcp_on_a_port(host, host.app) as mcp,
        mcp.client("auto") as client,
    ):
        await client.list_tools()
        await client.call_tool("open_session", {"url": START})
        answer = await client.call_tool("get_snapshot", {})
    assert answer.is_error
    assert 'name the session: "session"' in body(answer)["message"]


async def test_a_client_that_disconnects_ends_its_session(replayed: Replayed) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host, mcp_on_a_port(host, host.app) as mcp:
        async with mcp.client() as client:
            first = await client.call_tool("open_session", {"url": START})
        session = body(first)["session"]
        await host.tools[session].finished.wait()
    [ended] = [each for each in await events_of(log, session) if isinstance(each, SessionEnded)]
    assert ended.reason == "cancelled"


@pytest.mark.parametrize("mode", BOTH)
async def test_a_session_is_for_the_token_that_opened_it(replayed: Replayed, mode: str) -> None:
    async with (
        rehearsed(replayed.memory()) as host,
        mcp_on_a_port(host, host.app) as mcp,
        mcp.client(mode, PERSON) as person,
        mcp.client(mode) as agent,
    ):
        for client in (person, agent):
            await client.list_tools()
        mine = await person.call_tool("open_session", {"url": START})
        theirs = await agent.call_tool("open_session", {"url": START})
        one, other = body(mine)["session"], body(theirs)["session"]
        for client, session in ((agent, one), (person, other)):
            answer = await client.call_tool("get_snapshot", {"session": session})
            assert body(answer)["error"] == "invalid_params"
            assert "you have no session" in body(answer)["message"]
        kept = await person.call_tool("get_snapshot", {"session": one})
    assert body(kept)["success"] is True
    assert host.agents == [False, True]


async def test_a_connection_is_for_the_token_that_opened_it(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, mcp_on_a_port(host, host.app) as mcp:
        said = await mcp.served.post("/mcp", json.dumps(HELLO).encode(), ACCEPT, token=PERSON)
        [connection] = said.header("mcp-session-id")
        which = f"Mcp-Session-Id: {connection}"
        taken = [
            await mcp.served.post("/mcp", _calls("tools/list"), ACCEPT, which, token=AGENT),
            await mcp.served.ask("/mcp", ACCEPT, which, token=AGENT),
            await mcp.served.ask("/mcp", ACCEPT, which, method="DELETE", token=AGENT),
        ]
        own = await mcp.served.ask("/mcp", ACCEPT, which, method="DELETE", token=PERSON)
    assert [each.status for each in taken] == [404, 404, 404]
    assert own.status == 200


async def test_what_the_guard_refuses_never_reaches_it(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, mcp_on_a_port(host, host.app) as mcp:
        ask = mcp.served
        hello = json.dumps(HELLO).encode()
        refused = {
            "nobody": await ask.post("/mcp", hello, ACCEPT, token=""),
            "a page": await ask.post("/mcp", hello, ACCEPT, "Origin: https://evil.example"),
            "a name of its own": await ask.post("/mcp", hello, ACCEPT, host="evil.example"),
            "a form": await ask.post("/mcp", b"a=b", ACCEPT, "Content-Type: text/plain"),
            "a token in the address": await ask.post("/mcp?token=x", hello, ACCEPT),
            "a stream for nobody": await ask.ask("/mcp", ACCEPT, token=""),
        }
        assert ask.spy.reached == []
    assert {who: answer.status for who, answer in refused.items()} == {
        "nobody": 401,
        "a page": 403,
        "a name of its own": 421,
        "a form": 415,
        "a token in the address": 400,
        "a stream for nobody": 401,
    }
    assert host.tools == {}


async def test_everything_else_is_for_the_app_beside_it(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, mcp_on_a_port(host, host.app) as mcp:
        assert (await mcp.served.ask("/mcps")).status == 200
        assert mcp.served.spy.reached == [("GET", "/mcps")]


async def test_a_call_that_waits_for_a_person_is_answered_when_its_session_is_ended(
    replayed: Replayed,
) -> None:
    answers: list[CallToolResult] = []
    async with (
        rehearsed(replayed.memory()) as host,
        mcp_on_a_port(host, host.app) as mcp,
        mcp.client() as client,
    ):
        first = await client.call_tool("open_session", {"url": START})
        session = body(first)["session"]

        async def order() -> None:
            ref = refs(first)["Order"]
            answers.append(await client.call_tool("browser_click", {"ref": ref}))

        async with anyio.create_task_group() as group:
            group.start_soon(order)
            await until(lambda: host.questions.pending(session))
            await host.close(session)
    [answer] = answers
    assert body(answer)["error"] == "unavailable"
    assert [action.type for action in host.worlds[session].done] == ["navigate"]


async def test_the_daemon_stops_though_a_client_is_connected(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, mcp_on_a_port(host, host.app) as mcp:
        async with mcp.client() as client:
            await client.call_tool("open_session", {"url": START})
            mcp.stop.set()
        await mcp.stopped.wait()


def _calls(method: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 2, "method": method}).encode()
