"""The clock as an effector: the run's wall time, not counting the time a person is waited for.

A session driven by calls of tools runs while one of them is being worked on: how long its caller
thinks is not run time.
"""

from collections.abc import AsyncIterator
from time import monotonic_ns
from typing import ClassVar

import anyio

from events.envelope import Actor, Envelope
from events.person import ApprovalAnswered
from events.planner import PersonAwaited
from events.runtime import DeadlinePassed, SessionStarted
from events.tools import ToolAnswered, ToolCalled
from events.validator import ApprovalRequested, ApprovalVoided
from events.vocabulary import AnyEvent

NOTHING: tuple[AnyEvent, ...] = ()


class Timer:
    """Monotonic: neither a hung call nor a changed system clock escapes it."""

    name: ClassVar[Actor] = "clock"

    def __init__(self) -> None:
        self._limit_ms = 0
        self._left_ns = 0
        self._since_ns: int | None = None
        self._changed = anyio.Event()
        self._thinking = False  # whoever calls tools, between two calls

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case SessionStarted(settings=settings, purpose=purpose):
                self._limit_ms = settings.limits.max_wall_ms
                self._left_ns = self._limit_ms * 1_000_000
                self._thinking = purpose == "tools"
                self._run()
            case ToolAnswered() | ToolCalled() as call:
                self._thinking = isinstance(call, ToolAnswered)
                self._run()
            case ApprovalRequested() | PersonAwaited():
                self._hold()
            case ApprovalAnswered() | ApprovalVoided():
                self._run()  # a question that does not stand any more holds nothing
            case _:
                pass
        for report in NOTHING:  # what it has to say comes from `passed`
            yield report

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None

    async def passed(self) -> DeadlinePassed:
        """Waits until the time is used up."""
        while True:
            changed = self._changed
            if self._since_ns is None:
                await changed.wait()
                continue
            left_ns = self._left_ns - (monotonic_ns() - self._since_ns)
            if left_ns <= 0:
                return DeadlinePassed("wall_time", self._limit_ms)
            with anyio.move_on_after(left_ns / 1e9):
                await changed.wait()

    def _run(self) -> None:
        if self._thinking:
            self._hold()
        else:
            self._go()

    def _go(self) -> None:
        if self._since_ns is None:
            self._since_ns = monotonic_ns()
            self._tell()

    def _hold(self) -> None:
        if self._since_ns is not None:
            self._left_ns -= monotonic_ns() - self._since_ns
            self._since_ns = None
        self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
