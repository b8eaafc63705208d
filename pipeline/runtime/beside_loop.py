"""Work that may hang is done in a thread beside the loop, which no process waits for at its end."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


def work_beside(work: Callable[[], None], name: str) -> asyncio.Future[None]:
    """Begins it, where a loop runs; the future is done when it is."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    def run() -> None:
        try:
            work()
        finally:
            with suppress(RuntimeError):  # left behind: the loop is closed by now
                loop.call_soon_threadsafe(end)

    threading.Thread(target=run, name=name, daemon=True).start()
    return ended
