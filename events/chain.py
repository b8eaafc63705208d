"""The hash chain of a session shows that an event was changed, reordered or lost.

    hash = H(previous, header, H(payload))

The payload goes in by its own hash, so that a payload can be erased later and the chain still
verifies (`PayloadErased`).
"""

import hashlib

from rutter.events.codec import decode, encode, pack
from rutter.events.errors import LogCorrupt
from rutter.events.runtime import PayloadGone

GENESIS = bytes(32)
_GONE = pack({"event": "PayloadGone"})[1:]  # how what stands for an erased payload begins


def payload_hash(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest()


def stored_hash(payload: bytes) -> bytes:
    """What the chain holds for these stored bytes: their hash, or the one kept of an erased one."""
    if is_gone(payload):
        try:
            gone = decode(payload)
        except LogCorrupt:
            return payload_hash(payload)
        if isinstance(gone, PayloadGone):
            return gone.sha256
    return payload_hash(payload)


def is_gone(payload: bytes) -> bool:
    return payload.startswith(_GONE, 1)


def erased(kind: str, payload: bytes) -> bytes:
    """What is stored instead of `payload` once it is erased."""
    return payload if is_gone(payload) else encode(PayloadGone(kind, payload_hash(payload)))


def link(
    previous: bytes,
    *,
    session: str,
    n: int,
    at_ns: int,
    actor: str,
    cause: int,
    kind: str,
    payload: bytes,
) -> bytes:
    """The hash of an event that follows `previous` in its session."""
    header = pack((session, n, at_ns, actor, cause, kind))
    return hashlib.sha256(previous + header + stored_hash(payload)).digest()
