"""This adapter asks models on one's own machine by Ollama's chat API."""

import json
import re
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any, ClassVar

import msgspec

from rutter.actors.world.models.messages import (
    ModelCall,
    ModelClient,
    ModelFailed,
    ModelTurn,
    Prompt,
    Reply,
    ResultsTurn,
    ToolSpec,
    Turn,
)
from rutter.actors.world.models.openai import as_function
from rutter.actors.world.models.provider_call import (
    Provider,
    StreamBroken,
    StreamProgress,
    ask,
    extra,
    failure,
    object_of,
    told_to_call,
)
from rutter.events.advisor import Ending, TokenUsage

URL = "http://127.0.0.1:11434"
CONTEXT = 16_384  # tokens: a whole turn. What does not fit is dropped silently, and 4,096 is usual
OURS = re.compile(r"call_(\d+)")


class OllamaModel(ModelClient):
    """An Ollama server has this model."""

    provider: ClassVar[str] = "ollama"

    def __init__(self, model: str, *, base_url: str | None = None) -> None:
        ollama = extra("ollama")
        httpx = extra("httpx")
        self.model = model
        self._refused: type[Exception] = ollama.ResponseError
        self._read = Provider("ollama", (httpx.TransportError,))
        self._client = ollama.AsyncClient(host=base_url or URL, timeout=None)

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        async def answer(progress: StreamProgress) -> Reply:
            heard = _StreamedReply(_next_id(prompt))
            parts = await self._client.chat(**request(prompt, self.model), stream=True)
            try:
                async with aclosing(parts):
                    async for part in parts:
                        progress.began = True
                        heard.take(part)
            except self._refused as error:
                raise self._told(error) from None
            return heard.reply()

        return await ask(answer, self._read, within_ms=within_ms)

    def _told(self, error: Any) -> ModelFailed:
        """With a status it is read as any other; in mid-stream it has none, words alone."""
        if error.status_code >= 400:
            return failure(error, self._read, began=False)
        words = self._read.told(str(error.error))
        if "parsing tool call" in words:
            return ModelFailed("invalid", f"ollama: {words}", transient=True)
        return ModelFailed("unavailable", f"ollama: {words}", transient=True)

    async def aclose(self) -> None:
        await self._client.close()


def request(prompt: Prompt, model: str) -> dict[str, Any]:
    """What the SDK is called with, without `stream`."""
    options = {"num_predict": prompt.max_tokens, "num_ctx": CONTEXT}
    asked: dict[str, Any] = {"model": model, "messages": _messages(prompt), "options": options}
    # Thinking first would take a small machine past every deadline.
    asked["think"] = False
    if prompt.tools:
        asked["tools"] = [as_function(_whole(tool)) for tool in prompt.tools]
    return asked


def _whole(tool: ToolSpec) -> ToolSpec:
    """The SDK drops all of a schema but the type, words and values of its properties: a tool whose
    schema says more has it in its description too."""
    known = {"type", "description", "enum", "items"}
    flat = {"type", "properties", "required", "additionalProperties"}
    simple = set(tool.schema) <= flat and all(
        isinstance(each, dict) and set(each) <= known and isinstance(each.get("type", ""), str)
        for each in tool.schema.get("properties", {}).values()
    )
    if simple:
        return tool
    said = f"{tool.description}\nJSON schema of the arguments: {json.dumps(tool.schema)}"
    return msgspec.structs.replace(tool, description=said)


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    messages = [{"role": "system", "content": prompt.system}] if prompt.system.strip() else []
    for turn in prompt.turns:
        messages.extend(_of_turn(turn))
    words = told_to_call(prompt)
    if words and messages:
        last = messages[-1]
        if last["role"] == "user":
            last["content"] = f"{last['content']}\n\n{words}".strip()
        else:
            messages.append({"role": "user", "content": words})
    return messages


def _of_turn(turn: Turn) -> Iterator[dict[str, Any]]:
    """It has no ids: results follow the calls in their order."""
    if isinstance(turn, ModelTurn):
        said: dict[str, Any] = {"role": "assistant", "content": turn.text}
        if turn.calls:
            said["tool_calls"] = [
                {"function": {"name": call.tool, "arguments": object_of(call.arguments)}}
                for call in turn.calls
            ]
        yield said
        return
    if isinstance(turn, ResultsTurn):
        for each in turn.outcomes:
            told = f"error: {each.text}" if each.failed else each.text
            yield {"role": "tool", "tool_name": each.tool, "content": told}
        if not turn.text and not turn.pictures:
            return
    user: dict[str, Any] = {"role": "user", "content": turn.text}
    if turn.pictures:  # as bytes: a text would be tried as the path of a file first
        user["images"] = list(turn.pictures)
    yield user


def _next_id(prompt: Prompt) -> int:
    """Behind every id of ours that the conversation holds, though turns may have been dropped."""
    thoughts = [turn for turn in prompt.turns if isinstance(turn, ModelTurn)]
    ids = [OURS.fullmatch(call.id) for turn in thoughts for call in turn.calls]
    return max((int(found[1]) for found in ids if found), default=0) + 1


class _StreamedReply:
    """A stream has brought this so far."""

    def __init__(self, next_id: int) -> None:
        self._next_id = next_id
        self._model = ""
        self._text = ""
        self._calls: list[ModelCall] = []
        self._stop = ""
        self._usage = TokenUsage()

    def take(self, part: Any) -> None:
        self._model = part.model or self._model
        self._text += part.message.content or ""
        for call in part.message.tool_calls or ():
            identity = f"call_{self._next_id + len(self._calls)}"
            arguments = json.dumps(dict(call.function.arguments), ensure_ascii=False)
            self._calls.append(ModelCall(identity, call.function.name, arguments))
        if part.done:
            self._stop = part.done_reason or "stop"
            self._usage = TokenUsage(part.prompt_eval_count or 0, part.eval_count or 0)

    def reply(self) -> Reply:
        if not self._stop:
            raise StreamBroken
        ending: Ending = "called" if self._calls else "said"
        ending = "cut" if self._stop == "length" else ending
        record = {"model": self._model, "stop": self._stop, "text": self._text}
        return Reply(
            self._model,
            ending,
            self._text,
            tuple(self._calls),
            self._usage,
            msgspec.json.encode({**record, "calls": self._calls, "usage": self._usage}),
        )
