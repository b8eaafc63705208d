"""A keyring is in memory here, so that no test touches that of whoever runs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import keyring
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringLocked


class InMemory(KeyringBackend):
    """A `locked` keyring answers nothing; a `full` one takes nothing."""

    priority = 1
    locked = False
    full = False

    @cached_property
    def entries(self) -> dict[tuple[str, str], str]:
        return {}

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked("it is locked")
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked or self.full:
            raise KeyringLocked("it is locked")
        self.entries[service, username] = password


@contextmanager
def using(backend: KeyringBackend) -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield
    finally:
        keyring.set_keyring(before)


def in_memory() -> InMemory:
    return InMemory()  # type: ignore[no-untyped-call]


def none() -> KeyringBackend:
    """As where there is no desktop: whatever is asked of it fails."""
    return fail.Keyring()  # type: ignore[no-untyped-call]
