"""Waiting is cut short by whatever else comes first."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio


@asynccontextmanager
async def cut_short_by(other: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """The block is left as soon as `other` returns, if it is not over by then."""
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            await other()
            group.cancel_scope.cancel()

        group.start_soon(wait)
        yield
        group.cancel_scope.cancel()
