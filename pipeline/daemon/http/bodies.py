"""Bodies are read as JSON, so large at most, and whole within so long, before the app hears of the
request."""

import re

import anyio
import msgspec

from rutter.pipeline.daemon.http.asgi import Message, Receive, RequestHead
from rutter.pipeline.daemon.http.refusals import HttpRefusal

BODILESS = ("GET", "HEAD")
JSON_ONLY = re.compile(r'application/json(\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)


class BodyLimits(msgspec.Struct, frozen=True):
    """One request may bring no more than this."""

    max_bytes: int = 1024 * 1024  # a workflow run with long values is a few kilobytes
    within_s: float = 10.0  # from its first byte to its last; who asks is on this machine


class ClientGone(Exception):
    """The client went away in the middle of its request."""


def declares_body(head: RequestHead) -> bool:
    lengths = head.all(b"content-length")
    return bool(head.all(b"transfer-encoding")) or any(each.strip("0") for each in lengths)


def refuse_head(head: RequestHead, limits: BodyLimits) -> HttpRefusal | None:
    """What can be refused before a byte of the body is read."""
    kinds = head.all(b"content-type")
    with_body = declares_body(head)
    if with_body and head.method in BODILESS:
        return HttpRefusal("body_not_allowed", f"send a {head.method} without a body")
    if kinds and (len(kinds) > 1 or not JSON_ONLY.fullmatch(kinds[0].strip())):
        return HttpRefusal("not_json", "send JSON, with Content-Type: application/json")
    if with_body and (not kinds or head.all(b"content-encoding")):
        return HttpRefusal("not_json", "send plain JSON, with Content-Type: application/json")
    return _refuse_length(head.all(b"content-length"), limits)


def _refuse_length(lengths: list[str], limits: BodyLimits) -> HttpRefusal | None:
    if any(not (each.isascii() and each.isdigit()) for each in lengths) or len(set(lengths)) > 1:
        return HttpRefusal("bad_length", "send one Content-Length, in digits")
    # By its digits first: a number of many thousands of them is not worth reading.
    if any(len(each) > 18 or int(each) > limits.max_bytes for each in lengths):
        return _too_large(limits)
    return None


async def read_body(receive: Receive, limits: BodyLimits) -> bytes | HttpRefusal:
    """The whole body, or why not. Counted as it comes: chunks say no length beforehand."""
    with anyio.move_on_after(limits.within_s):
        return await _read(receive, limits)
    return HttpRefusal(
        "body_too_slow",
        f"send the whole body within {limits.within_s:g} seconds",
        ((b"connection", b"close"),),  # the rest of it may still come: nothing can follow it
    )


async def _read(receive: Receive, limits: BodyLimits) -> bytes | HttpRefusal:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > limits.max_bytes:
            return _too_large(limits)
        if not message.get("more_body", False):
            return bytes(body)


def handing_over(body: bytes, receive: Receive) -> Receive:
    """What the app receives: the body that was read, then whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received


def _too_large(limits: BodyLimits) -> HttpRefusal:
    return HttpRefusal("body_too_large", f"send at most {limits.max_bytes} bytes")
