"""Reading a log beside its writer, or with no writer at all: read-only, and nothing awaits."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from events import sqlite_schema as schema
from events.envelope import Envelope
from events.errors import BadInput

PAGE = 1_000


class SqliteReader:
    """Sees what was durable when a page was read; never takes a lock that a writer waits for."""

    def __init__(self, path: Path) -> None:
        if not schema.check_file(path):
            raise BadInput(f"there is no log at {path}", "record something first, or name --data")
        self._path = path
        try:
            self._connection = schema.open_read_only(path)
        except sqlite3.Error as error:
            raise schema.open_error(error, path) from error

    def last_seq(self) -> int:
        return int(self._query("SELECT max(seq) FROM events")[0][0] or 0)

    def rows(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[schema.Row]:
        """The stored rows themselves, for checks that must not trust the decoder."""
        for page in self._pages(after, session, kinds):
            yield from page

    def _pages(
        self, after: int, session: str | None, kinds: Sequence[str] | None
    ) -> Iterator[list[schema.Row]]:
        """A page a query, so that no read transaction stands open while its rows are worked on."""
        while True:
            sql, parameters = schema.select(after, session, kinds, PAGE)
            page: list[schema.Row] = self._query(sql, parameters)
            if page:
                yield page
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def read(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[Envelope]:
        for page in self._pages(after, session, kinds):
            for row in page:
                yield schema.to_envelope(row)

    def _query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise schema.open_error(error, self._path) from error

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "SqliteReader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
