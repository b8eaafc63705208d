"""A little office can deceive: its button does nothing, its save is lost, its notice lies.

`outside`: the button is in no form, sends at once, and the page never shows anything.
"""

import threading
from http.server import BaseHTTPRequestHandler
from typing import Literal
from urllib.parse import parse_qs

from tests.support.loopback import Loopback, QuietHandler, QuietServer

How = Literal["honest", "dead", "look_alike", "silent", "lying", "slow", "late", "outside"]

EDIT = """<!doctype html><meta charset=utf-8><title>Edit</title><h1>Edit a record</h1>
<form id=record method=post action=/save>
  <label>Name <input id=name name=name></label> <button id=save>Save</button>
</form>
<p role=status id=notice></p>
<script>
const how = "HOW";
record.onsubmit = async (event) => {
  event.preventDefault();
  if (how === "dead") return;
  if (how === "look_alike") { location = "/help"; return; }
  const body = new URLSearchParams(new FormData(record));
  notice.textContent = await (await fetch("/save", { method: "POST", body })).text();
  record.reset();
};
if (how === "outside") {
  const name = record.elements.name;
  record.replaceWith(...record.children);
  document.querySelector("#save").onclick = () =>
    fetch("/save", { method: "POST", body: new URLSearchParams({ name: name.value }) });
}
</script>"""


class Office(Loopback["_Server"]):
    """An office behaves as `how` says from now on; `kept` is what it really kept."""

    def __init__(self) -> None:
        super().__init__(_Server())

    @property
    def kept(self) -> list[str]:
        return self._server.kept

    @property
    def posts(self) -> int:
        return self._server.posts

    def be(self, how: How) -> None:
        self._server.how, self._server.kept, self._server.posts = how, [], 0

    def let_go(self) -> None:
        self._server.stopping.set()


class _Server(QuietServer):
    def __init__(self) -> None:
        self.how: How = "honest"
        self.kept: list[str] = []
        self.posts = 0
        self.stopping = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/edit":
                self._send(EDIT.replace("HOW", self.server.how))
            case "/records":
                rows = "".join(f"<li>{name}" for name in self.server.kept)
                self._send(f"<!doctype html><title>Records</title><h1>Records</h1><ul>{rows}</ul>")
            case _:
                self._send("<!doctype html><title>Help</title><h1>How to save</h1>")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        name = parse_qs(body)["name"][0]
        self.server.posts += 1
        match self.server.how:
            case "slow":
                self.server.stopping.wait()
                return
            case "silent":
                self._send("")
            case "lying":
                self._send("The record was saved")
            case "late":
                self.server.stopping.wait(0.4)
                self._keep(name)
            case _:
                self._keep(name)

    def _keep(self, name: str) -> None:
        self.server.kept.append(name)
        self._send("The record was saved")

    def _send(self, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
