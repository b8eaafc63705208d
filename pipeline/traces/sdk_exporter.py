"""A sink sends spans through an official exporter of the OpenTelemetry SDK, once a batch.

Whether spans were taken is all that an exporter says, and what it did not send it forgets. So the
position and the retries stay ours, and why it failed is read where it tells it: in its own log, or
for OTLP over HTTP in the answer, which also says how long to wait and what was thrown away.
"""

import logging
import sys
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from importlib.metadata import entry_points
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rutter.events.errors import BadInput
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.trace_target import CONSOLE, GRPC, HTTP, TraceTarget
from rutter.pipeline.traces.readable_span import readable_spans
from rutter.pipeline.traces.sink import Delivery
from rutter.replay.traces import Span

GROUP: Final = "opentelemetry_traces_exporter"  # under which packages name their exporters
CUT_OFF: Final = Delivery(False, "its answer was cut off")
PACKAGES: Final = {GRPC: "rutter-agent[otlp-grpc]"}


def open_sink(target: TraceTarget) -> "SdkExporter":
    if target.exporter == HTTP:
        return _over_http(target.endpoint)
    [*found] = entry_points(group=GROUP, name=target.exporter)
    if not found:
        raise _missing(target.exporter)
    try:
        made = found[0].load()
    except ImportError as error:
        raise _missing(target.exporter) from error
    if target.exporter == GRPC:
        return SdkExporter(made(endpoint=target.endpoint), target.endpoint)
    # Standard output is what the command itself says.
    return SdkExporter(
        made(out=sys.stderr) if target.exporter == CONSOLE else made(), target.exporter
    )


class SdkExporter:
    """An exporter's `target` is its name in the cursor."""

    def __init__(
        self, exporter: SpanExporter, target: str, answers: "_Answers | None" = None
    ) -> None:
        self.target = target
        self._exporter = exporter
        self._answers = answers
        self._said = _Said()
        logging.getLogger("opentelemetry").addHandler(self._said)

    def deliver(self, spans: Sequence[Span]) -> Delivery:
        self._said.last = ""
        result = self._exporter.export(readable_spans(spans))
        if self._answers is not None:
            return self._answers.last
        if result is SpanExportResult.SUCCESS:
            return Delivery(True)
        return Delivery(False, self._said.last[:200] or f"{self.target} did not take them")

    def close(self) -> None:
        self._exporter.shutdown()
        logging.getLogger("opentelemetry").removeHandler(self._said)


class _Said(logging.Handler):
    """An exporter logged this last, which nobody need see while a run goes on."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


# -- OTLP over HTTP --------------------------------------------------------------------------------


def _over_http(endpoint: str) -> SdkExporter:
    try:
        url = urlsplit(endpoint)
        port = f":{url.port}" if url.port else ""
    except ValueError as error:
        raise _unusable(endpoint) from error
    if url.scheme not in ("http", "https") or not url.hostname:
        raise _unusable(endpoint)
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    answers = _Answers()
    exporter = OTLPSpanExporter(endpoint=endpoint, session=answers)
    # No user, password or key: this is written down and said.
    return SdkExporter(exporter, f"{url.scheme}://{host}{port}{url.path}", answers)


class _NotTaken(Exception):
    """The SDK knows no such error: it would try again by itself, or take a redirect for a yes."""


class _Answers(requests.Session):
    """Each request is sent once, and this came of it."""

    last = Delivery(False, "not sent")

    def request(self, *arguments: Any, **more: Any) -> requests.Response:
        try:
            answer = super().request(*arguments, **more)
            self.last = judge(answer) if _is_whole(answer) else CUT_OFF
        except (OSError, ValueError) as error:
            reason = getattr(error.args[0], "reason", error) if error.args else error
            self.last = Delivery(False, f"{type(error).__name__}: {reason}"[:200])
            raise _NotTaken from error
        if not self.last.accepted:
            raise _NotTaken
        return answer


def _is_whole(answer: requests.Response) -> bool:
    """Headers that end because the connection did look whole to the parser, with a 200 on top.

    They are not when nothing says how the body ends.
    """
    ends = ("content-length", "transfer-encoding", "connection")
    said = any(each in answer.headers for each in ends)
    return said or answer.status_code == 204 or answer.raw.version < 11


def judge(answer: requests.Response) -> Delivery:
    """What an answer means. Everything but a 2xx leaves the spans ours to send again."""
    if 200 <= answer.status_code < 300:
        return _taken(answer.content)
    why = f"HTTP {answer.status_code} {answer.reason or ''}".rstrip()
    wait_s = _seconds(answer.headers.get("retry-after"))
    return Delivery(False, why, after_s=wait_s, too_large=answer.status_code == 413)


def _taken(body: bytes) -> Delivery:
    try:
        partial = ExportTraceServiceResponse.FromString(body).partial_success
    except DecodeError:
        return Delivery(True)  # it answered 200; that it speaks no protobuf changes nothing
    rejected = max(0, partial.rejected_spans)
    why = f"{rejected} spans rejected: {partial.error_message}" if rejected else ""
    return Delivery(True, (why or partial.error_message)[:200], rejected)


def _seconds(retry_after: str | None) -> float:
    """Retry-After in either of its forms; 0 when it is absent or makes no sense."""
    said = (retry_after or "").strip()
    if said.isdecimal():
        return float(said[:9])
    try:
        at = parsedate_to_datetime(said)
        return max(0.0, at.timestamp() - Clock().now_ns() / 1e9)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _missing(exporter: str) -> BadInput:
    package = PACKAGES.get(exporter)
    fix = f"pip install '{package}'" if package else "install its package, or name another"
    return BadInput(f"the exporter {exporter!r} of traces is not installed", fix)


def _unusable(address: str) -> BadInput:
    return BadInput(
        f"{address!r} is not the address of an OTLP collector", "give one: http://localhost:4318"
    )
