"""One expensive run, then free ones; and how often a model is right where the site is altered."""

from pathlib import Path

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.events.planner import AdviceRequested
from rutter.pipeline.demo_sites.gaffsail import Switches
from tests.support.model_scores import (
    FIRST_TRY,
    KNOWN,
    PUT_RIGHT,
    Share,
    accurate,
    launched,
    total,
    twice,
)

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(1_200)]


async def test_a_label_costs_one_call_and_a_redesign_is_mended_and_learned(
    chromium: Chromium, tmp_path: Path
) -> None:
    async with launched(chromium, tmp_path / "log.db") as ship:
        workflow = (await ship.find()).voyage.learned
        assert workflow is not None
        recast = Switches(relabelled="cancel", recast=True)
        label = await ship.run("label", workflow, recast)
        assert (label.voyage.ended.reason, label.cancelled) == ("completed", 1)
        assert (label.voyage.calls, label.version) == (1, 2)
        [request] = label.voyage.told(AdviceRequested)
        assert (request.purpose, request.index) == ("repair", 4)
        newest = label.voyage.learned
        assert newest is not None
        assert newest.goal == workflow.goal

        redesign = await ship.run("redesign", newest, Switches(redesigned=True))
        assert (redesign.voyage.ended.reason, redesign.cancelled) == ("completed", 1)
        assert 0 < redesign.voyage.calls < 6
        assert redesign.version == 3
        newest = redesign.voyage.learned
        assert newest is not None
        after = await ship.run("after", newest, Switches(redesigned=True))
        assert (after.voyage.ended.reason, after.cancelled) == ("completed", 1)
        assert (after.voyage.calls, after.voyage.cost) == (0, 0)


async def test_every_change_of_the_site_costs_what_it_breaks_and_only_once(
    chromium: Chromium, tmp_path: Path
) -> None:
    first, second, *changes = await twice(chromium, tmp_path)
    assert (first.voyage.calls, second.voyage.calls) == (6, 0)
    for run in (first, second, *changes):
        assert (run.voyage.ended.reason, run.cancelled) == ("completed", 1), run.what
    changed, after = changes[::2], changes[1::2]
    for run in changed:
        most = 1 if "label" in run.what or "dialog" in run.what else first.voyage.calls - 1
        assert run.voyage.calls <= most, run.what
    assert [run.voyage.calls for run in after] == [0] * len(after)


async def test_a_model_is_right_often_enough_on_altered_sites(
    chromium: Chromium, tmp_path: Path
) -> None:
    plain, deceived = await accurate(chromium, tmp_path)
    assert [row.variant for row in (*plain, *deceived) if not row.ended] == []
    found, corrected, states = total([*plain, *deceived])
    assert found.percent > FIRST_TRY, found
    assert corrected.percent > PUT_RIGHT, corrected
    assert states.percent > KNOWN, states
    assert found.out_of > 100
    assert corrected.out_of > 10


def test_a_share_of_nothing_is_whole() -> None:
    assert Share().percent == 100
    assert Share(1, 3).with_all(Share(2, 3)) == Share(3, 6)
    assert str(Share(1, 3)) == "1 of 3"
