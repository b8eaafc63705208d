"""`rutter mcp`: a stock MCP client starts the command and does a task on the bundled site by it."""

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.daemon.address_file import write_whereabouts
from rutter.pipeline.daemon.http.tokens import token_path
from rutter.pipeline.demo_sites.chandlery import Site
from tests.support.case_table import for_each
from tests.support.command_shell import COMMAND, ROOT, Rutter, places_of, wait_for_line
from tests.support.guarded_app import AGENT
from tests.support.log_checks import Replayed
from tests.support.mcp_clients import mcp_on_a_port
from tests.support.scripted_tool_sessions import START, body, refs, rehearsed, text

PASSWORD = "sheet bend & 9 fathoms"
BOTH = ("auto", "legacy")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(password=PASSWORD) as running:
        yield running


@asynccontextmanager
async def started(
    rutter: Rutter, *flags: str, mode: str = "legacy", errors: Path | None = None
) -> AsyncIterator[Client]:
    """The command as a client starts it, in a process of its own."""
    arguments = [*COMMAND[1:], "--data", str(rutter.data), "mcp", *flags]
    server = StdioServerParameters(
        command=COMMAND[0], args=arguments, cwd=ROOT, env=dict(os.environ)
    )
    with (errors or Path(os.devnull)).open("w") as stderr:
        async with Client(stdio_client(server, errlog=stderr), mode=mode) as client:
            yield client


