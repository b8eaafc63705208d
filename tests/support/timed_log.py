"""A log on disk is written event by event, at times of the test's choosing, with a true chain."""

import sqlite3
from pathlib import Path
from types import TracebackType

from rutter.events import sqlite_schema
from rutter.events.chain import GENESIS, link
from rutter.events.codec import encode
from rutter.events.envelope import Actor, kind
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent

BEGIN_NS = 1_700_000_000_000_000_000
SESSION = "run-1"


class Ledger:
    """A ledger syncs nothing: tests here ask what events mean, not whether they last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        sqlite_schema.create_file(path)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA synchronous=OFF")
        self._heads: dict[str, tuple[int, bytes]] = {}
        self._seq = 0
        self.ms = 0

    def write(
        self, *events: AnyEvent, session: str = SESSION, ms: int = 0, actor: Actor = "runtime"
    ) -> None:
        """Each event `ms` milliseconds after the one before it."""
        with self._db:
            for event in events:
                self.ms += ms
                self._insert(event, session, actor)

    def reader(self) -> SqliteReader:
        return SqliteReader(self.path)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _insert(self, event: AnyEvent, session: str, actor: Actor) -> None:
        n, previous = self._heads.get(session, (0, GENESIS))
        n, payload, at_ns = n + 1, encode(event), BEGIN_NS + self.ms * 1_000_000
        digest = link(
            previous,
            session=session,
            n=n,
            at_ns=at_ns,
            actor=actor,
            cause=n - 1,
            kind=kind(event),
            payload=payload,
        )
        self._seq += 1
        self._heads[session] = n, digest
        row = (self._seq, session, n, at_ns, actor, n - 1, kind(event), payload, digest)
        self._db.execute(f"INSERT INTO events VALUES ({','.join('?' * len(row))})", row)
