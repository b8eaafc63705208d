"""Vision by a model: one picture, one question, one of three answers, and nothing taken for one."""

import pytest

from actors.minds.looking import MindVision
from actors.minds.speaking import MindFailed
from actors.vision import VisionSaid
from tests.minds.providers import PNG, PROVIDERS, opened
from tests.minds.wire import Answer, Call, Fault, WireServer

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("provider", PROVIDERS)]


def verdict(said: str, message: str = "The header says so.") -> Answer:
    return Answer(calls=(Call("verdict", {"said": said, "message": message}),))


async def looked(provider: str, *script: Answer | Fault) -> tuple[list[VisionSaid], WireServer]:
    with WireServer(list(script)) as server:
        async with opened(provider, server) as mind:
            vision = MindVision(mind, within_ms=20_000)
            said = [await vision.look(PNG, "url contains /orders/") for _ in script]
    return said, server


async def test_the_picture_and_the_question_are_asked_and_the_verdict_is_told(
    provider: str,
) -> None:
    kinds = ("VERIFIED", "NOT_VERIFIED", "UNKNOWN")
    said, server = await looked(provider, *(verdict(each) for each in kinds))
    assert [each.said for each in said] == list(kinds)
    assert {each.message for each in said} == {"The header says so."}
    assert all(each.provider.startswith(f"{provider}/") for each in said)
    heard = server.requests[0]
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


async def test_a_failure_is_raised_for_the_advisor_to_tell(provider: str) -> None:
    with pytest.raises(MindFailed, match="answered 529"):
        await looked(provider, Fault("status", 529))
