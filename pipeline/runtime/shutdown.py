"""Shutdown stops the parts in phases, in order, each with a deadline, none skipped."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

import anyio
import msgspec


class Phase(NamedTuple):
    name: str
    within_s: float
    do: Callable[[], Awaitable[None]]


class PhaseReport(msgspec.Struct, frozen=True):
    name: str
    in_time: bool


async def shut_down(phases: Sequence[Phase]) -> tuple[PhaseReport, ...]:
    """Runs every phase, also when an earlier one overran or broke, or the caller was cancelled."""
    reports: list[PhaseReport] = []
    async with AsyncExitStack() as stack:  # it unwinds to the end, then raises what broke
        for phase in reversed(phases):
            stack.push_async_callback(_run, phase, reports)
    return tuple(reports)


async def _run(phase: Phase, reports: list[PhaseReport]) -> None:
    with anyio.move_on_after(phase.within_s, shield=True) as scope:
        await phase.do()
    reports.append(PhaseReport(phase.name, not scope.cancelled_caught))
