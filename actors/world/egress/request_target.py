"""A request's head says what it asks the proxy for. Pure: nothing is reached here."""

from collections.abc import Iterable
from typing import NamedTuple

import ada_url
import h11

from rutter.actors.rules.policy.hosts import PORTS, HostRefusal, plain_host

Header = tuple[bytes, bytes]

# RFC 9110 7.6.1: of this one connection, never handed on; and what only a proxy of ours may say.
OF_ONE_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
        b"x-rutter-instead-of",
        b"x-rutter-refused",
    }
)
MALFORMED = HostRefusal("request", "that is not a request to a proxy")


class RequestTarget(NamedTuple):
    """A request goes to this target. `path` is empty for a tunnel."""

    scheme: str
    host: str
    port: int
    path: bytes = b""
    authority: bytes = b""


def tunnel_target(request: h11.Request) -> RequestTarget | None:
    """`host:port` of a CONNECT. What goes through it cannot be seen; the port tells the scheme."""
    host, colon, port = request.target.decode("ascii").rpartition(":")
    plain = plain_host(host)
    if not colon or not plain or not port.isdigit() or len(port) > 5:
        return None
    return RequestTarget("http" if port == "80" else "https", plain, int(port))


def absolute_target(request: h11.Request) -> RequestTarget | HostRefusal:
    """Of a plain request: a whole URL, with which its Host header must agree."""
    raw = request.target.decode("ascii")
    scheme, separator, rest = raw.partition("://")
    end = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    authority, path = rest[:end], rest[end:].partition("#")[0]
    try:
        url = ada_url.URL(raw)
    except ValueError:
        return MALFORMED
    if "@" in authority or url.username or url.password:
        return HostRefusal("userinfo", "an address with a name or password in it is not gone to")
    if scheme.lower() not in ("http", "ws") or not separator:
        return HostRefusal("scheme", f"{scheme[:20]} is not asked for in clear")
    host = plain_host(url.hostname)
    # What we hand on as written must be what was judged, not what another reader makes of it.
    if not host or "\\" in authority or plain_host(_name(authority)) != host:
        return MALFORMED
    port = int(url.port) if url.port else PORTS["http"]
    if _host_header(request) != (host, port):
        return HostRefusal("host_header", "the Host header names another host")
    path = path if path.startswith("/") else "/" + path
    return RequestTarget("http", host, port, path.encode("ascii"), authority.encode("ascii"))


def handed_on(headers: Iterable[Header], *, keep: Iterable[bytes] = ()) -> list[Header]:
    """The headers without those of this hop, also those that `Connection` names."""
    listed = list(headers)
    named = {
        token.strip().lower()
        for name, value in listed
        if name.lower() == b"connection"
        for token in value.split(b",")
    }
    # The framing of the body is h11's own business on either side.
    named -= {b"content-length", b"transfer-encoding", b"host"}
    if any(name.lower() == b"transfer-encoding" for name, _ in listed):
        named.add(b"content-length")  # framed twice is read twice (RFC 9112 6.3)
    left_out = (OF_ONE_HOP | named) - set(keep)
    return [(name, value) for name, value in listed if name.lower() not in left_out]


def wants_websocket(request: h11.Request) -> bool:
    asked = [value.lower() for name, value in request.headers if name == b"upgrade"]
    return asked == [b"websocket"] and request.method == b"GET"


def _host_header(request: h11.Request) -> tuple[str, int] | None:
    """Host and port that the header names; a port that is not there is the scheme's."""
    for name, value in request.headers:
        if name == b"host":
            written = value.decode("latin-1")
            port = written[len(_name(written)) :].removeprefix(":") or str(PORTS["http"])
            valid = port.isascii() and port.isdigit() and len(port) <= 5
            return (plain_host(_name(written)), int(port)) if valid else None
    return None


def _name(authority: str) -> str:
    """The host of `host:port`."""
    head, colon, tail = authority.rpartition(":")
    return head if colon and not tail.endswith("]") else authority
