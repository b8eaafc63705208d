"""A link of a chain holds, or the log is not what was written."""

from rutter.events.chain import GENESIS, link
from rutter.events.codec import UNREADABLE, tag_of
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import LogCorrupt
from rutter.events.runtime import PayloadGone
from rutter.events.upcast import current_tag
from rutter.events.vocabulary import AnyEvent


def check_link(previous: bytes | None, envelope: Envelope, payload: bytes) -> None:
    """The envelope's hash follows from the one before it (`None`: it is the first)."""
    expected = link(
        GENESIS if previous is None else previous,
        session=envelope.session,
        n=envelope.n,
        at_ns=envelope.at_ns,
        actor=envelope.actor,
        cause=envelope.cause,
        kind=_written_as(envelope.event, payload),
        payload=payload,
    )
    if envelope.hash != expected:
        raise LogCorrupt(
            f"event {envelope.n} of session {envelope.session} (seq {envelope.seq}) "
            "does not follow from the one before it",
            "restore the log from a backup; what follows this event cannot be trusted",
        )


def _written_as(event: AnyEvent, payload: bytes) -> str:
    """The kind in the header: of what is gone, what it was; of what was upcast, its old tag."""
    if isinstance(event, PayloadGone):
        return event.was
    try:
        tag = tag_of(payload)
    except UNREADABLE:
        return kind(event)
    return tag if current_tag(tag) == kind(event) else kind(event)
