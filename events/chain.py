"""The hash chain of a session: a changed, reordered or lost event is found by it.

    hash = H(previous, header, H(payload))

The payload goes in by its own hash, so that a payload can be erased later and the chain still
verifies (`PayloadErased`).
"""

import hashlib

from events.codec import pack

GENESIS = bytes(32)


def payload_hash(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest()


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
    return hashlib.sha256(previous + header + payload_hash(payload)).digest()
