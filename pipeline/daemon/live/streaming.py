"""The stream carries the live view: pictures over a WebSocket, as an endless image, and a page with
it.

`WS /stream/{session}` sends each picture as one binary message, `GET /stream/{session}/mjpeg` as
one part of an image that a browser keeps replacing, `GET /stream/{session}` is a page with that.
"""

import base64
import hashlib
from collections.abc import Awaitable, Callable
from html import escape
from typing import Any
from urllib.parse import quote

import anyio
from litestar.handlers import ASGIRouteHandler, asgi

from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.asgi import Headers, Receive, Scope, Send
from rutter.pipeline.daemon.http.refusals import HttpRefusal, send_refusal
from rutter.pipeline.daemon.live.live_views import LiveViews, NotWatchable, StreamEnd, Watcher
from rutter.pipeline.runtime.cut_short import cut_short_by

# For the person, and for who has a ticket from them. What a session shows is not for agents: they
# are told what they may know as words.
STREAM_TABLE = (
    AccessRule("GET", "/stream/*", "person", ticket=True),
    AccessRule("GET", "/stream/*/mjpeg", "person", ticket=True),
    AccessRule("WS", "/stream/*", "person", ticket=True),
)
STALL_S = 30.0  # then whoever takes no picture gives the place to somebody else
REPEAT_S = 0.25  # longer than between two pictures of a page that moves
TOO_SLOW = StreamEnd(1008, "nothing was taken for too long")
NOTHING_HERE = HttpRefusal("nothing_here", "ask for /stream/{session}")
GONE = ("http.disconnect", "websocket.disconnect")
BOUNDARY = b"rutter-picture"
MULTIPART: Headers = [(b"content-type", b"multipart/x-mixed-replace; boundary=" + BOUNDARY)]
STYLE = "body{margin:0;background:#222;color:#eee;font:16px sans-serif}img{max-width:100%}"
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
PAGE_CSP = (
    f"default-src 'none'; img-src 'self'; style-src 'sha256-{STYLE_HASH}'; "
    "base-uri 'none'; form-action 'none'"
)

Deliver = Callable[[bytes], Awaitable[None]]


def stream_handlers(views: LiveViews) -> list[ASGIRouteHandler]:
    """The routes, to be put beside the others of the app: all that is under /stream."""

    @asgi("/stream", is_mount=True, copy_scope=True)
    async def stream(scope: Any, receive: Any, send: Any) -> None:
        is_socket = scope["type"] == "websocket"
        if is_socket:
            await receive()  # websocket.connect
        try:
            match scope["path"].strip("/").split("/"):
                case [session] if session and is_socket:
                    await send_by_socket(views, session, receive, send)
                case [session] if session:
                    await send_page(views, session, scope, send)
                case [session, "mjpeg"] if not is_socket:
                    await send_pictures(views, session, scope, receive, send)
                case _:
                    raise NotWatchable(NOTHING_HERE)
        except NotWatchable as error:
            await send_refusal(error.refusal, scope, send)

    return [stream]


async def send_by_socket(views: LiveViews, session: str, receive: Receive, send: Send) -> None:
    """One binary message for each picture; closed with the reason when there are no more."""

    async def deliver(picture: bytes) -> None:
        await send({"type": "websocket.send", "bytes": picture})

    with views.watch(session) as watcher:
        await send({"type": "websocket.accept"})
        ending = await _relay(watcher, receive, deliver)
    if ending is not None:
        await _unless_gone(
            send, {"type": "websocket.close", "code": ending.code, "reason": ending.reason}
        )


async def send_pictures(
    views: LiveViews, session: str, scope: Scope, receive: Receive, send: Send
) -> None:
    """An image whose parts replace each other."""
    """An image whose parts replace each other."""

    async def deliver(picture: bytes) -> None:
        head = b"Content-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture)
        body = b"--" + BOUNDARY + b"\r\n" + head + picture + b"\r\n"
        await send({"type": "http.response.body", "body": body, "more_body": True})

    _check_method(scope)
    if scope["method"] == "HEAD":
        views.check(session)
        await _begin(send, MULTIPART)
        await send({"type": "http.response.body", "body": b""})
        return
    with views.watch(session) as watcher:
        await _begin(send, MULTIPART)
        ending = await _relay(RepeatedPicture(watcher), receive, deliver)
    if ending is not None:
        last = b"--" + BOUNDARY + b"--\r\n"
        await _unless_gone(send, {"type": "http.response.body", "body": last})


async def send_page(views: LiveViews, session: str, scope: Scope, send: Send) -> None:
    """A page with nothing but the pictures: it may load them from here, and nothing else."""
    _check_method(scope)
    views.check(session)
    title, source = escape(session), escape(quote(session, safe=""))
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        f'<style>{STYLE}</style><img src="{source}/mjpeg" alt="{title} is not shown any more">'
    ).encode()
    await _begin(
        send,
        [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", b"%d" % len(page)),
            (b"content-security-policy", PAGE_CSP.encode()),
        ],
    )
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else page})


# -- how -------------------------------------------------------------------------------------------


class RepeatedPicture:
    """A picture is sent once more when none follows soon. A browser shows a part of an image when
    the next one begins, and a page that stands still would never be seen as it is."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._last: bytes | None = None

    async def next(self) -> bytes | StreamEnd:
        if self._last is not None:
            with anyio.move_on_after(REPEAT_S):
                return self._keep(await self._watcher.next())
            last, self._last = self._last, None
            return last
        return self._keep(await self._watcher.next())

    def _keep(self, got: bytes | StreamEnd) -> bytes | StreamEnd:
        self._last = got if isinstance(got, bytes) else None
        return got


async def _relay(
    watcher: Watcher | RepeatedPicture, receive: Receive, deliver: Deliver
) -> StreamEnd | None:
    """Hands on pictures until there are no more; nothing when the client has gone."""

    async def client_left() -> None:
        while (await receive())["type"] not in GONE:
            pass  # nothing that a client says is of interest

    ending: StreamEnd | None = None
    async with cut_short_by(client_left):
        ending = await _deliver_all(watcher, deliver)
    return ending  # noqa: RET504 - as it was, where that was cut short


async def _deliver_all(watcher: Watcher | RepeatedPicture, deliver: Deliver) -> StreamEnd | None:
    while not isinstance(got := await watcher.next(), StreamEnd):
        try:
            with anyio.fail_after(STALL_S):
                await deliver(got)
        except TimeoutError:
            return TOO_SLOW
        except OSError:  # the client went away just now
            return None
    return got


async def _unless_gone(send: Send, message: dict[str, object]) -> None:
    try:
        await send(message)
    except OSError:
        return


async def _begin(send: Send, headers: Headers) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": headers})


def _check_method(scope: Scope) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        allow = ((b"allow", b"GET, HEAD"),)
        raise NotWatchable(HttpRefusal("only_to_look_at", "ask for it with GET", allow))
