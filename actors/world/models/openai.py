"""This adapter asks GPT by OpenAI's Chat Completions API, or whatever else speaks that format."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from rutter.actors.world.models.messages import (
    ModelCall,
    ModelClient,
    ModelTurn,
    Prompt,
    Reply,
    ResultsTurn,
    ToolSpec,
    Turn,
    UserTurn,
)
from rutter.actors.world.models.provider_call import (
    ROOM_TO_THINK,
    Provider,
    StreamBroken,
    StreamProgress,
    ask,
    extra,
    fitting,
    usable,
)
from rutter.events.advisor import Ending, TokenUsage

URL = "https://api.openai.com/v1"
# These call functions here only when they do not reason (400 otherwise).
UNREASONED = ("gpt-5.6-", "gpt-6-", "gpt-6.1-")
NOTHING = "(nothing)"


class OpenAIModel(ModelClient):
    """An OpenAI model answers one question at a time."""

    provider: ClassVar[str] = "openai"

    def __init__(self, model: str, api_key: str, *, base_url: str | None = None) -> None:
        openai = extra("openai")
        httpx2 = extra("httpx2")
        self.model = model
        self._key = api_key.strip()
        lost = (openai.APIConnectionError, httpx2.TransportError)
        self._read = Provider("openai", lost, self._key)
        # Without a key the SDK would take one of the environment's: `complete` says what is wrong.
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none", base_url=base_url or URL, max_retries=0, timeout=None
        )

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        async def answer(progress: StreamProgress) -> Reply:
            usable(self._key, self.provider)
            asked = request(prompt, self.model)
            stream = await self._client.chat.completions.create(**asked, stream=True)
            heard = _StreamedReply()
            async with stream:
                progress.began = True
                async for chunk in stream:
                    heard.take(chunk)
            progress.began = bool(heard.model)
            return heard.reply()

        return await ask(answer, self._read, within_ms=within_ms)

    async def aclose(self) -> None:
        await self._client.close()


def request(prompt: Prompt, model: str) -> dict[str, Any]:
    """The body of the request, without `stream`."""
    body: dict[str, Any] = {
        "model": model,
        "max_completion_tokens": prompt.max_tokens + ROOM_TO_THINK,
        "messages": list(_messages(prompt)),
        "stream_options": {"include_usage": True},
    }
    if not prompt.tools:
        return body
    body["tools"] = [as_function(tool) for tool in prompt.tools]
    if model.startswith(UNREASONED):
        body["reasoning_effort"] = "none"
    if prompt.must_call:
        body["tool_choice"] = {"type": "function", "function": {"name": prompt.must_call}}
    elif prompt.any_call:
        body["tool_choice"] = "required"
    if prompt.must_call or prompt.any_call:
        body["parallel_tool_calls"] = False
    return body


def as_function(tool: ToolSpec) -> dict[str, Any]:
    said = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": said}


def _messages(prompt: Prompt) -> Iterator[dict[str, Any]]:
    if prompt.system.strip():
        yield {"role": "system", "content": prompt.system}
    for turn in prompt.turns:
        yield from _of_turn(turn)


def _of_turn(turn: Turn) -> Iterator[dict[str, Any]]:
    match turn:
        case ModelTurn(text, calls):
            said: dict[str, Any] = {"role": "assistant", "content": text or None}
            if calls:
                said["tool_calls"] = [_call(call) for call in calls]
            elif not text:
                said["content"] = NOTHING
            yield said
        case ResultsTurn(outcomes, text, pictures):
            for each in outcomes:
                told = f"error: {each.text}" if each.failed else each.text
                yield {"role": "tool", "tool_call_id": fitting(each.id), "content": told}
            # A tool's message holds no picture: they are the user's, behind it.
            if text or pictures:
                yield {"role": "user", "content": _content(text, pictures)}
        case UserTurn(text, pictures):
            yield {"role": "user", "content": _content(text, pictures)}


def _call(call: ModelCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": fitting(call.id), "type": "function", "function": function}


def _content(text: str, pictures: tuple[bytes, ...]) -> Any:
    if not pictures:
        return text or NOTHING
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for picture in pictures:
        url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


ENDINGS: Mapping[str, Ending] = {"length": "cut", "content_filter": "refused"}


class _StreamedReply:
    """A stream has brought this so far."""

    def __init__(self) -> None:
        self.model = ""
        self._text = ""
        self._refusal = ""
        self._calls: dict[int, dict[str, str]] = {}
        self._stop = ""
        self._usage = TokenUsage()

    def take(self, chunk: Any) -> None:
        self.model = chunk.model or self.model
        if chunk.usage is not None:
            self._usage = _tokens(chunk.usage)
        for choice in chunk.choices[:1]:
            self._stop = choice.finish_reason or self._stop
            self._text += choice.delta.content or ""
            self._refusal += choice.delta.refusal or ""
            for part in choice.delta.tool_calls or ():
                self._take_call(part)

    def _take_call(self, part: Any) -> None:
        call = self._calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
        call["id"] = part.id or call["id"]
        if part.function is not None:
            call["name"] += part.function.name or ""
            call["arguments"] += part.function.arguments or ""

    def reply(self) -> Reply:
        if not self._stop:
            raise StreamBroken
        made = [self._calls[index] for index in sorted(self._calls)]
        calls = tuple(
            ModelCall(each["id"], each["name"], each["arguments"] or "{}") for each in made
        )
        ending: Ending = ENDINGS.get(self._stop, "called" if calls else "said")
        ending = "refused" if self._refusal else ending
        record = {"model": self.model, "stop": self._stop, "text": self._text, "calls": made}
        return Reply(
            self.model,
            ending,
            self._text or self._refusal,
            () if ending == "refused" else calls,
            self._usage,
            msgspec.json.encode({**record, "refusal": self._refusal, "usage": self._usage}),
        )


def _tokens(usage: Any) -> TokenUsage:
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details is not None else 0
    kept = (getattr(details, "cache_write_tokens", None) or 0) if details is not None else 0
    given = usage.prompt_tokens or 0
    return TokenUsage(
        given, usage.completion_tokens or 0, cached, min(kept, max(given - cached, 0))
    )
