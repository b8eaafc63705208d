"""What every adapter does, by the real SDKs, over real connections: one table for all three."""

from typing import NamedTuple

import anyio
import anyio.to_thread
import pytest

from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.messages import ModelCall, ModelFailed, Prompt, Reply, UserTurn
from rutter.events.advisor import AdviceError, Ending, TokenUsage
from tests.support.model_providers import (
    KEY,
    PNG,
    PROVIDERS,
    client_of,
    conversation,
    opened,
    question,
)
from tests.support.provider_server import Answer, Call, Fault, Heard, WireServer

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("provider", PROVIDERS)]

LONG_MS = 20_000  # nothing here takes it; a machine that stands still does


class Failing(NamedTuple):
    fault: Fault
    code: AdviceError
    transient: bool


FAILURES = {
    "bad request": Failing(Fault("status", 400, "prompt is too long"), "invalid", False),
    "no money": Failing(Fault("status", 402), "unauthorised", False),
    "forbidden": Failing(Fault("status", 403, "not in your region"), "unauthorised", False),
    "no such model": Failing(Fault("status", 404), "unknown_model", False),
    "too large": Failing(Fault("status", 413), "invalid", False),
    "too many requests": Failing(Fault("status", 429), "rate_limited", True),
    "its own error": Failing(Fault("status", 500), "unavailable", True),
    "bad gateway": Failing(Fault("status", 502), "unavailable", True),
    "busy": Failing(Fault("status", 503), "overloaded", True),
    "gateway timeout": Failing(Fault("status", 504), "unavailable", True),
    "overloaded": Failing(Fault("status", 529), "overloaded", True),
    "connection cut": Failing(Fault("cut"), "cut", True),
    "answer without end": Failing(Fault("ended"), "cut", True),
    "another format": Failing(Fault("garbage"), "invalid", True),
    "error in the stream": Failing(Fault("error", 500), "unavailable", True),
}


async def failing(provider: str, server: WireServer, *, within_ms: int = LONG_MS) -> ModelFailed:
    async with opened(provider, server) as client:
        with pytest.raises(ModelFailed) as caught:
            await client.complete(question(), within_ms=within_ms)
    return caught.value


async def answered(provider: str, answer: Answer, prompt: Prompt | None = None) -> Reply:
    with WireServer([answer]) as server:
        async with opened(provider, server) as client:
            return await client.complete(prompt or question(), within_ms=LONG_MS)


async def test_every_fault_has_its_word_and_is_asked_about_once(provider: str) -> None:
    wrong = {}
    with WireServer([each.fault for each in FAILURES.values()]) as server:
        async with opened(provider, server) as client:
            for number, (name, expected) in enumerate(FAILURES.items(), 1):
                with pytest.raises(ModelFailed) as caught:
                    await client.complete(question(), within_ms=LONG_MS)
                said = (caught.value.code, caught.value.transient, server.attempts)
                if said != (expected.code, expected.transient, number):
                    wrong[name] = said
                assert caught.value.message
    assert not wrong


async def test_what_never_comes_is_a_timeout(provider: str) -> None:
    for fault in (Fault("silent"), Fault("stalled")):
        with WireServer([fault]) as server:
            failed = await failing(provider, server, within_ms=600)
            assert (failed.code, failed.transient) == ("timeout", True)
            assert "600 ms" in failed.message
            assert server.attempts == 1
            assert server.hung_up.wait(10)


async def test_a_question_that_is_cancelled_hangs_up(provider: str) -> None:
    with WireServer([Fault("stalled")]) as server:
        async with opened(provider, server) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: client.complete(question(), within_ms=LONG_MS))
            assert await anyio.to_thread.run_sync(server.waiting.wait, 10)
            tasks.cancel_scope.cancel()
        assert server.hung_up.wait(10)


async def test_a_picture_arrives_once_with_its_prompt_and_every_fault_of_it_has_its_word(
    provider: str,
) -> None:
    script: list[Answer | Fault] = [Answer("Sloop | $29")]
    script += [each.fault for each in FAILURES.values()]
    with WireServer(script) as server:
        async with opened(provider, server) as client:
            reply = await client.vision((PNG,), "Extract pricing table", within_ms=LONG_MS)
            for expected in FAILURES.values():
                with pytest.raises(ModelFailed) as caught:
                    await client.vision((PNG,), "What is it?", within_ms=LONG_MS)
                assert (caught.value.code, caught.value.transient) == expected[1:]
    assert (reply.text, reply.ending, reply.usage.input) == ("Sloop | $29", "said", 120)
    first, *others = server.requests
    assert first.pictures == (PNG,)
    assert "tables of prices" in first.text
    assert "do not solve" in first.system
    assert {each.text for each in others} == {"What is it?"}
    assert server.attempts == len(script)


