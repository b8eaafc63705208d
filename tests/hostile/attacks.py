"""What no browser says to a proxy, but somebody might: one row for each way to be read twice.

`{site}` may be reached, `{canary}` may not, `{port}` is the canary's port, `{own}` the proxy's own.
"""

from typing import NamedTuple


class Attack(NamedTuple):
    """`heard` is how many requests the site may hear of it: more would be one that was smuggled."""

    name: str
    said: str
    heard: int = 0


def _get(url: str, host: str, *headers: str, version: str = "HTTP/1.1") -> str:
    return "\r\n".join((f"GET {url} {version}", f"Host: {host}", *headers, "", ""))


def _connect(authority: str) -> str:
    return f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n" + STOLEN


STOLEN = _get("/stolen", "{canary}")
TO_CANARY = _get("http://{canary}/stolen", "{canary}")
LONG = "a" * 100_000
PIECE = "POST http://{site}/one HTTP/1.1\r\nHost: {site}\r\n"

ATTACKS = (
    Attack("a second request to another host", _get("http://{site}/one", "{site}") + TO_CANARY, 1),
    Attack("a second request in origin form", _get("http://{site}/one", "{site}") + STOLEN, 1),
    Attack("a Host header of another", _get("http://{site}/one", "{canary}")),
    Attack("a Host header of the site", _get("http://{canary}/one", "{site}")),
    Attack("two Host headers", _get("http://{site}/one", "{site}", "Host: {canary}")),
    Attack("two Host headers, turned", _get("http://{canary}/one", "{canary}", "Host: {site}")),
    Attack("no Host header", "GET http://{canary}/one HTTP/1.1\r\n\r\n"),
    Attack("no Host header, old", "GET http://{canary}/one HTTP/1.0\r\n\r\n"),
    Attack("a Host header that names the port twice", _get("http://{site}/", "{canary}:{port}")),
    Attack("origin form", STOLEN),
    Attack("origin form with two slashes", _get("//{canary}/stolen", "{canary}")),
    Attack("no slash", _get("http:{canary}/stolen", "{canary}")),
    Attack("one slash", _get("http:/{canary}/stolen", "{canary}")),
    Attack("three slashes", _get("http:///{canary}/stolen", "{canary}")),
    Attack("userinfo of the site", _get("http://{site}@{canary}/", "{canary}")),
    Attack("userinfo of the site, its Host", _get("http://{site}@{canary}/", "{site}")),
    Attack("userinfo of the canary", _get("http://{canary}@{site}/one", "{site}")),
    Attack("an empty userinfo", _get("http://@{canary}/", "{canary}")),
    Attack("a backslash", _get("http://{site}\\@{canary}/", "{canary}")),
    Attack("a backslash, the site's Host", _get("http://{canary}\\@{site}/", "{site}")),
    Attack("a fragment", _get("http://{canary}#@{site}/", "{site}")),
    Attack("a fragment, turned", _get("http://{site}#@{canary}/", "{canary}")),
    Attack("a question", _get("http://{canary}?@{site}/", "{site}")),
    Attack("tls in clear", _get("https://{canary}/", "{canary}")),
    Attack("ftp", _get("ftp://{canary}/", "{canary}")),
    Attack("a file", _get("file:///etc/hostname", "{site}")),
    Attack("a socket in clear", _get("ws://{canary}/", "{canary}")),
    Attack("two lengths", PIECE + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd" + TO_CANARY),
    Attack("a length in a list", PIECE + "Content-Length: 0, 99\r\n\r\n" + TO_CANARY),
    Attack("a length with a sign", PIECE + "Content-Length: +0\r\n\r\n" + TO_CANARY),
    Attack(
        "chunks and a length",
        PIECE + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + TO_CANARY,
        1,
    ),
    Attack(
        "chunks and a length of all",
        PIECE + "Transfer-Encoding: chunked\r\nContent-Length: 999\r\n\r\n0\r\n\r\n" + STOLEN,
        1,
    ),
    Attack("chunked twice", PIECE + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
    Attack("chunked as it is", PIECE + "Transfer-Encoding: identity\r\n\r\n" + TO_CANARY),
    Attack("chunked with a tail", PIECE + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    Attack(
        "chunked before a colon", PIECE + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + TO_CANARY
    ),
    Attack(
        "a chunk too long to count",
        PIECE + "Transfer-Encoding: chunked\r\n\r\n" + "f" * 40 + "\r\n" + TO_CANARY,
    ),
    Attack("a chunk with a minus", PIECE + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + TO_CANARY),
    Attack(
        "a trailer that is a Host",
        PIECE + "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: {canary}\r\n\r\n",
        1,
    ),
    Attack("a body that is a request", PIECE + "Content-Length: 30\r\n\r\n" + STOLEN, 1),
    Attack(
        "a length that is not to be handed on",
        PIECE + "Connection: close, content-length\r\nContent-Length: 4\r\n\r\nabcd",
        1,
    ),
    Attack(
        "a Host that is not to be handed on",
        _get("http://{site}/one", "{site}", "Connection: host"),
        1,
    ),
    Attack(
        "bare line feeds",
        _get("http://{site}/one", "{site}").replace("\r\n", "\n") + TO_CANARY.replace("\r\n", "\n"),
        1,
    ),
    Attack("a bare carriage return", _get("http://{site}/one", "{site}", "A: b\rHost: {canary}")),
    Attack("a folded line", _get("http://{site}/one", "{site}", "A: b", " Host: {canary}"), 1),
    Attack("a zero in the head", _get("http://{site}/one", "{site}", "A: b\0c")),
    Attack("a space in the address", _get("http://{site}/ HTTP/1.1 http://{canary}/", "{canary}")),
    Attack("a version of its own", _get("http://{canary}/", "{canary}", version="HTTP/9.9")),
    Attack("no version", "GET http://{canary}/\r\n\r\n"),
    Attack("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + TO_CANARY),
    Attack("an asterisk", "OPTIONS * HTTP/1.1\r\nHost: {canary}\r\n\r\n"),
    Attack("a long address", _get("http://{site}/" + LONG, "{site}")),
    Attack("a long head", _get("http://{site}/one", "{site}", "A: " + LONG) + TO_CANARY),
    Attack("many headers", _get("http://{site}/one", "{site}", *["A: b"] * 20_000)),
    Attack("a long host", _get("http://" + LONG + "/", LONG)),
    Attack(
        "an upgrade to something else",
        _get("http://{site}/one", "{site}", "Connection: upgrade", "Upgrade: h2c") + TO_CANARY,
        1,
    ),
    Attack(
        "a socket that is none",
        _get("http://{site}/one", "{site}", "Connection: upgrade", "Upgrade: websocket")
        + TO_CANARY,
        1,
    ),
    Attack("a tunnel", _connect("{canary}")),
    Attack("a tunnel in small letters", _connect("{canary}").replace("CONNECT", "connect")),
    Attack("a tunnel with userinfo", _connect("{site}@{canary}")),
    Attack("a tunnel with a scheme", _connect("http://{canary}")),
    Attack("a tunnel with a path", _connect("{canary}/{site}")),
    Attack("a tunnel to a path", _connect("{site}/{canary}")),
    Attack("a tunnel to localhost", _connect("localhost:{port}")),
    Attack("a tunnel to a name below", _connect("a.localhost:{port}")),
    Attack("a tunnel to a dot", _connect("localhost.:{port}")),
    Attack("a tunnel to one", _connect("[::1]:{port}")),
    Attack("a tunnel to one without brackets", _connect("::1:{port}")),
    Attack("a tunnel to a zone", _connect("[::1%25lo]:{port}")),
    Attack("a tunnel to a zone, bare", _connect("[::1%lo]:{port}")),
    Attack("a tunnel to a link", _connect("[fe80::1%25eth0]:{port}")),
    Attack("a tunnel to a mapped address", _connect("[::ffff:127.0.0.1]:{port}")),
    Attack("a tunnel to a translated address", _connect("[64:ff9b::7f00:1]:{port}")),
    Attack("a tunnel to a number", _connect("2130706433:{port}")),
    Attack("a tunnel to a hex number", _connect("0x7f000001:{port}")),
    Attack("a tunnel to an octal number", _connect("0177.0.0.01:{port}")),
    Attack("a tunnel to a short address", _connect("127.1:{port}")),
    Attack("a tunnel to nothing", _connect("0:{port}")),
    Attack("a tunnel to all", _connect("0.0.0.0:{port}")),
    Attack("a tunnel to all, long", _connect("[::]:{port}")),
    Attack("a tunnel to percents", _connect("%31%32%37.0.0.1:{port}")),
    Attack("a tunnel to two ports", _connect("{site}:{port}")),
    Attack("a tunnel to a port beyond", _connect("127.0.0.1:{beyond}")),
    Attack("a tunnel to a signed port", _connect("127.0.0.1:+{port}")),
    Attack("a tunnel to a spaced port", _connect("127.0.0.1: {port}")),
    Attack("a tunnel to a padded port", _connect("127.0.0.1:000{port}")),
    Attack("a tunnel to no port", _connect("127.0.0.1:")),
    Attack("a tunnel without a port", _connect("127.0.0.1")),
    Attack("a tunnel to the proxy", _connect("127.0.0.1:{own}") + TO_CANARY),
    Attack("the proxy by itself", _get("http://127.0.0.1:{own}/", "127.0.0.1:{own}")),
    Attack("the proxy by its name", _get("http://localhost:{own}/", "localhost:{own}")),
    Attack("metadata", _get("http://169.254.169.254/", "169.254.169.254")),
    Attack("a tunnel to metadata", _connect("169.254.169.254:80")),
)
