"""The access table says who may do what, looked up by method and path. What is in no row is for the
person alone, so a route that somebody adds and forgets here is closed to agents."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from rutter.pipeline.daemon.http.asgi import WEBSOCKET

Needs = Literal["nobody", "agent", "person", "hook"]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
ONE, REST = "*", "**"


class AccessRule(NamedTuple):
    """A rule says who may use a path by a method; `GET` speaks for `HEAD` too. `*` is any one part,
    `**` at the end whatever follows. With `ticket` one for the session that the first `*` names
    will do, with `web` the person's web session. What needs a hook is opened by the token of the
    one that the first `*` names, and no other."""

    method: str
    path: str
    needs: Needs
    ticket: bool = False
    web: bool = False


class Access(NamedTuple):
    needs: Needs
    session: str = ""  # of which a ticket will do
    hook: str = ""  # whose token it must be
    web: bool = False  # a web session will do


PERSON = Access("person")
HEALTH = AccessRule("GET", "/health", "nobody")


class AccessTable:
    """The table's first row that fits counts."""

    def __init__(self, rows: Iterable[AccessRule]) -> None:
        self._rows = [(row, _checked(row)) for row in (HEALTH, *rows)]

    def needed(self, method: str, parts: tuple[str, ...]) -> Access:
        wanted = "GET" if method == "HEAD" else method
        for row, pattern in self._rows:
            if row.method == wanted and _fits(pattern, parts):
                named = parts[pattern.index(ONE)] if ONE in pattern else ""
                if row.needs == "hook":
                    return Access("hook", hook=named)
                return Access(row.needs, named if row.ticket else "", web=row.web)
        return PERSON


def parts_of(raw_path: bytes, path: str) -> tuple[str, ...] | None:
    """The path in parts, or nothing when two readers could take it for two different paths.

    The app's router joins empty parts and reads the decoded path: `/jobs//x`, `/jobs/../approvals`
    or `/jobs%2fx` would be judged here as one thing and routed there as another.
    """
    if not path.startswith("/") or "//" in path or raw_path.count(b"/") != path.count("/"):
        return None
    parts = tuple(path[1:].removesuffix("/").split("/")) if path != "/" else ()
    return None if any(map(_is_odd, parts)) else parts


def _is_odd(part: str) -> bool:
    return part in (".", "..") or "\\" in part or any(not each.isprintable() for each in part)


def _fits(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    if pattern and pattern[-1] == REST:
        pattern, parts = pattern[:-1], parts[: len(pattern) - 1]
    return len(pattern) == len(parts) and all(
        each in (ONE, part) for each, part in zip(pattern, parts, strict=True)
    )


def _checked(row: AccessRule) -> tuple[str, ...]:
    """A row that can never fit would close its route for agents without a word."""
    pattern = parts_of(row.path.encode(), row.path)
    if pattern is None or row.method not in {*METHODS, WEBSOCKET} - {"HEAD"}:
        raise ValueError(f"{row.method} {row.path} is no row of the access table")
    of_one = row.ticket or row.needs == "hook"
    if REST in pattern[:-1] or (of_one and ONE not in pattern):
        raise ValueError(f"{row.path} has its stars where they mean nothing")
    if row.ticket and row.needs == "hook":
        raise ValueError(f"{row.path} is opened by its hook's token alone")
    return pattern
