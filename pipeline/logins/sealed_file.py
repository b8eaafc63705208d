"""A sealed file holds one login: a head that can be read, and the browser's state encrypted.

    rutter login 1          the format
    {"origin":...}          the head, one line of JSON
    ...                     AES-256-GCM over the state

The head is authenticated with the state, and so is the origin that is asked for: neither can be
changed, and no file can be put in the place of another. See docs/decisions/018.
"""

import hashlib
import os
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from rutter.actors.world.browser.login_state import BrowserState
from rutter.events.errors import LoginCorrupt

FORMAT = b"rutter login 1\n"
KEY, SALT, NONCE, CHECK = 32, 16, 12, 16  # bytes
MOST = 64 << 20  # bytes of a file: far more than any site stores of a login
# What a head may ask for before anything of it is known to be true: 1 GB and some seconds.
COSTLIEST = (1 << 20, 8, 4)
LATEST = 1 << 63  # nanoseconds: the year 2262, which every calendar can show

LockKind = Literal["keyring", "passphrase"]


class GuessCost(NamedTuple):
    """A guess at a passphrase costs 128 MB and about half a second."""

    n: int = 1 << 17
    r: int = 8
    p: int = 1


COST = GuessCost()


class KeyLock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lock says how the key is made of what a person or the keyring gives. A key of the keyring
    is as good as random, so it needs no cost: `n` is 0."""

    kind: LockKind
    salt: bytes
    n: int = 0
    r: int = 0
    p: int = 0


class SealedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of a login can be read without its key. By `check` a wrong key is told from a file
    that was damaged; it gives away no more than the file itself, which can be tried as well."""

    origin: str
    kept_at_ns: int
    lock: KeyLock
    nonce: bytes
    check: bytes


class SealingKey(NamedTuple):
    """A key was made, and opens this lock. It is not printed."""

    lock: KeyLock
    secret: bytes
    check: bytes

    def __repr__(self) -> str:
        return f"Key({self.lock.kind})"


def new_lock(kind: LockKind) -> KeyLock:
    salt = os.urandom(SALT)
    return KeyLock(kind, salt, *COST) if kind == "passphrase" else KeyLock(kind, salt)


@lru_cache(maxsize=32)  # many runs in one process have the same logins; the passphrase is there too
def key_of(lock: KeyLock, given: bytes) -> SealingKey:
    """The key of this lock. For a passphrase that takes a while, on purpose."""
    if lock.kind == "passphrase":
        made = Scrypt(salt=lock.salt, length=KEY, n=lock.n, r=lock.r, p=lock.p).derive(given)
    else:
        made = HKDF(SHA256(), KEY, lock.salt, b"rutter login").derive(given)
    secret = HKDFExpand(SHA256(), KEY, b"rutter login key").derive(made)
    return SealingKey(lock, secret, HKDFExpand(SHA256(), CHECK, b"rutter login check").derive(made))


def seal(origin: str, state: BrowserState, key: SealingKey, kept_at_ns: int) -> bytes:
    """The file. Every one has a nonce of its own, also where the key is the same."""
    head = SealedHead(origin, kept_at_ns, key.lock, os.urandom(NONCE), key.check)
    front = FORMAT + msgspec.json.encode(head) + b"\n"
    told = msgspec.json.encode({"cookies": state.cookies, "origins": state.origins})
    return front + AESGCM(key.secret).encrypt(head.nonce, told, _bound(front, origin))


def read_head(body: bytes) -> SealedHead:
    """Raises `LoginCorrupt` where there is none that could be true."""
    return _parted(body)[1]


def unseal(body: bytes, origin: str, key: SealingKey) -> BrowserState:
    """The state, if the file is what was kept for this very origin; the key is the right one."""
    front, head, sealed = _parted(body)
    if head.origin != origin:
        raise LoginCorrupt(f"it is the login for {head.origin}")
    try:
        told = AESGCM(key.secret).decrypt(head.nonce, sealed, _bound(front, origin))
        known = msgspec.json.decode(told, type=dict[str, Any])
    except (InvalidTag, msgspec.DecodeError):
        raise LoginCorrupt("it is damaged, or somebody changed it") from None
    return BrowserState(tuple(known["cookies"]), tuple(known["origins"]))


def digest_of(body: bytes) -> str:
    """Of the encrypted file: which one it is, and nothing of what is in it."""
    return hashlib.sha256(body).hexdigest()


def _bound(front: bytes, origin: str) -> bytes:
    return front + origin.encode()


def _parted(body: bytes) -> tuple[bytes, SealedHead, bytes]:
    line, found, sealed = body[len(FORMAT) :].partition(b"\n")
    if not body.startswith(FORMAT) or not found:
        raise LoginCorrupt("it is no login of ours, or only a part of one")
    try:
        head = msgspec.json.decode(line, type=SealedHead)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise LoginCorrupt("its head cannot be read") from None
    if not _is_possible(head):
        raise LoginCorrupt("its head says what cannot be so")
    return FORMAT + line + b"\n", head, sealed


def _is_possible(head: SealedHead) -> bool:
    lock = head.lock
    sizes = (len(lock.salt), len(head.nonce), len(head.check))
    if sizes != (SALT, NONCE, CHECK) or not 0 < head.kept_at_ns < LATEST:
        return False
    if lock.kind == "keyring":
        return (lock.n, lock.r, lock.p) == (0, 0, 0)
    power = lock.n > 1 and lock.n & (lock.n - 1) == 0
    asked = (lock.n, lock.r, lock.p)
    return power and all(0 < each <= most for each, most in zip(asked, COSTLIEST, strict=True))
