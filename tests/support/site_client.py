"""A client asks a bundled site by plain HTTP, so that a test sees every answer."""

from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import ClassVar
from urllib.parse import urlencode, urlsplit

from rutter.pipeline.demo_sites.loopback import Loopback


@dataclass(frozen=True)
class Answer:
    status: int
    body: str
    headers: dict[str, str]

    @property
    def location(self) -> str:
        return self.headers.get("Location", "")


@dataclass
class Client:
    """A client has one kept-alive connection with one cookie, and follows no redirects."""

    opened: ClassVar[list[HTTPConnection]] = []  # for `hang_up`
    site: Loopback
    cookie: str = ""
    connection: HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = HTTPConnection(urlsplit(self.site.base_url).netloc, timeout=10)
        self.opened.append(self.connection)

    def get(self, path: str) -> Answer:
        return self.send("GET", path, None)

    def post(self, path: str, **form: str) -> Answer:
        return self.send("POST", path, urlencode(form))

    def send(self, method: str, path: str, body: str | None) -> Answer:
        headers = {"Cookie": self.cookie} if self.cookie else {}
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        answer = Answer(response.status, response.read().decode(), dict(response.getheaders()))
        if "Set-Cookie" in answer.headers:
            self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return answer

    @classmethod
    def hang_up(cls) -> None:
        while cls.opened:
            cls.opened.pop().close()
