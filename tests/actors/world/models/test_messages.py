"""Whatever is said arrives, and whatever is answered comes back: by the SDKs, over the wire."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.world.models.anthropic import request as anthropic_request
from rutter.actors.world.models.messages import (
    CallResult,
    ModelCall,
    ModelTurn,
    Prompt,
    ResultsTurn,
    ToolSpec,
    Turn,
    UserTurn,
)
from rutter.actors.world.models.ollama import request as ollama_request
from rutter.actors.world.models.openai import request as openai_request
from rutter.actors.world.models.provider_call import fitting
from tests.support.example_counts import examples
from tests.support.model_providers import CLICK, PNG, PROVIDERS, client_of, conversation, question
from tests.support.provider_server import Answer, Call, Fault, Heard, WireServer

EMPTY = "(nothing)"

texts = st.text(max_size=30)
pictures = st.lists(st.binary(max_size=8).map(lambda more: PNG + more), max_size=2).map(tuple)
names = st.sampled_from(["click", "type_text", "a-b_C9"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
arguments = st.dictionaries(st.text(max_size=8), values, max_size=3)


@st.composite
def turns(draw: st.DrawFn) -> tuple[Turn, ...]:
    """A conversation as it can be: it begins with the user and ends with them."""
    made: list[Turn] = [UserTurn(draw(texts), draw(pictures))]
    number = 0
    for _ in range(draw(st.integers(0, 3))):
        calls = []
        for _ in range(draw(st.integers(0, 2))):
            number += 1
            identity = draw(st.sampled_from([f"call_{number}", f"{number}:/é", f"{number}" * 50]))
            calls.append(ModelCall(identity, draw(names), json.dumps(draw(arguments))))
        made.append(ModelTurn(draw(texts), tuple(calls)))
        if not calls:
            made.append(UserTurn(draw(texts), draw(pictures)))
            continue
        outcomes = [
            CallResult(each.id, each.tool, draw(texts), draw(st.booleans())) for each in calls
        ]
        made.append(ResultsTurn(tuple(outcomes), draw(texts), draw(pictures)))
    return tuple(made)


answers = st.builds(
    Answer,
    text=texts,
    calls=st.lists(st.builds(Call, tool=names, arguments=arguments), max_size=3).map(tuple),
    thinking=texts,
    input=st.integers(2_000, 10**6),
    output=st.integers(0, 10**6),
    cached=st.integers(0, 1_000),
    kept=st.integers(0, 1_000),
)


def plain(provider: str, turn: Turn) -> Any:
    """What of a turn this provider can be told: ids where it has them, blanks as it takes them."""
    bare = provider == "anthropic"
    text = "" if bare and not turn.text.strip() else turn.text
    if isinstance(turn, ModelTurn):
        calls = [
            (_id(provider, each.id), each.tool, json.loads(each.arguments)) for each in turn.calls
        ]
        blank = EMPTY if provider != "ollama" else ""
        return (text or ("" if calls else blank), calls)
    if isinstance(turn, UserTurn):
        blank = EMPTY if provider != "ollama" else ""
        return (text or ("" if turn.pictures else blank), list(turn.pictures))
    outcomes = [_outcome(provider, each) for each in turn.outcomes]
    return (text, outcomes, list(turn.pictures))


def _id(provider: str, identity: str) -> str:
    return "" if provider == "ollama" else fitting(identity)


def _outcome(provider: str, each: CallResult) -> Any:
    if provider == "anthropic":
        return (fitting(each.id), each.tool, each.text if each.text.strip() else EMPTY, each.failed)
    text = f"error: {each.text}" if each.failed else each.text
    return (_id(provider, each.id), each.tool, text, False)


def as_heard(provider: str, turn: Turn) -> Any:
    if isinstance(turn, ModelTurn):
        return (
            turn.text,
            [(_raw(provider, c.id), c.tool, json.loads(c.arguments)) for c in turn.calls],
        )
    if isinstance(turn, UserTurn):
        return (turn.text, list(turn.pictures))
    outcomes = [(_raw(provider, o.id), o.tool, o.text, o.failed) for o in turn.outcomes]
    return (turn.text, outcomes, list(turn.pictures))


def _raw(provider: str, identity: str) -> str:
    return "" if provider == "ollama" else identity


class Parrot:
    """Says what it was given to say."""

    def __init__(self) -> None:
        self.answer: Answer | Fault = Answer()

    def __call__(self, heard: Heard) -> Answer | Fault:
        return self.answer


@pytest.fixture(params=PROVIDERS)
def line(request: pytest.FixtureRequest) -> Iterator[Any]:
    parrot = Parrot()
    with WireServer(parrot) as server, start_blocking_portal() as portal:
        client = portal.call(client_of, request.param, server)

        def say(prompt: Prompt, answer: Answer) -> Any:
            parrot.answer = answer
            server.requests.clear()
            reply = portal.call(lambda: client.complete(prompt, within_ms=20_000))
            return server.requests[0], reply

        yield request.param, say
        portal.call(client.aclose)


@pytest.mark.soak
def test_every_conversation_arrives_and_every_answer_comes_back(line: Any) -> None:
    provider, say = line

    @examples(30)
    @given(turns(), answers, texts)
    def arrives(said: tuple[Turn, ...], answer: Answer, system: str) -> None:
        heard, reply = say(Prompt(system, said, (CLICK,)), answer)
        assert heard.system == (system if system.strip() else "")
        expected = [plain(provider, turn) for turn in said]
        assert [as_heard(provider, turn) for turn in heard.turns] == expected
        assert reply.text == answer.text
        calls = [(call.tool, json.loads(call.arguments)) for call in reply.calls]
        assert calls == [(call.tool, call.arguments) for call in answer.calls]
        assert (reply.usage.input, reply.usage.output) == (answer.input, answer.output)
        if provider != "ollama":
            assert (reply.usage.cached, reply.usage.kept) == (answer.cached, answer.kept)

    arrives()


def test_turns_of_one_side_are_one_message_with_the_results_first() -> None:
    call = ModelCall("a", "click", "{}")
    said = (
        UserTurn("One."),
        UserTurn("Two."),
        ModelTurn("", (call,)),
        ResultsTurn((CallResult("a", "click", "ok"),)),
    )
    body = anthropic_request(Prompt("", (*said, UserTurn("Three.", (PNG,)))), "claude-sonnet-5-5")
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    kinds = [[block["type"] for block in message["content"]] for message in body["messages"]]
    assert kinds == [["text", "text"], ["tool_use"], ["tool_result", "text", "image"]]


def test_anthropic_keeps_tools_and_system_and_nothing_behind_them() -> None:
    body = anthropic_request(conversation(), "claude-sonnet-5-5")
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert json.dumps(body).count("cache_control") == 1
    alone = anthropic_request(Prompt("", (UserTurn("?"),), (CLICK,)), "claude-sonnet-5-5")
    assert "system" not in alone
    assert alone["tools"][-1]["cache_control"] == {"type": "ephemeral"}


def test_thinking_has_its_own_room_and_little_of_it() -> None:
    body = anthropic_request(question(), "claude-sonnet-5-5")
    assert body["max_tokens"] > question().max_tokens
    assert body["output_config"] == {"effort": "low"}
    assert "output_config" not in anthropic_request(question(), "claude-haiku-4-5")
    assert openai_request(question(), "gpt-6-luna")["reasoning_effort"] == "none"
    assert "reasoning_effort" not in openai_request(question(), "gpt-5.4-mini")
    asked = ollama_request(question(), "qwen3:8b")
    assert asked["think"] is False
    assert asked["options"]["num_ctx"] >= 16_000


def test_calls_that_cannot_be_read_go_back_as_they_can() -> None:
    broken = ModelCall("a", "click", '{"ref": "e')
    said = (
        UserTurn("?"),
        ModelTurn("", (broken,)),
        ResultsTurn((CallResult("a", "click", "no JSON", True),)),
    )
    prompt = Prompt("", said)
    use = anthropic_request(prompt, "claude-sonnet-5-5")["messages"][1]["content"][0]
    assert use["input"] == {"unreadable": '{"ref": "e'}
    made = openai_request(prompt, "gpt-6-luna")["messages"][1]["tool_calls"][0]
    assert made["function"]["arguments"] == '{"ref": "e'
    asked = ollama_request(prompt, "qwen3:8b")["messages"][1]["tool_calls"][0]
    assert asked["function"]["arguments"] == {"unreadable": '{"ref": "e'}


def test_what_ollamas_sdk_drops_of_a_schema_is_in_the_description(line: Any) -> None:
    provider, say = line
    nested = {"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]}
    deep = {"type": "object", "properties": {"on": {"oneOf": [nested, {"type": "null"}]}}}
    heard, _ = say(
        Prompt("", (UserTurn("?"),), (CLICK, ToolSpec("deep", "Deep.", deep))), Answer("!")
    )
    sent = heard.body["tools"]
    if provider == "anthropic":
        assert sent[1]["input_schema"] == deep
        return
    flat, other = sent[0]["function"], sent[1]["function"]
    assert flat["parameters"] == CLICK.schema
    assert flat["description"] == CLICK.description
    if provider == "openai":
        assert other["parameters"] == deep
    else:
        assert json.dumps(deep) in other["description"]


@pytest.mark.parametrize("line", ["ollama"], indirect=True)
def test_ids_of_ollama_go_on_behind_those_of_the_conversation(line: Any) -> None:
    _, say = line
    _, reply = say(conversation(), Answer(calls=(Call("click"), Call("click"))))
    assert [call.id for call in reply.calls] == ["call_4", "call_5"]
