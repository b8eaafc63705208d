"""Known triggers set off runs by their names: the log says which there are."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio

from rutter.events.errors import BadInput

Held = TypeVar("Held")


class KnownTriggers(Generic[Held]):
    """The fold of the log knows every trigger of one kind; `changed` is set when one is another."""

    no_such: Callable[[str], BadInput]

    def __init__(self) -> None:
        self._known: dict[str, Held] = {}
        self.changed = anyio.Event()

    def all(self) -> tuple[Held, ...]:
        return tuple(held for _, held in sorted(self._known.items()))

    def get(self, name: str) -> Held | None:
        return self._known.get(name)

    def find(self, name: str) -> Held:
        found = self._known.get(name)
        if found is None:
            raise self.no_such(name)
        return found

    def put(self, name: str, held: Held | None) -> None:
        """What it is now; nothing, where it was dropped."""
        self._known.pop(name, None)
        if held is not None:
            self._known[name] = held
        changed, self.changed = self.changed, anyio.Event()
        changed.set()

    async def until_heard(self, name: str, said: Awaitable[None]) -> Held | None:
        """Says it, and waits until this one is another for it."""
        before = self.get(name)
        await said
        while (found := self.get(name)) is before:
            await self.changed.wait()
        return found
