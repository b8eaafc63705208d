"""The collector takes spans by OTLP over HTTP: one request a batch, bounded in time, and its answer
read.

Not the SDK's exporter: it encodes only the SDK's own spans, drops a batch on an answer that it
finds final, and hides what the answer said. We keep a position instead, so that nothing is ever
dropped, and need Retry-After and the partial success to do well by the collector.
"""

import threading
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

import urllib3
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.util.re import parse_env_headers
from urllib3.exceptions import HTTPError, LocationParseError, ProtocolError
from urllib3.util import Timeout, parse_url

from rutter.events.errors import BadInput
from rutter.pipeline.clock import SystemClock
from rutter.pipeline.traces.sink import Delivery
from rutter.replay.traces import Span
from rutter.replay.traces.otlp_protobuf import encode_request

ATTEMPT_S: Final = 10.0  # OTLP's own default for one export
PATH: Final = "/v1/traces"
MAX_ANSWER: Final = 65_536  # an answer is a few bytes; whoever sends more is not a collector
# Attempts past their deadline that nothing could end: a dripping answer. No more are begun then.
MAX_HANGING: Final = 3


class Collector:
    """Open with an address as people give it: `http://localhost:4318`."""

    def __init__(self, address: str, headers: str = "", *, attempt_s: float = ATTEMPT_S) -> None:
        url = _parse(address)
        self._url = url._replace(auth=None).url
        self.target = url._replace(auth=None, query=None, fragment=None).url
        self._headers = {
            "content-type": "application/x-protobuf",
            "user-agent": "rutter",
            **(urllib3.make_headers(basic_auth=url.auth) if url.auth else {}),
            **parse_env_headers(headers, liberal=True),
        }
        self._attempt_s = attempt_s
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=1, retries=False)
        self._hanging: list[_Attempt] = []

    def deliver(self, spans: Sequence[Span]) -> Delivery:
        self._hanging = [attempt for attempt in self._hanging if attempt.is_alive()]
        if len(self._hanging) >= MAX_HANGING:
            return Delivery(False, "earlier attempts still hang")
        request = _Request(self._url, self._headers, encode_request(spans), self._attempt_s)
        attempt = _Attempt(self._pool, request)
        attempt.start()
        attempt.join(self._attempt_s)
        if attempt.is_alive():
            self._hanging.append(attempt)
            return Delivery(False, f"no answer within {self._attempt_s:g} s")
        return attempt.delivery

    def close(self) -> None:
        self._pool.clear()


class _Request(NamedTuple):
    url: str
    headers: dict[str, str]
    body: bytes
    within_s: float


class _Attempt(threading.Thread):
    """One request in a thread of its own, left behind when its time is over.

    No library bounds all of a request: looking up a name has no deadline, and a timeout on reading
    starts again with every byte of an answer that drips.
    """

    def __init__(self, pool: urllib3.PoolManager, request: _Request) -> None:
        super().__init__(name="trace delivery", daemon=True)
        self._pool = pool
        self._request = request
        self.delivery = Delivery(False, "not sent")

    def run(self) -> None:
        try:
            self.delivery = self._once()
        except ProtocolError:
            # Most likely a kept connection that the other side had closed meanwhile.
            self.delivery = self._again()
        except (HTTPError, OSError, ValueError) as error:
            self.delivery = _unreachable(error)

    def _again(self) -> Delivery:
        try:
            return self._once()
        except (HTTPError, OSError, ValueError) as error:
            return _unreachable(error)

    def _once(self) -> Delivery:
        url, headers, body, within_s = self._request
        answer = self._pool.request(
            "POST",
            url,
            body=body,
            headers=headers,
            timeout=Timeout(connect=within_s, read=within_s),
            redirect=False,
            preload_content=False,
        )
        said = answer.read(MAX_ANSWER)
        if len(said) == MAX_ANSWER:
            answer.close()
        answer.release_conn()
        if not _is_whole(answer):
            return Delivery(False, "its answer was cut off")
        return judge(answer.status, answer.reason or "", said, answer.headers.get("retry-after"))


def _is_whole(answer: urllib3.BaseHTTPResponse) -> bool:
    """Headers that end because the connection did look whole to the parser, with a 200 on top.

    They are not when nothing says how the body ends.
    """
    ends = ("content-length", "transfer-encoding", "connection")
    return answer.status == 204 or answer.version < 11 or any(it in answer.headers for it in ends)


def judge(status: int, reason: str, said: bytes, retry_after: str | None) -> Delivery:
    """What an answer means. Everything but a 2xx leaves the spans ours to send again."""
    if 200 <= status < 300:
        return _taken(said)
    why = f"HTTP {status} {reason}".rstrip()
    return Delivery(False, why, after_s=_seconds(retry_after), too_large=status == 413)


def _taken(said: bytes) -> Delivery:
    answer = ExportTraceServiceResponse()
    try:
        answer.ParseFromString(said)
    except DecodeError:
        return Delivery(True)  # it answered 200; that it speaks no protobuf changes nothing
    partial = answer.partial_success
    rejected = max(0, partial.rejected_spans)
    why = f"{rejected} spans rejected: {partial.error_message}" if rejected else ""
    return Delivery(True, why[:200] or partial.error_message[:200], rejected)


def _seconds(retry_after: str | None) -> float:
    """Retry-After in either of its forms; 0 when it is absent or makes no sense."""
    said = (retry_after or "").strip()
    if said.isdecimal():
        return float(said[:9])
    try:
        at = parsedate_to_datetime(said)
        return max(0.0, at.timestamp() - SystemClock().now_ns() / 1e9)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _unreachable(error: Exception) -> Delivery:
    return Delivery(False, f"{type(error).__name__}: {error}"[:200])


def _parse(address: str) -> urllib3.util.Url:
    try:
        url = parse_url(address)
    except LocationParseError as error:
        raise _unusable(address) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise _unusable(address)
    path = (url.path or "").rstrip("/")
    return url._replace(path=path if path.endswith(PATH) else path + PATH)


def _unusable(address: str) -> BadInput:
    return BadInput(
        f"{address!r} is not the address of an OTLP collector", "give one: http://localhost:4318"
    )
