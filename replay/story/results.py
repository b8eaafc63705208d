"""The results of a session are what it read, tables as rows, and the files that it was sent.

They are gathered from its steps: there is no second store. What one step read again stands once;
two steps that read under one name are told apart by a number.
"""

from collections.abc import Iterable, Mapping

import msgspec

from rutter.events.page import Artifact
from rutter.events.tables import Table


class TableRows(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows are a table as it was read, as text. `left_off` rows of it are not here; `cut`: nor is a
    part of a cell, or a column."""

    columns: list[str]
    rows: list[list[str]] = []
    caption: str = ""
    left_off: int = 0
    cut: bool = False


class SentFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A sent file has the name that the page gave it. Without an artifact it was not kept, and
    `failure` says why."""

    name: str
    step: int = 0
    artifact: Artifact | None = None
    failure: str = ""


class SessionResults(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results hold `values`, texts by name, a table's own text among them; `tables` their
    rows."""

    session: str = ""
    workflow: str = ""
    values: dict[str, str] = {}
    tables: dict[str, TableRows] = {}
    downloads: list[SentFile] = []

    @property
    def texts(self) -> dict[str, str]:
        """The values that are no tables."""
        return {name: text for name, text in self.values.items() if name not in self.tables}

    def __bool__(self) -> bool:
        return bool(self.values or self.tables or self.downloads)


def numbered(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names, each once: the second of a kind is `name_2`."""
    known = set(taken)
    found: list[str] = []
    for name in names:
        unique, count = name, 1
        while unique in known:
            count += 1
            unique = f"{name}_{count}"
        known.add(unique)
        found.append(unique)
    return found


def as_json(results: SessionResults) -> dict[str, object]:
    """For machines: every key is there, nothing too."""
    tables: Mapping[str, object] = {
        name: {
            "columns": rows.columns,
            "rows": [dict(zip(rows.columns, row, strict=True)) for row in rows.rows],
            "caption": rows.caption,
            "left_off": rows.left_off,
            "cut": rows.cut,
        }
        for name, rows in results.tables.items()
    }
    return {
        "session": results.session,
        "workflow": results.workflow,
        "values": results.texts,
        "tables": tables,
        "downloads": [msgspec.to_builtins(each) for each in results.downloads],
    }


def rows_in_words(rows: TableRows) -> str:
    """A table in one line: how much of it there is."""
    count = len(rows.rows)
    parts = ["1 row" if count == 1 else f"{count} rows"]
    if rows.columns:
        parts.append(f"of {', '.join(rows.columns)}")
    if rows.left_off:
        parts.append(f"({rows.left_off} more were not read)")
    if rows.cut:
        parts.append("(a long cell or a column was cut)")
    return " ".join(parts)


def table_rows(table: Table) -> TableRows:
    return TableRows(
        [name.text for name in table.columns],
        [[cell.text for cell in row] for row in table.rows],
        table.caption.text,
        table.left_off,
        table.cut,
    )
