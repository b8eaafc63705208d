"""Event is the root of every payload. Names are past tense, subject first; refusals have
reasons."""

import msgspec


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event"):
    """An event is a fact or a decision. The sequencer gives it its number, time and cause.

    Tags are explicit and never renamed; new fields have defaults; anything else is upcast on
    reading.
    """


class StepEvent(Event, frozen=True):
    """A step event is about one step of its session, by its number."""

    step: int


class TryEvent(StepEvent, frozen=True):
    """A try event is about one try of a step: the first, or the one after it."""

    attempt: int
