"""A site says what it was told in every form that a page has."""

import base64
import gzip
import html
import json
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, quote, urlsplit

from tests.support.loopback import Loopback, QuietHandler, QuietServer

FORM = """<!doctype html><meta charset=utf-8><title>Door</title><h1>Door</h1>
<form method=post action=/in>
<label>Password <input id=pw name=pw type=password></label>
<label>Remark <input id=remark name=remark></label>
<button id=go>Enter</button></form>"""

ECHO = """<!doctype html><meta charset=utf-8><title>You typed {pw}</title>
<h1>Hello {key}</h1><p id=said role=alert>Your password is {pw}.</p>
<p>Escaped {twice}</p><p>In base64 {base64}</p><p>In hex {hex}</p><p>In an address {percent}</p>
<p>Spaced <b>{half}</b><i>{rest}</i></p><p style="text-transform:uppercase">Shouted {pw}</p>
<button aria-label="Use {pw}" id=next onclick="done()">Next</button>
<label>Remark <input value="{key}"></label>
<a id=file download="{name}.txt" href="/file?of={percent}">{key}.txt</a>
<a id=packed download href="/packed?of={percent}">Packed</a>
<script type="application/json">{json}</script>
<script>
  console.log({json}); console.error({json});
  function done() {{ alert({json}); document.title = {json};
    history.replaceState(0, "", "/said/" + encodeURIComponent({json})); }}
</script>"""


def echo(pw: str, key: str) -> str:
    said = html.escape(pw)
    return ECHO.format(
        pw=said,
        key=html.escape(key),
        twice=html.escape(html.escape(pw)),
        base64=base64.b64encode(f"me:{pw}".encode()).decode(),
        hex=pw.encode().hex(),
        percent=quote(pw, safe=""),
        half=html.escape(pw[:7]),
        rest=html.escape(pw[7:]),
        name=html.escape(key),
        json=json.dumps(pw).replace("<", "\\u003c").replace("&", "\\u0026"),
    )


class EchoSite(Loopback[QuietServer]):
    """A site is on loopback until left. `hung` is set when somebody waits for /hang."""

    def __init__(self) -> None:
        self.hung = threading.Event()
        self.typed: list[tuple[str, str]] = []
        self._over = threading.Event()
        super().__init__(QuietServer(("127.0.0.1", 0), self._handler()))

    def let_go(self) -> None:
        self._over.set()

    def _handler(self) -> type[QuietHandler]:
        site = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                address = urlsplit(self.path)
                said = {name: each[0] for name, each in parse_qs(address.query).items()}
                if address.path == "/echo":
                    self._send(200, echo(said["pw"], said["remark"]).encode())
                elif address.path == "/file":
                    self._send(200, f"it is {said['of']}\n".encode(), "text/plain")
                elif address.path == "/packed":
                    self._send(200, gzip.compress(said["of"].encode()), "application/gzip")
                elif address.path == "/":
                    self._send(200, FORM.encode())
                else:
                    self._send(404, b"nothing here")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                said = {name: each[0] for name, each in parse_qs(body).items()}
                site.typed.append((said.get("pw", ""), said.get("remark", "")))
                if said.get("remark") == "hang":
                    site.hung.set()
                    site._over.wait()
                    return
                self.send_response(303)
                self.send_header("Location", f"/echo?{body}")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _send(self, status: int, body: bytes, media: str = "text/html") -> None:
                self.send_response(status)
                self.send_header("Content-Type", media)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler
