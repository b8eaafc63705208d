"""The traces bench measures CPU from the log's events to OTLP bytes, against the SDK's own spans.

Both sides make the same spans and encode them by the official encoder; nothing is sent. Ours starts
from events and finds out what the spans are; the SDK is handed every span's values ready-made, and
is charged for starting, ending, batching and encoding. CPU time of all threads, in turns, medians.

Then what it does to a run that is being exported: the same run with and without, in turns.
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer

from bench import scripted
from bench.tables import p90, print_table
from rutter.events.envelope import Envelope
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.config.trace_target import TraceTarget
from rutter.pipeline.traces.live import LiveExport
from rutter.pipeline.traces.readable_span import readable_spans
from rutter.pipeline.traces.sdk_exporter import open_sink
from rutter.replay.traces import Span, spans_of
from rutter.replay.traces.mapping import MAPPING, RESOURCE, SCOPE
from rutter.replay.traces.span import CLIENT

SESSIONS = int(os.environ.get("RUTTER_BENCH_TRACES", "20"))
ROUNDS = 9
AIM = 1.0
BATCH = 512  # spans in a request: the SDK's own default, and ours


class NullSink(SpanExporter):
    """A null sink has the official encoder, and no network behind it."""

    def __init__(self) -> None:
        self.spans = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        encode_spans(spans).SerializePartialToString()
        self.spans += len(spans)
        return SpanExportResult.SUCCESS


class Planned:
    """An instrumented program would ask the SDK for this span, with those inside it."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.kind = SpanKind.CLIENT if span.kind == CLIENT else SpanKind.INTERNAL
        self.links = [
            Link(_context(link.trace_id, link.span_id), {"rutter.link": link.why})
            for link in span.links
        ]
        self.status = Status(StatusCode(span.status), span.message or None)
        self.inside: list[Planned] = []


