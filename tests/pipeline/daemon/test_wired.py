"""Everything in one daemon: schedules, hooks, notices, the live view and MCP, over its own HTTP."""

import json
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import anyio.to_thread
import pytest
from websockets.asyncio.client import connect

from rutter.pipeline.cli.demo import ALONE
from tests.support.command_shell import Rutter
from tests.support.daemon_on_site import Anchored, anchored, ask
from tests.support.recorded_site import Harbour, is_wanted

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
RUN = {"kind": "workflow", "workflow": "order", "values": dict(ALONE)}


@pytest.fixture
async def ship(harbour: Harbour, recorded: Path, tmp_path: Path) -> AsyncIterator[Anchored]:
    live = "[browser.stream]\nenabled = true\n"
    async with anchored(harbour, tmp_path / "data", recorded=recorded, more=live) as served:
        yield served


async def test_a_hook_runs_what_it_is_for_with_its_own_token_and_no_other(ship: Anchored) -> None:
    wish = {**RUN, "values": {name: each for name, each in ALONE.items() if name != "customer"}}
    made = await ship.ask("PUT", "/hooks/shop", {"run": wish, "parameters": ["customer"]})
    assert made.status == 200, made
    token = made.json["token"]
    assert "token" not in (await ship.ask("GET", "/hooks")).json[0]

    body = {"customer": ALONE["customer"]}
    for other in (ship.token("person"), ship.token("agent"), "x" * 43, ""):
        refused = await ship.ask("POST", "/hooks/shop", body, token=other)
        assert (refused.status, refused.json["error"]) == (401, "hook_token_needed")
    odd = await ship.ask("POST", "/hooks/shop", {**body, "quantity": "9"}, token=token)
    assert (odd.status, "no parameter 'quantity'" in odd.json["message"]) == (400, True)
    assert (await ship.ask("GET", "/jobs", token=token)).status == 401  # it opens nothing else

    fired = await ship.ask("POST", "/hooks/shop", body, token=token)
    assert fired.status == 202, fired
    ended = await ship.ended(fired.json["job_id"])
    assert (ended["reason"], ended["trigger"], ended["by"]) == ("completed", "hook", "hook shop")
    [order] = ship.site.placed
    assert is_wanted(order)
    assert (await ship.ask("DELETE", "/hooks/shop")).status == 200
    assert (await ship.ask("POST", "/hooks/shop", body, token=token)).status == 401


