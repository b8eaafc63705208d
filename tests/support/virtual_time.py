"""A loop's clock jumps to the next thing that is due: hours of waiting pass in no time.

Only for what waits for nothing but time and itself: whatever comes from outside would be overtaken.
"""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

LONGEST_S = 100_000.0  # more than a day: no test waits for anything that comes later


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._now = 0.0
        self._until = LONGEST_S
        super().__init__(_Jumping(self._jump))

    def time(self) -> float:
        return self._now

    def _jump(self, seconds: float | None) -> None:
        """Raised here, outside of any task, an error ends the test and cannot be lost in one."""
        if seconds is None:
            raise AssertionError("all wait for each other, and nothing is ever due")
        self._now += seconds
        if self._now > self._until:
            self._until = self._now + LONGEST_S  # for what is closed now
            raise AssertionError(f"still not so after {LONGEST_S:g} s")


class _Jumping(selectors.DefaultSelector):
    def __init__(self, jump: Callable[[float | None], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Where another would wait so long, so long has passed."""
        ready = super().select(0)
        if not ready and timeout != 0:
            self._jump(timeout)
        return ready


VIRTUAL: tuple[str, dict[str, Any]] = ("asyncio", {"loop_factory": VirtualLoop})
