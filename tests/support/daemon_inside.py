"""The daemon is opened up as it is served: its routes, its guard, who came as far as its socket."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from litestar import Litestar
from litestar.routes import ASGIRoute, HTTPRoute, WebSocketRoute

from rutter.pipeline.daemon import serve
from rutter.pipeline.daemon.http import application
from rutter.pipeline.daemon.http.asgi import ASGIApp, Receive, RequestHead, Scope, Send
from rutter.pipeline.daemon.http.guard import Caller, Guard
from rutter.pipeline.daemon.http.http_server import _Connection
from rutter.pipeline.daemon.http.refusals import HttpRefusal


class Came(NamedTuple):
    """A connection came to one of our addresses; nothing was said by it yet."""

    host: str
    port: int


class Aboard:
    """The daemon made this when it began to serve, and this came since."""

    def __init__(self) -> None:
        self.apps: list[Litestar] = []
        self.guards: list[Guard] = []
        self.came: list[Came] = []
        self.judged: list[tuple[RequestHead, HttpRefusal | Caller]] = []
        self.passed: list[tuple[str, str]] = []

    @property
    def guard(self) -> Guard:
        [guard] = self.guards
        return guard

    def routes(self) -> set[tuple[str, str]]:
        """Every method and path that the app itself would answer."""
        [app] = self.apps
        found: set[tuple[str, str]] = set()
        for route in app.routes:
            match route:
                case HTTPRoute():
                    asked = {str(each) for each in route.methods} - {"OPTIONS", "HEAD"}
                    found |= {(method, route.path) for method in asked}
                case WebSocketRoute():
                    found.add(("WS", route.path))
                case ASGIRoute():
                    found.add(("ANY", route.path))
        return found


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aboard]:
    """To be entered before a daemon is served: what it makes is then known by what it is."""
    aboard = Aboard()
    make, guarded = application.application, application.guarded
    connected, judge = _Connection.connection_made, Guard.judge

    def made(*arguments: Any, **more: Any) -> Litestar:
        aboard.apps.append(make(*arguments, **more))
        return aboard.apps[-1]

    def stood(*arguments: Any, **more: Any) -> ASGIApp:
        guard = guarded(*arguments, **more)
        assert isinstance(guard, Guard)  # nothing stands in front of it, and nothing beside it
        inner = guard._app

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "lifespan":
                aboard.passed.append((scope.get("method", "WS"), scope["path"]))
            await inner(scope, receive, send)

        guard._app = counted
        aboard.guards.append(guard)
        return guard

    def came(self: _Connection, transport: asyncio.Transport) -> None:
        at = transport.get_extra_info("sockname")
        aboard.came.append(Came(at[0], at[1]))
        connected(self, transport)

    def judging(self: Guard, head: RequestHead) -> HttpRefusal | Caller:
        aboard.judged.append((head, judge(self, head)))
        return aboard.judged[-1][1]

    with monkeypatch.context() as patched:
        patched.setattr(application, "application", made)
        patched.setattr(serve, "guarded", stood)
        patched.setattr(_Connection, "connection_made", came)
        patched.setattr(Guard, "judge", judging)
        yield aboard