async def test_where_nobody_listens_it_is_unavailable(provider: str) -> None:
    with WireServer([]) as server:
        pass
    failed = await failing(provider, server)
    assert (failed.code, failed.transient) == ("unavailable", True)
    assert "cannot be reached" in failed.message


async def test_a_call_is_read_with_its_words_and_its_cost(provider: str) -> None:
    said = Answer(
        "I click it.",
        (Call("click", {"ref": "e7", "why": 'é ☃ " \\'}, "call_9"),),
        thinking="Which one is it?",
        input=1_000,
        output=50,
        cached=700,
        kept=200,
    )
    reply = await answered(provider, said)
    assert reply.model == DEFAULTS[provider].model
    assert (reply.ending, reply.text) == ("called", "I click it.")
    (call,) = reply.calls
    assert call.tool == "click"
    assert call.arguments == '{"ref": "e7", "why": "é ☃ \\" \\\\"}' or "\\u2603" in call.arguments
    caching = provider != "ollama"
    assert reply.usage == (TokenUsage(1_000, 50, 700, 200) if caching else TokenUsage(1_000, 50))
    assert b"I click it." in reply.raw


ENDINGS: dict[str, tuple[Answer, Ending, int]] = {
    "words alone": (Answer("It is done."), "said", 0),
    "nothing at all": (Answer(), "said", 0),
    "only thinking": (Answer(thinking="Hm."), "said", 0),
    "a tool that there is not": (Answer(calls=(Call("fly", {}),)), "called", 1),
    "no arguments": (Answer(calls=(Call("click", ""),)), "called", 1),
    "two calls": (Answer(calls=(Call("click", {"ref": "a"}), Call("click", {}))), "called", 2),
    "cut words": (Answer("It is", stop="length"), "cut", 0),
}


async def test_every_ending_has_its_word(provider: str) -> None:
    for name, (answer, ending, calls) in ENDINGS.items():
        if provider == "ollama" and name == "no arguments":
            continue  # its arguments are an object, always
        reply = await answered(provider, answer)
        assert (name, reply.ending, len(reply.calls)) == (name, ending, calls)
        assert (name, reply.text) == (name, answer.text)
        assert len({call.id for call in reply.calls}) == calls


async def test_a_refusal_is_an_answer_without_calls(provider: str) -> None:
    reply = await answered(provider, Answer("I will not.", (Call("click", {}),), stop="refusal"))
    if provider == "ollama":  # it has no such thing: the words alone say it
        assert reply.ending == "called"
        return
    assert (reply.ending, reply.text, reply.calls) == ("refused", "I will not.", ())


async def test_arguments_that_are_no_json_are_kept_as_text(provider: str) -> None:
    """The models that bring an object have a server that reads it: that one says what is wrong."""
    for stop in ("", "length"):
        answer = Answer(calls=(Call("click", '{"ref": "e', "call_1"),), stop=stop)
        if provider != "ollama":
            reply = await answered(provider, answer)
            assert reply.calls == (ModelCall("call_1", "click", '{"ref": "e'),)
            assert reply.ending == ("cut" if stop else "called")
            continue
        if stop:
            assert (await answered(provider, answer)).ending == "cut"
            continue
        with WireServer([answer]) as server:
            failed = await failing(provider, server)
        assert (failed.code, failed.transient) == ("invalid", True)
        assert "parsing tool call" in failed.message


async def test_a_whole_conversation_is_taken_and_understood(provider: str) -> None:
    prompt = conversation()
    with WireServer([Answer("Done.")]) as server:
        async with opened(provider, server) as client:
            await client.complete(prompt, within_ms=LONG_MS)
    (heard,) = server.requests
    assert (heard.system, heard.tools) == (prompt.system, ("click", "type_text"))
    assert [type(turn) for turn in heard.turns] == [type(turn) for turn in prompt.turns]
    assert [turn.text for turn in heard.turns] == [turn.text for turn in prompt.turns]
    assert len(heard.pictures) == 2
    assert "done" in heard.text
    assert "ignored" in heard.text


