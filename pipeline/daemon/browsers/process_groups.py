"""The daemon starts drivers, browsers and proxies in process sessions of their own.

Ctrl-C at its terminal, and a signal to its whole group, are then for the daemon alone, which ends
them in order. A driver that hears the signal too ends at once, and takes the browser from under
sessions that are about to be ended truly. Playwright starts its driver itself and asks nobody how:
so it is the loop that sees to it, by the one method that all processes are started with.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any


class OwnSessions(asyncio.SelectorEventLoop):
    async def subprocess_exec(self, *given: Any, **more: Any) -> Any:
        more.setdefault("start_new_session", True)
        return await super().subprocess_exec(*given, **more)


def run_apart(main: Coroutine[Any, Any, None]) -> None:
    """As `asyncio.run`."""
    with asyncio.Runner(loop_factory=OwnSessions) as runner:
        runner.run(main)
