"""The one judge of all crash tests: what is wrong with a log that was found after a crash."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from rutter.events import sqlite_schema as schema
from rutter.events.errors import BadInput, LogCorrupt, RutterError
from rutter.events.executor import ActionDone
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from tests.crash.workload import Ack
from tests.support.chain_links import check_link
from tests.support.envelopes import Scribe, marked_turn


class Problem(NamedTuple):
    kind: Literal["unreadable", "gap", "half turn", "broken chain", "lost", "stuck"]
    what: str


def find_problems(path: Path, acks: Sequence[Ack]) -> list[Problem]:
    """Reads the log as it was found, then opens it, writes on, and reads it again."""
    try:
        rows = read_rows(path)
        found = [*_disorder(rows), *_lost(rows, acks)]
        asyncio.run(_write_on(path, len(rows)))
        after = read_rows(path)
    except (RutterError, sqlite3.Error) as error:
        return [Problem("unreadable", str(error))]
    if after[: len(rows)] != rows or len(after) != len(rows) + 2:
        found.append(Problem("stuck", f"{len(rows)} events became {len(after)} on writing 2 more"))
    return [*found, *_disorder(after)]


def read_rows(path: Path) -> list[schema.Row]:
    try:
        with SqliteReader(path) as reader:
            return list(reader.rows())
    except BadInput:  # the power went before there was a log
        return []


def _disorder(rows: Sequence[schema.Row]) -> Iterator[Problem]:
    heads: dict[str, tuple[int, bytes | None]] = {}
    for place, row in enumerate(rows, start=1):
        envelope, payload = schema.to_envelope(row), row[7]
        n, previous = heads.get(envelope.session, (0, None))
        if envelope.seq != place or envelope.n != n + 1:
            yield Problem("gap", f"event {envelope.seq} is at place {place}")
        try:
            check_link(previous, envelope, payload)
        except LogCorrupt as error:
            yield Problem("broken chain", error.what)
        heads[envelope.session] = envelope.n, envelope.hash
        yield from _half_turn(envelope.seq, envelope.event, is_last=place == len(rows))


def _half_turn(seq: int, event: object, is_last: bool) -> Iterator[Problem]:
    """`marked_turn` names a turn by its first position and says how many events it has."""
    assert isinstance(event, ActionDone)
    ends = event.attempt + 1 == event.took_us
    if event.step + event.attempt != seq or (is_last and not ends):
        yield Problem("half turn", f"event {seq} is {event.attempt + 1} of {event.took_us}")


def _lost(rows: Sequence[schema.Row], acks: Sequence[Ack]) -> Iterator[Problem]:
    for ack in acks:
        if ack.seq > len(rows) or rows[ack.seq - 1][8] != ack.hash:
            yield Problem("lost", f"event {ack.seq} was acknowledged")


async def _write_on(path: Path, found: int) -> None:
    log = await SqliteLog.open(path)
    try:
        session = f"after-{found}"
        await log.append(
            Scribe(log.next_seq).turn(session, marked_turn(found + 1, ["on", "we go"]))
        )
    finally:
        await log.close()
