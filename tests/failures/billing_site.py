"""A small office of invoices, in the manner of an admin site, that goes wrong as it is told to."""

import html
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from tests.support.loopback import Loopback, QuietHandler, QuietServer

NUMBERS = ("INV-1041", "INV-1042", "INV-1043", "INV-1044")
STATUSES = ("draft", "sent", "paid")
OVERLAY = "<div style='position:fixed;inset:0;background:#8888;z-index:9'>We are updating</div>"
COOKIES = (
    "<div role=dialog aria-modal=true aria-label='Cookies' style='position:fixed;inset:0;"
    "background:#fff'><h2>Cookies</h2><button type=button>Accept all</button></div>"
)


class BillingSite(Loopback["_Server"]):
    """`mode` says what goes wrong; empty, everything goes well."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(_Server(port))

    @property
    def mode(self) -> str:
        return self._server.mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self._server.mode = mode

    def await_request(self, begins: str, within_s: float = 60) -> None:
        """Until something was asked for that begins so."""
        with self._server.news:
            asked = self._server.asked
            found = self._server.news.wait_for(
                lambda: any(each.startswith(begins) for each in asked), within_s
            )
        assert found, asked

    def let_go(self) -> None:
        self._server.stopping.set()


class _Server(QuietServer):
    def __init__(self, port: int) -> None:
        self.mode = ""
        self.asked: list[str] = []
        self.news = threading.Condition()
        self.stopping = threading.Event()
        super().__init__(("127.0.0.1", port), _Handler)

    def hear(self, asked: str) -> None:
        with self.news:
            self.asked.append(asked)
            self.news.notify_all()


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.hear(f"GET {self.path}")
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        number = url.path.strip("/").partition("/")[2]
        at = "form" if number else url.path.strip("/")
        match self.server.mode, at:
            case ("signed_out", "invoices") | ("signed_out_midway", "form"):
                self._send(303, "", ("Location", "/login"))
            case ("slow", "invoices") | ("slow_form", "form"):
                self.server.stopping.wait(120)
                self._send(200, "late")
            case "redirected", "invoices":
                self._send(303, "", ("Location", "/dashboard"))
            case "maintenance", "invoices":
                self._send(200, "<title>Maintenance</title><h1>We are back at noon</h1>")
            case "too_many", "invoices":
                self._send(429, "<title>Too many requests</title><h1>Slow down</h1>")
            case ("moved", "invoices") | ("gone", "form"):
                self._send(404, "<title>Page not found</title><h1>Page not found</h1>")
            case ("forbidden", "form") | ("forbidden_list", "invoices"):
                self._send(403, "<title>403 Forbidden</title><h1>Permission denied</h1>")
            case "busy", "invoices":
                self._send(503, "<title>Service unavailable</title><h1>Try again later</h1>")
            case "captcha", "invoices":
                frame = "<iframe src='https://www.google.com/recaptcha/api2/bframe' width=400>"
                self._send(200, f"<title>Check</title><h1>Are you a robot?</h1>{frame}</iframe>")
            case "blocked", "invoices":
                text = "You have been blocked. Attention Required! | Cloudflare"
                self._send(403, f"<title>Attention Required! | Cloudflare</title><h1>{text}</h1>")
            case "empty", "invoices":
                self._send(200, "<title>Invoices</title><div id=root></div><script></script>")
            case "elsewhere", "form":
                self._send(303, "", ("Location", "http://pay.example/checkout"))
            case _, "dashboard":
                self._send(200, "<title>Dashboard</title><h1>Good morning</h1>")
            case _, "login":
                self._send(200, LOGIN)
            case _, "invoices":
                self._send(200, _list(asked, self.server.mode))
            case _, "form":
                self._send(200, _form(number, self.server.mode))
            case _:
                self._send(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.hear(f"POST {self.path}")
        number = self.path.strip("/").partition("/")[2]
        match self.server.mode:
            case "save_cut":
                self.close_connection = True
            case "save_fails":
                self._send(500, "<title>Server error</title><h1>Server error (500)</h1>")
            case "save_hangs":
                self.server.stopping.wait(120)
                self._send(200, "late")
            case "save_refused":
                note = "<p role=alert>Please correct the error below: the period is closed.</p>"
                self._send(200, _form(number, "", note))
            case "save_silent":
                self._send(200, _form(number, ""))
            case "save_signed_out":
                self._send(303, "", ("Location", "/login"))
            case "save_elsewhere":
                self._send(303, "", ("Location", "/invoices?archive=1"))
            case _:
                self._send(303, "", ("Location", f"/invoices?saved={number}"))

    def _send(self, status: int, body: str = "", *headers: tuple[str, str]) -> None:
        data = f"<!doctype html><meta charset=utf-8>{body}".encode() if body else b""
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


LOGIN = (
    "<title>Log in</title><h1>Log in</h1><form method=post action=/login><label>User name "
    "<input name=user></label><label>Password <input type=password name=password></label>"
    "<button>Log in</button></form>"
)


def _list(asked: Mapping[str, str], mode: str) -> str:
    wanted = asked.get("q", "")
    found = [each for each in NUMBERS if wanted in each]
    found *= 2 if mode == "two_links" else 1
    links = "".join(f"<li><a href=/invoices/{each}>{each}</a></li>" for each in found)
    if mode == "quiet" and "saved" in asked:
        links = ""
    note = ""
    if (saved := asked.get("saved")) and mode != "quiet":
        note = f"<p role=status>The invoice {html.escape(saved)} was changed successfully.</p>"
    if mode == "said_otherwise":
        note = note.replace("was changed successfully", "is stored now")
    search = "<button>Search</button>" if mode != "search_renamed" else "<button>Find it</button>"
    return (
        f"<title>Select invoice to change</title><h1>Select invoice to change</h1>{note}"
        "<form role=search action=/invoices><label>Number <input name=q id=q></label>"
        f"{search}</form><p>{len(found)} results ({len(NUMBERS)} total)</p><ul>{links}</ul>"
        f"{COOKIES if mode == 'dialog' else ''}"
    )


def _form(number: str, mode: str, note: str = "") -> str:
    statuses = STATUSES if mode != "fewer_options" else STATUSES[:1]
    options = "".join(f"<option value={each}>{each}</option>" for each in statuses)
    amount = "<label>Amount <input name=amount id=amount></label>"
    save = "<button id=save name=_save>Save</button>"
    match mode:
        case "renamed":
            save = "<button id=store name=_store>Write it down</button>"
        case "save_gone":
            save = "<p>Only the owner can change this invoice.</p>"
        case "twins":
            save = "<button>Save</button><button>Save</button>"
        case "disabled":
            save = "<button id=save name=_save disabled>Save</button>"
        case "covered":
            save += OVERLAY
        case "hidden":
            save = f"<div style='visibility:hidden'>{save}</div>"
        case "moving":
            save = (
                "<style>@keyframes go{from{margin-left:0}to{margin-left:300px}}#save{animation:go "
                f".4s linear infinite alternate}}</style>{save}"
            )
        case "field_gone":
            amount = ""
        case "field_fixed":
            amount = amount.replace("id=amount", "id=amount oninput=\"this.value='0'\"")
        case "other_form":
            save = save.replace("id=save", "id=save formaction=/billing/delete")
        case "confirm":
            save += "<script>save.onclick = () => confirm('Are you sure?')</script>"
        case "hangs":
            save += "<script>save.onclick = () => { while (true); }</script>"
        case "readonly":
            amount = amount.replace("id=amount", "id=amount readonly")
        case _:
            pass
    return (
        f"<title>Change invoice {number}</title><h1>Change invoice</h1>{note}"
        f"<form method=post action=/invoices/{number}>{amount}"
        f"<label>Status <select name=status id=status>{options}</select></label>{save}</form>"
    )
