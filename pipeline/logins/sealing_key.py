"""A sealing key locks kept logins: from the system's keyring, else from a passphrase.

Which of the two it is stands in the file. A passphrase is typed at the terminal, or read from where
`logins.key` of the configuration says, so that a daemon needs nobody.
"""

import os
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from rutter.actors.world.secrets.redaction import hide
from rutter.events.errors import BadInput
from rutter.pipeline.config.secret_sources import read_secrets
from rutter.pipeline.logins.login_store import KeptLogin
from rutter.pipeline.logins.sealed_file import KEY, SealingKey, key_of, new_lock

SERVICE, USER = "rutter", "logins"
# Backends that stand for none.
NO_KEYRING = ("keyring.backends.fail", "keyring.backends.null")
SHORTEST = 8  # characters: what is tried first by whoever has the file
TRIES = 3  # at a terminal
PASSPHRASE = "the passphrase of the kept logins"

Ask = Callable[[str], str]


class SealingKeys:
    """A command or job has these keys. What a person typed is asked for once."""

    def __init__(self, source: str, env: Mapping[str, str], ask: Ask | None = None) -> None:
        self._source = source
        self._env = env
        self._ask = None if source not in ("", "prompt") else ask
        self._known: bytes | None = None

    def of(self, kept: KeptLogin, fix: str) -> SealingKey:
        """The key of a login that is there. `fix` is what to do when there is none."""
        lock, origin = kept.head.lock, kept.origin
        if lock.kind == "keyring":
            given = _from_keyring()
            if given is None:
                raise BadInput(
                    f"the key of the login for {origin} is in a keyring that does not answer here",
                    f"unlock it or install it (pip install 'rutter-agent[keyring]'); or {fix}",
                )
            return _fitting(kept, [given], "the key in the keyring", fix)
        if self._known is not None or self._ask is None:
            return _fitting(kept, [self._passphrase()], self._named(), fix)
        return _fitting(kept, self._typed(self._ask), "what was typed", fix)

    def new(self, others: Iterable[KeptLogin]) -> SealingKey:
        """A key for a login that is to be kept. One passphrase is for all that have one."""
        if not self._source:
            given = _from_keyring() or _into_keyring()
            if given is not None:
                return key_of(new_lock("keyring"), given)
        locked = [each for each in others if each.head.lock.kind == "passphrase"]
        if locked:
            latest = max(locked, key=lambda each: each.head.kept_at_ns)
            fix = "forget those logins if it is lost: rutter login --forget SITE"
            self.of(latest, fix)
        elif self._ask is not None:
            self._known = self._chosen(self._ask)
        return key_of(new_lock("passphrase"), self._passphrase())

    def check(self, kept: KeptLogin) -> None:
        """Raises `BadInput` where nobody could open it; nothing is read but where the key is."""
        if kept.head.lock.kind == "passphrase" and self._ask is None:
            self._passphrase()

    def _named(self) -> str:
        return f"what {self._source} holds" if self._source not in ("", "prompt") else PASSPHRASE

    def _passphrase(self) -> bytes:
        if self._known is None:
            if self._source in ("", "prompt"):
                raise BadInput(
                    f"nobody is here to type {PASSPHRASE}, and no keyring has their key",
                    "say where it is: logins.key = env:VARIABLE, file:PATH or "
                    "keyring:SERVICE/USER in the configuration",
                )
            read = read_secrets([f"passphrase={self._source}"], self._env, _nobody)
            self._known = _checked(read["passphrase"], self._named())
        return self._known

    def _typed(self, ask: Ask) -> Iterator[bytes]:
        """A few tries; the one that opened it is known from there on."""
        for _ in range(TRIES):
            said = ask(f"{PASSPHRASE}: ")
            hide({"passphrase": said})
            self._known = said.encode()
            yield self._known
        self._known = None

    def _chosen(self, ask: Ask) -> bytes:
        for _ in range(TRIES):
            first = ask(f"a passphrase for the kept logins, {SHORTEST} characters or more: ")
            hide({"passphrase": first})
            if len(first) >= SHORTEST and ask("the same again: ") == first:
                return first.encode()
        raise BadInput(
            f"no passphrase of {SHORTEST} characters or more was typed twice alike",
            "try again; nothing was kept",
        )


def _fitting(kept: KeptLogin, given: Iterable[bytes], what: str, fix: str) -> SealingKey:
    """The first that opens it."""
    for each in given:
        key = key_of(kept.head.lock, each)
        if key.check == kept.head.check:
            return key
    raise BadInput(f"{what} does not open the login for {kept.origin}", fix)


def _checked(said: str, what: str) -> bytes:
    if len(said) < SHORTEST:
        raise BadInput(
            f"{what} is shorter than {SHORTEST} characters", "choose a longer passphrase"
        )
    return said.encode()


def _nobody(question: str) -> str:
    raise BadInput(f"nobody is here to type {PASSPHRASE}", "give it another source")


# -- the keyring -----------------------------------------------------------------------------------


def _keyring() -> Any | None:
    """The package, where it is installed and has somewhere to keep things."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    try:
        backend = type(keyring.get_keyring()).__module__
    except keyring.errors.KeyringError:
        return None
    return None if backend in NO_KEYRING else keyring


def _from_keyring() -> bytes | None:
    keyring = _keyring()
    if keyring is None:
        return None
    try:
        found = keyring.get_password(SERVICE, USER)
        key = b64decode(found, validate=True) if found else b""
    except (keyring.errors.KeyringError, NotBase64, ValueError):
        return None
    return key if len(key) == KEY else None


def _into_keyring() -> bytes | None:
    """A key of its own, if the keyring takes it and gives it back. One that is there and is none of
    ours is not written over."""
    keyring = _keyring()
    if keyring is None:
        return None
    try:
        if keyring.get_password(SERVICE, USER):
            return None
        keyring.set_password(SERVICE, USER, b64encode(os.urandom(KEY)).decode())
    except keyring.errors.KeyringError:
        return None
    return _from_keyring()
