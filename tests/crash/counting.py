"""A shop that counts: how often each order was really posted, whatever anybody was told."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs

from tests.support.command_shell import Rutter
from tests.support.loopback import Loopback, QuietHandler, QuietServer
from tests.support.tls_authority import Authority

When = Literal["asked", "counted"]
FORM = """<h1>New order</h1><form method="post" action="/orders">
<label>Customer <input name="customer" data-testid="customer"></label>
<button data-testid="place">Place order</button></form>"""


class CountingShop(Loopback["_Server"]):
    """One page with a form, one that is reached by sending it, and one that lists what came."""

    def __init__(self, trusted: Authority | None = None) -> None:
        super().__init__(_Server(("127.0.0.1", 0), _Handler), trusted)

    def posts(self, customer: str) -> int:
        with self._server.lock:
            return self._server.posts[customer]

    def on_post(self, when: When, do: Callable[[], None] | None) -> None:
        """Does it at the next post, before or after it was counted, and before it is answered."""
        self._server.on_post = (when, do) if do is not None else None


class _Server(QuietServer):
    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.lock = threading.Lock()
        self.posts: Counter[str] = Counter()
        self.on_post: tuple[When, Callable[[], None]] | None = None


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        with self.server.lock:
            names = "".join(f"<li>{escape(name)}</li>" for name in self.server.posts)
        pages = {"/new": FORM, "/orders": f"<h1>Orders</h1><ul>{names}</ul>"}
        placed = "<h1>Order placed</h1><p>Thank you.</p>"
        self._send(pages.get(self.path, placed))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        [customer] = parse_qs(body)["customer"]
        due, self.server.on_post = self.server.on_post, None
        if due is not None and due[0] == "asked":
            due[1]()
        with self.server.lock:
            self.server.posts[customer] += 1
            number = self.server.posts.total()
        if due is not None and due[0] == "counted":
            due[1]()
        self.send_response(303)
        self.send_header("Location", f"/orders/{number}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, html: str) -> None:
        page = f"<!doctype html><meta charset=utf-8><title>Shop</title>{html}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(page)


# -- the order as a workflow -----------------------------------------------------------------------

CLICK = 2  # the place of "Place order" in the workflow, counted from 0


def record_order(shop: CountingShop, data: Path, beside: Path) -> None:
    """The order recorded in this data directory, with the customer as its parameter."""
    script, yes = beside / "order.json", beside / "yes.json"
    script.write_text(json.dumps(_order_script(shop.url)))
    yes.write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 4))
    where = ("--script", script, "--allow", shop.host, "--param", "customer=Aurora")
    ended = Rutter(data)("record", "order", *where, "--answers", yes)
    assert ended.code == 0, ended


def _order_script(url: str) -> dict[str, object]:
    def step(kind: str, testid: str, **more: object) -> dict[str, object]:
        return {"type": kind, "target": "main", "selectors": [[f"[data-testid={testid}]"]], **more}

    return {
        "title": "order",
        "steps": [
            {"type": "navigate", "url": f"{url}/new"},
            step("change", "customer", value="Aurora"),
            step("click", "place", offsetX=1, offsetY=1),
        ],
    }
