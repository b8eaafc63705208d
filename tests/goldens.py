"""Golden logs: runs that really happened, kept as text, one stored row a line.

They fold for ever, and verify as long as their logic version is kept.
"""

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from events import sqlite_schema
from events.envelope import Envelope

FOLDER = Path(__file__).parent / "golden"


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def rows(name: str) -> Iterator[sqlite_schema.Row]:
    """The stored rows themselves: payload and hash are the bytes that were written."""
    for line in (FOLDER / f"{name}.jsonl").read_text("ascii").splitlines():
        *head, payload, digest = json.loads(line)
        yield (*head, base64.b64decode(payload), base64.b64decode(digest))


def envelopes(name: str) -> list[Envelope]:
    return [sqlite_schema.to_envelope(row) for row in rows(name)]


def write(name: str, stored: Iterable[sqlite_schema.Row]) -> None:
    lines = []
    for *head, payload, digest in stored:
        coded = [base64.b64encode(part).decode("ascii") for part in (payload, digest)]
        lines.append(json.dumps([*head, *coded]))
    (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "ascii")


def to_database(path: Path, stored: Iterable[sqlite_schema.Row]) -> None:
    """The rows as a log file, whatever they are: tests tamper with them first."""
    with sqlite3.connect(path) as database:
        database.execute(sqlite_schema.CREATE)
        for index in sqlite_schema.INDEXES:
            database.execute(index)
        database.execute(f"PRAGMA application_id={sqlite_schema.APPLICATION_ID}")
        database.execute(f"PRAGMA user_version={sqlite_schema.FORMAT}")
        database.executemany("INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?)", stored)
    database.close()
