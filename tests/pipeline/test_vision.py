"""Vision in whole sessions: asked once about what failed, told, and never believed."""

from typing import Any

import pytest

from rutter.actors.advisor.picture_advice import VisionAdvisor
from rutter.actors.vision import ScriptedVision, Vision, VisionSaid
from rutter.actors.world.browser.screen import Screen
from rutter.events.action import Action
from rutter.events.advisor import VisionGiven
from rutter.events.checks import UrlHas
from rutter.events.critic import ActionJudged, VisionSought
from rutter.events.log import EventLog
from rutter.events.planner import RunStopped
from rutter.events.policy import Policy
from rutter.events.validator import ActionStarted
from tests.support.log_checks import Replayed, events_of
from tests.support.policies import HERE
from tests.support.scripted_shop import ORIGIN, effectors, shop
from tests.support.shop_sessions import open_app, recording

pytestmark = pytest.mark.anyio

HOME = Action("navigate", url=ORIGIN + "/")
CHECK = Action("check", verify=(UrlHas("/orders/"),))


class Pages:
    """A browser whose only page is a picture."""

    async def open_window(self, policy: Policy) -> Any:
        return self

    @property
    def tab(self) -> "Pages":
        return self

    async def picture(self, *, max_width: int, within_ms: int) -> bytes:
        return b"\x89PNG"


async def check_in_vain(log: EventLog, vision: Vision | None, *, wanted: bool = True) -> list[Any]:
    """A session whose check fails, with this vision beside it."""
    screen = Screen(Pages(), HERE)
    await screen.open()
    started = recording(HOME, CHECK, vision=wanted)
    advisor = VisionAdvisor(screen, None, vision)
    async with open_app(log) as app:
        await app.run_session(started, [*effectors(shop(), started), advisor], name="record-1")
    return await events_of(log, "record-1")


def of(events: list[Any], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def decided(events: list[Any]) -> list[Any]:
    """What was done and how it was judged, whatever the evidence."""
    judged = [(each.step, each.verdict, each.reason) for each in of(events, ActionJudged)]
    started = [(each.step, each.attempt) for each in of(events, ActionStarted)]
    return [judged, started, of(events, RunStopped)]


@pytest.mark.parametrize(
    ("said", "confidence"), [("VERIFIED", 650_000), ("UNKNOWN", 400_000), ("NOT_VERIFIED", 300_000)]
)
async def test_whatever_vision_says_about_a_failure_it_stays_one(
    replayed: Replayed, said: Any, confidence: int
) -> None:
    vision = ScriptedVision(*[VisionSaid(said, "eyes-1")] * 5)
    seen = await check_in_vain(replayed.memory(), vision)
    alone = await check_in_vain(replayed.memory(), None, wanted=False)
    assert decided(seen) == decided(alone)
    failed = [each for each in of(seen, ActionJudged) if each.verdict != "confirmed"]
    assert failed
    assert {each.confidence for each in failed} == {confidence}
    assert {each.confidence for each in of(alone, ActionJudged)} == {1_000_000, 200_000}
    assert len(vision.asked) == len(of(seen, VisionSought)) == len(of(seen, VisionGiven))
    assert len(vision.asked) == len(failed)


async def test_vision_is_not_asked_when_it_is_not_wanted(replayed: Replayed) -> None:
    vision = ScriptedVision(VisionSaid("VERIFIED"))
    seen = await check_in_vain(replayed.memory(), vision, wanted=False)
    assert of(seen, VisionSought) == []
    assert vision.asked == []


@pytest.mark.parametrize("vision", [None, ScriptedVision(*[RuntimeError("overloaded")] * 5)])
async def test_a_session_without_working_vision_goes_on(
    replayed: Replayed, vision: Vision | None
) -> None:
    seen = await check_in_vain(replayed.memory(), vision)
    assert {each.said for each in of(seen, VisionGiven)} == {"UNKNOWN"}
    assert decided(seen) == decided(await check_in_vain(replayed.memory(), None, wanted=False))
