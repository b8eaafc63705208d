"""The Executor's patience is how long it waits for an element to be there and of use, and longer
while the page itself waits for its server. The Validator sets it."""

from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import Any, Protocol

from rutter.events.executor import ErrorCode
from rutter.events.validator import PlanAdmitted

SLICE_MS = 500  # of the longer wait: whether the page still waits is asked as often
# What may pass by itself. A page shows what it is to hold a moment after its server has answered.
PASSING: frozenset[ErrorCode] = frozenset(
    {
        "ref_invalid",
        "element_not_found",
        "element_disabled",
        "element_obscured",
        "element_not_visible",
        "element_moving",
        "option_not_found",
    }
)


class BusyPage(Protocol):
    @property
    def busy(self) -> bool: ...


class StepPatience:
    """One try of one step has this patience, over all that is done for it."""

    def __init__(self, admitted: PlanAdmitted) -> None:
        self.of = (admitted.step, admitted.attempt)
        self.action = admitted.action
        self.cover_ms = admitted.cover_ms
        self._within_ms = admitted.within_ms
        self._longest_ms = max(admitted.within_ms, admitted.answer_ms)
        self._spent_ns = 0

    @property
    def waited_ms(self) -> int:
        """All of it, where nothing is left; nothing, where it was not used up."""
        return self._spent_ns // 1_000_000 if self._left_ms <= 0 else 0

    @property
    def _left_ms(self) -> int:
        return self._within_ms - self._spent_ns // 1_000_000

    async def spend(self, tab: BusyPage, look: Callable[[int], Awaitable[Any]]) -> Any:
        """Looks, each time for as long as it is told, until what was looked for is there, or the
        time is over and the page waits for nothing. One look more when it has its answer."""
        while True:
            busy = tab.busy
            found = await self.count(look(self._next_ms()))
            busy = busy or tab.busy
            more = busy and self._spent_ns < self._longest_ms * 1_000_000
            if not _is_wanting(found) or (self._left_ms <= 0 and not more):
                return found

    async def count(self, looking: Awaitable[Any]) -> Any:
        """A look, whose time is part of it."""
        began_ns = perf_counter_ns()
        found = await looking
        self._spent_ns += perf_counter_ns() - began_ns
        return found

    def _next_ms(self) -> int:
        left_ms = self._longest_ms - self._spent_ns // 1_000_000
        return self._left_ms if self._left_ms > 0 else max(0, min(SLICE_MS, left_ms))

    def waits_for(self, code: ErrorCode) -> bool:
        """Whether what is wrong with the element may be waited for, and there is time left."""
        if self.action.target is None or code not in PASSING or self._left_ms <= 0:
            return False
        return code != "element_obscured" or self.cover_ms < 0


def _is_wanting(found: Any) -> bool:
    return found is False or (isinstance(found, dict) and bool(found["wanting"]))