async def test_that_a_tool_must_be_called_is_told_in_the_way_that_works(provider: str) -> None:
    question_ = question()
    must = Prompt(question_.system, question_.turns, question_.tools, must_call="click")
    some = Prompt(question_.system, question_.turns, question_.tools, any_call=True)
    with WireServer([Answer("a"), Answer("b"), Answer("c")]) as server:
        async with opened(provider, server) as client:
            for prompt in (question_, must, some):
                await client.complete(prompt, within_ms=LONG_MS)
    free, named, any_tool = server.requests
    if provider == "openai":
        assert "tool_choice" not in free.body
        function = {"type": "function", "function": {"name": "click"}}
        assert named.body["tool_choice"] == function
        assert any_tool.body["tool_choice"] == "required"
        assert named.body["parallel_tool_calls"] is any_tool.body["parallel_tool_calls"] is False
        return
    assert free.text == "Where do I click?"
    assert "exactly one call of the tool click" in named.text
    assert "exactly one call of a tool" in any_tool.text
    assert {free.system, named.system, any_tool.system} == {free.system}  # that part is kept


async def test_no_key_is_told_whatever_the_provider_says(provider: str) -> None:
    def echo(heard: Heard) -> Fault:
        return faults.pop(0)

    faults = [
        *(Fault("status", status, f"the key {KEY} is bad") for status in (400, 403, 404, 429, 500)),
        Fault("error", 529, f"Authorization: Bearer {KEY}"),
    ]
    with WireServer(echo) as server:
        async with opened(provider, server) as client:
            while faults:
                with pytest.raises(ModelFailed) as caught:
                    await client.complete(question(), within_ms=LONG_MS)
                failed = caught.value
                assert KEY not in f"{failed!r} {failed} {failed.message} {failed.args} {client!r}"
                assert failed.__cause__ is None
                assert failed.__context__ is None


async def test_a_key_that_is_wrong_or_can_be_none_is_unauthorised(provider: str) -> None:
    if provider == "ollama":
        return  # it needs none
    with WireServer([Answer("hello")], key=KEY) as server:
        for key in ("sk-wrong-0123456789", "", " ", "sk-\x00", "ключ", "two words"):
            async with opened(provider, server, key=key) as client:
                with pytest.raises(ModelFailed) as caught:
                    await client.complete(question(), within_ms=LONG_MS)
            assert (caught.value.code, caught.value.transient) == ("unauthorised", False)
            assert "wrong" not in caught.value.message
        assert server.attempts == 1
        async with opened(provider, server, key=f"{KEY}\n") as client:  # as a file ends
            assert (await client.complete(question(), within_ms=LONG_MS)).text == "hello"


async def test_a_model_that_the_provider_has_not_is_unknown(provider: str) -> None:
    with WireServer([Answer("hello")], models=["another"]) as server:
        failed = await failing(provider, server)
        assert (failed.code, failed.transient) == ("unknown_model", False)
        assert DEFAULTS[provider].model in failed.message


async def test_what_cannot_be_asked_is_a_failure_too(provider: str) -> None:
    with WireServer([]) as server:
        async with opened(provider, server) as client:
            with pytest.raises(ModelFailed) as caught:
                await client.complete(Prompt("", (), ()), within_ms=LONG_MS)
    assert caught.value.code == "invalid"


async def test_where_it_asks_and_with_which_key_is_not_the_environments_to_say(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    with WireServer([Answer("hello")], key=KEY) as server:
        async with opened(provider, server) as client:
            assert (await client.complete(question(), within_ms=LONG_MS)).text == "hello"


async def test_one_mind_answers_again_after_it_failed(provider: str) -> None:
    script: list[Answer | Fault] = [
        Fault("cut"),
        Fault("status", 429),
        Fault("garbage"),
        Answer("There."),
    ]
    with WireServer(script) as server:
        client = client_of(provider, server)
        for _ in script[:-1]:
            with pytest.raises(ModelFailed):
                await client.complete(question(), within_ms=LONG_MS)
        assert (
            await client.complete(Prompt("", (UserTurn("?"),)), within_ms=LONG_MS)
        ).text == "There."
        await client.aclose()
    assert server.attempts == len(script)