def _context(trace_id: bytes, span_id: bytes) -> SpanContext:
    ids = int.from_bytes(trace_id, "big"), int.from_bytes(span_id, "big")
    return SpanContext(*ids, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def plan(spans: Sequence[Span]) -> list[Planned]:
    """The runs, with their steps and work inside."""
    planned = {span.span_id: Planned(span) for span in spans}
    for each in planned.values():
        if each.span.parent_id:
            planned[each.span.parent_id].inside.append(each)
    return [each for each in planned.values() if not each.span.parent_id]


def play(tracer: Tracer, planned: Planned) -> None:
    """The SDK's span path."""
    span = planned.span
    with tracer.start_as_current_span(
        span.name,
        kind=planned.kind,
        attributes=span.attributes,
        links=planned.links,
        start_time=span.start_ns,
        end_on_exit=False,
    ) as current:
        for each in planned.inside:
            play(tracer, each)
        for event in span.events:
            current.add_event(event.name, event.attributes, event.at_ns)
        if span.status:
            current.set_status(planned.status)
        current.end(span.end_ns)


def sdk_path(
    runs: Sequence[Planned], spans: int, processor: Callable[[SpanExporter], SpanProcessor]
) -> None:
    sink = NullSink()
    provider = TracerProvider(resource=Resource(RESOURCE))
    provider.add_span_processor(processor(sink))
    tracer = provider.get_tracer(SCOPE, MAPPING)
    for run in runs:
        play(tracer, run)
    provider.force_flush()
    provider.shutdown()
    if sink.spans != spans:
        raise RuntimeError(f"the SDK exported {sink.spans} of {spans} spans")


def batched(sink: SpanExporter) -> SpanProcessor:
    return BatchSpanProcessor(sink, max_queue_size=1 << 20, max_export_batch_size=BATCH)


def our_path(events: Iterator[Envelope]) -> int:
    """What the exporter does with events, up to the network."""
    sink, spans = NullSink(), spans_of(events)
    while batch := list(islice(spans, BATCH)):
        sink.export(readable_spans(batch))
    return sink.spans


def from_log(path: Path) -> int:
    with SqliteReader(path) as reader:
        return our_path(reader.read())


async def make_log(path: Path, sessions: int) -> None:
    """Whole runs through the pipeline, with effects that answer at once."""
    log = await SqliteLog.open(path)
    async with App.open(log) as app:
        for _ in range(sessions):
            await app.run_session(scripted.started(), scripted.effectors())


def measure(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median CPU seconds of each side, in turns; the first turn warms up and does not count."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(ROUNDS + 1):
        for name, side in sides.items():
            gc.collect()
            began = process_time()
            side()
            if turn:
                took[name].append(process_time() - began)
    return {name: median(times) for name, times in took.items()}


# -- a run that is being exported ----------------------------------------------------------------

PAIRS = 40
PACE_S = 0.004  # what a quick page takes to be read, and to be acted on

RECEIVER = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Null(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *_): pass
server = HTTPServer(("127.0.0.1", 0), Null)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


class PacedObserver(scripted.QuickObserver):
    """A paced Observer takes its time, as a browser does."""

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        await asyncio.sleep(PACE_S)
        async for fact in super().handle(envelope):
            yield fact


class PacedExecutor(scripted.QuickExecutor):
    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        await asyncio.sleep(PACE_S)
        async for fact in super().handle(envelope):
            yield fact


async def run_once(app: App) -> float:
    tab = scripted.QuickTab()
    began = perf_counter()
    await app.run_session(scripted.started(), [PacedObserver(tab), PacedExecutor(tab)])
    return (perf_counter() - began) * 1e3


@asynccontextmanager
async def opened(folder: Path, collector: str) -> AsyncIterator[App]:
    folder.mkdir()
    path = folder / "log.db"
    async with App.open(await SqliteLog.open(path)) as app:
        if collector:
            app.follow(
                LiveExport(path, folder / "traces.db", open_sink(TraceTarget().at(collector)))
            )
        yield app


async def measure_runs(folder: Path, collectors: dict[str, str]) -> dict[str, list[float]]:
    """Milliseconds of each run, one after the other, in turns."""
    took: dict[str, list[float]] = {name: [] for name in collectors}
    async with AsyncExitStack() as stack:
        apps = {
            name: await stack.enter_async_context(opened(folder / str(number), collector))
            for number, (name, collector) in enumerate(collectors.items())
        }
        for _ in range(PAIRS):
            for name, app in apps.items():
                took[name].append(await run_once(app))
    return took


def bench_runs() -> None:
    command = [sys.executable, "-c", RECEIVER]
    with (
        tempfile.TemporaryDirectory(prefix="rutter-bench-") as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver,
    ):
        assert receiver.stdout is not None
        collectors = {
            "not exported": "",
            "exported live": f"http://127.0.0.1:{receiver.stdout.readline().strip()}",
            "the collector is down": "http://127.0.0.1:9",
        }
        took = asyncio.run(measure_runs(Path(folder), collectors))
        receiver.kill()
    limit = median(took["not exported"])
    print_table(
        f"one run of {scripted.STEPS} steps, {PAIRS} of each in turns, ms",
        ["", "best", "median", "p90", "ratio"],
        [[name, min(ms), median(ms), p90(ms), median(ms) / limit] for name, ms in took.items()],
    )


def main() -> None:
    bench_spans()
    bench_runs()


def bench_spans() -> None:
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as folder:
        path = Path(folder) / "log.db"
        asyncio.run(make_log(path, SESSIONS))
        with SqliteReader(path) as reader:
            events = list(reader.read())
        spans = list(spans_of(events))
        runs = plan(spans)
        took = measure(
            {
                "SDK, batch processor": lambda: sdk_path(runs, len(spans), batched),
                "SDK, simple processor": lambda: sdk_path(runs, len(spans), SimpleSpanProcessor),
                "folding alone": lambda: list(spans_of(events)),
                "ours, from events": lambda: our_path(iter(events)),
                "ours, from the log on disk": lambda: from_log(path),
            }
        )
    limit = min(seconds for name, seconds in took.items() if name.startswith("SDK"))
    print_table(
        f"{len(spans):,} spans of {len(events):,} events, {ROUNDS} rounds in turns, CPU "
        f"(ratio to the SDK's cheaper path; aim {AIM} or less)",
        ["events to OTLP bytes", "us a span", "spans/s", "ratio"],
        [
            [name, seconds / len(spans) * 1e6, round(len(spans) / seconds), seconds / limit]
            for name, seconds in took.items()
        ],
    )


if __name__ == "__main__":
    main()
