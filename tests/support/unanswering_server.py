"""A server counts what is posted to it, and fails to answer in a way that it is told.

It speaks HTTP/1.1 in clear or by TLS, and as much of HTTP/2 as a browser needs. One thread for each
connection, and the bytes of its own: no library leaves a connection as rudely as servers do.
"""

import socket
import ssl
import struct
import threading
import time
from contextlib import suppress
from typing import Literal

Way = Literal[
    "reset",  # before a byte of the answer
    "reset_in_head",
    "reset_after_head",
    "half_body",
    "stall",
    "close",  # in order, without an answer
    "drop",  # the same, and without a goodbye of TLS
    "early_hints",  # then nothing
    "408",
    "425",
    "502",
    "421",
    "goaway",  # which says that it had taken the request
    "goaway_untaken",  # and that it had not
    "rst_stream",
    "rst_refused",  # untaken as well
    "alert",
    "answer",
]
# Without an icon: one that is asked for meanwhile leaves a connection that has served.
FORM = b"""<!doctype html><title>Order</title><link rel=icon href=data:,>
<form id=f method=post action=/order>
<input name=who id=enter value=Aurora><button id=click>Place order</button></form>
<button id=form type=button onclick="document.getElementById('f').submit()">Send</button>
<button id=fetch type=button>Order by script</button><p id=said></p><script>
document.getElementById('fetch').onclick = async () => {
  const said = document.getElementById('said');
  const order = {method: 'POST', body: 'who=Aurora'};
  try { said.textContent = 'status ' + (await fetch('/order', order)).status; }
  catch (error) { said.textContent = 'status none'; }
};</script>"""
DONE = b"<!doctype html><title>Done</title><h1>Order placed</h1>"
HEADERS, DATA, RST, SETTINGS, PING, GOAWAY = 1, 0, 3, 4, 6, 7
END_STREAM, END_HEADERS, PRIORITY, ACK = 1, 4, 0x20, 1
INTERNAL, REFUSED = 2, 7
A_MOMENT = 0.02  # so that what was said before is on its way when the connection breaks


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    head = struct.pack(">I", len(payload))[1:] + bytes((kind, flags))
    return head + struct.pack(">I", stream) + payload


def fields(status: int) -> bytes:
    out = b""
    for name, value in ((b":status", str(status).encode()), (b"content-type", b"text/html")):
        out += b"\0" + bytes((len(name),)) + name + bytes((len(value),)) + value
    return out


