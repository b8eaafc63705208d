"""A login is what a browser knows of who is signed in on one origin: cookies and its storage.

Of all that a browser knows, a login is what it would send to that origin, and what that origin has
stored there itself. What others stored on the way, such as an advertiser's cookie, is left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec

from rutter.actors.rules.pages.address import host_of, origin_of
from rutter.actors.rules.text.secret_words import asks_for_a_secret
from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed

# As Playwright gives and takes it. IndexedDB is in it and not in the types that it declares.
Stored = dict[str, Any]
SHORTEST = 16  # of what is taken for a token: sessions have 64 bits and more
MOST = 64  # tokens of one login that are looked for in every fact
# How what holds a token calls itself, beside the words for any secret.
TOKENS = re.compile(r"token|session|sess|sid|auth|jwt|bearer|csrf|xsrf|refresh", re.IGNORECASE)
# What guards a form against others is there for whoever is not signed in, too.
FORGERY = re.compile(r"csrf|xsrf", re.IGNORECASE)
# A mail address or the address of a page: hidden, an account or a place would be another.
READABLE = re.compile(r"[^@]+@[^@]+\.[A-Za-z]+|(?:https?:/)?/.*", re.IGNORECASE)
UNSEEN = re.compile(r"\S{16,4096}")  # of what scripts are not shown
TOKEN = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/=_.~%:|-]{16,4096}")


class BrowserState(msgspec.Struct, frozen=True):
    """A browser has `cookies`, and what each of the `origins` stored. No event or text has it."""

    cookies: tuple[Stored, ...] = ()
    origins: tuple[Stored, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.cookies or self.origins)

    def __repr__(self) -> str:  # it may end up in a traceback
        return f"BrowserState({len(self.cookies)} cookies, {len(self.origins)} origins)"


class CarriesLogins(Protocol):
    """A session carries logins for whoever opens its window and closes it."""

    @property
    def used(self) -> tuple[LoginUsed, ...]: ...

    @property
    def state(self) -> BrowserState: ...

    @property
    def keeps(self) -> bool:
        """Whether what the browser knows at the end is to be kept."""

    def keep(self, state: BrowserState) -> tuple[LoginKept | LoginNotKept, ...]:
        """Keeps it, on disk when this returns. What cannot be kept is told, not raised."""

    def leave(self, why: str) -> tuple[LoginKept | LoginNotKept, ...]:
        """Nothing is kept this time, and why."""


def state_of(told: Mapping[str, Any]) -> BrowserState:
    """As the browser told it."""
    return BrowserState(tuple(told.get("cookies", ())), tuple(told.get("origins", ())))


def of_origin(state: BrowserState, origin: str) -> BrowserState:
    """What is this origin's: the cookies that would be sent to it, and what it stored."""
    scheme, host, _ = host_of(origin)
    return BrowserState(
        tuple(each for each in state.cookies if _is_sent(each, scheme, host)),
        tuple(each for each in state.origins if origin_of(str(each.get("origin", ""))) == origin),
    )


def _is_sent(cookie: Mapping[str, Any], scheme: str, host: str) -> bool:
    """A cookie with a dot before its domain is sent to every host below it, any other to that one
    alone; a secure one only where nobody can listen."""
    domain = str(cookie.get("domain", "")).lower()
    there = host.endswith(domain) or host == domain[1:] if domain[:1] == "." else host == domain
    if not domain.strip(".") or not there:
        return False
    loopback = host in ("localhost", "127.0.0.1", "[::1]") or host.endswith(".localhost")
    return not cookie.get("secure") or scheme == "https" or loopback


def together(states: Iterable[BrowserState]) -> BrowserState:
    """Several logins in one browser. Where two have the same cookie, the later one holds."""
    cookies: dict[tuple[str, ...], Stored] = {}
    origins: dict[str, Stored] = {}
    for state in states:
        for cookie in state.cookies:
            cookies[tuple(str(cookie.get(key)) for key in ("name", "domain", "path"))] = cookie
        for stored in state.origins:
            origins[str(stored.get("origin"))] = stored
    return BrowserState(tuple(cookies.values()), tuple(origins.values()))


def tokens_in(state: BrowserState) -> tuple[str, ...]:
    """What must not reach a fact wherever a page puts it, the longest first.

    Cookies that scripts are not shown, and what calls itself a token. Other values are not taken:
    an account's name may be among them, which stands on the page and is found by its words.
    """
    found = {value for value in _tokens(state) if len(value) >= SHORTEST and TOKEN.fullmatch(value)}
    found |= {value for value in _unseen(state) if UNSEEN.fullmatch(value)}
    return tuple(sorted(found, key=lambda value: (-len(value), value))[:MOST])


def is_signed_out(before: BrowserState, now: BrowserState) -> bool:
    """Whether there was something that a site may know somebody by, and none of it is left. By the
    names: the values are renewed."""
    known = _known_by(before)
    return bool(known) and known.isdisjoint(_known_by(now))


def _known_by(state: BrowserState) -> set[tuple[str, str]]:
    found = set()
    for cookie in state.cookies:
        name = str(cookie.get("name", ""))
        tells = cookie.get("httpOnly") or _is_token(name)
        if cookie.get("value") and tells and not FORGERY.search(name):
            found.add(("", name))
    for stored in state.origins:
        origin = str(stored.get("origin", ""))
        for item in stored.get("localStorage", ()):
            name = str(item.get("name", ""))
            if any(_named(name, _opened(str(item.get("value", ""))))) and not FORGERY.search(name):
                found.add((origin, name))
        if any(_named("", stored.get("indexedDB"))):
            found.add((origin, ""))
    return found


def _unseen(state: BrowserState) -> Iterator[str]:
    for cookie in state.cookies:
        value = str(cookie.get("value", ""))
        if cookie.get("httpOnly") and not READABLE.fullmatch(value):
            yield value


def _tokens(state: BrowserState) -> Iterator[str]:
    for cookie in state.cookies:
        if cookie.get("httpOnly") or _is_token(str(cookie.get("name", ""))):
            yield str(cookie.get("value", ""))
    for stored in state.origins:
        for item in stored.get("localStorage", ()):
            yield from _named(str(item.get("name", "")), _opened(str(item.get("value", ""))))
        yield from _named("", stored.get("indexedDB"))


def _named(name: str, value: object) -> Iterator[str]:
    """The texts that stand under a name which says that they are tokens, at whatever depth."""
    left: list[tuple[str, object]] = [(name, value)]
    while left:
        name, value = left.pop()
        if isinstance(value, str):
            if _is_token(name):
                yield value
        elif isinstance(value, dict):
            left += [(f"{name} {key}", each) for key, each in value.items()]
        elif isinstance(value, list):
            left += [(name, each) for each in value]


def _opened(text: str) -> object:
    """What is JSON is looked into: a page shows the token in it, and not the whole."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _is_token(name: str) -> bool:
    return TOKENS.search(name) is not None or asks_for_a_secret(name)
