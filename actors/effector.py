"""Every effector has one calling convention: hear a durable event, touch the world, report.

An effector makes no choices. What it did comes back as facts; what it raises is a broken world.
"""

from collections.abc import AsyncIterator
from typing import ClassVar, Protocol

from rutter.events.envelope import Actor, Envelope
from rutter.events.vocabulary import AnyEvent


class Effector(Protocol):
    name: ClassVar[Actor]

    def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        """Does what this event asks for and yields what came of it."""

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        """The fact to report when `handle` broke on this event; `None`: it may be tried again."""
