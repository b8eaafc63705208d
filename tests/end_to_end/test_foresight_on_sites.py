"""Five workflows on the bundled sites, recorded interleaved and with steps that were not needed:
what is predicted, which workflow it is taken for, and what is done alone afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.logbook import Foretold
from bench.sailing import Measured, measure, print_all
from rutter.actors.world.browser.chromium import Chromium

pytestmark = [pytest.mark.browser, pytest.mark.anyio]


def share(told: Iterator[Foretold], right: Callable[[Foretold], bool]) -> float:
    found = [right(each) for each in told]
    return sum(found) / len(found)


def after_the_first_round(told: list[Foretold]) -> Iterator[Foretold]:
    """What nobody ever did cannot be foreseen."""
    return (each for each in told if each.round > 1 and not each.extra)


def check(measured: Measured) -> None:
    print_all(measured)  # shown when something is not so
    assert measured.report.ok, measured.report.divergence
    assert measured.wrong == []
    ours, seeds = measured.ours, measured.seeds
    assert share(after_the_first_round(ours), lambda each: each.right(3)) > 0.9
    best, theirs = (share(after_the_first_round(each), Foretold.right) for each in (ours, seeds))
    assert best > theirs
    certain = (each for each in after_the_first_round(ours) if len(each.fitting) == 1)
    assert share(certain, Foretold.right) > 0.85


async def test_what_comes_next_is_foreseen_and_nothing_wrong_is_done_alone(
    chromium: Chromium, tmp_path: Path
) -> None:
    measured = await measure(chromium, tmp_path, rounds=2, kinds=["begun"])

    check(measured)
    begun = measured.runs["begun"]
    assert sum(len(run.steps) for run in begun) > 10
    assert all(run.left >= 0 for run in begun)  # to the end, and not beyond it


@pytest.mark.timeout(600)
async def test_over_six_rounds_every_workflow_is_known_for_what_it_is(
    chromium: Chromium, tmp_path: Path
) -> None:
    measured = await measure(chromium, tmp_path)

    check(measured)
    known = measured.recognised
    late = [each for each in known if each.after is None or each.after > each.parted + 1]
    assert len(late) <= len(known) // 10, late
    assert sum(each.ended for each in known) >= len(known) * 9 // 10
    through = [run for run in measured.runs["begun"] if not run.left]
    assert through
    assert all(run.stopped.startswith("completed_unverified") for run in through)
    alone = measured.runs["nobody to ask"]
    assert all(run.steps for run in alone)
    assert not any(step.asked for run in alone for step in run.steps)
