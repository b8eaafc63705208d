"""Troubles go wrong in a scripted world, on purpose."""

import anyio
import msgspec

from rutter.events.executor import ErrorCode
from rutter.pipeline.rehearsal.sheets import ScriptedElement


class Fails(msgspec.Struct, frozen=True):
    """The action fails so."""

    code: ErrorCode
    dispatched: bool = False


class Raises(msgspec.Struct, frozen=True):
    """The effector breaks."""

    error: Exception


class Waits(msgspec.Struct, frozen=True):
    """The page, or the model, does not answer until the test says so."""

    answer: anyio.Event
    reached: anyio.Event


class Becomes(msgspec.Struct, frozen=True):
    """The element is another one when it is about to be acted on."""

    thing: ScriptedElement


Trouble = Fails | Raises | Waits | Becomes
