"""A site serves pages that keep somebody out, as the usual services build them.

Beside them are shells that are filled late or never, words that are only drawn, and honest pages
that say little.
"""

import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

from tests.support.loopback import Loopback, QuietHandler, QuietServer

# Each behind a line that says its name, its status, what it is to be known as and of which service,
# `-` for none, and that it is beside what the page has else.
FILE = Path(__file__).with_name("barrier_pages.txt")
SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}'><text y='40'>Tea</text></svg>"
)
OTHERS = {
    "/picture.svg": ("image/svg+xml", SVG.format(900, 500)),
    "/captcha/letters.svg": ("image/svg+xml", SVG.format(200, 60)),
    "/slow": ("text/plain", "No berth is free before May."),
    "/_Incapsula_Resource": ("text/html", "Request unsuccessful. Incapsula incident ID: 777-12"),
}
INSIDE = "<title>Harbour</title><h1>Berths</h1><button onclick='this.disabled = true'>Book</button>"
# A page that keeps somebody out goes on by itself once it is content.
LOOKS = """<script>const look = () => fetch("/door").then(({ok}) =>
    ok ? location.reload() : setTimeout(look, 100)); look();</script>"""
SLOW_S = 0.7  # as a server takes its time


class BarrierPage(NamedTuple):
    name: str
    status: int
    barrier: tuple[str, str, bool] | None
    html: str


def _read(text: str) -> BarrierPage:
    head, _, html = text.partition("\n")
    name, status, kind, service, *beside = head.split()
    known = (kind, service.strip("-").replace("_", " "), bool(beside))
    return BarrierPage(name, int(status), None if kind == "-" else known, html)


PAGES = tuple(map(_read, FILE.read_text("utf-8").removeprefix("=== ").split("\n=== ")))


class BarrierSite(Loopback["_Server"]):
    """The site serves each page at its name, with its status, and at /door one of them until
    somebody was let in."""

    def __init__(self) -> None:
        super().__init__(_Server())

    def close_door(self, name: str) -> None:
        shown = self._server.pages[f"/{name}"]
        self._server.pages["/door"] = shown._replace(html=shown.html + LOOKS)

    def let_in(self) -> None:
        self._server.pages["/door"] = BarrierPage("door", 200, None, INSIDE)


class _Server(QuietServer):
    def __init__(self) -> None:
        self.pages = {f"/{each.name}": each for each in PAGES}
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        page = self.server.pages.get(path)
        if page is not None:
            self._send(page.status, "text/html; charset=utf-8", f"<!doctype html>{page.html}")
            return
        if path == "/slow":
            threading.Event().wait(SLOW_S)
        self._send(200, *OTHERS.get(path, ("text/javascript", "")))

    def _send(self, status: int, media: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
