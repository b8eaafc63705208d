"""The three adapters as a test opens them: by name, at the local server, closed at the end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rutter.actors.world.models.anthropic import AnthropicMind
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.messages import (
    Mind,
    Outcome,
    Prompt,
    Results,
    Thought,
    Told,
    ToolSpec,
    Used,
)
from rutter.actors.world.models.ollama import OllamaMind
from rutter.actors.world.models.openai import OpenAIMind
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


def mind_of(provider: str, server: WireServer, *, key: str = KEY, model: str = "") -> Mind:
    named = model or DEFAULTS[provider].model
    if provider == "anthropic":
        return AnthropicMind(named, key, base_url=server.anthropic_url)
    if provider == "openai":
        return OpenAIMind(named, key, base_url=server.openai_url)
    return OllamaMind(named, base_url=server.ollama_url)


@asynccontextmanager
async def opened(
    provider: str, server: WireServer, *, key: str = KEY, model: str = ""
) -> AsyncIterator[Mind]:
    mind = mind_of(provider, server, key=key, model=model)
    try:
        yield mind
    finally:
        await mind.aclose()


def question(text: str = "Where do I click?") -> Prompt:
    return Prompt("You use a browser.", (Told(text),), (CLICK, TYPE))


def conversation() -> Prompt:
    """Every kind of turn, with pictures where they may be."""
    return Prompt(
        "You use a browser.",
        (
            Told("Cancel it.", (PNG,)),
            Thought("I click.", (Used("call_1", "click", '{"ref": "e1"}'),)),
            Results((Outcome("call_1", "click", "no such element", failed=True),), "Look:", (PNG,)),
            Thought(
                "", (Used("call_2", "click", '{"ref": "e2"}'), Used("call_3", "type_text", "{}"))
            ),
            Results(
                (Outcome("call_2", "click", "done"), Outcome("call_3", "type_text", "ignored"))
            ),
        ),
        (CLICK, TYPE),
    )
