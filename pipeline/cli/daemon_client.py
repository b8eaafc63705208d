"""The daemon client talks to the daemon that holds the data directory, as the person whose token
lies there."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import urllib3

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput, PolicyDenied, RutterError, WorldBroken
from rutter.events.jobs import Run
from rutter.events.runtime import SessionEnded
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.address_file import DaemonAddress, find_daemon
from rutter.pipeline.daemon.http.tokens import Scope, read_token, token_path

ANSWER_S = 120.0  # a stop waits for the page to be judged
RETRIES = 5  # of a stream that was cut: it goes on behind what was read


class DaemonGone(WorldBroken):
    """The daemon was there a moment ago."""


class DaemonClient:
    """A client talks to one daemon."""

    def __init__(self, at: DaemonAddress, token: str) -> None:
        self.url = at.url
        self.token = token
        self._http = urllib3.PoolManager(retries=False)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The answer as JSON. What the daemon refuses is raised as it would have been here."""
        sent = msgspec.json.encode(body) if body is not None else None
        try:
            answer = self._http.request(
                method,
                self.url + path,
                body=sent,
                headers={**self._headers(sent is not None), **(headers or {})},
                timeout=ANSWER_S,
                redirect=False,  # the token goes to nobody else
            )
        except urllib3.exceptions.HTTPError as error:
            raise self._gone(error) from error
        if answer.status >= 400:
            raise _refused(answer.status, answer.data)
        return msgspec.json.decode(answer.data) if answer.data else None

    def events(self, session: str) -> Iterator[Envelope]:
        """The events of a session as they happen, until it has ended."""
        after, tries = "0", 0
        while True:
            try:
                for envelope in self._stream(session, after):
                    after, tries = str(envelope.seq), 0
                    yield envelope
                    if isinstance(envelope.event, SessionEnded):
                        return
            except urllib3.exceptions.HTTPError as error:
                tries += 1
                if tries > RETRIES:
                    raise self._gone(error) from error

    def submit(self, run: Run, key: str = "") -> str:
        """Hands it in; the name of its job. The same key again is the same job."""
        headers = {"Idempotency-Key": key} if key else None
        return str(self.request("POST", "/jobs", run, headers)["job_id"])

    def call_off(self, job: str) -> None:
        self.request("DELETE", f"/jobs/{job}")

    def followed(self, job: str) -> Iterator[dict[str, Any]]:
        """What is told of a job as it goes on; the last is its end."""
        while True:
            told: dict[str, Any] = self.request("GET", f"/jobs/{job}?wait=true")
            yield told
            if told["status"] == "ended":
                return

    def _stream(self, session: str, after: str) -> Iterator[Envelope]:
        answer = self._http.request(
            "GET",
            f"{self.url}/sessions/{session}/events",
            headers={**self._headers(False), "Last-Event-ID": after},
            preload_content=False,
            redirect=False,
            timeout=urllib3.Timeout(connect=ANSWER_S, read=60.0),
        )
        if answer.status >= 400:
            raise _refused(answer.status, answer.data)
        lines = b""
        try:
            for piece in answer.stream(4096):
                lines += piece
                *whole, lines = lines.split(b"\n")
                for line in whole:
                    name, _, value = line.partition(b": ")
                    if name == b"data":
                        yield msgspec.json.decode(value, type=Envelope)
        finally:
            answer.close()

    def _headers(self, with_body: bool) -> dict[str, str]:
        kind = {"Content-Type": "application/json"} if with_body else {}
        return {"Authorization": f"Bearer {self.token}", **kind}

    def _gone(self, error: Exception) -> DaemonGone:
        return DaemonGone(
            f"the daemon at {self.url} does not answer ({type(error).__name__})",
            "see its own log; start it again: rutter serve",
        )


def through_daemon(settings: Settings, scope: Scope = "person") -> DaemonClient | None:
    """The daemon of this data directory, if one runs and its token can be read."""
    at = find_daemon(settings.directory)
    if at is None:
        return None
    token = read_token(token_path(settings.directory, scope))
    return DaemonClient(at, token) if token is not None else None


def require_daemon(settings: Settings) -> DaemonClient:
    found = through_daemon(settings)
    if found is None:
        raise BadInput(
            f"no daemon runs on {settings.data}", f"start one: {settings.command('serve')}"
        )
    return found


def _refused(status: int, body: bytes) -> RutterError:
    try:
        said = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        said = {}
    what, _, fix = str(said.get("message", f"the daemon said {status}")).partition("; ")
    if status == 403:
        return PolicyDenied(what, fix)
    return BadInput(what, fix) if status < 500 else WorldBroken(what, fix)
