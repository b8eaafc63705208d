"""Which rows were run, read from the log: the one place that says so."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from events.envelope import Envelope, kind
from events.errors import BadInput
from events.jobs import JobEnded, JobQueued, JobStarted, RunWorkflow
from events.rows import Row
from events.runtime import SessionStarted
from events.sqlite_reader import SqliteReader
from pipeline.editing import names_over_time
from pipeline.rows.binding import BoundRow, batch_of
from pipeline.settings import Settings
from replay.rows import KINDS, RowRun, Told, Wanted, matched, run_of, told_of

OF_BATCH = [kind(SessionStarted), kind(JobQueued), kind(JobStarted), kind(JobEnded)]


class Ledger(msgspec.Struct, frozen=True):
    """What the log says of one batch. `again` is which time it is; `jobs` counts, for each row,
    those that a daemon took on and that are over."""

    batch: str
    again: int
    runs: list[RowRun]
    jobs: dict[tuple[int, str], int]

    def told(self, rows: Sequence[BoundRow]) -> dict[int, Told]:
        wanted = [Wanted(each.number, each.digest) for each in rows]
        return {number: told_of(runs) for number, runs in matched(wanted, self.runs).items()}


class _Found(msgspec.Struct):
    """The sessions of a batch, and its jobs: those that are not over by their names, and of them
    the sessions of those that have begun."""

    sessions: list[tuple[str, Row]] = []
    queued: dict[str, Row] = {}
    begun: dict[str, str] = {}
    ended: list[Row] = []

    @property
    def rows(self) -> list[Row]:
        return [*(row for _, row in self.sessions), *self.queued.values(), *self.ended]


def read_ledger(
    settings: Settings,
    workflow: str,
    path: Path,
    *,
    dry_run: bool = False,
    afresh: bool = False,
    served: bool = False,
) -> Ledger:
    """`afresh`: all of it once more; nothing that was done before counts. `served`: a daemon runs,
    so that what it took on and has not ended is under way, and not cut off."""
    batch = batch_of(workflow, path, dry_run=dry_run)
    if not settings.directory.log.exists():
        return Ledger(batch, 0, [], {})
    with SqliteReader(settings.directory.log) as reader:
        names = names_over_time(workflow, reader)
        batches = {batch_of(name, path, dry_run=dry_run) for name in names}
        found = _of_batch(reader.read(kinds=OF_BATCH), batches)
        again = max((row.again for row in found.rows), default=-1 if afresh else 0)
        again += afresh
        if not served:
            _refuse_waiting(found, again)
        under_way = set(found.begun.values()) if served else set()
        runs = [
            run
            for session, row in found.sessions
            if row.again == again
            and session not in under_way
            and (run := run_of(reader.read(session=session, kinds=KINDS))) is not None
        ]
    jobs: dict[tuple[int, str], int] = {}
    for row in found.ended:
        if row.again == again:
            jobs[row.number, row.digest] = jobs.get((row.number, row.digest), 0) + 1
    return Ledger(batch, again, runs, jobs)


def _of_batch(events: Iterable[Envelope], batches: Collection[str]) -> _Found:
    found = _Found()
    for envelope in events:
        match envelope.event:
            case SessionStarted(row=Row(batch=batch) as row) if batch in batches:
                found.sessions.append((envelope.session, row))
            case JobQueued(job=job, run=RunWorkflow(row=Row(batch=batch) as row)):
                if batch in batches:
                    found.queued[job] = row
            case JobStarted(job=job, session=session) if job in found.queued:
                found.begun[job] = session
            case JobEnded(job=job) if job in found.queued:
                found.ended.append(found.queued.pop(job))
                found.begun.pop(job, None)
            case _:
                pass
    return found


def _refuse_waiting(found: _Found, again: int) -> None:
    """A daemon took them on and runs them as soon as it is there: here they would be done twice."""
    waiting = [job for job, row in found.queued.items() if row.again == again]
    waiting = [job for job in waiting if job not in found.begun]
    if waiting:
        raise BadInput(
            f"a daemon that does not run any more took on {len(waiting)} of its rows",
            "start it, it goes on with them: rutter serve; then the same command again",
        )


def read_run(settings: Settings, session: str) -> RowRun | None:
    """How one run of a row ended."""
    with SqliteReader(settings.directory.log) as reader:
        return run_of(reader.read(session=session, kinds=KINDS))
