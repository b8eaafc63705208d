"""The live export sends traces while a run goes on, off the event path: events only wake a thread,
and never wait for it.

The thread reads the log by its own position, read-only, as any other reader does: what it did not
get out before the process ends, the next process or `rutter trace` does.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput, RutterError
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.runtime.beside_loop import work_beside
from rutter.pipeline.traces.cursor import FILE, Cursor
from rutter.pipeline.traces.exporter import Exporter
from rutter.pipeline.traces.sink import ExportProgress, Sink

LINGER_S: Final = 0.5  # events gather this long before they go out: a few requests a second at most
BREATH_S: Final = 0.005  # between slices, so that a long backlog leaves the processor to the run
RESTART_S: Final = 30.0  # a cursor that another process holds is free again long before


class LiveExport:
    """The export starts where a loop runs; `stop` returns when the last batch was tried."""

    def __init__(self, log: Path, cursor: Path, sink: Sink, *, linger_s: float = LINGER_S) -> None:
        self._log = log
        self._cursor = cursor
        self._sink = sink
        self._linger_s = linger_s
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._ended: asyncio.Future[None] | None = None
        self.progress = ExportProgress()
        self.failure = ""

    def start(self) -> None:
        self._ended = work_beside(self._work, "trace export")

    def hear(self, envelope: Envelope) -> None:
        """Something is on disk. Costs a flag."""
        self._wake.set()

    async def stop(self) -> None:
        """No more events come: tries once to get the rest out. The caller sets the deadline."""
        self._stopping.set()
        self._wake.set()
        if self._ended is not None:
            await self._ended

    def _work(self) -> None:
        with closing(self._sink):
            self._keep_exporting()

    def _keep_exporting(self) -> None:
        """Begins again, after a while, when the log or the cursor could not be used."""
        while True:
            try:
                self._export()
            except RutterError as error:
                self.failure = str(error)  # the run goes on: what it is about is not its traces
            else:
                return
            if self._stopping.wait(RESTART_S):
                return

    def _export(self) -> None:
        with SqliteReader(self._log) as reader:
            exporter = Exporter(reader, Cursor(self._cursor, self._sink.target), self._sink)
            self.progress = exporter.progress
            while True:
                stopping = self._stopping.is_set()
                self._wake.clear()
                delivery = exporter.advance(self._breathe)
                self.failure = ""
                if stopping and (delivery is None or not delivery.accepted):
                    return
                if delivery is None:
                    self._wake.wait()
                    self._stopping.wait(self._linger_s)
                elif not delivery.accepted:
                    self._stopping.wait(exporter.wait_s(delivery))

    def _breathe(self) -> None:
        self._stopping.wait(BREATH_S)


def live_export(settings: Settings, note: Callable[[str], None]) -> LiveExport | None:
    """As configuration or environment ask for; what cannot be is said, and stops no run."""
    if not settings.traces.exporter:
        return None
    # Here and not above: only who exports pays for what the SDK takes to import.
    from rutter.pipeline.traces.sdk_exporter import open_sink

    try:
        sink = open_sink(settings.traces)
    except BadInput as error:
        note(f"no traces: {error}")
        return None
    return LiveExport(settings.directory.log, settings.data / FILE, sink)
