"""The Advisor asks a vision model whether a picture shows what a step was to do (F5)."""

from collections.abc import AsyncIterator
from time import monotonic_ns
from typing import ClassVar

import anyio.to_thread
import msgspec

from rutter.actors.vision import Vision, VisionSaid
from rutter.actors.world.browser.screen import Screen
from rutter.events.advisor import VisionGiven
from rutter.events.artifacts import ArtifactStore
from rutter.events.critic import VisionSought
from rutter.events.envelope import Actor, Envelope
from rutter.events.page import Artifact
from rutter.events.vocabulary import AnyEvent

LOOK_MS = 30_000  # what any call of a model may take (C2)
PICTURE_MS = 5_000
MAX_WIDTH = 1_280  # pixels: more costs and tells a model nothing
MAX_CHARACTERS = 200


class VisionAdvisor:
    """This effector hears a question when it is on disk, and reports the answer as a fact."""

    name: ClassVar[Actor] = "advisor"

    def __init__(
        self,
        screen: Screen,
        artifacts: ArtifactStore | None,
        vision: Vision | None,
        *,
        within_ms: int = LOOK_MS,
    ) -> None:
        self._screen = screen
        self._artifacts = artifacts
        self._vision = vision
        self._within_ms = within_ms

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if isinstance(envelope.event, VisionSought):
            began_ns = monotonic_ns()
            given = await self._advise(envelope.event)
            took_ms = (monotonic_ns() - began_ns) // 1_000_000
            yield msgspec.structs.replace(given, took_ms=took_ms)

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        """It would be asked again if this said nothing."""
        sought = envelope.event
        return _unknown(sought, _told(error)) if isinstance(sought, VisionSought) else None

    async def _advise(self, sought: VisionSought) -> VisionGiven:
        if self._vision is None:
            return _unknown(sought, "no vision is configured")
        kept: Artifact | None = None
        try:
            picture = await self._screen.tab.picture(max_width=MAX_WIDTH, within_ms=PICTURE_MS)
            kept = await self._kept(picture)
            with anyio.fail_after(self._within_ms / 1000):
                said = _checked(await self._vision.look(picture, sought.checked))
        except TimeoutError:
            return _unknown(sought, f"no answer within {self._within_ms} ms", kept)
        except Exception as error:  # noqa: BLE001 - advice that fails must not end a session
            return _unknown(sought, _told(error), kept)
        return _given(sought, said, kept)

    async def _kept(self, picture: bytes) -> Artifact | None:
        if self._artifacts is None:
            return None
        return await anyio.to_thread.run_sync(
            self._artifacts.put, picture, "image/png", abandon_on_cancel=True
        )


def _checked(said: VisionSaid) -> VisionSaid:
    """What comes from outside is of the type that it claims to be, or is not taken."""
    return msgspec.convert(msgspec.to_builtins(said), VisionSaid)


def _given(sought: VisionSought, said: VisionSaid, kept: Artifact | None) -> VisionGiven:
    return VisionGiven(
        sought.step,
        sought.attempt,
        said.said,
        said.provider[:MAX_CHARACTERS],
        said.message[:MAX_CHARACTERS],
        kept,
        model=said.model[:MAX_CHARACTERS],
        usage=said.usage,
        cost_microdollars=said.cost_microdollars,
        priced=said.priced,
        error=said.error,
    )


def _unknown(sought: VisionSought, why: str, kept: Artifact | None = None) -> VisionGiven:
    return VisionGiven(sought.step, sought.attempt, "UNKNOWN", message=why, screenshot=kept)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_CHARACTERS]
