"""The log says which rows are in doubt: the same values left something open in a run by itself, or
for a row of another file.

A run by itself would look for it, or ask. A row is in doubt instead, as after a run of its own:
nobody wants to be asked by every row, and the others go on meanwhile."""

from collections.abc import Collection, Sequence

from rutter.events.envelope import Envelope
from rutter.events.rows import BatchRow
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.batches.row_values import BoundRow, digest_of
from rutter.pipeline.sessions.earlier_run import ENDED_WELL
from rutter.replay.steps import steps_in
from rutter.replay.story.batch_rows import RowRun, run_of


class DoubtsElsewhere:
    """This hears the log once, then says which values are in doubt. `names` are the workflow's,
    `batches` the file's: its own runs are matched with its rows and are not looked at."""

    def __init__(
        self, names: Collection[str], batches: Collection[str], rows: Sequence[BoundRow]
    ) -> None:
        self._names = names
        self._batches = batches
        self._digests = {row.digest for row in rows}
        self._binds = {name for row in rows[:1] for name in row.values}
        self._runs: dict[str, list[tuple[str, bool]]] = {}  # by digest: session, and if it is ours
        self._ended: dict[str, str] = {}

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case SessionStarted(purpose="run") as started if started.name in self._names:
                self._begun(envelope.session, started)
            case SessionEnded(reason=reason):
                self._ended[envelope.session] = reason
            case _:
                pass

    def _begun(self, session: str, started: SessionStarted) -> None:
        if started.settings.dry_run:  # it sent nothing, and settled nothing
            return
        # What an older version was given beside it does not count.
        bound = {name: each for name, each in started.values.items() if name in self._binds}
        if (digest := digest_of(bound)) in self._digests:
            ours = started.row is not None and started.row.batch in self._batches
            self._runs.setdefault(digest, []).append((session, ours))

    def in_doubt(self, reader: SqliteReader, under_way: Collection[str]) -> dict[str, RowRun]:
        """By digest, the last run that sent something and was not completed. One that was completed
        with the same values settles those before it; what is `under_way` is about to say itself."""
        found: dict[str, RowRun] = {}
        for digest, runs in self._runs.items():
            for session, ours in reversed(runs):
                if self._ended.get(session) == "completed":
                    break
                if ours or session in under_way:
                    continue
                if (run := self._open(reader, session, digest)) is not None:
                    found[digest] = run
                    break
        return found

    def _open(self, reader: SqliteReader, session: str, digest: str) -> RowRun | None:
        events = list(reader.read(session=session))
        steps = steps_in(events)
        if not steps.sent:
            return None
        if self._ended.get(session) in ENDED_WELL and not steps.left_open:
            return None
        return run_of(events, BatchRow("", 0, digest))