async def test_a_schedule_is_set_by_the_command_and_outlives_the_daemon(
    harbour: Harbour, recorded: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    sets = [part for key, value in ALONE.items() for part in ("--set", f"{key}={value}")]
    words = ["schedule", "set", "early", "--cron", "0 7 * * 1-5", "--zone", "Europe/Berlin"]
    async with anchored(harbour, data, recorded=recorded) as ship:
        bad = await ship.ask("PUT", "/schedules/x", {"cron": "0 7 * *", "run": RUN})
        assert (bad.status, bad.json["error_code"]) == (400, "validation_error")
        unknown = {"kind": "workflow", "workflow": "nope"}
        assert (
            await ship.ask("PUT", "/schedules/x", {"cron": "* * * * *", "run": unknown})
        ).status == 400
        for method, path, body in (
            ("POST", "/jobs", {**RUN, "dryrun": True}),  # it is called dry_run: nothing may run
            ("POST", "/jobs", {**RUN, "workflow": ""}),
            ("PUT", "/schedules/x", {"cron": "* * * * *", "run": {**RUN, "dryrun": True}}),
            ("POST", "/changes", {"event": "WorkflowLearned", "workflow": NAMELESS}),
            ("POST", "/changes", {"event": "WorkflowLearned", "workflow": STEPLESS}),
        ):
            said = await ship.ask(method, path, body)
            assert (said.status, said.json["error_code"]) == (400, "validation_error"), (path, body)
        assert (await ship.ask("GET", "/jobs")).json == []
        gone = await ship.ask("GET", "/no/such/path")
        assert gone.status == 404
        assert set(gone.json) == {"error", "message", "error_code", "retriable"}
        assert (await ship.ask("GET", "/schedules", scope="agent")).status == 403
        done = await anyio.to_thread.run_sync(
            lambda: Rutter(data)(*words, "--workflow", "order", *sets)
        )
        assert done.code == 0, done
        [told] = (await ship.ask("GET", "/schedules")).json
        assert (told["name"], told["zone"], bool(told["next"])) == ("early", "Europe/Berlin", True)
    beside = Rutter(data)("--json", "schedule", "list")
    assert beside.code == 0
    async with anchored(harbour, data) as ship:
        assert [each["name"] for each in (await ship.ask("GET", "/schedules")).json] == ["early"]
        assert (await ship.ask("DELETE", "/schedules/early")).status == 200
        assert (await ship.ask("DELETE", "/schedules/early")).status == 404


NAMELESS = {"name": " ", "version": 1, "steps": [{"action": {"type": "click"}}]}
STEPLESS = {"name": "order", "version": 9, "steps": []}


class Mailbox(BaseHTTPRequestHandler):
    letters: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.letters.append(json.loads(body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


async def test_somebody_is_told_when_a_person_is_needed(
    harbour: Harbour, recorded: Path, tmp_path: Path
) -> None:
    letters: list[dict[str, Any]] = []
    handler = type("Letters", (Mailbox,), {"letters": letters})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/told"
        more = f'[notify]\nurls = ["{url}"]\n[[policy.rules]]\nname = "by hand"\neffect = "ask"\n'
        more += 'actions = ["navigate"]\n'
        async with anchored(harbour, tmp_path / "data", recorded=recorded, more=more) as ship:
            job = await ship.run()
            with anyio.fail_after(30):
                while not letters:
                    await anyio.sleep(0.01)
            [asked] = (await ship.ask("GET", "/approvals")).json
            no = await ship.ask(
                "POST", f"/approvals/{asked['session']}/{asked['approval']}", {"approved": False}
            )
            assert no.status == 200
            ended = await ship.ended(job["job_id"])
            assert ended["reason"] == "policy_denied"
        server.shutdown()
    assert letters[0]["session"] == asked["session"]
    assert ALONE["customer"] not in json.dumps(letters)


async def test_a_session_is_watched_with_a_ticket_and_by_nobody_else(ship: Anchored) -> None:
    opened = await ship.ask("POST", "/sessions", {"url": f"{ship.site.base_url}/login"})
    session = opened.json["session"]
    await ship.ask("POST", f"/sessions/{session}/tools/get_snapshot", {})
    place = f"/stream/{session}"
    assert (await ship.ask("GET", place, token="")).status == 401
    assert (await ship.ask("GET", place, scope="agent")).status == 403
    assert (await ship.ask("POST", f"/sessions/{session}/ticket", scope="agent")).status == 403
    given = await ship.ask("POST", f"/sessions/{session}/ticket")
    cookie = given.headers["set-cookie"]
    assert given.status == 204
    assert {"HttpOnly", "SameSite=Strict", f"Path=/stream/{session}"} <= set(cookie.split("; "))
    pair = cookie.partition(";")[0]
    page = await anyio.to_thread.run_sync(
        lambda: ask(ship.url, "GET", place, headers={"Cookie": pair})
    )
    assert (page.status, b"<img" in page.body) == (200, True)
    address = ship.url.replace("http", "ws") + place
    async with connect(address, additional_headers={"Cookie": pair}) as socket:
        picture = await socket.recv()
    assert isinstance(picture, bytes)
    assert picture[:2] == b"\xff\xd8"  # JPEG


async def test_a_stock_mcp_client_reads_a_page_through_the_daemon(ship: Anchored) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    headers = {"Authorization": f"Bearer {ship.token('agent')}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(f"{ship.url}/mcp", http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as client,
    ):
        await client.initialize()
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"open_session", "browser_click", "complete_task"} <= names
        opened = await client.call_tool("open_session", {"url": f"{ship.site.base_url}/login"})
        assert not opened.is_error
        denied = await client.call_tool("navigate", {"url": ship.url})
        assert denied.is_error
        assert denied.structured_content is not None
        assert denied.structured_content["error"] == "policy_denied"
