"""The spans table holds what `rutter trace` sends, for whoever would rather ask with SQL.

A span is finished when its session is, so this folds a whole session at its end instead of keeping
half-made spans between events.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from rutter.events.envelope import Envelope
from rutter.replay.traces import Span, spans_of

STATUS = ("unset", "ok", "error")


class SpansTable:
    name: ClassVar[str] = "spans"
    tables: ClassVar[Mapping[str, str]] = {
        "spans": """
            trace_id TEXT NOT NULL, span_id TEXT NOT NULL, parent_id TEXT NOT NULL,
            session TEXT NOT NULL, name TEXT NOT NULL, start_ns INTEGER NOT NULL,
            end_ns INTEGER NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL,
            attributes TEXT NOT NULL, links TEXT NOT NULL, PRIMARY KEY (trace_id, span_id)""",
    }

    def fold_session(
        self, db: sqlite3.Connection, session: str, events: Iterable[Envelope]
    ) -> None:
        db.executemany(
            "INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_row(session, span) for span in spans_of(events)],
        )


def _row(session: str, span: Span) -> tuple[object, ...]:
    links = [
        {"trace_id": link.trace_id.hex(), "span_id": link.span_id.hex(), "why": link.why}
        for link in span.links
    ]
    return (
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_id.hex(),
        session,
        span.name,
        span.start_ns,
        span.end_ns,
        STATUS[span.status],
        span.message,
        msgspec.json.encode(span.attributes, order="sorted").decode(),
        msgspec.json.encode(links).decode(),
    )
