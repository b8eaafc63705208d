"""The login store keeps the files of logins, one for each origin: private, whole or not there, one
writer at a time.

A file is written beside its place, synced and renamed; a disk that is full leaves the old one.
"""

import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rutter.actors.rules.pages.address import host_of, origin_of
from rutter.actors.rules.policy.hosts import is_private
from rutter.actors.world.browser.login_state import BrowserState
from rutter.events.durable import is_full, sync, write_whole
from rutter.events.errors import BadInput, LoginCorrupt, WorldBroken
from rutter.pipeline.clock import Clock
from rutter.pipeline.logins.sealed_file import (
    MOST,
    SealedHead,
    SealingKey,
    digest_of,
    read_head,
    seal,
    unseal,
)

SUFFIX = ".login"
OTHERS = 0o077


class KeptLogin(NamedTuple):
    """A kept login is what its file holds, read but not opened."""

    head: SealedHead
    digest: str
    body: bytes
    path: Path

    @property
    def origin(self) -> str:
        return self.head.origin


class UnreadableLogin(NamedTuple):
    """A file is no login, and this is why."""

    path: Path
    error: LoginCorrupt | WorldBroken


class LoginStore:
    """The store is the folder `logins` of a data directory."""

    def __init__(
        self,
        root: Path,
        clock: Clock | None = None,
        *,
        command: Callable[[str], str] = lambda rest: f"rutter {rest}",
    ) -> None:
        self._root = root
        self._clock = clock or Clock()
        self._command = command

    def path(self, origin: str) -> Path:
        """A name that people can read, and a sum: two origins never share one."""
        readable = re.sub(r"[^a-z0-9.-]+", "-", "-".join(host_of(origin)[1:])).strip("-")[:60]
        return self._root / f"{readable}-{hashlib.sha256(origin.encode()).hexdigest()[:16]}{SUFFIX}"

    def all(self) -> list[KeptLogin | UnreadableLogin]:
        """By name; what cannot be read is among them."""
        found: list[KeptLogin | UnreadableLogin] = []
        for path in sorted(self._root.glob(f"*{SUFFIX}")) if self._root.is_dir() else ():
            try:
                found.append(_read(path))
            except (LoginCorrupt, WorldBroken) as error:
                found.append(UnreadableLogin(path, error))
        return found

    def find(self, origin: str) -> KeptLogin | None:
        """The login of an origin as it lies there. Raises what is wrong with it."""
        path = self.path(origin)
        if not path.exists() and not path.is_symlink():
            return None
        kept = _read(path)
        if kept.origin != origin:
            raise LoginCorrupt(
                f"{path} is the login for {kept.origin}, and not for {origin}", self.anew(origin)
            )
        return kept

    def anew(self, origin: str) -> str:
        """What to do where a login cannot be used."""
        return f"sign in again: {self._command(f'login {origin}')}"

    def open(self, kept: KeptLogin, key: SealingKey) -> BrowserState:
        try:
            return unseal(kept.body, kept.origin, key)
        except LoginCorrupt as error:
            raise LoginCorrupt(f"{kept.path}: {error.what}", self.anew(kept.origin)) from None

    def keep(
        self, origin: str, state: BrowserState, key: SealingKey, *, instead_of: str | None = None
    ) -> KeptLogin | None:
        """Keeps it, on disk when this returns. With `instead_of`, only in the place of the very
        file that has this digest: who signed in meanwhile, or had it forgotten, is not undone."""
        body = seal(origin, state, key, self._clock.now_ns())
        if len(body) > MOST:
            raise WorldBroken(
                f"what the browser knows of {origin} is larger than {MOST >> 20} MB",
                "sign in without whatever stores so much there",
            )
        path = self.path(origin)
        try:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._alone():
                if instead_of is not None and not _is(path, instead_of):
                    return None
                write_whole(path, body)
        except OSError as error:
            raise _explained(error, path) from error
        return KeptLogin(read_head(body), digest_of(body), body, path)

    def forget(self, origin: str) -> bool:
        """Whether there was one."""
        path = self.path(origin)
        if not self._root.is_dir() or not (path.exists() or path.is_symlink()):
            return False
        try:
            with self._alone():
                path.unlink()
                sync(self._root)
        except OSError as error:
            raise _explained(error, path) from error
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A run that ends and a person who signs in must not write over each other."""
        handle = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # held for as long as one small file takes
            yield
        finally:
            os.close(handle)


def site_of(text: str) -> str:
    """The origin that somebody named: by itself, or by any address of it."""
    given = address_of(text)
    scheme, host, _ = host_of(given)
    if scheme not in ("http", "https") or not host or "@" in given.split("/")[2]:
        raise BadInput("that is no site", "write its address: https://host or https://host/path")
    if scheme == "http" and not is_private(host):
        raise BadInput(
            f"whoever listens on the way to {host} would have the login as well",
            f"write https://{host}",
        )
    return origin_of(given)


def address_of(text: str) -> str:
    """Where the window is opened."""
    return text if "://" in text else f"https://{text}"


def _read(path: Path) -> KeptLogin:
    """A file that others can read or replace may be known to them, or not be ours."""
    try:
        with open(path, "rb", opener=_as_it_is) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                raise WorldBroken(f"{path} is no file of yours", "remove it, and sign in again")
            if stat.S_IMODE(found.st_mode) & OTHERS:
                raise WorldBroken(
                    f"others can read or change the login in {path}",
                    f"if nobody did: chmod 600 {path}",
                )
            body = file.read(MOST + 1)
    except OSError as error:
        raise WorldBroken(
            f"the login in {path} cannot be read ({error.strerror})",
            f"chmod 600 {path}, or remove it and sign in again",
        ) from error
    try:
        head = read_head(body[:MOST])
    except LoginCorrupt as error:
        fix = f"remove it, then sign in again: rm {path}"
        raise LoginCorrupt(f"{path}: {error.what}", fix) from None
    return KeptLogin(head, digest_of(body), body, path)


def _is(path: Path, digest: str) -> bool:
    try:
        return digest_of(path.read_bytes()) == digest
    except FileNotFoundError:
        return False


def _as_it_is(path: str, flags: int) -> int:
    """Not through a link, and without waiting for what may be no file."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)


def _explained(error: OSError, path: Path) -> WorldBroken:
    if is_full(error):
        return WorldBroken(
            f"no space left to keep the login in {path}: what was kept before stays",
            "free some disk space, then sign in again",
        )
    return WorldBroken(
        f"the login in {path} cannot be written ({error.strerror})",
        "check the folder and the disk, then sign in again",
    )
