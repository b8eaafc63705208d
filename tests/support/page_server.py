"""A browser test serves its pages on loopback: any HTML, and answers that are no page."""

import threading
from http.server import BaseHTTPRequestHandler

from tests.support.loopback import Loopback, QuietHandler, QuietServer

PATIENT = 20_000  # ms, for what is not about time: the machine may be busy
ANOTHER = "<title>Another</title><h1>Another</h1>"


class PageServer(Loopback["_Server"]):
    """`show` puts HTML at an address of its own. Under these paths:

    /another    a page with a heading
    /none       204, no content
    /store      keeps what is posted, and says all of it; keeps nothing while it is `forgetful`
    /file       an attachment
    /to-file    302 to it
    /slow-file  the same; its end comes when `release` is called
    /kept       how often it was asked for; a browser may keep the answer
    /broken     500, with a page
    /hop        303 to /hop/2, then 302 to /another
    /never      no answer until the server stops
    /stream     the beginning of an event stream, whose end comes when the server stops
    """

    def __init__(self) -> None:
        super().__init__(_Server())

    @property
    def asked(self) -> list[str]:
        """What was asked for so far, form bodies behind their path."""
        return list(self._server.asked)

    @property
    def stored(self) -> list[str]:
        return list(self._server.stored)

    def forget(self, forgetful: bool) -> None:
        """From now on what is posted to /store is answered as ever, and kept or not."""
        self._server.stored.clear()
        self._server.forgetful = forgetful

    def release(self) -> None:
        """The end of all slow files."""
        self._server.released.set()

    def show(self, html: str) -> str:
        path = f"/page/{len(self._server.pages)}"
        self._server.pages[path] = f"<!doctype html><meta charset=utf-8>{html}"
        return self.url + path

    def replace(self, url: str, html: str) -> None:
        """Another page at an address that was shown before."""
        self._server.pages[url.removeprefix(self.url)] = (
            f"<!doctype html><meta charset=utf-8>{html}"
        )

    def let_go(self) -> None:
        self._server.stopping.set()
        self._server.released.set()


class _Server(QuietServer):
    def __init__(self) -> None:
        self.pages: dict[str, str] = {"/another": f"<!doctype html>{ANOTHER}"}
        self.asked: list[str] = []
        self.stored: list[str] = []
        self.forgetful = False
        self.stopping = threading.Event()
        self.released = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536

    def do_GET(self) -> None:
        self._answer(self.path.partition("?")[0])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.path += f" {body}"
        self._answer(self.path.partition(" ")[0].partition("?")[0])

    def _answer(self, path: str) -> None:
        self.server.asked.append(self.path)
        match path:
            case "/none":
                self._send(204)
            case "/store":
                _, posted, note = self.path.partition(" ")
                if posted and not self.server.forgetful:
                    self.server.stored.append(note)
                self._send(200, ", ".join(self.server.stored).encode())
            case "/file":
                self._send(200, b"a file", ("Content-Disposition", "attachment; filename=a.txt"))
            case "/to-file":
                self._send(302, b"", ("Location", "/file"))
            case "/slow-file":
                self._send_slowly(b"a file", "attachment; filename=slow.txt")
            case "/kept":
                body = f"asked for {self.server.asked.count(self.path)} times".encode()
                self._send(200, body, ("Cache-Control", "max-age=600"))
            case "/broken":
                self._send(500, ANOTHER.encode())
            case "/hop":
                self._send(303, b"", ("Location", "/hop/2"))
            case "/hop/2":
                self._send(302, b"", ("Location", "/another"))
            case "/never":
                self.server.stopping.wait(60)
                self._send(200)
            case "/stream":
                self.send_response_only(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.write(b"data: 1\n\n")
                self.wfile.flush()
                self.server.stopping.wait(60)
            case _ if path in self.server.pages:
                self._send(200, self.server.pages[path].encode())
            case _:
                self._send(404)

    def _send_slowly(self, body: bytes, disposition: str) -> None:
        self.send_response_only(200)
        self.send_header("Content-Type", "text/csv")
        self.send_header("X-Content-Type-Options", "nosniff")  # a guess would wait for more of it
        self.send_header("Content-Disposition", disposition)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:1])
        self.wfile.flush()
        self.server.released.wait(60)
        self.wfile.write(body[1:])

    def _send(self, status: int, body: bytes = b"", *headers: tuple[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
