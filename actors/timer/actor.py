"""The timer counts a run's wall time, without the time a person is waited for or the session is
paused.

A session driven by calls of tools runs while one of them is being worked on: how long its caller
thinks is not run time. A model of our own that leads it is a part of the run, and what it calls
has the time of its tool.
"""

from collections.abc import AsyncIterator
from time import monotonic_ns
from typing import ClassVar, Literal

import anyio

from rutter.actors.rules.tools.tool_table import GHOST_MS, TOOLS
from rutter.events.envelope import Actor, Envelope
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import PersonAwaited
from rutter.events.runtime import DeadlinePassed, SessionPaused, SessionResumed, SessionStarted
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.validator import ApprovalRequested, ApprovalVoided, QueryStarted
from rutter.events.vocabulary import AnyEvent

NOTHING: tuple[AnyEvent, ...] = ()


class _Allowance:
    """An allowance is how much time is left, of how much. It is told once that there is none."""

    def __init__(self, what: Literal["wall_time", "tool"], limit_ms: int, call: str = "") -> None:
        self.passed = DeadlinePassed(what, limit_ms, call)
        self.left_ns = limit_ms * 1_000_000


class Timer:
    """The timer is monotonic: neither a hung call nor a changed system clock escapes it."""

    name: ClassVar[Actor] = "clock"

    def __init__(self) -> None:
        self._allowances: list[_Allowance] = []
        self._since_ns: int | None = None
        self._changed = anyio.Event()
        self._led = False  # by a model of our own
        self._thinking = False  # whoever calls tools, between two calls
        self._asked = False  # a person: whatever else comes to its end, the answer is waited for
        self._paused = False

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case SessionStarted(settings=settings, purpose=purpose, driver=driver):
                self._allowances = [_Allowance("wall_time", settings.limits.max_wall_ms)]
                self._led = driver == "model"
                self._thinking = purpose == "tools" and not self._led
                self._run()
            case ToolAnswered() | ToolCalled() as call:
                self._call(call)
                self._run()
            case ApprovalRequested() | PersonAwaited():
                self._asked = True
                self._hold()
            case ApprovalAnswered() | ApprovalVoided():
                self._asked = False
                self._run()  # a question that does not stand any more holds nothing
            case QueryStarted(render_mode="ghost"):
                self._allow(GHOST_MS)
            case SessionPaused() | SessionResumed() as said:
                self._paused = isinstance(said, SessionPaused)
                self._run()
            case _:
                pass
        for report in NOTHING:  # what it has to say comes from `passed`
            yield report

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None

    async def passed(self) -> DeadlinePassed:
        """Waits until some time is used up: that of the run, or that of a model's call. Each is
        told once."""
        while True:
            changed = self._changed
            if self._since_ns is None or not self._allowances:
                await changed.wait()
                continue
            self._count(monotonic_ns())
            first = min(self._allowances, key=lambda each: each.left_ns)
            if first.left_ns <= 0:
                self._allowances.remove(first)
                return first.passed
            with anyio.move_on_after(first.left_ns / 1e9):
                await changed.wait()

    def _call(self, call: ToolAnswered | ToolCalled) -> None:
        """A call of an outside caller is timed by whoever made it
        (`pipeline/tools/dispatcher.py`)."""
        self._thinking = isinstance(call, ToolAnswered) and not self._led
        if self._since_ns is not None:
            self._count(monotonic_ns())
        self._allowances = [each for each in self._allowances if each.passed.what != "tool"]
        if isinstance(call, ToolCalled) and call.by == "model" and call.tool in TOOLS:
            self._allowances.append(_Allowance("tool", TOOLS[call.tool].timeout_ms, call.call))
        self._tell()

    def _allow(self, limit_ms: int) -> None:
        """The call goes on with a picture of the page: it may take as long as that in all."""
        for call in [each for each in self._allowances if each.passed.what == "tool"]:
            longer = _Allowance("tool", limit_ms, call.passed.call)
            longer.left_ns -= call.passed.after_ms * 1_000_000 - call.left_ns
            self._allowances[self._allowances.index(call)] = longer
        self._tell()

    def _count(self, now_ns: int) -> None:
        """Takes off what has passed since it was counted last."""
        assert self._since_ns is not None
        for allowance in self._allowances:
            allowance.left_ns -= now_ns - self._since_ns
        self._since_ns = now_ns

    def _run(self) -> None:
        if self._thinking or self._asked or self._paused:
            self._hold()
        else:
            self._go()

    def _go(self) -> None:
        if self._since_ns is None:
            self._since_ns = monotonic_ns()
            self._tell()

    def _hold(self) -> None:
        if self._since_ns is not None:
            self._count(monotonic_ns())
            self._since_ns = None
        self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
