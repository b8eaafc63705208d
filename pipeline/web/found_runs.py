"""Found runs are rows of the sessions table: some of them, newest first, page by page.

A page costs its rows, and not the log: it goes on behind the key of the last one.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import msgspec

from rutter.events.errors import BadInput
from rutter.replay.projections import ProjectionStore

PAGE = 50
SHOWN = 3  # values in a row: the others are on the page of the run
# What a filter by outcome means in the table.
OUTCOMES = {
    "done": "reason = 'completed'",
    "unproven": "reason = 'completed_unverified'",
    "failed": "reason NOT IN ('completed', 'completed_unverified', 'cancelled', 'interrupted', "
    "'erased') AND coalesce(failure, '') != 'needs_person'",
    "needs_person": "failure = 'needs_person'",
    "stopped": "reason IN ('cancelled', 'interrupted')",
    "running": "reason IS NULL",
}


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter is what a person asks for; what is empty is not asked."""

    workflow: str = ""
    outcome: str = ""
    driver: str = ""
    value: str = ""
    day: str = ""
    before: int = 0

    def conditions(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        if self.workflow:
            yield "name = ?", (self.workflow,)
        if self.outcome:
            yield OUTCOMES.get(self.outcome, "0"), ()
        if self.driver:
            yield "driver = ?", (self.driver,)
        if self.value:
            among = "SELECT 1 FROM json_each(vals) WHERE instr(lower(value), lower(?))"
            either = f"EXISTS ({among}) OR instr(lower(goal), lower(?)) OR session = ?"
            yield either, (self.value,) * 3
        if self.day:
            yield "started_ns >= ? AND started_ns < ?", _day(self.day)
        if self.before:
            yield "seq < ?", (self.before,)

    def asked(self) -> dict[str, str]:
        """What stands in the address of the next page, its key aside."""
        return {k: v for k, v in msgspec.structs.asdict(self).items() if v and k != "before"}


def _day(said: str) -> tuple[int, int]:
    try:
        began = datetime.combine(date.fromisoformat(said), time.min).astimezone()
    except ValueError:
        raise BadInput(f"{said!r} is no day", "write it as 2026-03-16") from None
    ended = datetime.combine(began.date() + timedelta(days=1), time.min).astimezone()
    return int(began.timestamp()) * 10**9, int(ended.timestamp()) * 10**9


def find_runs(
    store: ProjectionStore, wanted: RunFilter, at_most: int = PAGE
) -> tuple[list[dict[str, Any]], int]:
    """The rows, and behind which key there are more: 0 where there are none."""
    asked = list(wanted.conditions())
    where = " AND ".join(f"({sql})" for sql, _ in asked) or "1"
    values = [value for _, given in asked for value in given]
    sql = f"SELECT * FROM sessions WHERE {where} ORDER BY seq DESC LIMIT ?"
    rows = [_row(each) for each in store.rows(sql, *values, at_most + 1)]
    more = len(rows) > at_most
    return rows[:at_most], rows[at_most - 1]["seq"] if more else 0


def _row(found: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, str] = msgspec.json.decode(found["vals"])
    ended = found["ended_ns"]
    took = (ended - found["started_ns"]) / 1e6 if ended else None
    return {
        **found,
        "title": found["name"] or found["goal"] or "Without a name",
        "values": list(values.items())[:SHOWN],
        "left_out": max(0, len(values) - SHOWN),
        "took_ms": took,
    }


def names_of(store: ProjectionStore) -> list[str]:
    """Every workflow that a run can be filtered by."""
    known = store.db.execute("SELECT DISTINCT name FROM workflows ORDER BY name")
    return [name for (name,) in known]
