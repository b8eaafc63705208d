"""A refusal is how the daemon says no, with the headers that go with everything it says."""

from typing import NamedTuple

import anyio.lowlevel
import msgspec

from rutter.events.faults import faults
from rutter.events.tools import ErrorType
from rutter.pipeline.daemon.http.asgi import Headers, Message, Scope, Send

SECURITY: Headers = [
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    # A page of another origin gets no picture and no script from here, whatever it sends along.
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]
CSP = b"content-security-policy"
# Several such headers narrow each other: the first goes with everything, the second where the app
# has no page of its own to allow things for.
NO_FRAMES = (CSP, b"frame-ancestors 'none'")
NOTHING = (CSP, b"default-src 'none'; base-uri 'none'; form-action 'none'")
# A page that says why there is none: it has our stylesheet, and nothing else.
PLAIN_PAGE = (
    b"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
)


class Problem(msgspec.Struct, frozen=True):
    """A problem is the one form of what is refused or fails. `error` is for programs, `message`
    says what to do, `error_code` is one that any caller can count on; `retriable`: the same again
    may work."""

    error: str
    message: str
    error_code: ErrorType
    retriable: bool


def problem_of(code: str, message: str) -> Problem:
    """Of a code among the `requests` of events/faults.toml."""
    fault = faults().requests[code]
    return Problem(code, message, fault.error_code, fault.retriable)


def status_of(code: str) -> int:
    return faults().requests[code].status


class HttpRefusal(NamedTuple):
    error: str
    message: str  # what to do
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def status(self) -> int:
        return status_of(self.error)

    def parts(self, page: bytes | None = None) -> tuple[int, Headers, bytes]:
        body, kind = page, b"text/html; charset=utf-8"
        if body is None:
            body = msgspec.json.encode(problem_of(self.error, self.message))
            kind = b"application/json"
        head = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
        own = [(CSP, PLAIN_PAGE)] if page is not None else []
        return self.status, secured([*head, *own, *self.headers]), body


async def send_refusal(
    refusal: HttpRefusal, scope: Scope, send: Send, page: bytes | None = None
) -> None:
    """As JSON, or as this page. A WebSocket is refused with a status where the server can say one,
    else by closing."""
    kind = "http.response"
    if scope["type"] == "websocket":
        kind = "websocket.http.response"
        if kind not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.error})
            return
    status, headers, body = refusal.parts(page)
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
    if scope["type"] == "websocket":
        # uvicorn takes the handshake for done one turn later, and logs an error until then.
        await anyio.lowlevel.checkpoint()


def secured(headers: Headers) -> Headers:
    """The app's headers with ours. What it says about other origins is never sent: there is no
    origin but our own that may read an answer."""
    ours = {name for name, _ in SECURITY}
    kept = [
        (name.lower(), value)
        for name, value in headers
        if name.lower() not in ours and not name.lower().startswith(b"access-control-")
    ]
    own_csp = any(name == CSP for name, _ in kept)
    return [*kept, *SECURITY, NO_FRAMES, *([] if own_csp else [NOTHING])]


def secured_start(message: Message) -> Message:
    return {**message, "headers": secured(list(message.get("headers", ())))}
