"""`rutter tools`: the table for people and machines, and calls, a line in and a line out."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.browser.painting import size_of
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.cli.tools import tell_reach
from rutter.pipeline.sessions import session_started
from tests.support.case_table import for_each
from tests.support.command_shell import COMMAND, ROOT, Ended, Rutter, places_of
from tests.support.page_server import PageServer
from tests.support.provider_replies import Answer
from tests.support.provider_server import WireServer

FORM = """<title>Form</title><h1>Form</h1><label>Name <input id=name></label>
<label>Password <input type=password></label>
<button onclick="document.querySelector('h1').textContent = 'Thank you'">Go</button>"""
PASSWORD = "corr3ct h0rse&battery"


def test_the_table_is_shown_with_a_line_for_every_tool(rutter: Rutter) -> None:
    ended = rutter("tools")
    assert ended.code == 0
    named = [line.split()[0] for line in ended.out.splitlines()[1:]]
    assert named == list(TOOLS)
    assert rutter("tools", "list").out == ended.out


def test_machines_get_what_a_model_is_given(rutter: Rutter) -> None:
    told = rutter.json("tools")["tools"]
    assert [tool["name"] for tool in told] == list(TOOLS)
    for tool in told:
        said = TOOLS[tool["name"]]
        assert tool["input_schema"] == said.input_schema
        assert tool["description"] == said.description
        assert (tool["timeout_ms"], tool["kind"]) == (said.timeout_ms, said.kind)
        assert tool["guidance"]["errors"] == list(said.guidance.errors)


@for_each(
    "flags, complaint",
    [
        (["--success", "colour=red"], "there is no such place on a page"),
        (["--failure", "title="], "has no text"),
        (["--success", "state=DONE"], "no page is 'DONE'"),
        (["--folder", "nowhere"], "is no directory"),
        (["--service", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["--files", "nowhere"], "is no directory"),
        (["--max-turns", "0"], "at least one turn"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_starts(
    rutter: Rutter, flags: list[str], complaint: str
) -> None:
    ended = rutter("tools", "call", *flags)
    assert ended.code == 2
    assert complaint in ended.complaint


def test_a_session_that_may_go_nowhere_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for started, said in (
        (session_started.tool_session(), "without --url URL or --allow HOST it may go nowhere\n"),
        (session_started.tool_session("https://shop.example/"), ""),
        (session_started.tool_session(allow=["*"]), ""),
    ):
        tell_reach(started, Terminal())
        assert capsys.readouterr().err == said


def called(
    rutter: Rutter,
    server: PageServer,
    *calls: Any,
    flags: tuple[Any, ...] = (),
    html: str = FORM,
    env: dict[str, str] | None = None,
) -> Ended:
    """The command in a process of its own, with these lines on its standard input."""
    host = server.url.removeprefix("http://")
    lines = [call if isinstance(call, str) else json.dumps(call) for call in calls]
    arguments = ["tools", "call", "--url", server.show(html), "--allow", host, *map(str, flags)]
    ended = subprocess.run(
        [*COMMAND, "--data", str(rutter.data), *arguments],
        cwd=ROOT,
        input="\n".join(lines),
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.browser
def test_a_session_is_driven_line_by_line_to_a_verified_end(
    rutter: Rutter, server: PageServer
) -> None:
    ended = called(
        rutter,
        server,
        {"tool": "get_snapshot"},
        {"tool": "browser_fill", "arguments": {"ref": "@e1", "value": "Aurora"}},
        {"tool": "complete_task", "arguments": {"status": "success", "reason": "too early"}},
        {"tool": "get_snapshot", "arguments": {}},
        {"tool": "browser_click", "arguments": {"ref": "@e3"}},
        {"tool": "complete_task", "arguments": {"status": "success", "reason": "thanked"}},
        flags=("--success", "heading=thank you"),
    )
    seen, filled, early, _, clicked, late = map(json.loads, ended.out.splitlines())
    names = [element["name"] for element in seen["snapshot"]["elements"]]
    assert names == ["Form", "Name", "Password", "Go"]
    assert "screenshot" not in seen["snapshot"]
    assert filled["success"]
    assert clicked["success"]
    assert early["acknowledged"] is False
    assert late == {"acknowledged": True, "message": None}
    assert ended.code == 0
    assert "completed: thanked" in ended.err
    assert [step["driver"] for step in rutter.json("show", "last")["steps"]] == [
        "script",
        "agent",
        "agent",
    ]


DRAWN = """<body style="width: 2600px"><canvas id=c width=2500 height=500></canvas><script>
const pen = c.getContext("2d"); pen.font = "60px sans-serif";
pen.fillText("Order No. 4711 is packed", 40, 90);</script>"""


@pytest.mark.browser
def test_pictures_are_read_where_the_configuration_and_the_caller_both_say_so(
    rutter: Rutter, server: PageServer
) -> None:
    wanted = {"tool": "ghost_extract", "arguments": {"prompt": "Which order is it?"}}
    with WireServer([Answer(text="No. 4711")]) as wire:
        rutter.data.mkdir()
        file = rutter.data / "config.toml"
        file.write_text(f"[models.ollama]\nbase_url = '{wire.ollama_url}'\n")
        file.chmod(0o600)
        env = {"AGENT_GHOST_ENABLED": "true", "AGENT_GHOST_VISION_PROVIDER": "ollama"}
        refused = called(rutter, server, wanted, html=DRAWN, env=env)
        assert wire.attempts == 0
        ended = called(rutter, server, wanted, flags=("--allow-ghost",), html=DRAWN, env=env)
    [no], [answer] = (map(json.loads, each.out.splitlines()) for each in (refused, ended))
    assert (no["error"], no["error_code"]) == ("ghost_refused", "policy_denied")
    assert (answer["render_mode"], answer["result"]) == ("ghost", "No. 4711")
    [heard] = wire.requests
    assert "Which order is it?" in heard.text
    assert [size_of(each)[0] for each in heard.pictures] == [1_280]
    assert "read from a picture of the page (ghost)" in rutter("--verbose", "show", "last").out
    told = rutter.json("show", "last")
    assert (told["steps"][-1]["render_mode"], told["model_calls"]) == ("ghost", 1)


@pytest.mark.browser
def test_what_is_no_call_is_answered_and_the_end_of_input_is_no_failure(
    rutter: Rutter, server: PageServer
) -> None:
    ended = called(
        rutter,
        server,
        "nonsense",
        "",
        '{"tool": "get_snapshot", "extra": 1}',
        {"tool": "get_snapshot"},
        flags=("--screenshots",),
    )
    one, other, seen = map(json.loads, ended.out.splitlines())
    assert one["error"] == other["error"] == "invalid_params"
    assert seen["success"]
    assert len(seen["snapshot"]["screenshot"]) > 1_000
    assert ended.code == 0


@pytest.mark.browser
def test_a_literal_password_is_denied_and_nowhere_in_the_data_directory(
    rutter: Rutter, server: PageServer, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text(PASSWORD)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "who.txt").write_text("Aurora")
    (tmp_path / "yes.json").write_text('[{"approved": true, "phrase": "confirm"}]')
    ended = called(
        rutter,
        server,
        {"tool": "get_snapshot"},
        {"tool": "browser_fill", "arguments": {"ref": "@e2", "value": PASSWORD}},
        {"tool": "browser_fill", "arguments": {"ref": "@e2", "value": "${password}"}},
        {"tool": "read_file", "arguments": {"path": "who.txt"}},
        {"tool": "complete_task", "arguments": {"status": "failed", "reason": "no more"}},
        flags=(
            *("--secret", f"password=file:{tmp_path / 'secret.txt'}"),
            *("--files", tmp_path / "files"),
            *("--answers", tmp_path / "yes.json"),
        ),
    )
    _, literal, named, read, over = map(json.loads, ended.out.splitlines())
    assert (literal["error"], literal["error_code"]) == ("policy_denied", "policy_denied")
    assert named["success"]
    assert read["result"] == "Aurora"
    assert over == {"acknowledged": True, "message": None}
    assert ended.code == 6
    assert places_of(PASSWORD, rutter.data) == []