@for_each(
    "flags, complaint",
    [
        (("--url", "ftp://shop.example/"), "is not a web address"),
        (("--allow", "shop.example/orders"), "shop.example/orders"),
        (("--secret", "password=env:NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE"),
        (("--answers", "nowhere.json"), "nowhere.json cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_starts(
    rutter: Rutter, flags: tuple[str, ...], complaint: str
) -> None:
    ended = rutter("mcp", *flags)
    assert ended.code == 2
    assert complaint in ended.complaint
    assert ended.out == ""


@pytest.mark.browser
@pytest.mark.anyio
@pytest.mark.parametrize("mode", BOTH)
async def test_a_stock_client_signs_in_by_the_tools_and_the_workflow_is_learned(
    rutter: Rutter, site: Site, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    answers = [{"approved": False, "message": "not yet"}, {"approved": True, "phrase": "confirm"}]
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    errors = tmp_path / "errors"
    flags = (
        *("--url", f"{site.base_url}/login"),
        *("--secret", f"password=file:{tmp_path / 'password'}@{site.base_url}"),
        *("--answers", str(tmp_path / "answers.json")),
    )
    async with started(rutter, *flags, mode=mode, errors=errors) as client:
        told = [tool.name for tool in (await client.list_tools()).tools]
        assert told[0] == "open_session"
        too_soon = await client.call_tool("get_snapshot", {})
        assert body(too_soon)["error"] == "unavailable"
        first = await client.call_tool("open_session", {"success": ["url=/desk"]})
        assert body(first)["success"] is True, text(first)
        named = {"ref": refs(first)["User name"], "value": "mate"}
        stale = await client.call_tool("browser_click", {"ref": "@e99"})
        named["ref"] = refs(stale)["User name"]
        filled = await client.call_tool("browser_fill", named)
        secret = {"ref": refs(filled)["Password"], "value": "${password}"}
        filled = await client.call_tool("browser_fill", secret)
        rejected = await client.call_tool("browser_click", {"ref": refs(filled)["Sign in"]})
        desk = await client.call_tool("browser_click", {"ref": refs(rejected)["Sign in"]})
        assert body(desk)["success"] is True, text(desk)
        over = await client.call_tool("complete_task", {"status": "success", "reason": "signed in"})
        session = body(first)["session"]
    assert (body(stale)["error"], body(rejected)["error"]) == ("ref_invalid", "human_rejected")
    assert body(rejected)["message"] == "User feedback: not yet"
    assert body(over) == {"acknowledged": True, "message": None}
    shown = rutter.json("show", session)
    assert shown["reason"] == "completed"
    assert [step["driver"] for step in shown["steps"]][:2] == ["script", "agent"]
    learned = rutter.json("transitions")
    assert {each["by_agent"] for each in learned} == {1}
    assert len(learned) == 3  # from opening the page to the name, the password, the button
    assert places_of(PASSWORD, rutter.data) == []
    assert PASSWORD not in errors.read_text()


@pytest.mark.browser
@pytest.mark.anyio
async def test_what_was_named_by_flags_may_be_reached_and_nothing_private_beside_it(
    rutter: Rutter, site: Site
) -> None:
    host = site.base_url.removeprefix("http://")
    async with started(rutter, "--allow", host) as client:
        denied = await client.call_tool("open_session", {"url": "http://127.0.0.1:1/"})
        unknown = await client.call_tool("open_session", {"secrets": ["password"]})
        first = await client.call_tool("open_session", {"url": f"{site.base_url}/login"})
        ref = refs(first)["Sign in"]
        nobody = await client.call_tool("browser_click", {"ref": ref})
        session = body(first)["session"]
    assert body(denied)["error"] == "policy_denied"
    assert body(unknown)["error"] == "invalid_params"
    assert body(nobody)["error"] == "policy_denied"  # it would send a form: nobody is there to ask
    shown = rutter.json("show", session)
    assert shown["reason"] == "cancelled"  # the client went, and the session was not over


@pytest.mark.browser
def test_a_signal_is_heard_as_if_the_client_had_gone(rutter: Rutter, site: Site) -> None:
    """Though its standard input stays open: nothing waits for a line that never comes."""
    process = subprocess.Popen(
        [*COMMAND, "--data", str(rutter.data), "mcp", "--url", f"{site.base_url}/login"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    try:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a test", "version": "1"},
        }
        for number, (method, params) in enumerate(
            (
                ("initialize", hello),
                ("notifications/initialized", {}),
                ("tools/call", {"name": "open_session", "arguments": {}}),
            )
        ):
            call: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
            if not method.startswith("notifications/"):
                call["id"] = number
            process.stdin.write(json.dumps(call) + "\n")
            process.stdin.flush()
        [_, opened] = wait_for_line(process.stdout, '"session"')
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 7
        assert process.stdout is not None
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.communicate()
    session = json.loads(opened)["result"]["structuredContent"]["session"]
    assert rutter.json("show", session)["reason"] == "cancelled"


def held(rutter: Rutter) -> DataDirectory:
    """As a daemon holds it: locked, with the token that agents use."""
    directory = DataDirectory(rutter.data)
    directory.lock()
    token = token_path(directory, "agent")
    token.write_text(AGENT + "\n")
    token.chmod(0o600)
    return directory


@pytest.mark.slow
@pytest.mark.anyio
async def test_where_a_daemon_has_the_directory_its_tools_are_used(
    rutter: Rutter, replayed: Replayed, tmp_path: Path
) -> None:
    """With the agent's token, and with what the daemon allows its agents."""
    errors = tmp_path / "errors"
    directory = held(rutter)
    async with rehearsed(replayed.memory()) as host, mcp_on_a_port(host, host.app) as mcp:
        write_whereabouts(directory, mcp.served.origin)
        async with started(rutter, errors=errors) as client:
            first = await client.call_tool("open_session", {"url": START})
            found = await client.call_tool("browser_click", {"ref": refs(first)["Find"]})
        await host.tools[body(first)["session"]].finished.wait()
    directory.unlock()
    assert body(found)["success"] is True
    assert f"its tools are used, at {mcp.served.origin}" in errors.read_text()
    assert host.agents == [True]


def test_flags_are_refused_where_a_daemon_says_what_is_allowed(rutter: Rutter) -> None:
    directory = held(rutter)
    write_whereabouts(directory, "http://127.0.0.1:1")
    ended = rutter("mcp", "--allow", "shop.example")
    directory.unlock()
    assert ended.code == 2
    assert "a daemon has the data directory" in ended.complaint
    assert ended.out == ""


def test_where_another_command_has_the_directory_it_says_so(rutter: Rutter) -> None:
    directory = held(rutter)
    ended = rutter("mcp")
    directory.unlock()
    assert ended.code == 8
    assert ended.out == ""
