"""The hostile site: it serves the pages of the channels, each with the address of its canary."""

import re
from http.server import BaseHTTPRequestHandler

from tests.hostile.canaries import Address
from tests.hostile.channels import Answer, Channel
from tests.support.loopback import Loopback, QuietHandler, QuietServer
from tests.support.tls_authority import Authority

PLACES = re.compile(r"\$[A-Z]+")
TOGETHER = 40  # fewer than are told apart of what is refused in one moment
AWAY = Answer("<!doctype html><title>Away</title>away")


class Site(Loopback["_Server"]):
    """`/c/NAME` is the page of a channel, `/c/NAME/PART` what it needs; `pages` hold all that need
    no page of their own, many in one, with their names; `apart` are scripts to be run beside a
    page. A channel says `/done/NAME` when it has nothing more to try."""

    def __init__(
        self,
        channels: tuple[Channel, ...],
        addresses: dict[str, Address],
        trusted: Authority | None = None,
    ) -> None:
        super().__init__(_Server(), trusted)
        self._server.answers["/away"] = AWAY
        self.apart: list[str] = []
        together: list[tuple[str, str]] = []
        for number, channel in enumerate(channels):
            words = self._words(channel, number, addresses[channel.name])
            if channel.page:
                together.append((channel.name, _filled(Answer(channel.page), words).body))
            if channel.own is not None:
                self._server.answers[f"/c/{channel.name}"] = _filled(channel.own, words)
            for part, answer in channel.parts:
                place = f"/c/{channel.name}/{part}" if part else f"/{channel.name}"
                self._server.answers[place] = _filled(answer, words)
            if channel.apart:
                self.apart.append(_filled(Answer(channel.apart), words).body)
        self.pages = tuple(self._show(some) for some in _parted(together))

    @property
    def done(self) -> set[str]:
        """The channels that have said so."""
        return {path.rpartition("/")[2] for path in self.asked if path.startswith("/done/")}

    @property
    def asked(self) -> list[str]:
        return list(self._server.asked)

    def _show(self, some: list[tuple[str, str]]) -> tuple[str, set[str]]:
        path = f"/page/{len(self._server.answers)}"
        self._server.answers[path] = Answer(
            "<!doctype html><body>" + "\n".join(each for _, each in some)
        )
        return self.url + path, {name for name, _ in some}

    def _words(self, channel: Channel, number: int, at: Address) -> dict[str, str]:
        authority = channel.spelled(at.host, number, at.port)
        secure = "s" if self._front else ""
        return {
            "$URL": f"http{secure}://{authority}/{channel.name}",
            "$WS": f"ws{secure}://{authority}/{channel.name}",
            "$TLS": f"https://{authority}/{channel.name}",
            "$AT": authority,
            "$HERE": f"{self.url}/c/{channel.name}",
            "$SITE": self.url,
            "$DONE": f"fetch('{self.url}/done/{channel.name}', {{keepalive: true}})",
            "$N": str(number),
        }


def _filled(answer: Answer, words: dict[str, str]) -> Answer:
    def put(text: str) -> str:
        return PLACES.sub(lambda found: words.get(found[0], found[0]), text)

    headers = tuple((name, put(value)) for name, value in answer.headers)
    return answer._replace(body=put(answer.body), headers=headers)


def _parted(some: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    return [some[at : at + TOGETHER] for at in range(0, len(some), TOGETHER)]


class _Server(QuietServer):
    request_queue_size = 128

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        self.rfile.read(int(self.headers.get("content-length") or 0))
        answer = self.server.answers.get(path, Answer("", kind="text/plain"))
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("content-type", answer.kind + "; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "no-store")
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815
