"""A fair queue gives a bounded number of places: who came first is served first.

A place belongs to whoever `choose` names when it is given, and is free again when it is left. Who
stops waiting leaves the line, and never takes a place along.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Holder = TypeVar("Holder")


class QueuePlace(Generic[Holder]):
    """A place in the queue is left once, even if it is left twice."""

    def __init__(self, at: Holder, on_left: Callable[["QueuePlace[Holder]"], None]) -> None:
        self.at = at
        self._on_left = on_left

    def leave(self) -> None:
        self._on_left(self)


class FairQueue(Generic[Holder]):
    """A queue's `choose` says whose place the next one is; nobody's: then all wait."""

    def __init__(self, places: int, choose: Callable[[], Holder | None]) -> None:
        self._limit = places
        self._choose = choose
        self._waiting: deque[asyncio.Future[QueuePlace[Holder]]] = deque()
        self._taken: set[QueuePlace[Holder]] = set()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def taken(self) -> int:
        return len(self._taken)

    def held_by(self, holder: Holder) -> list[QueuePlace[Holder]]:
        return [place for place in self._taken if place.at is holder]

    async def place(self, *, first: bool = False) -> QueuePlace[Holder]:
        """Waits for one. `first` is for those who had their turn and got nothing for it."""
        mine: asyncio.Future[QueuePlace[Holder]] = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(mine)
        else:
            self._waiting.append(mine)
        self.serve()
        try:
            return await mine
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._waiting.remove(mine)
            if not mine.cancelled() and mine.exception() is None:
                mine.result().leave()  # it was given, and is not wanted any more
            raise

    def serve(self) -> None:
        """Gives what there is to give. To be called whenever `choose` may say something else."""
        while self._waiting and len(self._taken) < self._limit:
            if self._waiting[0].done():  # whoever waited is about to leave the line
                self._waiting.popleft()
                continue
            holder = self._choose()
            if holder is None:
                return
            place = QueuePlace(holder, self._left)
            self._taken.add(place)
            self._waiting.popleft().set_result(place)

    def refuse(self, why: Callable[[], Exception]) -> None:
        """All who wait now are told so, each with an error of their own."""
        while self._waiting:
            mine = self._waiting.popleft()
            if not mine.done():
                mine.set_exception(why())

    def _left(self, place: QueuePlace[Holder]) -> None:
        if place in self._taken:
            self._taken.remove(place)
            self.serve()
