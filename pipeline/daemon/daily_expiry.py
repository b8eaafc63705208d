"""The daemon lets go of what has expired: when it starts, and once a day from then on."""

from collections.abc import Callable

import anyio

from rutter.events.errors import RutterError
from rutter.pipeline.app import App
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.upkeep.expiry import ExpiryDone, is_due, rules_of, tidy

LOOK_MS = 600_000  # between looks whether a day has passed: a machine may have slept through it


class DailyExpiry:
    """One expiry runs at a time, whoever asks."""

    def __init__(self, app: App, settings: Settings, note: Callable[[str], None]) -> None:
        self._app = app
        self._settings = settings
        self._note = note
        self._one = anyio.Lock()

    async def now(self) -> ExpiryDone:
        settings = self._settings
        async with self._one:
            rules = rules_of(settings.config)
            return await tidy(settings.directory, self._app.say_process, rules, self._app.clock)

    async def keep(self) -> None:
        """A disk that does not let go of a file is no reason to stop anything else."""
        clock = self._app.clock
        while True:
            if is_due(self._settings.directory, clock.now_ns()):
                try:
                    done = await self.now()
                except RutterError as error:
                    self._note(f"what has expired could not go: {error}")
                else:
                    if done.files:
                        self._note(f"{done.files} artifacts expired by rule, {done.bytes} bytes")
            await clock.sleep_ms(LOOK_MS)
