"""A model's answer is put as its provider would put it on the wire: a list of chunks each."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec


class Call(msgspec.Struct, frozen=True):
    """A model calls a tool. `arguments` as text is sent as it is, whether it is JSON or not."""

    tool: str
    arguments: Mapping[str, Any] | str = {}
    id: str = ""

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


class Answer(msgspec.Struct, frozen=True):
    """A model says this. `input` are all the tokens that went in, as `Usage.input` has it."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Literal["", "length", "refusal"] = ""
    thinking: str = ""
    input: int = 120
    output: int = 30
    cached: int = 0
    kept: int = 0


def _pieces(text: str) -> Iterator[str]:
    """As a stream brings it: in pieces that end anywhere."""
    for at in range(0, len(text), 7):
        yield text[at : at + 7]


def _event(data: Mapping[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def answer_anthropic(answer: Answer, model: str) -> list[bytes]:
    fresh = answer.input - answer.cached - answer.kept
    usage = {
        "input_tokens": fresh,
        "cache_read_input_tokens": answer.cached,
        "cache_creation_input_tokens": answer.kept,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    stop = "tool_use" if answer.calls else "end_turn"
    stop = {"length": "max_tokens", "refusal": "refusal"}.get(answer.stop, stop)
    delta = {"stop_reason": stop, "stop_sequence": None}
    return [
        _event({"type": "message_start", "message": message}),
        _event({"type": "ping"}),
        *_anthropic_blocks(answer),
        _event(
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.output}}
        ),
        _event({"type": "message_stop"}),
    ]


def _anthropic_blocks(answer: Answer) -> Iterator[bytes]:
    index = 0
    if answer.thinking:
        start = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": each} for each in _pieces(answer.thinking)]
        yield from _block(index, start, [*deltas, {"type": "signature_delta", "signature": "EqQB"}])
        index += 1
    if answer.text:
        said = [{"type": "text_delta", "text": each} for each in _pieces(answer.text)]
        yield from _block(index, {"type": "text", "text": ""}, said)
        index += 1
    for number, call in enumerate(answer.calls):
        identity = call.id or f"toolu_{number:02}"
        use = {"type": "tool_use", "id": identity, "name": call.tool, "input": {}}
        parts = [{"type": "input_json_delta", "partial_json": ""}]
        parts += [{"type": "input_json_delta", "partial_json": each} for each in _pieces(call.text)]
        yield from _block(index, use, parts)
        index += 1


def _block(index: int, start: Mapping[str, Any], deltas: list[dict[str, str]]) -> Iterator[bytes]:
    yield _event({"type": "content_block_start", "index": index, "content_block": start})
    for delta in deltas:
        yield _event({"type": "content_block_delta", "index": index, "delta": delta})
    yield _event({"type": "content_block_stop", "index": index})


def answer_openai(answer: Answer, model: str) -> list[bytes]:
    stop = "tool_calls" if answer.calls else "stop"
    stop = {"length": "length"}.get(answer.stop, stop)
    said = "refusal" if answer.stop == "refusal" else "content"
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if answer.calls else ""}]
    deltas += [{said: each} for each in _pieces(answer.text)]
    for index, call in enumerate(answer.calls):
        head = {"name": call.tool, "arguments": ""}
        identity = call.id or f"call_{index:02}"
        deltas.append({"tool_calls": [_part(index, head, id=identity, type="function")]})
        for piece in _pieces(call.text):
            deltas.append({"tool_calls": [_part(index, {"arguments": piece})]})
    usage = {
        "prompt_tokens": answer.input,
        "completion_tokens": answer.output,
        "total_tokens": answer.input + answer.output,
        "prompt_tokens_details": {
            "cached_tokens": answer.cached,
            "cache_write_tokens": answer.kept,
        },
    }
    return [
        *(_chunk(model, [{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas),
        _chunk(model, [{"index": 0, "delta": {}, "finish_reason": stop}]),
        _chunk(model, [], usage=usage),
        b"data: [DONE]\n\n",
    ]


def _part(index: int, function: Mapping[str, str], **more: str) -> dict[str, Any]:
    return {"index": index, "function": function, **more}


def _chunk(model: str, choices: list[dict[str, Any]], **more: Any) -> bytes:
    data = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": model,
        "choices": choices,
        **more,
    }
    return f"data: {json.dumps(data)}\n\n".encode()


def answer_ollama(answer: Answer, model: str) -> list[bytes]:
    """Its server reads the calls out of what the model says: those it cannot read are no calls."""
    lines: list[dict[str, Any]] = [
        {"content": "", "thinking": each} for each in _pieces(answer.thinking)
    ]
    lines += [{"content": each} for each in _pieces(answer.text)]
    readable = [call for call in answer.calls if _is_object(call.text)]
    unreadable = [call for call in answer.calls if not _is_object(call.text)]
    for call in readable:
        function = {"name": call.tool, "arguments": json.loads(call.text)}
        lines.append({"content": "", "tool_calls": [{"function": function}]})
    spoken = [_line(model, line) for line in lines]
    if unreadable and answer.stop != "length":
        why = f"error parsing tool call: raw='{unreadable[0].text}', err=unexpected end of JSON"
        return [*spoken, json.dumps({"error": why}).encode() + b"\n"]
    spoken += [
        _line(model, {"content": each}) for call in unreadable for each in _pieces(call.text)
    ]
    return [*spoken, _line(model, {"content": ""}, **_done(answer))]


def _done(answer: Answer) -> dict[str, Any]:
    reason = "length" if answer.stop == "length" else "stop"
    return {
        "done": True,
        "done_reason": reason,
        "total_duration": 5_000_000,
        "prompt_eval_count": answer.input,
        "eval_count": answer.output,
    }


def _line(model: str, message: Mapping[str, Any], **more: Any) -> bytes:
    data = {
        "model": model,
        "created_at": "2026-01-01T00:00:00.000000Z",
        "message": {"role": "assistant", **message},
        "done": False,
        **more,
    }
    return json.dumps(data).encode() + b"\n"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
