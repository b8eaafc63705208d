"""A schedule's rows are read when it is due, and run one after the other, each of them a job.

As with `rutter run NAME --rows FILE`: what is done is not run again, nor what is in doubt, and what
became of each row stands in a file beside them.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread
import msgspec

from rutter.events.errors import RutterError
from rutter.events.jobs import RunWorkflow
from rutter.events.triggers import ScheduleSet
from rutter.events.workflow import Workflow
from rutter.pipeline.batches.ledger import Ledger, read_ledger, state_after
from rutter.pipeline.batches.report import BatchReport, beside, check_place, names_read
from rutter.pipeline.batches.row_values import BoundRow, bind_rows, columns_of
from rutter.pipeline.batches.scheduler import BatchRun
from rutter.pipeline.batches.sheet import Sheet, read_sheet
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs.jobs import Jobs
from rutter.pipeline.daemon.jobs.runner import check_run
from rutter.pipeline.daemon.jobs.schedules import ScheduleWish, by
from rutter.pipeline.queries.workflows_and_sessions import find_workflow
from rutter.replay.story.batch_rows import RowState


def check_wish(wish: ScheduleWish, settings: Settings) -> None:
    """What could not be run now is not set for later."""
    if wish.rows and isinstance(wish.run, RunWorkflow):
        _bound(Path(wish.rows), wish.run, settings, partial(_check, wish.run, settings))
    else:
        check_run(wish.run, settings, agent=False)


def check_columns(path: Path, run: RunWorkflow, settings: Settings) -> None:
    """Where no daemon is there to say what each run would be refused for."""
    _bound(path, run, settings, lambda values: None)


class _Due(NamedTuple):
    """Rows are due, as the file and the log have them now."""

    ledger: Ledger
    batch_run: BatchRun
    report: BatchReport


class ScheduledRows:
    """The rows of a schedule are run by the daemon's jobs (`schedules.RunRows`)."""

    def __init__(self, settings: Settings, jobs: Jobs) -> None:
        self._settings = settings
        self._jobs = jobs
        self._under_way: set[str] = set()

    async def __call__(self, told: ScheduleSet, key: str) -> None:
        """Whatever keeps the rows from being run is on the record."""
        if told.name in self._under_way:
            said = "its rows are still being run"
            await self._jobs.refuse(told.run, "skipped", said, by=by(told), key=key)
            return
        self._under_way.add(told.name)
        try:
            due = await anyio.to_thread.run_sync(self._read, told)
            await _Rows(due, told, key, self._settings, self._jobs).run()
        except* (RutterError, OSError) as group:
            why = ", ".join(_said(group))
            await self._jobs.refuse(told.run, "refused", why, by=by(told), key=key)
        finally:
            self._under_way.discard(told.name)

    def _read(self, told: ScheduleSet) -> _Due:
        run, path = told.run, Path(told.rows)
        assert isinstance(run, RunWorkflow)  # else it was not set
        check = partial(_check, run, self._settings)
        workflow, sheet, rows = _bound(path, run, self._settings, check)
        place = beside(path, dry_run=run.dry_run)
        check_place(place, path)
        report = BatchReport(place, sheet, names_read(workflow))
        terms = {"dry_run": run.dry_run, "afresh": told.afresh}
        ledger = read_ledger(self._settings, workflow.name, path, rows, **terms, served=True)
        return _Due(ledger, BatchRun(rows, ledger.told(rows)), report)


class _Rows:
    """The rows of one tick."""

    def __init__(
        self, due: _Due, told: ScheduleSet, key: str, settings: Settings, jobs: Jobs
    ) -> None:
        self._due = due
        self._told = told
        self._key = key
        self._settings = settings
        self._jobs = jobs
        self._taken_on = due.ledger.taken_on(due.batch_run.left())

    async def run(self) -> None:
        self._write()
        await self._due.batch_run.run(self._run_row, self)

    async def _run_row(self, row: BoundRow) -> RowState:
        name = self._taken_on.get(row.number) or await self._take_on(row)
        ended = (await self._jobs.ended(name)).ended
        assert ended is not None
        said = self._settings, ended.session, ended.reason, ended.detail
        return await anyio.to_thread.run_sync(state_after, *said)

    async def _take_on(self, row: BoundRow) -> str:
        run, ledger = self._told.run, self._due.ledger
        named = row.named(ledger.batch, ledger.again)
        job = await self._jobs.submit(
            msgspec.structs.replace(run, values=row.values, row=named),
            by=by(self._told),
            trigger="schedule",
            key=f"{self._key}#{row.number}",
            overlap="allow" if self._told.overlap == "allow" else "queue",
        )
        return job.name

    # -- what the batch tells ------------------------------------------------------------------

    def begun(self, row: BoundRow) -> None:
        """Its job says so."""

    def ended(self, row: BoundRow, told: RowState) -> None:
        self._write()

    def _write(self) -> None:
        self._due.report.write(self._due.batch_run.rows, self._due.batch_run.told)


def _said(group: BaseExceptionGroup) -> Iterator[str]:
    for each in group.exceptions:
        yield from _said(each) if isinstance(each, BaseExceptionGroup) else (str(each),)


def _bound(
    path: Path, run: RunWorkflow, settings: Settings, check: Callable[[Mapping[str, str]], None]
) -> tuple[Workflow, Sheet, list[BoundRow]]:
    workflow = find_workflow(settings, run.workflow)
    sheet = read_sheet(path, expected=workflow.parameters)
    columns = columns_of(sheet, workflow, {}, run.values)
    return workflow, sheet, bind_rows(sheet, columns, run.values, check)


def _check(run: RunWorkflow, settings: Settings, values: Mapping[str, str]) -> None:
    check_run(msgspec.structs.replace(run, values=dict(values)), settings, agent=False)
