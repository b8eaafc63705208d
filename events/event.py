"""Event is the root of every payload. Names are past tense, subject first; refusals have
reasons."""

import msgspec


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event"):
    """An event is a fact or a decision. The sequencer gives it its number, time and cause.

    Tags are explicit and never renamed; new fields have defaults; anything else is upcast on
    reading.
    """
