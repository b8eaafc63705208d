"""A local server speaks the wire formats of Anthropic, OpenAI and Ollama, and their faults.

`brain` gets each request in our own words (`Heard`) and says what is answered. A request that the
real provider would refuse is refused with 400, as it would be, and never reaches the brain.
"""

import json
import select
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

import msgspec

from rutter.actors.world.models.messages import Turn, UserTurn
from tests.support.provider_replies import (
    Answer,
    Call,
    answer_anthropic,
    answer_ollama,
    answer_openai,
)
from tests.support.request_reader import Refused, read_anthropic, read_ollama, read_openai

__all__ = ["Answer", "Brain", "Call", "Fault", "Heard", "WireServer"]

Provider = Literal["anthropic", "openai", "ollama"]
PATHS: Mapping[str, Provider] = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai",
    "/api/chat": "ollama",
}
READ = {"anthropic": read_anthropic, "openai": read_openai, "ollama": read_ollama}
SPEAK = {"anthropic": answer_anthropic, "openai": answer_openai, "ollama": answer_ollama}


class Heard(msgspec.Struct, frozen=True):
    """A request came: `turns` are what our adapter was given, `body` and `headers` as they came."""

    provider: Provider
    model: str
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[str, ...]
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def text(self) -> str:
        """All that the last turn tells the model."""
        last = self.turns[-1]
        outcomes = [each.text for each in getattr(last, "outcomes", ())]
        return "\n".join([*outcomes, last.text])

    @property
    def asked(self) -> str:
        """What the user said first."""
        return next(turn.text for turn in self.turns if isinstance(turn, UserTurn))

    @property
    def pictures(self) -> tuple[bytes, ...]:
        return tuple(picture for turn in self.turns for picture in getattr(turn, "pictures", ()))


class Fault(msgspec.Struct, frozen=True):
    """A fault goes wrong instead of an answer.

    `status`: that code with the provider's error body. `silent`: nothing is answered until the
    client hangs up. `stalled`: half an answer, then nothing. `cut`: the connection breaks in the
    middle. `ended`: the answer ends properly in the middle. `garbage`: the body is not of the
    format. `error`: the stream breaks off with the provider's error event.
    """

    kind: Literal["status", "silent", "stalled", "cut", "ended", "garbage", "error"]
    status: int = 500
    message: str = "it went wrong"
    code: str = ""


Brain = Callable[[Heard], Answer | Fault]


class WireServer:
    """A server has three addresses: `with WireServer(brain) as server:`. `brain` may be a list."""

    def __init__(
        self,
        brain: Brain | Sequence[Answer | Fault],
        *,
        key: str | None = None,
        models: Sequence[str] | None = None,
    ) -> None:
        self._brain = brain if callable(brain) else _in_order(brain)
        self.key = key
        self.models = models
        self.requests: list[Heard] = []
        self.attempts = 0  # every request, those that were refused too
        self.broken: list[BaseException] = []  # what the brain raised
        self.hung_up = threading.Event()  # a client left before its answer was complete
        self.waiting = threading.Event()  # a request is held by `silent` or `stalled`
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def anthropic_url(self) -> str:
        return self.url

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def ollama_url(self) -> str:
        return self.url

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self.broken and kind is None:
            raise self.broken[0]

    def think(self, heard: Heard) -> Answer | Fault:
        """One at a time: a brain may keep what it knows without locks."""
        with self._lock:
            self.requests.append(heard)
            try:
                return self._brain(heard)
            except BaseException as error:  # noqa: BLE001 - told to the test, not to the socket
                self.broken.append(error)
                return Fault("status", 500, f"the brain of this test broke: {error!r}")


def _in_order(answers: Sequence[Answer | Fault]) -> Brain:
    left = iter(answers)

    def brain(heard: Heard) -> Answer | Fault:
        return next(left, Fault("status", 400, "the script of this test has no more answers"))

    return brain


