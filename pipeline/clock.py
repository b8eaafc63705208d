"""The clock reads the time and makes ids, in this one place. Deciders never come here."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

import anyio


def new_token() -> str:
    """What nobody can guess, for those who must show who they are: 256 bits, fit for a header."""
    return secrets.token_urlsafe(32)


class Clock:
    """The clock gives time and fresh names; tests can hand in one of their own."""

    def now_ns(self) -> int:
        return time.time_ns()

    def going_on(self) -> Callable[[], int]:
        """The time as it goes by from now on, whatever the system's clock is set to meanwhile."""
        ahead = self.now_ns() - time.monotonic_ns()
        return lambda: ahead + time.monotonic_ns()

    async def sleep_ms(self, ms: int) -> None:
        await anyio.sleep(ms / 1000)

    def new_id(self, prefix: str) -> str:
        """Sorts by time, and people can read when it was: `run-20260316-101502-4f1a09bc`.

        Four bytes: two would give one name twice when a hundred sessions start in a second.
        """
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        return f"{prefix}-{stamp}-{secrets.token_hex(4)}"


class CountingClock(Clock):
    """This clock ticks a millisecond a look and counts ids: the same run twice gives the same
    log."""

    def __init__(self, start_ns: int = 1_700_000_000_000_000_000) -> None:
        self._now_ns = start_ns
        self._ids = 0

    def now_ns(self) -> int:
        self._now_ns += 1_000_000
        return self._now_ns

    def going_on(self) -> Callable[[], int]:
        return self.now_ns

    async def sleep_ms(self, ms: int) -> None:
        """Nobody waits: the hands are moved."""
        self._now_ns += ms * 1_000_000

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}-{self._ids:04d}"
