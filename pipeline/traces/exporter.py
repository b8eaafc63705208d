"""The exporter takes spans from the log to a sink: read on from the cursor, fold, deliver, move the
cursor.

At least once: the cursor moves when a batch was accepted, never before. What is read but not
accepted is held, and nothing more is read meanwhile, so that a sink that is away costs no memory.
"""

import threading
from collections.abc import Callable, Iterable
from itertools import islice
from time import monotonic
from typing import Final

from rutter.events.errors import WorldBroken
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.traces.cursor import Cursor, Position
from rutter.pipeline.traces.sink import BATCH, Delivery, ExportProgress, Outbox, Sink
from rutter.replay.traces import Span, SpanFold

SLICE: Final = 64  # events folded in one go: about a millisecond in which nobody else computes
FULL: Final = BATCH - SLICE  # spans, so that what a slice adds still goes in one request
PATIENCE_S: Final = 20.0  # of a command that somebody waits for

Breath = Callable[[], None]


class Exporter:
    """An exporter takes one log to one sink. Used by one thread."""

    def __init__(self, reader: SqliteReader, cursor: Cursor, sink: Sink) -> None:
        self._reader = reader
        self._cursor = cursor
        self._outbox = Outbox(sink)
        self._fold = SpanFold()
        known = cursor.read()
        if not _speaks_of(known, reader):
            cursor.forget()
            known = Position()
        self._accepted = self._position = known
        self._read_to = known.since - 1
        self._events = reader.read(self._read_to)

    @property
    def progress(self) -> ExportProgress:
        return self._outbox.progress

    def unfinished(self) -> tuple[str, ...]:
        return self._fold.unfinished()

    def advance(self, breath: Breath = lambda: None) -> Delivery | None:
        """Delivers the next batch, once; `None` when there is nothing to deliver."""
        if not self._outbox:
            while len(self._outbox) < FULL and self._take_slice():
                breath()
        delivery = self._outbox.push() if self._outbox else None
        if not self._outbox and self._position.position > self._accepted.position:
            # Also without any span finished: the next process need not fold this again.
            self._cursor.move(self._position)
            self._accepted = self._position
        return delivery

    def wait_s(self, delivery: Delivery) -> float:
        return self._outbox.wait_s(delivery)

    def _take_slice(self) -> bool:
        """Folds the next few events, if there are any. Up to the cursor only their state counts."""
        accepted = self._accepted.position
        events = list(islice(self._events, SLICE))
        if not events:  # at what was the end: perhaps there is more by now
            self._events = self._reader.read(self._read_to)
            events = list(islice(self._events, SLICE))
        for envelope in events:
            spans = self._fold.take(envelope)
            if envelope.seq > accepted:
                self._outbox.put(spans)
        if not events:
            return False
        last = events[-1]
        self._read_to = last.seq
        if last.seq > accepted:
            since = self._fold.open_since()
            self._position = Position(last.seq, last.seq + 1 if since is None else since, last.hash)
        return True


class SinkPatience:
    """A command goes on asking a sink that says no for so long; `note` hears of the first no."""

    def __init__(
        self, seconds: float = PATIENCE_S, note: Callable[[str], None] = lambda _: None
    ) -> None:
        self._seconds = seconds
        self._note: Callable[[str], None] | None = note
        self._until: float | None = None

    def wait(self, delivery: Delivery, seconds: float) -> None:
        """Waits before the next attempt, if this one failed and there is time for another."""
        if delivery.accepted:
            self._until = None
            return
        if self._until is None:
            self._until = monotonic() + self._seconds
        if self._note is not None:
            self._note(f"not taken yet ({delivery.why}); trying for {self._seconds:g} s")
            self._note = None
        if monotonic() + seconds > self._until:
            raise WorldBroken(
                f"the spans were not taken ({delivery.why})",
                "nothing is lost: run it again when the collector is back",
            )
        threading.Event().wait(seconds)


def deliver_log(exporter: Exporter, patience: SinkPatience) -> ExportProgress:
    """Everything that is not out yet. Raises when the sink does not take it in time."""
    while (delivery := exporter.advance()) is not None:
        patience.wait(delivery, exporter.wait_s(delivery))
    return exporter.progress


def deliver_spans(spans: Iterable[Span], sink: Sink, patience: SinkPatience) -> ExportProgress:
    """These spans, whatever was delivered before: no cursor is asked or moved."""
    outbox, left = Outbox(sink), iter(spans)
    while batch := list(islice(left, BATCH)):
        outbox.put(batch)
        while outbox:
            delivery = outbox.push()
            patience.wait(delivery, outbox.wait_s(delivery))
    return outbox.progress


def _speaks_of(known: Position, reader: SqliteReader) -> bool:
    """Whether a cursor is of this very log, and not of one that lay here before."""
    if not known.position:
        return True
    row = next(reader.rows(known.position - 1), None)
    return row is not None and (row[0], row[8]) == (known.position, known.hash)
