"""What a picture says is told as a fact; whatever goes wrong with it, that is unknown."""

from pathlib import Path
from typing import Any, cast

import anyio
import msgspec
import pytest

from rutter.actors.advisor.picture_advice import LOOK_MS, VisionAdvisor
from rutter.actors.vision import ScriptedVision, Vision, VisionSaid
from rutter.actors.world.browser.page_session import PageClosed, PageTimeout
from rutter.actors.world.browser.screen import Screen
from rutter.events.advisor import TokenUsage, VisionGiven
from rutter.events.artifacts import ArtifactStore
from rutter.events.critic import VisionSought
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.planner import RunStopped
from rutter.events.policy import Policy
from rutter.events.vocabulary import AnyEvent
from tests.support.case_table import for_each
from tests.support.policies import HERE

pytestmark = pytest.mark.anyio

SOUGHT = VisionSought(4, 1, "Order saved")
PICTURE = b"\x89PNG of a page"


class Pages:
    """A browser whose only page is a picture, or is not there."""

    def __init__(self, picture: bytes | Exception = PICTURE) -> None:
        self._picture = picture
        self.widths: list[int] = []

    async def open_window(self, policy: Policy) -> Any:
        return self

    @property
    def tab(self) -> "Pages":
        return self

    async def picture(self, *, max_width: int, within_ms: int) -> bytes:
        self.widths.append(max_width)
        if isinstance(self._picture, Exception):
            raise self._picture
        return self._picture


class Silent:
    """Looks for ever."""

    def __init__(self) -> None:
        self.asked = 0

    async def look(self, picture: bytes, checked: str) -> VisionSaid:
        self.asked += 1
        await anyio.sleep_forever()
        raise AssertionError


async def screen_of(pages: Pages) -> Screen:
    screen = Screen(pages, HERE)
    await screen.open()
    return screen


def told(event: AnyEvent) -> Envelope:
    return Envelope(1, "session-1", 1, 0, "critic", 0, event, bytes(32))


async def facts(advisor: VisionAdvisor, event: AnyEvent = SOUGHT) -> list[AnyEvent]:
    return [fact async for fact in advisor.handle(told(event))]


async def given(
    vision: Vision | None, pages: Pages | None = None, *, within_ms: int = LOOK_MS
) -> VisionGiven:
    """The one answer, without the time that it took."""
    screen = await screen_of(pages or Pages())
    [fact] = await facts(VisionAdvisor(screen, None, vision, within_ms=within_ms))
    assert isinstance(fact, VisionGiven)
    assert (fact.step, fact.attempt) == (SOUGHT.step, SOUGHT.attempt)
    return msgspec.structs.replace(fact, took_ms=0)


def unknown(message: str) -> VisionGiven:
    return VisionGiven(4, 1, "UNKNOWN", message=message)


@for_each("said", ["VERIFIED", "NOT_VERIFIED", "UNKNOWN"])
async def test_what_was_seen_is_told_with_its_picture(tmp_path: Path, said: Any) -> None:
    vision, pages = ScriptedVision(VisionSaid(said, "eyes-1", "a green box")), Pages()
    store = ArtifactStore(tmp_path)
    [fact] = await facts(VisionAdvisor(await screen_of(pages), store, vision))
    assert isinstance(fact, VisionGiven)
    assert (fact.said, fact.provider, fact.message) == (said, "eyes-1", "a green box")
    assert fact.screenshot is not None
    assert store.get(fact.screenshot) == PICTURE
    assert vision.asked == [(PICTURE, "Order saved")]
    assert pages.widths == [1_280]


async def test_without_a_store_the_picture_is_not_kept() -> None:
    fact = await given(ScriptedVision(VisionSaid("VERIFIED")))
    assert (fact.said, fact.screenshot) == ("VERIFIED", None)


async def test_without_vision_nothing_is_looked_at() -> None:
    pages = Pages()
    assert await given(None, pages) == unknown("no vision is configured")
    assert pages.widths == []


@for_each("error", [PageTimeout("picture"), PageClosed("it was closed"), BrowserGone("no browser")])
async def test_without_a_picture_nobody_is_asked(error: Exception) -> None:
    vision = ScriptedVision(VisionSaid("VERIFIED"))
    fact = await given(vision, Pages(error))
    assert fact == unknown(f"{type(error).__name__}: {error}")
    assert vision.asked == []


async def test_a_session_that_has_no_page_is_not_looked_at() -> None:
    vision = ScriptedVision(VisionSaid("VERIFIED"))
    [fact] = await facts(VisionAdvisor(Screen(Pages(), HERE), None, vision))
    assert isinstance(fact, VisionGiven)
    assert fact.said == "UNKNOWN"
    assert "no page" in fact.message
    assert vision.asked == []


@for_each("error", [RuntimeError("overloaded"), ValueError("x" * 999), OSError(1, "no network")])
async def test_vision_that_fails_does_not_know_and_is_not_asked_again(error: Exception) -> None:
    vision = ScriptedVision(error, VisionSaid("VERIFIED"))
    fact = await given(vision)
    assert fact == unknown(f"{type(error).__name__}: {error}"[:200])
    assert len(vision.asked) == 1


async def test_vision_that_does_not_answer_does_not_know() -> None:
    silent = Silent()
    assert await given(silent, within_ms=1) == unknown("no answer within 1 ms")
    assert silent.asked == 1


@for_each("answer", [VisionSaid(cast(Any, "MAYBE")), VisionSaid(cast(Any, None)), None, "VERIFIED"])
async def test_an_answer_of_no_known_kind_is_not_taken(answer: Any) -> None:
    fact = await given(ScriptedVision(answer))
    assert fact.said == "UNKNOWN"
    assert fact.message.startswith("ValidationError")


async def test_a_long_answer_is_cut() -> None:
    fact = await given(ScriptedVision(VisionSaid("VERIFIED", "p" * 999, "m" * 999)))
    assert (fact.provider, fact.message) == ("p" * 200, "m" * 200)


async def test_what_it_cost_and_why_it_failed_is_told() -> None:
    said = VisionSaid("VERIFIED", "p", "m", "eyes-2", TokenUsage(900, 20, 8, 4), 31, False)
    fact = await given(ScriptedVision(said))
    assert (fact.model, fact.usage) == ("eyes-2", TokenUsage(900, 20, 8, 4))
    assert (fact.cost_microdollars, fact.priced, fact.error) == (31, False, None)
    fact = await given(ScriptedVision(VisionSaid("UNKNOWN", "p", "busy", "m", error="overloaded")))
    assert (fact.provider, fact.message, fact.error) == ("p", "busy", "overloaded")


async def test_nothing_else_is_answered() -> None:
    advisor = VisionAdvisor(await screen_of(Pages()), None, ScriptedVision())
    assert await facts(advisor, RunStopped("completed")) == []
    assert advisor.failed(told(RunStopped("completed")), RuntimeError()) is None


async def test_if_it_breaks_all_the_same_that_is_its_answer() -> None:
    advisor = VisionAdvisor(Screen(Pages(), HERE), None, None)
    assert advisor.failed(told(SOUGHT), RuntimeError("odd")) == unknown("RuntimeError: odd")


async def test_scripted_vision_answers_in_order_and_then_knows_nothing() -> None:
    vision = ScriptedVision(VisionSaid("VERIFIED"), VisionSaid("NOT_VERIFIED"))
    said = [(await vision.look(b"", str(number))).said for number in range(3)]
    assert said == ["VERIFIED", "NOT_VERIFIED", "UNKNOWN"]
    assert [checked for _, checked in vision.asked] == ["0", "1", "2"]
