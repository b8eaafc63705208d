"""Rows are run by this process with a browser of its own, or by the daemon that has the
directory."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import msgspec

from rutter.actors.answers import PersonAnswer
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.jobs import RunWorkflow
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.batches.ledger import Ledger, read_run, state_after
from rutter.pipeline.batches.row_values import BoundRow
from rutter.pipeline.batches.scheduler import BatchListener, BatchRun
from rutter.pipeline.cli.daemon_client import DaemonClient
from rutter.pipeline.cli.row_progress import RowProgress
from rutter.pipeline.cli.session_run import (
    CommandPipeline,
    PausedWhileAsked,
    attendant,
    open_pipeline,
    person,
)
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.open_app import on_signal
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.attendant import BoundSecrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import StartedSession, start_session
from rutter.replay.story.batch_rows import RowState, told_of

BY = "the person at the terminal"
Stop = Coroutine[Any, Any, None]


@dataclass
class LocalRows:
    """This process runs all rows in one browser, each in a window that knows nothing of others."""

    request: RunRequest
    bound: BoundSecrets
    read: Callable[[], Ledger]
    telling: RowProgress
    answers: Path | None
    settings: Settings
    terminal: Terminal
    asking: anyio.Lock = field(default_factory=anyio.Lock)

    def __post_init__(self) -> None:
        who = attendant(self.terminal)
        asks = cache(who.passphrase) if who.passphrase is not None else None  # once, for all rows
        self.attendant = who._replace(passphrase=asks)

    async def run_rows(self, batch_run: BatchRun) -> None:
        async with open_pipeline(self.settings, self.terminal) as opened:
            app = opened.app
            # Now that nobody else writes: another command may have run some since they were read.
            ledger = self.read()
            batch_run.told.update(ledger.told(batch_run.rows))

            async def stop(sessions: Sequence[str] = ()) -> None:
                for session in sessions or app.running():
                    with suppress(BadInput):  # it has just ended
                        await app.stop(session, BY)

            async def run_row(row: BoundRow) -> RowState:
                return await self._run_row(row, ledger, opened)

            with stopping(batch_run, stop) as stop_soon:

                def begun(envelope: Envelope) -> None:
                    """One that was about to begin when it was stopped."""
                    if batch_run.stopped and isinstance(envelope.event, SessionStarted):
                        stop_soon(stop((envelope.session,)))

                app.listen(begun)
                await batch_run.run(run_row, self.telling)

    async def _run_row(self, row: BoundRow, ledger: Ledger, opened: CommandPipeline) -> RowState:
        session = await anyio.to_thread.run_sync(self._start, row, ledger)
        name = opened.app.clock.new_id(session.started.purpose)
        who = person(self.terminal, self.answers)  # each row has the whole list
        asked = AskedOneAtATime(who, self.telling, opened.where, row=row, asking=self.asking)
        await session.run(opened.app, opened.browser, name, asked)
        return _told(self.settings, name)

    def _start(self, row: BoundRow, ledger: Ledger) -> StartedSession:
        named = row.named(ledger.batch, ledger.again)
        request = msgspec.structs.replace(self.request, values=row.values, row=named)
        with Tables(self.settings) as tables:
            return start_session(request, tables, self.attendant, bound=self.bound)


@dataclass
class DaemonRows:
    """The daemon runs a job for each row. Its key is the row's own: handed in again it is the same,
    whoever was killed in between. One that it has for a row that moved is awaited by its name."""

    daemon: DaemonClient
    ledger: Ledger
    request: RunRequest
    telling: BatchListener
    settings: Settings
    terminal: Terminal
    jobs: set[str] = field(default_factory=set)
    taken_on: dict[int, str] = field(default_factory=dict)
    stopped: bool = False

    async def run_rows(self, batch_run: BatchRun) -> None:
        self.taken_on = self.ledger.taken_on(batch_run.left())

        async def stop() -> None:
            self.stopped = True
            for job in tuple(self.jobs):
                await anyio.to_thread.run_sync(self.daemon.call_off, job)

        with stopping(batch_run, stop):
            await batch_run.run(self._run_row, self.telling)

    async def _run_row(self, row: BoundRow) -> RowState:
        told = await anyio.to_thread.run_sync(self._run, row)
        ended = (str(told.get(each) or "") for each in ("session", "reason", "detail"))
        return state_after(self.settings, *ended)

    def _run(self, row: BoundRow) -> dict[str, Any]:
        job = self.taken_on.get(row.number) or self._hand_in(row)
        self.jobs.add(job)
        if self.stopped:  # while it was handed in
            self.daemon.call_off(job)
        try:
            return self._watched(row, job)
        finally:
            self.jobs.discard(job)

    def _hand_in(self, row: BoundRow) -> str:
        named = row.named(self.ledger.batch, self.ledger.again)
        before = self.ledger.jobs.get((row.number, row.digest), 0)
        key = f"row-{named.batch}-{named.again}-{named.number}-{named.digest}-{before}"
        wanted = self.request
        terms = wanted.dry_run, named, wanted.allow_ghost
        run = RunWorkflow(wanted.name, 0, row.values, *terms)
        try:
            return self.daemon.submit(run, key)
        except BadInput as error:
            raise BadInput(f"row {row.number}: {error.what}", error.fix) from error

    def _watched(self, row: BoundRow, job: str) -> dict[str, Any]:
        """Until it has ended; what it asks is answered wherever questions of the daemon are."""
        told: dict[str, Any] = {}
        for told in self.daemon.followed(job):
            if told["status"] == "ended" or not told.get("session"):
                continue
            for envelope in self.daemon.events(told["session"]):
                if isinstance(asked := envelope.event, ApprovalRequested):
                    said = f"row {row.number} waits for a person: {asked.question}"
                    self.terminal.note(f"{said} -> rutter approvals --answer")
        return told


@dataclass(frozen=True)
class AskedOneAtATime(PausedWhileAsked):
    """One row at a time asks a person, and tells them which it is."""

    row: BoundRow = field(kw_only=True)
    asking: anyio.Lock = field(kw_only=True)

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        said = f"row {self.row.number}: {question.question}"
        async with self.asking:
            return await super().ask(msgspec.structs.replace(question, question=said))


def _told(settings: Settings, session: str) -> RowState:
    run = read_run(settings, session)
    if run is None:
        raise BadInput(f"{session} is of no row", "this is a bug: report it with the log")
    return told_of([run])


@contextmanager
def stopping(batch_run: BatchRun, stop: Callable[[], Stop]) -> Iterator[Callable[[Stop], None]]:
    """The first Ctrl-C (or SIGTERM) begins no other row, and lets those under way end in a true
    state. What is yielded does more of the same beside them."""
    loop = asyncio.get_running_loop()
    under_way: set[asyncio.Task[None]] = set()

    def stop_soon(more: Stop) -> None:
        under_way.add(loop.create_task(more))

    def stopped() -> None:
        if not batch_run.stopped:
            batch_run.stopped = True
            stop_soon(stop())

    with on_signal(stopped):
        yield stop_soon
