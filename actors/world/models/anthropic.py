"""This adapter asks Claude by Anthropic's Messages API."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from rutter.actors.world.models.messages import (
    ModelCall,
    ModelClient,
    ModelTurn,
    Prompt,
    Reply,
    ResultsTurn,
    Turn,
)
from rutter.actors.world.models.provider_call import (
    ROOM_TO_THINK,
    Provider,
    StreamBroken,
    StreamProgress,
    ask,
    fitting,
    object_of,
    told_to_call,
    usable,
)
from rutter.events.advisor import Ending, TokenUsage

URL = "https://api.anthropic.com"
# One step at a time is a small question: less thinking is faster and cheaper.
EFFORT = "low"
NO_EFFORT = ("claude-haiku-4-5", "claude-sonnet-4-5", "claude-3")  # refuse the field (400)
NOTHING = "(nothing)"  # stands for a turn without a word, which is refused


class AnthropicModel(ModelClient):
    """An Anthropic model answers one question at a time."""

    provider: ClassVar[str] = "anthropic"

    def __init__(self, model: str, api_key: str, *, base_url: str | None = None) -> None:
        # Here, not above: it is slow to import, and most runs ask no model.
        import anthropic
        import httpx2

        self.model = model
        self._key = api_key.strip()
        self._read = Provider(
            "anthropic", (anthropic.APIConnectionError, httpx2.TransportError), self._key
        )
        # The SDK would retry twice, and make spans of its own in our traces.
        self._client = anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=base_url or URL,
            max_retries=0,
            timeout=None,
            open_telemetry=False,
        )

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        async def answer(progress: StreamProgress) -> Reply:
            usable(self._key, self.provider)
            asked = request(prompt, self.model)
            stream = await self._client.messages.create(**asked, stream=True)
            heard = _StreamedReply()
            async with stream:
                progress.began = True
                async for event in stream:
                    heard.take(event)
            progress.began = bool(heard.model)
            return heard.reply()

        return await ask(answer, self._read, within_ms=within_ms)

    async def aclose(self) -> None:
        await self._client.close()


def request(prompt: Prompt, model: str) -> dict[str, Any]:
    """The body of the request, without `stream`."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": prompt.max_tokens + ROOM_TO_THINK,
        "messages": _messages(prompt),
    }
    if not model.startswith(NO_EFFORT):
        body["output_config"] = {"effort": EFFORT}
    kept = {"cache_control": {"type": "ephemeral"}}  # tools come first: they are kept with it
    if prompt.system.strip():
        body["system"] = [{"type": "text", "text": prompt.system, **kept}]
    if prompt.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in prompt.tools
        ]
        if not prompt.system.strip():
            body["tools"][-1] |= kept
        if prompt.must_call or prompt.any_call:
            body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    return body


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Roles alternate: turns of one side that follow each other are one message."""
    messages: list[dict[str, Any]] = []
    for place, turn in enumerate(prompt.turns, 1):
        role = "assistant" if isinstance(turn, ModelTurn) else "user"
        blocks = list(_blocks(turn)) or [{"type": "text", "text": NOTHING}]
        if place == prompt.stays:
            _keep(blocks)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    words = told_to_call(prompt)
    if words and messages:
        messages[-1]["content"].append({"type": "text", "text": words})
    return messages


def _keep(blocks: Sequence[dict[str, Any]]) -> None:
    """Up to here it is kept; pictures are only told once, and stand behind what is kept."""
    lasting = [block for block in blocks if not _is(block, "image")]
    if lasting:
        lasting[-1]["cache_control"] = {"type": "ephemeral"}


def _blocks(turn: Turn) -> Iterator[dict[str, Any]]:
    """Results first: behind anything else they are refused."""
    if isinstance(turn, ResultsTurn):
        for outcome in turn.outcomes:
            told = {"type": "tool_result", "tool_use_id": fitting(outcome.id)}
            content = outcome.text if outcome.text.strip() else NOTHING
            yield {**told, "content": content, "is_error": outcome.failed}
    if turn.text.strip():
        yield {"type": "text", "text": turn.text}
    if isinstance(turn, ModelTurn):
        for call in turn.calls:
            made = {"id": fitting(call.id), "name": call.tool, "input": object_of(call.arguments)}
            yield {"type": "tool_use", **made}
        return
    for picture in turn.pictures:
        data = base64.b64encode(picture).decode()
        source = {"type": "base64", "media_type": "image/png", "data": data}
        yield {"type": "image", "source": source}


ENDINGS: Mapping[str, Ending] = {
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
    "refusal": "refused",
}


class _StreamedReply:
    """A stream has brought this so far. Arguments stay text: the SDK's own reading of them raises
    where they are no JSON."""

    def __init__(self) -> None:
        self.model = ""
        self._blocks: dict[int, dict[str, Any]] = {}
        self._stop = ""
        self._usage: dict[str, int] = {}
        self._complete = False

    def take(self, event: Any) -> None:
        match event.type:
            case "message_start":
                self.model = event.message.model
                self._count(event.message.usage)
            case "content_block_start":
                self._blocks[event.index] = {**event.content_block.to_dict(), "said": ""}
            case "content_block_delta":
                self._blocks[event.index]["said"] += _delta(event.delta)
            case "message_delta":
                self._stop = event.delta.stop_reason or ""
                self._count(event.usage)
            case "message_stop":
                self._complete = True
            case _:  # new kinds are added without notice
                pass

    def _count(self, usage: Any) -> None:
        """Totals, not additions; what is left out is as it was."""
        for name, number in usage.to_dict().items():
            if isinstance(number, int):
                self._usage[name] = number

    def reply(self) -> Reply:
        if not self._complete:
            raise StreamBroken
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        said = [block.get("text", "") + block["said"] for block in blocks if _is(block, "text")]
        calls = tuple(_used(block) for block in blocks if _is(block, "tool_use"))
        ending: Ending = ENDINGS.get(self._stop, "called" if calls else "said")
        return Reply(
            self.model,
            ending,
            "\n".join(said),
            () if ending == "refused" else calls,
            self._tokens(),
            msgspec.json.encode(
                {"model": self.model, "stop": self._stop, "content": blocks, "usage": self._usage}
            ),
        )

    def _tokens(self) -> TokenUsage:
        """Its `input_tokens` are those that were neither read from the cache nor written to it."""
        cached = self._usage.get("cache_read_input_tokens", 0)
        kept = self._usage.get("cache_creation_input_tokens", 0)
        fresh = self._usage.get("input_tokens", 0)
        return TokenUsage(fresh + cached + kept, self._usage.get("output_tokens", 0), cached, kept)


def _is(block: Mapping[str, Any], kind: str) -> bool:
    return block.get("type") == kind


def _delta(delta: Any) -> str:
    """Of text and of arguments; thinking is not for us."""
    if delta.type == "text_delta":
        return str(delta.text)
    return str(delta.partial_json) if delta.type == "input_json_delta" else ""


def _used(block: Mapping[str, Any]) -> ModelCall:
    arguments = block["said"] or json.dumps(block.get("input") or {})
    return ModelCall(str(block["id"]), str(block["name"]), arguments)
