"""Golden logs are runs that really happened, kept as text, one stored row a line.

They fold for ever, and verify as long as their logic version is kept. Each version has a folder:
those of the logic that is here are decided again, older ones are read, chained and learned from.
"""

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from rutter.actors.logic_version import LOGIC
from rutter.events import sqlite_schema
from rutter.events.envelope import Envelope

FOLDER = Path(__file__).parents[1] / "golden"


def names() -> list[str]:
    """Those that the logic that is here made."""
    return sorted(path.stem for path in (FOLDER / LOGIC).glob("*.jsonl"))


def older() -> list[str]:
    """Those of other logic, as `version/name`."""
    found = (path.relative_to(FOLDER).with_suffix("") for path in FOLDER.glob("*/*.jsonl"))
    return sorted(str(path) for path in found if path.parts[0] != LOGIC)


def _path(name: str) -> Path:
    return FOLDER / f"{name if '/' in name else f'{LOGIC}/{name}'}.jsonl"


def rows(name: str) -> Iterator[sqlite_schema.Row]:
    """The stored rows themselves: payload and hash are the bytes that were written."""
    yield from _rows(_path(name))


def envelopes(name: str) -> list[Envelope]:
    return list(_envelopes(_path(name)))


@cache  # dozens of tests read each; rows and envelopes cannot be changed
def _rows(path: Path) -> tuple[sqlite_schema.Row, ...]:
    return tuple(map(row_of, path.read_text("ascii").splitlines()))


def row_of(line: str) -> sqlite_schema.Row:
    *head, payload, digest = json.loads(line)
    return (*head, base64.b64decode(payload), base64.b64decode(digest))


@cache
def _envelopes(path: Path) -> tuple[Envelope, ...]:
    return tuple(map(sqlite_schema.to_envelope, _rows(path)))


def write(name: str, stored: Iterable[sqlite_schema.Row]) -> None:
    lines = map(text_of, stored)
    _path(name).parent.mkdir(exist_ok=True)
    _path(name).write_text("\n".join(lines) + "\n", "ascii")


def text_of(row: sqlite_schema.Row) -> str:
    """The row as a line of text."""
    *head, payload, digest = row
    coded = [base64.b64encode(part).decode("ascii") for part in (payload, digest)]
    return json.dumps([*head, *coded])


def to_database(path: Path, stored: Iterable[sqlite_schema.Row]) -> None:
    """The rows as a log file, whatever they are: tests tamper with them first."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA synchronous=OFF")
        database.execute(sqlite_schema.CREATE)
        for index in sqlite_schema.INDEXES:
            database.execute(index)
        database.execute(f"PRAGMA application_id={sqlite_schema.APPLICATION_ID}")
        database.execute(f"PRAGMA user_version={sqlite_schema.FORMAT}")
        database.executemany("INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?)", stored)
    database.close()
