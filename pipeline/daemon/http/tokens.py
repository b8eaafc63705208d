"""Tokens say who may ask: one for the person, one for agents, and tickets that open one live view.

A token is in a file that its owner alone can read: whoever reads it already has the log and the
profile beside it. No page can, and no page can send it. The person's token opens everything; the
agent's opens what the access table says, which is nothing that answers for a person.
"""

import hashlib
import hmac
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from rutter.actors.world.secrets.redaction import hide
from rutter.events.errors import WorldBroken
from rutter.pipeline.clock import new_token
from rutter.pipeline.config.data_directory import FILE, DataDirectory

Scope = Literal["person", "agent"]

FORM = re.compile(r"[A-Za-z0-9_-]{32,256}")
BEARER = re.compile(r"Bearer +([^ ]+)", re.IGNORECASE)
COOKIE = "rutter_view"
FIRST_USE_S = 60.0  # from the answer that sets the cookie to the page that shows the picture
VIEW_S = 3600.0  # a long look; the page can ask for another ticket
TICKETS = 256  # more than anybody looks at; what is issued and never used cannot grow


class TokenUnsafe(WorldBroken):
    """A token's file was read or written by others than its owner."""


def token_path(directory: DataDirectory, scope: Scope) -> Path:
    return directory.root / f"{scope}.token"


def read_token(path: Path) -> str | None:
    """The token in a file, or nothing when there is no file or it is still empty."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:  # a link is one: what it points at was made by somebody else
        raise _unsafe(path, f"cannot be read, or is a link ({error.strerror})") from error
    try:
        _check(path, os.fstat(handle))
        token = os.read(handle, 1024).decode("latin-1").strip()
    finally:
        os.close(handle)
    if token and not FORM.fullmatch(token):
        raise _unsafe(path, "does not hold a token")
    return token or None


def _check(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _unsafe(path, "is not a plain file")
    if found.st_uid != os.geteuid():
        raise _unsafe(path, "belongs to somebody else")
    if stat.S_IMODE(found.st_mode) & 0o077:
        # Not made private and used on: whoever could read it may have.
        raise _unsafe(path, "can be read by others, and may have been")


def _unsafe(path: Path, what: str) -> TokenUnsafe:
    return TokenUnsafe(f"{path} {what}", "delete it and start again: a new one is made")


def _make(path: Path) -> str:
    token = new_token()
    try:
        path.unlink(missing_ok=True)  # an empty one: whoever began it died before it was written
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, FILE)  # whatever the umask took away
            file.write(token.encode() + b"\n")
    except OSError as error:
        raise WorldBroken(
            f"{path} cannot be written ({error.strerror})", "name another directory with --data"
        ) from error
    return token


class Tokens:
    """A data directory has two tokens. What this holds is their digests: nothing of it prints."""

    def __init__(self, person: str, agent: str) -> None:
        self._person, self._agent = _digest(person), _digest(agent)

    @classmethod
    def open(cls, directory: DataDirectory) -> "Tokens":
        """Reads them, makes what is missing. For the one process that holds the directory."""
        person, agent = (
            read_token(path) or _make(path)
            for path in (token_path(directory, "person"), token_path(directory, "agent"))
        )
        if person == agent:
            raise _unsafe(token_path(directory, "agent"), "holds the person's token")
        hide({"person_token": person, "agent_token": agent})
        return cls(person, agent)

    def scope_of(self, header: str | None) -> Scope | None:
        """Whose token an Authorization header brings. Both are always compared, in constant time:
        how long it takes tells nothing."""
        given = _digest(bearer_of(header))
        person = hmac.compare_digest(given, self._person)
        agent = hmac.compare_digest(given, self._agent)
        return "person" if person else "agent" if agent else None


def bearer_of(header: str | None) -> str:
    """The token that an Authorization header brings; empty where it brings none."""
    found = BEARER.fullmatch(header or "")
    return found[1] if found else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


# -- tickets ---------------------------------------------------------------------------------------


class Ticket(NamedTuple):
    session: str
    until_s: float
    used: bool


class Tickets:
    """A ticket is a cookie for the live view, where a browser can send no header: it opens one
    session's pictures and nothing else, for a while, and is in no file.

    Cookies know no ports: another server on this host could be sent one, and would see one session.
    """

    def __init__(
        self,
        *,
        now_s: Callable[[], float] = time.monotonic,
        first_use_s: float = FIRST_USE_S,
        view_s: float = VIEW_S,
        at_most: int = TICKETS,
    ) -> None:
        self._now_s = now_s
        self._first_use_s, self._view_s, self._at_most = first_use_s, view_s, at_most
        self._tickets: dict[bytes, Ticket] = {}  # oldest first

    def issue(self, session: str) -> str:
        """A new ticket. When there are too many, the oldest is no longer one."""
        now = self._now_s()
        live = {key: each for key, each in self._tickets.items() if now < each.until_s}
        for key in list(live)[: max(0, len(live) - self._at_most + 1)]:
            del live[key]
        value = new_token()
        live[_digest(value)] = Ticket(session, now + self._first_use_s, used=False)
        self._tickets = live
        return value

    def admits(self, value: str, session: str) -> bool:
        """Whether this ticket opens this session now. The first time it is used it begins to count
        for as long as a look may take."""
        key, now = _digest(value), self._now_s()
        found = self._tickets.get(key)
        if found is None or found.session != session or now >= found.until_s:
            return False
        if not found.used:
            self._tickets[key] = Ticket(session, now + self._view_s, used=True)
        return True

    def void(self, session: str) -> None:
        """The session is over: nothing opens it any more."""
        self._tickets = {
            key: each for key, each in self._tickets.items() if each.session != session
        }

    def cookie(self, value: str, session: str) -> str:
        """The Set-Cookie header that hands a ticket to the browser that asked for it."""
        path = f"/stream/{quote(session, safe='')}"
        age = round(self._first_use_s + self._view_s)
        return f"{COOKIE}={value}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Strict"
