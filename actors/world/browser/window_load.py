"""The load says how many windows share this machine's processors, and how long each is waited for.

A deadline on a browser tells one that hangs from one that works. Where more windows are open than
there are processors, each has only its share of them, and what takes a second alone takes several:
every deadline is longer by that much. Windows are opened a few at a time for the same reason: that
is the dearest moment of each, and all at once they would only hold each other up.
"""

import asyncio
import os


class WindowLoad:
    """A process has these windows open, in all its browsers."""

    def __init__(self, processors: int | None = None) -> None:
        self._processors = processors or os.cpu_count() or 1
        self.windows = 0
        self.opening = asyncio.Semaphore(self._processors)

    def patient(self, ms: int) -> int:
        """How long to wait for what takes `ms` at most where nobody else is."""
        return ms * max(1, -(-self.windows // self._processors))

    def join(self) -> None:
        self.windows += 1

    def leave(self) -> None:
        self.windows -= 1
