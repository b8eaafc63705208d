"""A test waits without sleeping: the loop turns until something is so, and not for ever."""

from collections.abc import Callable

import anyio

TURNS = 20_000  # far more than any scripted session needs; a test that gets here hangs


async def until(condition: Callable[[], object], turns: int = TURNS) -> None:
    for _ in range(turns):
        if condition():
            return
        await anyio.sleep(0)
    raise AssertionError(f"still not so after {turns} turns of the loop")