class Wire:
    """A wire carries bytes in clear or by TLS, and is left in every way there is."""

    def __init__(self, connection: socket.socket, context: ssl.SSLContext | None) -> None:
        self._socket = connection
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=True) if context else None

    def greet(self) -> str:
        """Which protocol it is."""
        if self._tls is None:
            return ""
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._more()
            else:
                self._flush()
                return self._tls.selected_alpn_protocol() or ""

    def read(self) -> bytes:
        if self._tls is None:
            return self._some(self._socket.recv(65_536))
        while True:
            try:
                return self._some(self._tls.read(65_536))
            except ssl.SSLWantReadError:
                self._more()

    def say(self, data: bytes) -> None:
        if self._tls is None:
            self._socket.sendall(data)
        else:
            self._tls.write(data)
            self._flush()

    def reset(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def drop(self) -> None:
        self._socket.close()

    def close(self) -> None:
        if self._tls is not None:
            with suppress(ssl.SSLError):
                self._tls.unwrap()  # waits for no goodbye of the other side
            self._flush()
        self._socket.close()

    def alert(self) -> None:
        if self._tls is None:
            self._socket.sendall(b"\x15\x03\x03\x00\x02\x02\x50")
        else:
            self._in.write(b"\x17\x03\x03\x00\x20" + bytes(32))  # as if the browser had said that
            with suppress(ssl.SSLError):
                self._tls.read(1)
            self._flush()
        self._socket.close()

    def _more(self) -> None:
        self._flush()
        self._in.write(self._some(self._socket.recv(65_536)))

    def _flush(self) -> None:
        if data := self._out.read():
            self._socket.sendall(data)

    def _some(self, data: bytes) -> bytes:
        if not data:
            raise ConnectionError("the browser left")
        return data


class UnansweringServer:
    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.way: Way = "answer"
        self.posts = 0
        self._taken = threading.Event()
        self._context = context
        self._over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listening.getsockname()[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def fail(self, way: Way) -> None:
        """What is posted from now on is counted anew, and answered in this way."""
        self.way, self.posts = way, 0
        self._taken.clear()

    def take(self) -> None:
        self.posts += 1
        self._taken.set()

    def wait_for_one(self, within_s: float) -> None:
        assert self._taken.wait(within_s), "nothing was posted"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # one of TLS is one too
            wire = Wire(connection, self._context)
            if wire.greet() == "h2":
                Conversation(self, wire).run()
            else:
                self._by_lines(wire)

    # -- HTTP/1.1 --------------------------------------------------------------------------------

    def _by_lines(self, wire: Wire) -> None:
        heard = b""
        while True:
            while b"\r\n\r\n" not in heard:
                heard += wire.read()
            head, _, heard = heard.partition(b"\r\n\r\n")
            lengths = [
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            ]
            while len(heard) < sum(lengths):
                heard += wire.read()
            heard = heard[sum(lengths) :]
            if not head.startswith(b"POST"):
                wire.say(_answer(FORM))
                continue
            self.take()
            if not self._fail(wire):
                return

    def _fail(self, wire: Wire) -> bool:
        """Whether anything else can follow."""
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 40\r\n\r\n"
        match self.way:
            case "answer":
                wire.say(_answer(DONE))
            case "408" | "425" | "502" | "421" as status:
                wire.say(_answer(b"no", f"{status} No".encode()))
            case "reset_in_head":
                self.left(wire, head[:12], wire.reset)
            case "reset_after_head":
                self.left(wire, head, wire.reset)
            case "half_body":
                self.left(wire, head + bytes(20), wire.close)
            case "early_hints":
                self.left(wire, b"HTTP/1.1 103 Early Hints\r\n\r\n", wire.close)
            case "goaway" | "goaway_untaken":  # in clear these are nonsense, which is a way too
                self.left(wire, frame(GOAWAY, 0, 0, bytes(8)), wire.close)
            case "rst_stream" | "rst_refused":
                self.left(wire, frame(RST, 0, 1, bytes(4)), wire.close)
            case _:
                self.left(wire, b"", self.leaving(wire))
        return self.way in ("answer", "408", "425", "502", "421")

    # -- how it is left --------------------------------------------------------------------------

    def left(self, wire: Wire, said: bytes, leave: object) -> None:
        if said:
            wire.say(said)
            time.sleep(A_MOMENT)
        assert callable(leave)
        leave()

    def leaving(self, wire: Wire) -> object:
        stall = self._over.wait
        ways = {"reset": wire.reset, "close": wire.close, "drop": wire.drop, "alert": wire.alert}
        return ways.get(self.way, stall)


class Conversation:
    """A conversation by HTTP/2 knows a request to post by the first byte of its fields."""

    POST = b"\x83"  # of the static table, which every browser uses

    def __init__(self, server: UnansweringServer, wire: Wire) -> None:
        self._server = server
        self._wire = wire
        self._heard = b""
        self._posting: set[int] = set()

    def run(self) -> None:
        self._next(24)
        self._wire.say(frame(SETTINGS, 0, 0))
        while True:
            head = self._next(9)
            kind, flags = head[3], head[4]
            stream = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
            payload = self._next(int.from_bytes(head[:3], "big"))
            if kind in (SETTINGS, PING) and not flags & ACK:
                self._wire.say(frame(kind, ACK, 0, payload if kind == PING else b""))
            elif kind == HEADERS:
                self._asked(stream, payload[5:] if flags & PRIORITY else payload)
            if kind in (HEADERS, DATA) and flags & END_STREAM and stream in self._posting:
                self._server.take()
                if not self._fail(stream):
                    return

    def _asked(self, stream: int, block: bytes) -> None:
        while block and block[0] & 0xE0 == 0x20:  # the size of the table
            block = block[1:]
        if block.startswith(self.POST):
            self._posting.add(stream)
        else:
            self._wire.say(_framed(stream, 200, FORM))

    def _fail(self, stream: int) -> bool:
        wire, server = self._wire, self._server
        head = frame(HEADERS, END_HEADERS, stream, fields(200))
        match server.way:
            case "answer":
                wire.say(_framed(stream, 200, DONE))
            case "408" | "425" | "502" | "421" as status:
                wire.say(_framed(stream, int(status), b"no"))
            case "rst_stream" | "rst_refused" as way:
                code = INTERNAL if way == "rst_stream" else REFUSED
                wire.say(frame(RST, 0, stream, struct.pack(">I", code)))
            case "stall":
                pass  # and everything else goes on
            case "goaway" | "goaway_untaken" as way:
                last = stream if way == "goaway" else 0
                server.left(wire, frame(GOAWAY, 0, 0, struct.pack(">II", last, 0)), wire.close)
            case "reset_in_head":
                server.left(wire, head[:12], wire.reset)
            case "reset_after_head":
                server.left(wire, head, wire.reset)
            case "half_body":
                server.left(wire, head + frame(DATA, 0, stream, bytes(20)), wire.close)
            case "early_hints":
                early = frame(HEADERS, END_HEADERS, stream, fields(103))
                server.left(wire, early, wire.close)
            case _:
                server.left(wire, b"", server.leaving(wire))
        goes_on = ("answer", "408", "425", "502", "421", "rst_stream", "rst_refused", "stall")
        return server.way in goes_on

    def _next(self, size: int) -> bytes:
        while len(self._heard) < size:
            self._heard += self._wire.read()
        found, self._heard = self._heard[:size], self._heard[size:]
        return found


def _answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    length = str(len(body)).encode()
    head = b"HTTP/1.1 " + status + b"\r\ncontent-type: text/html\r\ncontent-length: " + length
    return head + b"\r\n\r\n" + body


def _framed(stream: int, status: int, body: bytes) -> bytes:
    head = frame(HEADERS, END_HEADERS, stream, fields(status))
    return head + frame(DATA, END_STREAM, stream, body)
