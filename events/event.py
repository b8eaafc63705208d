"""The root of every payload. Events are past tense, subject first; a refusal has a reason."""

import msgspec


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event"):
    """A fact or a decision. It never fills itself in: number, time and cause are the sequencer's.

    Tags are explicit and never renamed; new fields have defaults; anything else is upcast on
    reading.
    """
