"""Given a line to one client: what is said on it is the protocol's alone, and it can be left."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import anyio
import anyio.to_thread
import pytest

from rutter.events.runtime import SessionEnded
from rutter.pipeline.mcp.stdio import ClientPipes, serve_agent
from tests.support.command_shell import ROOT
from tests.support.log_checks import Replayed, events_of
from tests.support.scripted_tool_sessions import START, rehearsed

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}
STRAY = """
import os
from rutter.pipeline.mcp.stdio import taking_the_wire
with taking_the_wire() as wire:
    os.write(1, b"stray")
    assert os.read(0, 9) == b""
    assert os.read(wire.calls, 9) == b"a call"
    os.write(wire.answers, b"an answer")
os.write(1, b", and back")
"""


class Line:
    """The client's end."""

    def __init__(self) -> None:
        calls, self._says = os.pipe()
        hears, answers = os.pipe()
        self.wire = ClientPipes(calls, answers)
        self._hears = os.fdopen(hears)

    async def ask(self, number: int, method: str, **params: object) -> dict[str, object]:
        call = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.say(json.dumps(call))
        told = json.loads(await anyio.to_thread.run_sync(self._hears.readline))
        assert told["id"] == number
        answer = told["result"]
        assert isinstance(answer, dict)
        return answer

    def say(self, line: str) -> None:
        os.write(self._says, line.encode() + b"\n")

    def close(self) -> None:
        if self._says >= 0:
            os.close(self._says)
            self._says = -1

    def drop(self) -> None:
        self.close()
        self._hears.close()
        os.close(self.wire.answers)


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.drop()


@pytest.mark.anyio
@pytest.mark.parametrize("goes", ["closes the line", "is left"])
async def test_a_client_is_served_until_it_goes_or_is_left(
    replayed: Replayed, line: Line, goes: str
) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host, anyio.create_task_group() as group:
        over = anyio.Event()

        async def serve() -> None:
            try:
                await serve_agent(host, host.app, line.wire)
            finally:
                over.set()

        group.start_soon(serve)
        line.say("")  # which is no message, and harms nothing
        hello = await line.ask(1, "initialize", **HELLO)
        assert "open_session" in str(hello["instructions"])
        opening = {"name": "open_session", "arguments": {"url": START}}
        opened = await line.ask(2, "tools/call", **opening)
        if goes == "is left":
            group.cancel_scope.cancel()  # though it may say more
        else:
            line.close()
            await over.wait()
    content = opened["structuredContent"]
    assert isinstance(content, dict)
    said = await events_of(log, content["session"])
    [ended] = [each for each in said if isinstance(each, SessionEnded)]
    assert ended.reason == "cancelled"


@pytest.mark.slow
def test_what_anything_else_writes_to_standard_output_is_no_answer() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STRAY],
        cwd=ROOT,
        input="a call",
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert ended.stdout == "an answer, and back"
    assert ended.stderr == "stray"
