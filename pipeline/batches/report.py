"""The report says what became of every row, as a file beside the rows: the row, its outcome, why,
its session, and what its run read. Written anew as each row ends, whole; the log can say it again
at any time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rutter.events.action import READS
from rutter.events.workflow import Workflow
from rutter.pipeline.batches.row_values import BoundRow
from rutter.pipeline.batches.sheet import BadRows, Sheet
from rutter.pipeline.output.csv_table import as_csv
from rutter.pipeline.output.safe_files import replace_whole
from rutter.replay.story.batch_rows import NOT_RUN, RowState
from rutter.replay.story.results import SessionResults, numbered

OURS = ("outcome", "reason", "session")
HEADER_BYTES = 2**20


def beside(path: Path, *, dry_run: bool = False) -> Path:
    """`orders.csv` has its results in `orders.results.csv`; what was only tried is told in a file
    of its own, or it would take the place of what was done."""
    return path.with_name(f"{path.stem}{'.dry-run' * dry_run}.results.csv")


def check_place(place: Path, rows: Path) -> None:
    """Nobody's own file is written over before anything was run."""
    if place.is_dir():
        raise BadRows(f"{place} is a folder", "name a file: --results FILE.csv")
    if place.exists() and not place.is_file():  # a device would be replaced, a pipe waits for ever
        raise BadRows(f"{place} is no ordinary file", "name another file: --results FILE.csv")
    if place.resolve() == rows.resolve():
        raise BadRows(f"{place} holds the rows themselves", "name another file: --results FILE")
    if place.exists() and not _is_ours(place):
        raise BadRows(
            f"{place} is there and holds no results of rows", "name another file: --results FILE"
        )
    if not place.parent.is_dir():
        raise BadRows(f"there is no folder {place.parent}", "make it, or name another file")


def names_read(workflow: Workflow) -> list[str]:
    """What each run of it reads."""
    return [step.action.name or "text" for step in workflow.steps if step.action.type in READS]


def _is_ours(place: Path) -> bool:
    """By its header: what an earlier run wrote may be written anew."""
    with place.open("rb") as file:
        header = file.readline(HEADER_BYTES).decode("utf-8", "replace")
    return all(name in header for name in OURS) or not header


@dataclass(frozen=True)
class BatchReport:
    """A batch is reported in this file. `names` are what a run is known to read; others come
    behind."""

    place: Path
    sheet: Sheet
    names: Sequence[str] = ()
    guard: bool = True

    def write(self, rows: Sequence[BoundRow], told: Mapping[int, RowState]) -> None:
        replace_whole(self.place, self.text(rows, told).encode())

    def text(self, rows: Sequence[BoundRow], told: Mapping[int, RowState]) -> str:
        known = [told.get(row.number, NOT_RUN) for row in rows]
        read = [values_of(each) for each in known]
        names = [*dict.fromkeys((*self.names, *(name for each in read for name in each)))]
        columns = [*self.sheet.columns, *numbered((*OURS, *names), self.sheet.columns)]
        return as_csv(
            columns,
            (
                [*row.row.cells, each.outcome, each.why, each.session]
                + [values.get(name, "") for name in names]
                for row, each, values in zip(rows, known, read, strict=True)
            ),
            separator=self.sheet.separator,
            guard=self.guard,
        )


def values_of(told: RowState) -> dict[str, str]:
    """What a row's run read; of a table, how much: its rows are in `rutter results`."""
    found = told.run.results if told.run is not None else SessionResults()
    sizes = {name: f"{len(rows.rows)} rows" for name, rows in found.tables.items()}
    return {**found.values, **sizes}
