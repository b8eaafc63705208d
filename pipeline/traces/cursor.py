"""A cursor says how far the traces are out, for each place they go to: a small file that may be
lost.

Losing it sends everything once more. The ids are derived, so that nobody is the worse for it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from rutter.events.errors import WorldBroken

FILE: Final = "traces.db"
LOCKED_MS: Final = 2000  # whoever else holds it moves a position, which is a moment
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS cursor (
    target TEXT PRIMARY KEY, position INTEGER NOT NULL, since INTEGER NOT NULL, hash BLOB NOT NULL
)
"""


class Position(msgspec.Struct, frozen=True):
    """A target has accepted every span that was finished at `position`.

    `since` is where the oldest session begins that was open then: a fold goes on from there. `hash`
    is that of the event at `position`: another log under the same name is told by it.
    """

    position: int = 0
    since: int = 1
    hash: bytes = b""


class Cursor:
    """A cursor is one target's position. Any process may move it; it only goes forward."""

    def __init__(self, path: Path, target: str) -> None:
        self._path = path
        self._target = target
        with self._open() as db:
            db.execute(_TABLE)

    def read(self) -> Position:
        wanted = "SELECT position, since, hash FROM cursor WHERE target = ?"
        with self._open() as db:
            row = db.execute(wanted, (self._target,)).fetchone()
        return Position(*row) if row is not None else Position()

    def move(self, to: Position) -> None:
        with self._open() as db:
            db.execute(
                "INSERT INTO cursor VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "position = excluded.position, since = excluded.since, hash = excluded.hash "
                "WHERE excluded.position > position",
                (self._target, to.position, to.since, to.hash),
            )

    def forget(self) -> None:
        """From the beginning again."""
        with self._open() as db:
            db.execute("DELETE FROM cursor WHERE target = ?", (self._target,))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for a moment: a position moves once a batch, in whatever thread."""
        try:
            self._path.touch(mode=0o600)
            with closing(sqlite3.connect(self._path, isolation_level=None)) as db:
                db.execute(f"PRAGMA busy_timeout={LOCKED_MS}")
                db.execute("PRAGMA synchronous=OFF")  # what is lost here costs a repeat
                yield db
        except (sqlite3.Error, OSError) as error:
            raise WorldBroken(
                f"{self._path} cannot be used ({error})", "delete it: traces are sent once more"
            ) from error
