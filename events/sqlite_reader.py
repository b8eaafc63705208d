"""The reader reads a log beside its writer or without one: read-only, and nothing awaits."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rutter.events import sqlite_schema as schema
from rutter.events.durable import disk_error
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput

PAGE = 1_000
COPY_PAGES = 1_000  # of the database, between two words about how far a copy is


class SqliteReader:
    """A reader sees what was durable when a page was read; no writer waits for its locks."""

    def __init__(self, path: Path, *, damaged: bool = False) -> None:
        """With `damaged`, text that is not UTF-8 is handed on for a check to name."""
        if not schema.check_file(path):
            raise BadInput(f"there is no log at {path}", "record something first, or name --data")
        self._path = path
        try:
            self._connection = schema.open_read_only(path)
        except sqlite3.Error as error:
            raise schema.open_error(error, path) from error
        if damaged:
            self._connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read inside is the log of one moment, whatever is appended meanwhile."""
        self.query("BEGIN")
        try:
            self.last_seq()  # it is the first read that takes it, not the BEGIN
            yield
        finally:
            self._connection.rollback()

    def last_seq(self) -> int:
        return int(self.query("SELECT max(seq) FROM events")[0][0] or 0)

    def rows(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[schema.Row]:
        """The stored rows themselves, for checks that must not trust the decoder. A page a query:
        no read transaction stands open while its rows are worked on."""
        while True:
            sql, parameters = schema.select(after, session, kinds, PAGE)
            page: list[schema.Row] = self.query(sql, *parameters)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[Envelope]:
        return map(schema.to_envelope, self.rows(after, session=session, kinds=kinds))

    def query(self, sql: str, *parameters: Any) -> list[Any]:
        """Rows of any question about the `events` table."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise schema.open_error(error, self._path) from error

    def damage(self) -> str:
        """What SQLite finds wrong with the file and its indexes; empty when nothing is."""
        found = str(self.query("PRAGMA integrity_check(1)")[0][0])
        return "" if found == "ok" else found

    def foreign_parts(self) -> list[str]:
        """What of the database is not as it was made: a trigger would change what is written next,
        a view or an index what is read."""
        found = self.query("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        there = {" ".join(sql.split()): f"the {kind} {name}" for kind, name, sql in found}
        made = {" ".join(sql.split()) for sql in (schema.CREATE, *schema.INDEXES)}
        strange = [what for sql, what in there.items() if sql not in made]
        lacking = [sql[:60] for sql in made if sql not in there]
        settings = [
            f"{name} is {is_now}"
            for name, wanted in schema.LASTING.items()
            if (is_now := self.query(f"PRAGMA {name}")[0][0]) != wanted
        ]
        return [
            *(f"it holds {what}, which is not ours" for what in strange),
            *(f"it lacks: {sql}" for sql in sorted(lacking)),
            *settings,
        ]

    def copy_to(self, place: Path, progress: Callable[[int, int], None]) -> None:
        """The whole log in a new file, beside a writer. One file: its journal is folded in."""
        try:
            place.touch(mode=0o600, exist_ok=False)
            with closing(sqlite3.connect(place, isolation_level=None)) as copy:
                self._connection.backup(
                    copy, pages=COPY_PAGES, progress=lambda _, left, of: progress(of - left, of)
                )
                copy.execute("PRAGMA journal_mode=DELETE").fetchall()
        except sqlite3.Error as error:
            raise schema.open_error(error, place) from error
        except OSError as error:
            raise disk_error(error, place) from error

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "SqliteReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
