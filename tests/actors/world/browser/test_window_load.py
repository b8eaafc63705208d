"""How long a browser is waited for where others share the processors."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.world.browser.window_load import WindowLoad


@given(st.integers(1, 64), st.integers(0, 64), st.integers(1, 60_000))
def test_a_deadline_grows_with_those_who_wait_for_a_processor(
    processors: int, windows: int, ms: int
) -> None:
    crowd = WindowLoad(processors)
    for _ in range(windows):
        crowd.join()
    assert crowd.patient(ms) >= ms
    if windows <= processors:
        assert crowd.patient(ms) == ms
    assert crowd.patient(ms) * processors >= ms * windows
    crowd.join()
    assert crowd.patient(ms) >= WindowLoad(processors).patient(ms)


def test_who_has_left_is_not_waited_for() -> None:
    crowd = WindowLoad(2)
    for _ in range(20):
        crowd.join()
    assert crowd.patient(3_000) == 30_000
    for _ in range(20):
        crowd.leave()
    assert crowd.patient(3_000) == 3_000


@pytest.mark.anyio
async def test_as_many_open_at_a_time_as_there_are_processors() -> None:
    crowd, at_once, most = WindowLoad(2), 0, 0

    async def open_one() -> None:
        nonlocal at_once, most
        async with crowd.opening:
            at_once += 1
            most = max(most, at_once)
            await anyio.lowlevel.checkpoint()
            at_once -= 1

    async with anyio.create_task_group() as group:
        for _ in range(9):
            group.start_soon(open_one)
    assert (at_once, most) == (0, 2)
