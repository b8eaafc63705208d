"""The local server refuses what the real ones refuse."""

import json
import urllib.request
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.support.provider_server import Answer, Fault, Heard, WireServer

USER = {"role": "user", "content": "hi"}
USE = {"type": "tool_use", "id": "a", "name": "click", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}
CALL = {"id": "a", "type": "function", "function": {"name": "click", "arguments": "{}"}}


def post(server: WireServer, path: str, body: Any, **headers: str) -> tuple[int, str]:
    given = {"authorization": "Bearer k", "anthropic-version": "2023-06-01", **headers}
    asked = urllib.request.Request(server.url + path, json.dumps(body).encode(), given)
    try:
        with urllib.request.urlopen(asked, timeout=10) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def claude(*messages: Any, **more: Any) -> dict[str, Any]:
    asked = {"model": "claude-sonnet-5-5", "max_tokens": 9, "stream": True}
    return {**asked, "messages": list(messages), **more}


REFUSED_BY_ANTHROPIC = {
    "no model": {**claude(USER), "model": ""},
    "no length": {key: value for key, value in claude(USER).items() if key != "max_tokens"},
    "unknown field": claude(USER, temperatur=1),
    "no message": claude(),
    "the model first": claude({"role": "assistant", "content": "hi"}),
    "the model last": claude(USER, {"role": "assistant", "content": "hi"}),
    "twice the user": claude(USER, USER),
    "blank text": claude({"role": "user", "content": [{"type": "text", "text": " "}]}),
    "no result": claude(USER, {"role": "assistant", "content": [USE]}, USER),
    "no call": claude(
        USER, {"role": "assistant", "content": "x"}, {"role": "user", "content": [RESULT]}
    ),
    "result behind text": claude(
        USER,
        {"role": "assistant", "content": [USE]},
        {"role": "user", "content": [{"type": "text", "text": "x"}, RESULT]},
    ),
    "forced call": claude(
        USER,
        tools=[{"name": "click", "input_schema": {"type": "object"}}],
        tool_choice={"type": "any"},
    ),
}


def gpt(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-6-luna", "stream": True, "messages": list(messages), **more}


CLICK = {"type": "function", "function": {"name": "click", "parameters": {}}}
REFUSED_BY_OPENAI = {
    "no result": gpt(USER, {"role": "assistant", "tool_calls": [CALL]}, USER),
    "no result at the end": gpt(USER, {"role": "assistant", "tool_calls": [CALL]}),
    "no call": gpt(USER, {"role": "tool", "tool_call_id": "a", "content": "ok"}),
    "nothing said": gpt(USER, {"role": "assistant", "content": None}),
    "choice without tools": gpt(USER, tool_choice="required"),
    "tools while it reasons": gpt(USER, tools=[CLICK]),
    "old name of a field": gpt(USER, max_tokens=9),
}


def test_bad_requests_are_refused_before_anybody_thinks() -> None:
    taken = []
    with WireServer([]) as server:
        for name, body in REFUSED_BY_ANTHROPIC.items():
            status, said = post(server, "/v1/messages", body)
            if status != 400 or json.loads(said)["error"]["type"] != "invalid_request_error":
                taken.append(name)
        for name, body in REFUSED_BY_OPENAI.items():
            status, said = post(server, "/v1/chat/completions", body)
            if status != 400 or not json.loads(said)["error"]["message"]:
                taken.append(name)
        assert post(server, "/v1/completions", {})[0] == 404
        assert server.requests == []
        assert server.attempts == len(REFUSED_BY_ANTHROPIC) + len(REFUSED_BY_OPENAI) + 1
    assert not taken


def test_good_requests_are_answered_to_their_end() -> None:
    with WireServer(lambda heard: Answer(f"You said {heard.text}.")) as server:
        status, said = post(server, "/v1/messages", claude(USER))
        assert (status, "message_stop" in said) == (200, True)
        status, said = post(server, "/v1/chat/completions", gpt(USER))
        assert (status, said.endswith("data: [DONE]\n\n")) == (200, True)
        status, said = post(server, "/api/chat", {"model": "qwen3:8b", "messages": [USER]})
        last = json.loads(said.splitlines()[-1])
        assert (status, last["done"], last["done_reason"]) == (200, True, "stop")
        assert [heard.provider for heard in server.requests] == ["anthropic", "openai", "ollama"]


def test_a_brain_that_breaks_breaks_the_test() -> None:
    def broken(heard: Heard) -> Answer | Fault:
        raise ValueError("no idea")

    with pytest.raises(ValueError, match="no idea"), WireServer(broken) as server:
        assert post(server, "/v1/messages", claude(USER))[0] == 500


def test_a_script_that_is_over_says_so() -> None:
    with WireServer([]) as server:
        status, said = post(server, "/v1/messages", claude(USER))
        assert status == 400
        assert "no more answers" in said
