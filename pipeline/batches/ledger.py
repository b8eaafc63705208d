"""The ledger reads from the log which rows were run: the one place that says so."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from rutter.events.envelope import Envelope, kind
from rutter.events.errors import BadInput
from rutter.events.jobs import JobEnded, JobQueued, JobStarted, RunWorkflow
from rutter.events.rows import BatchRow
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.batches.doubts import DoubtsElsewhere
from rutter.pipeline.batches.row_values import BoundRow, batch_of
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.workflows.edit import names_over_time
from rutter.replay.steps import KINDS
from rutter.replay.story.batch_rows import (
    NOT_AGAIN,
    FileRow,
    RowRun,
    RowState,
    in_words_of,
    matched,
    run_of,
    told_of,
)

OF_BATCH = [kind(each) for each in (SessionStarted, SessionEnded, JobQueued, JobStarted, JobEnded)]


class Ledger(msgspec.Struct, frozen=True):
    """A ledger is what the log says of one batch. `again` is which time it is; `jobs` counts, for
    each row, those that a daemon took on and that are over; `under_way` are those that are not, by
    their names. `elsewhere` is what was left open with the same values, by digest."""

    batch: str
    again: int
    runs: list[RowRun]
    jobs: dict[tuple[int, str], int]
    under_way: dict[str, BatchRow] = {}
    elsewhere: dict[str, RowRun] = {}

    def told(self, rows: Sequence[BoundRow]) -> dict[int, RowState]:
        wanted = [FileRow(each.number, each.digest) for each in rows]
        told = {number: told_of(runs) for number, runs in matched(wanted, self.runs).items()}
        for row in rows:
            run = self.elsewhere.get(row.digest)
            if run is not None and told[row.number].outcome not in NOT_AGAIN:
                why = "a run with the same values, of no row of this file, left it open"
                told[row.number] = RowState("unknown", why, run)
        return told

    def taken_on(self, rows: Sequence[BoundRow]) -> dict[int, str]:
        """The jobs that a daemon has for rows that are to be run, by the numbers that these have
        now. A row may have moved since, or its workflow have another name: each job counts for one
        row that binds the same, first of all for that of its number."""
        left, found = dict(self.under_way), dict[int, str]()
        for moved in (False, True):
            for row in rows if left else ():
                jobs = [
                    job
                    for job, of in left.items()
                    if of.digest == row.digest and (moved or of.number == row.number)
                ]
                if jobs and row.number not in found:
                    found[row.number] = jobs[0]
                    del left[jobs[0]]
        return found


class _BatchSessions(msgspec.Struct):
    """A batch has sessions, and jobs: those that are not over by their names. `begun` are the
    sessions of all jobs that are not over, whoever's."""

    sessions: list[tuple[str, BatchRow]] = []
    queued: dict[str, BatchRow] = {}
    begun: dict[str, str] = {}
    ended: list[BatchRow] = []

    @property
    def rows(self) -> list[BatchRow]:
        return [*(row for _, row in self.sessions), *self.queued.values(), *self.ended]


def read_ledger(
    settings: Settings,
    workflow: str,
    path: Path,
    rows: Sequence[BoundRow] = (),
    *,
    dry_run: bool = False,
    afresh: bool = False,
    served: bool = False,
) -> Ledger:
    """`rows` are those of which it is asked what their values left open elsewhere. `afresh`: all of
    it once more; nothing that was done before counts. `served`: a daemon runs, so that what it took
    on and has not ended is under way, and not cut off."""
    batch = batch_of(workflow, path, dry_run=dry_run)
    if not settings.directory.log.exists():
        return Ledger(batch, 0, [], {})
    with SqliteReader(settings.directory.log) as reader:
        names = names_over_time(workflow, reader)
        batches = {batch_of(name, path, dry_run=dry_run) for name in names}
        # What is only tried, or wanted whatever was done, does not depend on others.
        elsewhere = DoubtsElsewhere(names, batches, () if dry_run or afresh else rows)
        found = _of_batch(reader.read(kinds=OF_BATCH), batches, elsewhere)
        again = max((row.again for row in found.rows), default=-1 if afresh else 0)
        again += afresh
        if not served:
            _refuse_waiting(found)
        under_way = set(found.begun.values()) if served else set()
        runs = [
            run
            for session, row in found.sessions
            if row.again == again
            and session not in under_way
            and (run := _run_in(reader, session)) is not None
        ]
        in_doubt = elsewhere.in_doubt(reader, under_way)
    jobs = Counter((row.number, row.digest) for row in found.ended if row.again == again)
    queued = {job: row for job, row in found.queued.items() if row.again == again}
    return Ledger(batch, again, runs, jobs, queued, in_doubt)


def _of_batch(
    events: Iterable[Envelope], batches: Collection[str], elsewhere: DoubtsElsewhere
) -> _BatchSessions:
    found = _BatchSessions()
    for envelope in events:
        elsewhere.hear(envelope)
        match envelope.event:
            case SessionStarted(row=BatchRow(batch=batch) as row) if batch in batches:
                found.sessions.append((envelope.session, row))
            case JobQueued(job=job, run=RunWorkflow(row=BatchRow(batch=batch) as row)):
                if batch in batches:
                    found.queued[job] = row
            case JobStarted(job=job, session=session):
                found.begun[job] = session
            case JobEnded(job=job):
                found.begun.pop(job, None)
                if job in found.queued:
                    found.ended.append(found.queued.pop(job))
            case _:
                pass
    return found


def _refuse_waiting(found: _BatchSessions) -> None:
    """A daemon took them on and runs them as soon as it is there: here they would be done twice,
    whichever time they are of."""
    waiting = [job for job in found.queued if job not in found.begun]
    if waiting:
        raise BadInput(
            f"a daemon that does not run any more took on {len(waiting)} of its rows",
            "start it, it goes on with them: rutter serve; then the same command again",
        )


def state_after(settings: Settings, session: str, reason: str, detail: str) -> RowState:
    """What became of a row whose job ended: by its run, where one was begun."""
    run = read_run(settings, session) if session and reason not in ("refused", "skipped") else None
    return told_of([run]) if run is not None else RowState("failed", detail or reason or "not run")


def read_run(settings: Settings, session: str) -> RowRun | None:
    """How one run of a row ended."""
    with SqliteReader(settings.directory.log) as reader:
        return _run_in(reader, session)


def _run_in(reader: SqliteReader, session: str) -> RowRun | None:
    """Pages, which are most of a log, are read of a run alone that is not done: to say why."""
    run = run_of(reader.read(session=session, kinds=KINDS))
    return run if run is None or run.done else in_words_of(run, reader.read(session=session))
