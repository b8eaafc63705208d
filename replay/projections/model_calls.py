"""The model calls table says what language models were asked, and what that cost (G6): one row a
call, from its request on.

A call counts when it is asked for, so that one which is never heard of again is not forgotten.
Beside it, whose plan each step was: how often nobody had to be asked at all.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any, ClassVar

from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    VisionGiven,
)
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.event import Event
from rutter.events.executor import QueryAnswered
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.replay.projections.metrics import only_checks, ratio
from rutter.replay.story.cost import is_call, is_priced

PLANNERS = ("workflow", "prediction", "model")  # who plans by itself: see `hybrid`


class ModelCallsTable:
    name: ClassVar[str] = "model_calls"
    folds: ClassVar[frozenset[type[Event]]] = frozenset(
        {
            AdviceRequested,
            AdvicePrepared,
            AdviceReceived,
            AdviceFailed,
            AdviceLost,
            VisionGiven,
            PlanProposed,
            ActionJudged,
            QueryAnswered,
        }
    )
    tables: ClassVar[Mapping[str, str]] = {
        # `ok` is null as long as there is no answer; `error` says why there will be none.
        "model_calls": """
            session TEXT NOT NULL, n INTEGER NOT NULL, at_ns INTEGER NOT NULL,
            request TEXT NOT NULL, purpose TEXT NOT NULL, step INTEGER NOT NULL,
            correction INTEGER NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
            attempt INTEGER NOT NULL, estimated_tokens INTEGER, ok INTEGER, ending TEXT,
            error TEXT, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL, kept_tokens INTEGER NOT NULL,
            cost_microdollars INTEGER NOT NULL, priced INTEGER NOT NULL, took_ms INTEGER,
            PRIMARY KEY (session, n)""",
        "planned_by": """
            session TEXT NOT NULL, step INTEGER NOT NULL, driver TEXT NOT NULL,
            done INTEGER NOT NULL, PRIMARY KEY (session, step)""",
    }

    def apply(self, db: sqlite3.Connection, envelope: Envelope) -> None:
        match envelope.event:
            case AdviceRequested() as request:
                _ask(db, envelope, request)
            case AdvicePrepared(request=name, tokens=tokens):
                _update(db, envelope, name, estimated_tokens=tokens)
            case AdviceReceived() as answer:
                _receive(db, envelope, answer)
            case AdviceFailed(code=code, took_ms=took) as failed:
                _end(db, envelope, failed, error=code, took_ms=took, provider=failed.provider)
            case AdviceLost() as lost:
                _end(db, envelope, lost, error="lost")
            case VisionGiven() as given if is_call(given):
                _look(db, envelope, given)
            case PlanProposed() as plan if not only_checks(plan):
                db.execute(
                    "INSERT INTO planned_by VALUES (?, ?, ?, 0) "
                    "ON CONFLICT DO UPDATE SET driver = excluded.driver",
                    (envelope.session, plan.step, plan.driver),
                )
            case ActionJudged(step=step, verdict="confirmed") | QueryAnswered(step=step):
                db.execute(
                    "UPDATE planned_by SET done = 1 WHERE session = ? AND step = ?",
                    (envelope.session, step),
                )
            case _:
                pass


def spending(db: sqlite3.Connection) -> dict[str, Any]:
    """Calls, tokens, time and money over the whole log, and the same by provider and model."""
    found = _sums(db, "")
    return {
        **found[0],
        "providers": _sums(db, "provider, model"),
        **hybrid(db),
    }


def hybrid(db: sqlite3.Connection) -> dict[str, Any]:
    """Steps that came to what they were for, by who planned them. `hit_rate` is the share that
    took no model; there is none without steps."""
    counted = dict.fromkeys(PLANNERS, 0)
    found = "SELECT driver, count(*) FROM planned_by WHERE done GROUP BY driver"
    for driver, count in db.execute(found):
        if driver in counted:
            counted[driver] = count
    steps = sum(counted.values())
    alone = steps - counted["model"]
    return {"steps_by_driver": counted, "hit_rate": ratio(alone, steps) if steps else None}


def _sums(db: sqlite3.Connection, by: str) -> list[dict[str, Any]]:
    columns = f"{by}, " if by else ""
    grouped = f"GROUP BY {by} ORDER BY {by}" if by else ""
    cursor = db.execute(
        f"SELECT {columns}count(*) AS calls, coalesce(sum(ok IS 0), 0) AS failed, "
        "coalesce(sum(input_tokens), 0) AS input_tokens, "
        "coalesce(sum(output_tokens), 0) AS output_tokens, "
        "coalesce(sum(cached_tokens), 0) AS cached_tokens, "
        "coalesce(sum(kept_tokens), 0) AS kept_tokens, "
        "coalesce(sum(cost_microdollars), 0) AS cost_microdollars, "
        "coalesce(sum(NOT priced), 0) AS unpriced, coalesce(sum(took_ms), 0) AS took_ms "
        f"FROM model_calls {grouped}"
    )
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _ask(db: sqlite3.Connection, envelope: Envelope, request: AdviceRequested) -> None:
    _insert(
        db,
        envelope,
        request.request,
        purpose=request.purpose,
        step=request.step,
        correction=request.correction,
        provider=request.provider,
        model=request.model,
        attempt=request.attempt,
    )


def _receive(db: sqlite3.Connection, envelope: Envelope, answer: AdviceReceived) -> None:
    _end(
        db,
        envelope,
        answer,
        error="invalid" if answer.invalid else "",
        ending=answer.ending,
        provider=answer.provider,
        model=answer.model,
        cost_microdollars=answer.cost_microdollars,
        took_ms=answer.took_ms,
        **_tokens(answer.usage),
    )


def _look(db: sqlite3.Connection, envelope: Envelope, given: VisionGiven) -> None:
    """Asked and answered in one: whoever looks at a picture is told of when they have."""
    _insert(
        db,
        envelope,
        "",
        purpose="vision",
        step=given.step,
        provider=given.provider,
        model=given.model,
        ok=given.error is None,
        error=given.error or "",
        cost_microdollars=given.cost_microdollars,
        priced=is_priced(given),
        took_ms=given.took_ms,
        **_tokens(given.usage),
    )


def _tokens(usage: TokenUsage) -> dict[str, object]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "kept_tokens": usage.kept,
    }


def _end(
    db: sqlite3.Connection,
    envelope: Envelope,
    end: AdviceReceived | AdviceFailed | AdviceLost,
    *,
    error: str,
    **columns: object,
) -> None:
    _update(db, envelope, end.request, ok=not error, error=error, priced=is_priced(end), **columns)


def _update(db: sqlite3.Connection, envelope: Envelope, request: str, **columns: object) -> None:
    """The call that has this name and no answer yet; if that was erased, it begins here."""
    row = db.execute(
        "SELECT max(n) FROM model_calls WHERE session = ? AND request = ? AND ok IS NULL",
        (envelope.session, request),
    ).fetchone()
    if row[0] is None:
        _insert(db, envelope, request, **columns)
        return
    updates = ", ".join(f"{name} = ?" for name in columns)
    db.execute(
        f"UPDATE model_calls SET {updates} WHERE session = ? AND n = ?",
        (*columns.values(), envelope.session, row[0]),
    )


UNKNOWN: Mapping[str, object] = {
    "purpose": "",
    "step": 0,
    "correction": 0,
    "provider": "",
    "model": "",
    "attempt": 1,
    "input_tokens": 0,
    "output_tokens": 0,
    "cached_tokens": 0,
    "kept_tokens": 0,
    "cost_microdollars": 0,
    "priced": False,
}


def _insert(db: sqlite3.Connection, envelope: Envelope, request: str, **columns: object) -> None:
    own = {
        "session": envelope.session,
        "n": envelope.n,
        "at_ns": envelope.at_ns,
        "request": request,
    }
    row = {**UNKNOWN, **own, **columns}
    places = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO model_calls ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
