"""Given the phases of a shutdown: each runs, in order, whatever became of the one before it."""

import anyio
import pytest

from rutter.events.errors import LogWriteFailed
from rutter.pipeline.runtime.shutdown import Phase, PhaseReport, shut_down

pytestmark = pytest.mark.anyio


class Steps:
    """Notes what ran; phases that hang or break can be asked for."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def phase(self, name: str, within_s: float = 5.0) -> Phase:
        async def do() -> None:
            self.ran.append(name)

        return Phase(name, within_s, do)

    def hanging(self, name: str) -> Phase:
        async def do() -> None:
            self.ran.append(name)
            await anyio.sleep_forever()

        return Phase(name, 0.01, do)

    def breaking(self, name: str, error: Exception) -> Phase:
        async def do() -> None:
            self.ran.append(name)
            raise error

        return Phase(name, 5.0, do)


async def test_phases_run_in_order_and_each_is_reported() -> None:
    steps = Steps()
    reports = await shut_down([steps.phase("one"), steps.phase("two"), steps.phase("three")])
    assert steps.ran == ["one", "two", "three"]
    assert reports == tuple(PhaseReport(name, in_time=True) for name in steps.ran)


async def test_a_phase_that_overruns_does_not_skip_the_next() -> None:
    steps = Steps()
    reports = await shut_down([steps.phase("one"), steps.hanging("two"), steps.phase("three")])
    assert [(report.name, report.in_time) for report in reports] == [
        ("one", True),
        ("two", False),
        ("three", True),
    ]


async def test_a_phase_that_breaks_does_not_skip_the_next() -> None:
    steps = Steps()
    with pytest.raises(LogWriteFailed, match="no disk"):
        await shut_down(
            [
                steps.breaking("one", LogWriteFailed("no disk")),
                steps.hanging("two"),
                steps.phase("three"),
            ]
        )
    assert steps.ran == ["one", "two", "three"]


async def test_being_cancelled_does_not_skip_a_phase() -> None:
    steps = Steps()
    reports: list[PhaseReport] = []

    async def stop() -> None:
        reports.extend(await shut_down([steps.hanging("one"), steps.phase("two")]))

    async with anyio.create_task_group() as group:
        group.start_soon(stop)
        await anyio.sleep(0)
        group.cancel_scope.cancel()
    assert steps.ran == ["one", "two"]


async def test_no_phases_is_no_work() -> None:
    assert await shut_down([]) == ()
