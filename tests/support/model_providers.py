"""A test opens three adapters by name, at the local server, and they are closed at the end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rutter.actors.world.models.anthropic import AnthropicModel
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.messages import (
    CallResult,
    ModelCall,
    ModelClient,
    ModelTurn,
    Prompt,
    ResultsTurn,
    ToolSpec,
    UserTurn,
)
from rutter.actors.world.models.ollama import OllamaModel
from rutter.actors.world.models.openai import OpenAIModel
from tests.support.provider_server import WireServer

PROVIDERS = ("anthropic", "openai", "ollama")
KEY = "sk-test-0123456789abcdef"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
CLICK = ToolSpec(
    "click",
    "Clicks an element.",
    {"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]},
)
TYPE = ToolSpec("type_text", "Types.", {"type": "object", "properties": {}})


def client_of(provider: str, server: WireServer, *, key: str = KEY, model: str = "") -> ModelClient:
    named = model or DEFAULTS[provider].model
    if provider == "anthropic":
        return AnthropicModel(named, key, base_url=server.anthropic_url)
    if provider == "openai":
        return OpenAIModel(named, key, base_url=server.openai_url)
    return OllamaModel(named, base_url=server.ollama_url)


@asynccontextmanager
async def opened(
    provider: str, server: WireServer, *, key: str = KEY, model: str = ""
) -> AsyncIterator[ModelClient]:
    client = client_of(provider, server, key=key, model=model)
    try:
        yield client
    finally:
        await client.aclose()


def question(text: str = "Where do I click?") -> Prompt:
    return Prompt("You use a browser.", (UserTurn(text),), (CLICK, TYPE))


def conversation() -> Prompt:
    """Every kind of turn, with pictures where they may be."""
    return Prompt(
        "You use a browser.",
        (
            UserTurn("Cancel it.", (PNG,)),
            ModelTurn("I click.", (ModelCall("call_1", "click", '{"ref": "e1"}'),)),
            ResultsTurn(
                (CallResult("call_1", "click", "no such element", failed=True),), "Look:", (PNG,)
            ),
            ModelTurn(
                "",
                (
                    ModelCall("call_2", "click", '{"ref": "e2"}'),
                    ModelCall("call_3", "type_text", "{}"),
                ),
            ),
            ResultsTurn(
                (
                    CallResult("call_2", "click", "done"),
                    CallResult("call_3", "type_text", "ignored"),
                )
            ),
        ),
        (CLICK, TYPE),
    )
