"""Vision by a model: one picture, one question, one of three answers, and nothing taken for one."""

import msgspec
import pytest

from rutter.actors.advisor.vision_model import ModelVision
from rutter.actors.vision import VisionSaid
from rutter.actors.world.models.prices import Price
from tests.support.model_providers import PNG, PROVIDERS, opened
from tests.support.provider_server import Answer, Call, Fault, WireServer

PRICE = Price(3_000_000, 15_000_000)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("provider", PROVIDERS)]


def verdict(said: str, message: str = "The header says so.") -> Answer:
    return Answer(calls=(Call("verdict", {"said": said, "message": message}),))


async def looked(
    provider: str, *script: Answer | Fault, price: Price | None = PRICE
) -> tuple[list[VisionSaid], WireServer]:
    with WireServer(list(script)) as server:
        async with opened(provider, server) as client:
            vision = ModelVision(client, price, within_ms=20_000)
            said = [await vision.look(PNG, "url contains /orders/") for _ in script]
    return said, server


async def test_the_picture_and_the_question_are_asked_and_the_verdict_is_told(
    provider: str,
) -> None:
    kinds = ("VERIFIED", "NOT_VERIFIED", "UNKNOWN")
    said, server = await looked(provider, *(verdict(each) for each in kinds))
    assert [each.said for each in said] == list(kinds)
    assert {each.message for each in said} == {"The header says so."}
    heard = server.requests[0]
    assert {(each.provider, each.model) for each in said} == {(provider, heard.model)}
    assert heard.pictures == (PNG,)
    assert "url contains /orders/" in heard.text
    assert heard.tools == ("verdict",)


async def test_what_is_no_verdict_is_unknown(provider: str) -> None:
    said, _ = await looked(
        provider,
        Answer("VERIFIED"),
        Answer(),
        verdict("MAYBE"),
        Answer(calls=(Call("verdict", {"message": "yes"}),)),
        Answer(calls=(Call("click", {"said": "VERIFIED"}),)),
        Answer(calls=(Call("verdict", {"said": "VERIFIED"}), Call("verdict", {"said": "UNKNOWN"}))),
        Answer("VERIF", stop="length"),
    )
    assert {each.said for each in said} == {"UNKNOWN"}
    assert all(each.message for each in said)


async def test_a_long_message_is_cut(provider: str) -> None:
    (said,), _ = await looked(provider, verdict("VERIFIED", "x" * 5_000))
    assert len(said.message) == 200


async def test_what_it_cost_is_told_whatever_it_said(provider: str) -> None:
    answer = msgspec.structs.replace(verdict("VERIFIED"), input=1_000, output=20)
    silent = msgspec.structs.replace(Answer("I see a page."), input=1_000, output=20)
    said, _ = await looked(provider, answer, silent)
    for each in said:
        assert (each.usage.input, each.usage.output) == (1_000, 20)
        assert (each.cost_microdollars, each.priced) == (3_300, True)
    (unpriced,), _ = await looked(provider, answer, price=None)
    assert (unpriced.usage.input, unpriced.cost_microdollars) == (1_000, 0)
    assert not unpriced.priced


async def test_a_call_that_fails_is_told_with_who_was_asked(provider: str) -> None:
    (said,), server = await looked(provider, Fault("status", 529))
    assert (said.said, said.provider, said.model) == ("UNKNOWN", provider, server.requests[0].model)
    assert said.error == "overloaded"
    assert "answered 529" in said.message
