"""A row's values are bound to what each run is given: every row is checked before the first is run.

A column binds the parameter of its name. A secret never comes from a file of rows.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from rutter.events.errors import BadInput
from rutter.events.rows import BatchRow
from rutter.events.workflow import Workflow
from rutter.pipeline.batches.sheet import BadRows, Cells, Sheet


class BoundRow(msgspec.Struct, frozen=True):
    """A bound row has what its run is given."""

    row: Cells
    values: dict[str, str]
    digest: str

    @property
    def number(self) -> int:
        return self.row.number

    def named(self, batch: str, again: int) -> BatchRow:
        return BatchRow(batch, self.number, self.digest, again)


class Columns(msgspec.Struct, frozen=True):
    """Columns bind parameters, by their place, or none."""

    binds: dict[int, str]
    extra: tuple[str, ...]


def batch_of(workflow: str, path: Path, *, dry_run: bool = False) -> str:
    """The same for every run of this workflow with this file, wherever one stands. What was only
    tried is a batch of its own: it has done nothing."""
    said = "\0".join((workflow, str(path.resolve()), "dry" * dry_run))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """`--map COLUMN=PARAMETER` arguments."""
    found: dict[str, str] = {}
    for pair in pairs:
        column, equals, name = pair.rpartition("=")
        if not equals or not column or not name:
            raise BadInput(f"--map {pair!r} is not COLUMN=PARAMETER", "write --map Customer=name")
        if column in found:
            raise BadInput(f"--map names the column {column!r} twice", "give it one parameter")
        found[column] = name
    return found


def columns_of(
    sheet: Sheet, workflow: Workflow, mapping: Mapping[str, str], constants: Collection[str]
) -> Columns:
    """What each column binds. What is missing, doubtful or secret is refused by name."""
    for column in mapping:
        if column not in sheet.columns:
            listed = ", ".join(sheet.columns)
            raise BadRows(f"{sheet.path.name} has no column {column!r}", f"it has: {listed}")
    binds: dict[int, str] = {}
    for at, column in enumerate(sheet.columns):
        name = mapping.get(column, column)
        _refuse_secret(name, column, workflow, sheet)
        if name not in workflow.parameters:
            if column in mapping:
                known = ", ".join(workflow.parameters) or "none"
                raise BadRows(f"{workflow.name!r} has no parameter {name!r}", f"it has: {known}")
            continue
        if name in binds.values():
            raise BadRows(f"two columns bind {name!r}", "take one out, or leave out --map")
        if name in constants:
            raise BadRows(f"{name!r} is a column and given with --set", "leave one of them out")
        binds[at] = name
    _refuse_missing(sheet, workflow, {*binds.values(), *constants})
    extra = tuple(each for at, each in enumerate(sheet.columns) if at not in binds)
    return Columns(binds, extra)


def _refuse_secret(name: str, column: str, workflow: Workflow, sheet: Sheet) -> None:
    if name in workflow.secrets:
        raise BadRows(
            f"the column {column!r} of {sheet.path.name} is a secret of {workflow.name!r}: secrets "
            "never come from a file of rows",
            f"take the column out, and give --secret {name}=env:VARIABLE",
        )


def _refuse_missing(sheet: Sheet, workflow: Workflow, bound: Collection[str]) -> None:
    missing = [name for name in workflow.parameters if name not in bound]
    if not missing:
        return
    folded = {column.casefold(): column for column in sheet.columns}
    near = [
        f"--map {folded[each.casefold()]}={each}" for each in missing if each.casefold() in folded
    ]
    what = "columns" if len(missing) > 1 else "column"
    raise BadRows(
        f"{sheet.path.name} lacks the {what} {', '.join(missing)} that {workflow.name!r} needs",
        " ".join(near) or "add them, or bind what is the same in every row: --set NAME=VALUE",
    )


def bind_rows(
    sheet: Sheet,
    columns: Columns,
    constants: Mapping[str, str],
    check: Callable[[Mapping[str, str]], None],
) -> list[BoundRow]:
    """Every row, checked as its run would be: `check` raises what is wrong with its values."""
    bound: list[BoundRow] = []
    for row in sheet.rows:
        values = {**constants, **{name: row.cells[at] for at, name in columns.binds.items()}}
        try:
            check(values)
        except BadInput as error:
            raise BadRows(f"{row.where(sheet.path)}: {error.what}", error.fix) from error
        bound.append(BoundRow(row, values, digest_of(values)))
    return bound


def digest_of(values: Mapping[str, str]) -> str:
    """Of what a row binds: the same values are the same digest, in whatever order."""
    coded = msgspec.json.encode(dict(values), order="sorted")
    return hashlib.sha256(coded).hexdigest()[:32]