def _handler(wire: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_of = wire

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: WireServer

    def log_message(self, format: str, *args: object) -> None:
        """Tests read what was recorded."""

    def do_POST(self) -> None:
        wire = self.server_of
        wire.attempts += 1
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        provider = PATHS.get(self.path)
        if provider is None:
            return self._refuse("ollama", Refused(404, "404 page not found"))
        try:
            heard = self._hear(provider, raw)
        except Refused as refused:
            return self._refuse(provider, refused)
        said = wire.think(heard)
        try:
            self._say(heard, said)
        except OSError:
            wire.hung_up.set()
        return None

    def _hear(self, provider: Provider, raw: bytes) -> Heard:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._admit(provider, headers)
        try:
            body = json.loads(raw)
        except ValueError:
            raise Refused(400, "the body of the request is no JSON") from None
        models = self.server_of.models
        model = str(body.get("model", ""))
        if models is not None and model not in models:
            raise Refused(404, f"model: {model}", "model_not_found")
        system, turns, tools = READ[provider](body)
        return Heard(provider, model, system, turns, tools, body, headers)

    def _admit(self, provider: Provider, headers: Mapping[str, str]) -> None:
        if provider == "ollama":
            return
        given = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key")
        if not given or self.server_of.key not in (None, given):
            # The real ones echo part of the key; the whole is the worst that could come back.
            raise Refused(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
        if provider == "anthropic" and "anthropic-version" not in headers:
            raise Refused(400, "anthropic-version: header is required")

    def _refuse(self, provider: Provider, refused: Refused) -> None:
        body = json.dumps(error_body(provider, refused.status, refused.message, refused.code))
        self._whole(refused.status, body.encode(), "application/json")

    def _say(self, heard: Heard, said: Answer | Fault) -> None:
        if isinstance(said, Answer):
            return self._stream(heard.provider, SPEAK[heard.provider](said, heard.model))
        chunks = SPEAK[heard.provider](Answer(text="this is never finished"), heard.model)
        half = chunks[: max(1, len(chunks) // 2)]
        match said.kind:
            case "status":
                self._refuse(heard.provider, Refused(said.status, said.message, said.code))
            case "silent":
                self._hold()
            case "stalled":
                self._stream(heard.provider, half, finish=False)
                self._hold()
            case "cut":
                self._stream(heard.provider, half, finish=False)
                self._abort()
            case "ended":
                self._stream(heard.provider, half)
            case "garbage":
                self._whole(200, b"<html><body>Bad gateway?</body></html>", "text/html")
            case "error":
                self._stream(heard.provider, [*half, _error_event(heard.provider, said)])
        return None

    def _whole(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, provider: Provider, chunks: Sequence[bytes], *, finish: bool = True) -> None:
        kind = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        if finish:
            self.wfile.write(b"0\r\n\r\n")

    def _hold(self) -> None:
        """Until the client hangs up, or the server closes."""
        self.server_of.waiting.set()
        while not self.server_of.closing.is_set():
            ready, _, _ = select.select([self.connection], [], [], 0.02)
            if ready and not _peek(self.connection):
                self.server_of.hung_up.set()
                break
        self.close_connection = True

    def _abort(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _peek(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return b""


ANTHROPIC_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def error_body(provider: Provider, status: int, message: str, code: str = "") -> dict[str, Any]:
    """The body that this provider sends with this status."""
    if provider == "ollama":
        return {"error": message}
    if provider == "openai":
        kind = "server_error" if status >= 500 else "invalid_request_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}
    kind = ANTHROPIC_KINDS.get(status, "api_error")
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}


def _error_event(provider: Provider, fault: Fault) -> bytes:
    body = json.dumps(error_body(provider, fault.status, fault.message, fault.code))
    if provider == "ollama":
        return f"{body}\n".encode()
    name = "event: error\n" if provider == "anthropic" else ""
    return f"{name}data: {body}\n\n".encode()
