"""ASGI's words are typed here, and the head of a request as the guard reads it."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
# Every framework has types of its own for the same three dictionaries.
ASGIApp = Callable[[Any, Any, Any], Awaitable[None]]

Headers = list[tuple[bytes, bytes]]
WEBSOCKET = "WS"  # what the opening of a WebSocket is called where others have a method


class RequestHead(NamedTuple):
    """A request's head is what is known before its body."""

    is_socket: bool  # not by its method: a client can call one whatever it likes
    method: str
    raw_path: bytes
    path: str
    query: bytes
    headers: Headers

    def all(self, name: bytes) -> list[str]:
        """Every value of a header: what comes twice must not be taken for what comes once."""
        return [value.decode("latin-1") for each, value in self.headers if each.lower() == name]

    def one(self, name: bytes) -> str | None:
        """The value of a header that is there exactly once."""
        found = self.all(name)
        return found[0] if len(found) == 1 else None


def head_of(scope: Scope) -> RequestHead:
    path: str = scope["path"]
    is_socket = scope["type"] == "websocket"
    return RequestHead(
        is_socket=is_socket,
        method=WEBSOCKET if is_socket else scope["method"],
        raw_path=scope.get("raw_path") or path.encode(),
        path=path,
        query=scope.get("query_string", b""),
        headers=list(scope["headers"]),
    )
