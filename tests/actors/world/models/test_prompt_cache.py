"""What a provider is told to keep: all that is told again word for word, and no picture."""

import msgspec

from rutter.actors.world.models.anthropic import request
from rutter.actors.world.models.messages import (
    CallResult,
    ModelCall,
    ModelTurn,
    Prompt,
    ResultsTurn,
    UserTurn,
)

CALLED = ModelTurn("", (ModelCall("call_1_0", "browser_click", "{}"),))
DONE = ResultsTurn((CallResult("call_1_0", "browser_click", "done"),), "The page", (b"PNG",))
PROMPT = Prompt("system", (UserTurn("goal", (b"PNG",)), CALLED, DONE), stays=2)


def marked(prompt: Prompt) -> list[str]:
    body = request(prompt, "claude-sonnet-4-5")
    blocks = [block for message in body["messages"] for block in message["content"]]
    return [block["type"] for block in blocks if "cache_control" in block]


def test_what_stays_is_marked_at_its_end() -> None:
    assert marked(PROMPT) == ["tool_use"]
    assert marked(msgspec.structs.replace(PROMPT, stays=3)) == ["text"]
    assert marked(msgspec.structs.replace(PROMPT, stays=1)) == ["text"]


def test_where_nothing_stays_nothing_is_marked_but_the_system_prompt() -> None:
    assert marked(msgspec.structs.replace(PROMPT, stays=0)) == []
    assert "cache_control" in request(PROMPT, "claude-sonnet-4-5")["system"][0]
