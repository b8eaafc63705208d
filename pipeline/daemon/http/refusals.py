"""A refusal is how the daemon says no, with the headers that go with everything it says."""

from typing import NamedTuple

import msgspec

from rutter.events.tools import ErrorType
from rutter.pipeline.daemon.http.asgi import Headers, Message

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


class Problem(msgspec.Struct, frozen=True):
    """A problem is the one form of what is refused or fails. `error` is for programs, `message`
    says what to do, `error_code` is one that any caller can count on; `retriable`: the same again
    may work."""

    error: str
    message: str
    error_code: ErrorType
    retriable: bool


# What the statuses of refusals mean to whoever gets one; all others are about what was asked.
CODES: dict[int, tuple[ErrorType, bool]] = {
    401: ("policy_denied", False),
    403: ("policy_denied", False),
    408: ("tool_timeout", True),
    429: ("tool_unavailable", True),
    500: ("execution_error", False),
    503: ("tool_unavailable", True),
}


def problem_of(status: int, error: str, message: str) -> Problem:
    return Problem(error, message, *CODES.get(status, ("validation_error", False)))


class HttpRefusal(NamedTuple):
    status: int
    error: str
    message: str  # what to do
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def parts(self) -> tuple[int, Headers, bytes]:
        body = msgspec.json.encode(problem_of(self.status, self.error, self.message))
        kind = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        return self.status, secured([*kind, *self.headers]), body


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
