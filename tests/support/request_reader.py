"""A provider reads requests: what it refuses is refused, the rest is our own turns."""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rutter.actors.world.models.messages import (
    CallResult,
    ModelCall,
    ModelTurn,
    ResultsTurn,
    Turn,
    UserTurn,
)

Read = tuple[str, tuple[Turn, ...], tuple[str, ...]]

PNG = b"\x89PNG\r\n\x1a\n"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NO_FORCED_CALLS = re.compile(r"claude-(sonnet|opus|haiku)-5-5|claude-(fable|mythos)-5-[12]")


class Refused(Exception):
    """The provider says no with this status and these words."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


def _need(so: object, message: str) -> None:
    if not so:
        raise Refused(400, message)


def _common(body: Mapping[str, Any], allowed: set[str]) -> None:
    unknown = set(body) - allowed
    _need(not unknown, f"{sorted(unknown)}: extra inputs are not permitted")
    _need(isinstance(body.get("model"), str) and body["model"], "model: field required")
    _need(isinstance(body.get("messages"), list) and body["messages"], "messages: field required")
    _need(body.get("stream") is True, "this server streams only")


def _png(data: str) -> bytes:
    try:
        picture = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Refused(400, "image: invalid base64") from None
    _need(picture.startswith(PNG), "image: could not process image")
    return picture


# Anthropic

ANTHROPIC = {"model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream"}
ANTHROPIC |= {"thinking", "output_config"}


def read_anthropic(body: Mapping[str, Any]) -> Read:
    _common(body, ANTHROPIC)
    _need(isinstance(body.get("max_tokens"), int), "max_tokens: field required")
    tools = tuple(_anthropic_tool(tool) for tool in body.get("tools", ()))
    _anthropic_choice(body, tools)
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    _need(roles[0] == "user", "messages: first message must use the user role")
    _need(roles[-1] == "user", "this model does not support assistant message prefill")
    _need(all(a != b for a, b in pairwise(roles)), "roles must alternate")
    turns: list[Turn] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        _need(blocks, "messages: all messages must have non-empty content")
        turns.append(_anthropic_turn(message["role"], blocks, turns))
    _need(not _open_calls(turns[-1:]), "`tool_use` ids were found without `tool_result` blocks")
    return _anthropic_system(body), tuple(turns), tools


def _anthropic_system(body: Mapping[str, Any]) -> str:
    system = body.get("system", "")
    if isinstance(system, str):
        return system
    _need(all(block["text"].strip() for block in system), "system: text must be non-empty")
    return "\n".join(block["text"] for block in system)


def _anthropic_tool(tool: Mapping[str, Any]) -> str:
    _need(NAME.fullmatch(tool["name"]), "tools.0.name: String should match pattern")
    _need(tool["input_schema"].get("type") == "object", "tools.0.input_schema.type: field required")
    return str(tool["name"])


def _anthropic_choice(body: Mapping[str, Any], tools: Sequence[str]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    _need(tools, "tool_choice may only be specified while providing tools")
    _need(choice["type"] in ("auto", "any", "tool", "none"), "tool_choice.type: unknown")
    forced = choice["type"] in ("any", "tool")
    if forced and NO_FORCED_CALLS.match(body["model"]):
        raise Refused(400, "tool_choice: forced tool use is not supported on this model")


def _anthropic_turn(role: str, blocks: Sequence[Mapping[str, Any]], before: list[Turn]) -> Turn:
    text = "\n".join(_text(block) for block in blocks if block["type"] == "text")
    if role == "assistant":
        _need(not _open_calls(before[-1:]), "`tool_use` without `tool_result`")
        calls = tuple(_anthropic_call(block) for block in blocks if block["type"] == "tool_use")
        return ModelTurn(text, calls)
    kinds = [block["type"] for block in blocks]
    results = [block for block in blocks if block["type"] == "tool_result"]
    _need(
        all(kind == "tool_result" for kind in kinds[: len(results)]),
        "tool_result blocks must come first in the content",
    )
    pictures = tuple(_anthropic_picture(each) for each in blocks if each["type"] == "image")
    names = _answered([each["tool_use_id"] for each in results], before)
    if not results:
        return UserTurn(text, pictures)
    outcomes = tuple(
        CallResult(each["tool_use_id"], name, _content(each), bool(each.get("is_error", False)))
        for each, name in zip(results, names, strict=True)
    )
    return ResultsTurn(outcomes, text, pictures)


def _content(result: Mapping[str, Any]) -> str:
    content = result.get("content", "")
    return content if isinstance(content, str) else "\n".join(_text(block) for block in content)


def _text(block: Mapping[str, Any]) -> str:
    _need(block["text"].strip(), "messages: text content blocks must contain non-whitespace text")
    return str(block["text"])


def _anthropic_call(block: Mapping[str, Any]) -> ModelCall:
    _need(re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]), "tool_use.id: should match pattern")
    _need(NAME.fullmatch(block["name"]), "tool_use.name: should match pattern")
    _need(isinstance(block["input"], dict), "tool_use.input: Input should be a valid dictionary")
    return ModelCall(block["id"], block["name"], json.dumps(block["input"]))


def _anthropic_picture(block: Mapping[str, Any]) -> bytes:
    source = block["source"]
    _need(source["type"] == "base64" and source["media_type"] == "image/png", "image: source")
    return _png(source["data"])


def _open_calls(turns: Sequence[Turn]) -> tuple[ModelCall, ...]:
    return turns[-1].calls if turns and isinstance(turns[-1], ModelTurn) else ()


def _answered(ids: Sequence[str], before: Sequence[Turn]) -> list[str]:
    """Every call directly before has one result, and every result has its call."""
    calls = {call.id: call.tool for call in _open_calls(before)}
    _need(set(calls) <= set(ids), "`tool_use` ids were found without `tool_result` blocks")
    _need(set(ids) <= set(calls), "unexpected `tool_use_id` found in `tool_result` blocks")
    _need(len(ids) == len(set(ids)), "each tool_use must have a single result")
    return [calls[each] for each in ids]


# OpenAI

OPENAI = {"model", "messages", "max_completion_tokens", "tools", "tool_choice", "stream"}
OPENAI |= {"parallel_tool_calls", "stream_options", "reasoning_effort"}
WITHOUT_REASONING = re.compile(r"gpt-5\.6|gpt-6")


def read_openai(body: Mapping[str, Any]) -> Read:
    _common(body, OPENAI)
    tools = tuple(_openai_tool(tool) for tool in body.get("tools", ()))
    for field in ("tool_choice", "parallel_tool_calls"):
        _need(tools or field not in body, f"'{field}' is only allowed when 'tools' are specified.")
    if tools and WITHOUT_REASONING.match(body["model"]):
        _need(
            body.get("reasoning_effort") == "none",
            f"Function tools with reasoning_effort are not supported for {body['model']}",
        )
    messages = list(body["messages"])
    system = ""
    if messages[0]["role"] in ("system", "developer"):
        system = messages.pop(0)["content"]
    turns = list(_openai_turns(messages))
    return system, tuple(turns), tools


def _openai_tool(tool: Mapping[str, Any]) -> str:
    _need(tool["type"] == "function", "tools[0].type: Invalid value")
    _need(NAME.fullmatch(tool["function"]["name"]), "tools[0].function.name: does not match")
    _need(isinstance(tool["function"]["parameters"], dict), "tools[0].function.parameters")
    return str(tool["function"]["name"])


def _openai_turns(messages: list[Mapping[str, Any]]) -> Iterator[Turn]:
    waiting: dict[str, str] = {}
    outcomes: list[CallResult] = []
    for message in messages:
        role = message["role"]
        if role == "tool":
            identity = message["tool_call_id"]
            _need(identity in waiting, "'tool' must be a response to a preceding 'tool_calls'.")
            _need(isinstance(message["content"], str), "tool messages hold text only")
            outcomes.append(CallResult(identity, waiting.pop(identity), message["content"]))
            continue
        _need(not waiting, "'tool_calls' must be followed by tool messages to each 'tool_call_id'.")
        if role == "user":
            text, pictures = _openai_content(message["content"])
            yield (
                ResultsTurn(tuple(outcomes), text, pictures)
                if outcomes
                else UserTurn(text, pictures)
            )
        else:
            if outcomes:
                yield ResultsTurn(tuple(outcomes))
            _need(role == "assistant", f"Invalid value: '{role}'")
            calls = tuple(_openai_call(call) for call in message.get("tool_calls", ()))
            _need(calls or message.get("content"), "content: expected a string, got null")
            waiting = {call.id: call.tool for call in calls}
            yield ModelTurn(message.get("content") or "", calls)
        outcomes = []
    _need(not waiting, "'tool_calls' must be followed by tool messages to each 'tool_call_id'.")
    if outcomes:
        yield ResultsTurn(tuple(outcomes))


def _openai_call(call: Mapping[str, Any]) -> ModelCall:
    _need(call["type"] == "function" and len(call["id"]) <= 40, "tool_calls[0].id: too long")
    _need(isinstance(call["function"]["arguments"], str), "arguments: expected a string")
    return ModelCall(call["id"], call["function"]["name"], call["function"]["arguments"])


def _openai_content(content: Any) -> tuple[str, tuple[bytes, ...]]:
    if isinstance(content, str):
        return content, ()
    _need(content, "content: array too short")
    text = "\n".join(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    head = "data:image/png;base64,"
    _need(all(url.startswith(head) for url in urls), "image_url: invalid")
    return text, tuple(_png(url.removeprefix(head)) for url in urls)


# Ollama

OLLAMA = {"model", "messages", "tools", "stream", "think", "options"}


def read_ollama(body: Mapping[str, Any]) -> Read:
    _common({**body, "stream": body.get("stream", True)}, OLLAMA)
    tools = tuple(_openai_tool(tool) for tool in body.get("tools", ()))
    messages = list(body["messages"])
    system = messages.pop(0)["content"] if messages[0]["role"] == "system" else ""
    return system, tuple(_ollama_turns(messages)), tools


def _ollama_turns(messages: list[Mapping[str, Any]]) -> Iterator[Turn]:
    """It has no ids: results are told apart by their order, behind the calls they belong to."""
    waiting: list[ModelCall] = []
    outcomes: list[CallResult] = []
    made = 0
    for message in messages:
        role, text = message["role"], message.get("content", "")
        pictures = tuple(_png(each) for each in message.get("images", ()))
        if role == "tool":
            _need(waiting and waiting[0].tool == message.get("tool_name"), "tool: no such call")
            outcomes.append(CallResult(waiting[0].id, waiting.pop(0).tool, text))
            continue
        _need(not waiting, "a call has no result")
        if role == "user":
            yield (
                ResultsTurn(tuple(outcomes), text, pictures)
                if outcomes
                else UserTurn(text, pictures)
            )
        else:
            if outcomes:
                yield ResultsTurn(tuple(outcomes))
            _need(role == "assistant", f'invalid message role "{role}"')
            for call in message.get("tool_calls", ()):
                waiting.append(_ollama_call(call, made))
                made += 1
            yield ModelTurn(text, tuple(waiting))
        outcomes = []
    _need(not waiting, "a call has no result")
    if outcomes:
        yield ResultsTurn(tuple(outcomes))


def _ollama_call(call: Mapping[str, Any], number: int) -> ModelCall:
    arguments = call["function"]["arguments"]
    _need(isinstance(arguments, dict), "json: cannot unmarshal string into Go struct field")
    return ModelCall(str(number), call["function"]["name"], json.dumps(arguments))
