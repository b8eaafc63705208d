"""A person takes the wheel: pauses a session at a moment of its log, and hands it back."""

from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.abc

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App

Moment = Callable[[AnyEvent], bool]
QUIET = 60  # turns of the loop in which nothing is said: nothing more will be, by itself
WHO = "ann"


class Wheel:
    """A wheel pauses `session` once, when `moment` is so of an event of it on disk. Nothing that
    takes time is in between: the fact is handed in before the next one of the world."""

    def __init__(self, app: App, session: str, moment: Moment) -> None:
        self.taken = anyio.Event()
        self.refused: BadInput | None = None
        self._app = app
        self._session = session
        self._moment = moment
        self._due = anyio.Event()
        self._said = 0
        app.listen(self._hear)

    def _hear(self, envelope: Envelope) -> None:
        if envelope.session != self._session:
            return
        self._said += 1
        if self._moment(envelope.event):
            self._due.set()

    async def take(self) -> None:
        await self._due.wait()
        try:
            await self._app.pause(self._session, WHO)
        except BadInput as refused:
            self.refused = refused
        self.taken.set()

    async def quiet(self) -> None:
        """Until nothing more comes of what was under way."""
        still, said = 0, self._said
        while still < QUIET:
            await anyio.sleep(0)
            still, said = (still + 1, said) if said == self._said else (0, self._said)

    async def hand_back(self) -> None:
        with suppress(BadInput):  # it was over before it could be paused
            await self._app.resume(self._session, WHO)

    async def briefly(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Takes it, lets what is under way come to its end, does something, hands it back."""
        await self.take()
        await self.quiet()
        meanwhile()
        await self.hand_back()


def nth(number: int) -> Moment:
    """The moment of the n-th event."""
    seen = 0

    def so(event: AnyEvent) -> bool:
        nonlocal seen
        seen += 1
        return seen == number

    return so
