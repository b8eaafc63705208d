"""The codec turns events into msgpack on disk, JSON for people, one canonical form for hashes."""

import msgspec

from rutter.events.envelope import Envelope
from rutter.events.errors import EventUnknown, LogCorrupt
from rutter.events.upcast import RETIRED, TAGGED, upcast, with_causes
from rutter.events.vocabulary import AnyEvent

# Struct fields are written in their declared order; `deterministic` orders dicts and sets too,
# so equal events are equal bytes whatever PYTHONHASHSEED says.
_pack = msgspec.msgpack.Encoder(order="deterministic")
_unpack: msgspec.msgpack.Decoder[AnyEvent] = msgspec.msgpack.Decoder(AnyEvent)
_tag = msgspec.msgpack.Decoder(type=dict[str, msgspec.Raw])
_json = msgspec.json.Encoder(order="deterministic")

# What damaged bytes make msgspec raise: wrong types, text that is not UTF-8, nesting without end.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def encode(event: AnyEvent) -> bytes:
    """The canonical bytes of an event: what is stored, hashed and compared in replay."""
    return _pack.encode(event)


def decode(payload: bytes) -> AnyEvent:
    """The event that these bytes are. Raises a typed error, never a guess."""
    event = _decoded(payload)
    return with_causes(event) if type(event) in TAGGED else event


def _decoded(payload: bytes) -> AnyEvent:
    try:
        return _unpack.decode(payload)
    except UNREADABLE as error:
        lifted = _lift(payload)
        if lifted is None:
            raise _explain(payload, error) from error
    try:
        return _unpack.decode(lifted)
    except UNREADABLE as error:
        raise _explain(payload, error) from error


def to_json(envelope: Envelope) -> bytes:
    """An envelope as one JSON object (hash as base64), for `--json` and for people."""
    return _json.encode(envelope)


def pack(value: object) -> bytes:
    """Canonical bytes of any plain value: chain headers, digests."""
    return _pack.encode(value)


def _lift(payload: bytes) -> bytes | None:
    """A payload with a retired tag, in today's shape; nothing when it is something else."""
    try:
        raw = msgspec.msgpack.decode(payload)
    except (*UNREADABLE, TypeError):  # the last: a map whose key is a map
        return None
    if not isinstance(raw, dict) or not isinstance(raw.get("event"), str):
        return None
    return _pack.encode(upcast(raw)) if raw["event"] in RETIRED else None


def tag_of(payload: bytes) -> str:
    """The tag that these bytes were stored under."""
    fields = _tag.decode(payload)
    return str(msgspec.msgpack.decode(fields["event"])) if "event" in fields else "none"


def _explain(payload: bytes, error: Exception) -> LogCorrupt:
    try:
        tag = tag_of(payload)
    except UNREADABLE:
        return LogCorrupt(f"a payload of {len(payload)} bytes is not an event ({error})")
    if "Invalid value" in str(error) and "$.event" in str(error):
        return EventUnknown(
            f"event type {tag!r} is not known to this version",
            "read this log with the version that wrote it, or a newer one",
        )
    return LogCorrupt(f"event {tag!r} does not fit its type: {error}")
