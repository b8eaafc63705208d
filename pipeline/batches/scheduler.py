"""The scheduler runs rows in order: so many at once, until all are over, too many failed one after
another, or somebody stops it. What a run is, is the caller's to say."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio

from rutter.pipeline.batches.row_values import BoundRow
from rutter.replay.story.batch_rows import NOT_AGAIN, NOT_RUN, RowState

RunRow = Callable[[BoundRow], Awaitable[RowState]]


class BatchListener(Protocol):
    """A listener is told how the batch goes."""

    def begun(self, row: BoundRow) -> None: ...

    def ended(self, row: BoundRow, told: RowState) -> None: ...


@dataclass
class BatchRun:
    """A batch is under way. `told` is what is known of every row, by its number. It gives up after
    `most_failures` one after another, 0 is never."""

    rows: Sequence[BoundRow]
    told: dict[int, RowState]
    parallel: int = 1
    most_failures: int = 3
    stopped: bool = False
    began: bool = False
    failures: int = 0  # one after another

    def left(self) -> list[BoundRow]:
        """Those that are to be run: what is done stays done, what is in doubt is a person's."""
        return [row for row in self.rows if self.of(row).outcome not in NOT_AGAIN]

    def of(self, row: BoundRow) -> RowState:
        return self.told.get(row.number, NOT_RUN)

    @property
    def gave_up(self) -> bool:
        return 0 < self.most_failures <= self.failures

    async def run(self, run_row: RunRow, hears: BatchListener) -> None:
        """In the order of the file. An error that is no row's own ends them all."""
        waiting = iter(self.left())
        async with anyio.create_task_group() as group:
            for _ in range(self.parallel):
                group.start_soon(self._work, waiting, run_row, hears)

    async def _work(
        self, waiting: Iterator[BoundRow], run_row: RunRow, hears: BatchListener
    ) -> None:
        while not (self.stopped or self.gave_up):
            row = next(waiting, None)
            if row is None:
                return
            self.began = True
            hears.begun(row)
            told = await run_row(row)
            self.told[row.number] = told
            self.failures = 0 if told.outcome == "done" else self.failures + 1
            hears.ended(row, told)
