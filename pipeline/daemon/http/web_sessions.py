"""A web session lets one browser of the person see the web pages, and speak for the person there.

It begins with a link that works once and soon ends, and goes on by a cookie that no script reads
and no other site sends along. Whoever changes something shows a second secret, which stands in the
pages alone. All of it is in memory: it ends with the daemon, and is in no file and no log.
"""

import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rutter.pipeline.clock import new_token

LINK_S = 600.0  # from the command that prints it to the browser that opens it
SESSION_S = 12 * 3600.0  # a working day
LINKS, SESSIONS = 32, 32  # of one person; what is made and never used cannot grow
OPENING = "/web/open/"
CSRF = b"x-rutter-csrf"


class WebSession(NamedTuple):
    """A session has a secret for its changes (`csrf`), and an end."""

    csrf: str
    until_s: float


class WebSessions:
    """Links and sessions are known by their digests: nothing of this opens anything if printed."""

    def __init__(
        self,
        *,
        now_s: Callable[[], float] = time.monotonic,
        link_s: float = LINK_S,
        session_s: float = SESSION_S,
    ) -> None:
        self._now_s = now_s
        self.link_s, self.session_s = link_s, session_s
        self._links: dict[bytes, float] = {}  # oldest first, as are sessions
        self._sessions: dict[bytes, WebSession] = {}

    def link(self) -> str:
        """The path of a new link. When there are too many, the oldest is no longer one."""
        code, now = new_token(), self._now_s()
        live = [(key, until) for key, until in self._links.items() if now < until]
        self._links = {**dict(live[-LINKS + 1 :]), _digest(code): now + self.link_s}
        return OPENING + code

    def open(self, code: str) -> str | None:
        """The cookie's value, for the first who comes with this code in time; else nothing."""
        until, now = self._links.pop(_digest(code), 0.0), self._now_s()
        if now >= until:
            return None
        value = new_token()
        live = [(key, each) for key, each in self._sessions.items() if now < each.until_s]
        opened = WebSession(new_token(), now + self.session_s)
        self._sessions = {**dict(live[-SESSIONS + 1 :]), _digest(value): opened}
        return value

    def of(self, values: Iterable[str]) -> WebSession | None:
        """The session that one of these cookies belongs to."""
        known = (self._sessions.get(_digest(value)) for value in values)
        return next((each for each in known if each and self._now_s() < each.until_s), None)

    def revoke(self) -> int:
        """Ends every session and link; how many sessions that were."""
        now = self._now_s()
        ended = sum(now < each.until_s for each in self._sessions.values())
        self._links, self._sessions = {}, {}
        return ended

    def set_cookie(self, value: str, authority: str, *, tls: bool) -> str:
        """The header that hands a session to the browser that opened the link."""
        secure = "; Secure" if tls else ""
        return (
            f"{cookie_name(authority, tls=tls)}={value}; Path=/; Max-Age={round(self.session_s)}; "
            f"HttpOnly; SameSite=Strict{secure}"
        )


def cookie_name(authority: str, *, tls: bool) -> str:
    """Cookies know no ports: two daemons of one machine take nothing from each other by its name.
    With TLS no other host can have set it, and no server without it is sent it."""
    if tls:
        return "__Host-rutter"
    return f"rutter_{authority.rpartition(':')[2]}" if authority[-1:].isdigit() else "rutter_80"


def cookies_named(name: str, headers: Iterable[str]) -> Iterator[str]:
    """The values that cookies of this name have; a browser may bring several."""
    for pair in ";".join(headers).split(";"):
        found, _, value = pair.strip().partition("=")
        if found == name:
            yield value


def same(one: str | None, other: str) -> bool:
    """Whether two secrets are one, in the same time for each that is not."""
    return hmac.compare_digest(_digest(one or ""), _digest(other))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()
