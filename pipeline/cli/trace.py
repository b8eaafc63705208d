"""`rutter trace` sends sessions as OpenTelemetry traces to a collector, or writes them into a
file."""

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import msgspec

from rutter.events.durable import disk_told, drafted
from rutter.events.errors import BadInput
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.own_clients import join_network
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.pipeline.traces.cursor import FILE, Cursor
from rutter.pipeline.traces.exporter import (
    PATIENCE_S,
    Exporter,
    SinkPatience,
    deliver_log,
    deliver_spans,
)
from rutter.pipeline.traces.sink import BATCH, ExportProgress, Sink
from rutter.replay.traces import Span, SpanFold


def trace(options: Options, settings: Settings, terminal: Terminal) -> None:
    with SqliteReader(settings.directory.log) as reader:
        session = find_session(settings, options.session) if options.session else None
        if options.file is not None:
            progress, running = _to_file(reader, session, options.file)
            where = str(options.file)
        else:
            sink = _sink(options.otlp, settings)
            where = sink.target
            patience = SinkPatience(PATIENCE_S, terminal.note)
            with closing(sink):
                if session is not None:  # a session as often as it is asked for
                    fold, spans = _spans(reader, session)
                    progress, running = deliver_spans(spans, sink, patience), fold.unfinished()
                else:
                    cursor = Cursor(settings.data / FILE, sink.target)
                    if options.again:
                        cursor.forget()
                    exporter = Exporter(reader, cursor, sink)
                    progress, running = deliver_log(exporter, patience), exporter.unfinished()
    _report(progress, running, where, terminal)


def _sink(named: str | None, settings: Settings) -> Sink:
    # Here and not above: every command would pay for what the SDK takes to import.
    from rutter.pipeline.traces.sdk_exporter import open_sink

    target = settings.traces if named is None else settings.traces.at(named)
    if not target.exporter:
        raise BadInput("where to?", "add --otlp http://localhost:4318, or --file FILE")
    join_network(settings)
    return open_sink(target)


def _spans(reader: SqliteReader, session: str | None) -> tuple[SpanFold, Iterator[Span]]:
    fold = SpanFold()
    return fold, (span for envelope in reader.read(session=session) for span in fold.take(envelope))


def _to_file(
    reader: SqliteReader, session: str | None, path: Path
) -> tuple[ExportProgress, tuple[str, ...]]:
    """All of it or no file: half a file would look like a whole one."""
    from rutter.pipeline.traces.readable_span import json_line

    if path.exists():
        raise BadInput(f"{path} is already there", "name another file, or remove it")
    (fold, spans), progress = _spans(reader, session), ExportProgress()
    with disk_told(path), drafted(path) as draft, draft.open("wb") as file:
        while batch := list(islice(spans, BATCH)):
            file.write(json_line(batch))
            progress.delivered += len(batch)
    return progress, fold.unfinished()


def _report(
    progress: ExportProgress, running: tuple[str, ...], where: str, terminal: Terminal
) -> None:
    terminal.answer({"to": where, "running": running, **msgspec.structs.asdict(progress)})
    if progress.delivered or progress.rejected:
        terminal.say(f"[OK] {progress.delivered} spans delivered to {where}")
    else:
        terminal.say(f"[OK] nothing new for {where}")
    if progress.rejected:
        terminal.say_below(f"{progress.rejected} were taken and rejected there: {progress.why}")
    if running:
        terminal.say_below(f"not over yet, the rest comes when they end: {', '.join(running)}")
