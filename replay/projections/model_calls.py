"""The model calls table says what language models were asked, and what that cost (G6): one row a
call, from its request on.

A call counts when it is asked for, so that one which is never heard of again is not forgotten.
Beside it, whose plan each step was: how often nobody had to be asked at all.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any, ClassVar

from rutter.events.advisor import (
    TESSERACT,
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    VisionGiven,
)
from rutter.events.critic import ActionJudged
from rutter.events.executor import QueryAnswered
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.replay.accuracy.threshold_curve import ratio
from rutter.replay.fold import hears
from rutter.replay.projections.metrics import only_checks
from rutter.replay.projections.projection import Entry, Projection, named_rows
from rutter.replay.story.cost import is_call, is_priced

ASKED = ("request", "purpose", "step", "correction", "provider", "model", "attempt")
PLANNERS = ("workflow", "prediction", "model")  # who plans by itself: see `hybrid`


class ModelCallsTable(Projection):
    name: ClassVar[str] = "model_calls"
    tables: ClassVar[Mapping[str, str]] = {
        # `ok` is null as long as there is no answer; `error` says why there will be none.
        "model_calls": """
            session TEXT NOT NULL, n INTEGER NOT NULL, at_ns INTEGER NOT NULL,
            request TEXT NOT NULL, purpose TEXT NOT NULL DEFAULT '',
            step INTEGER NOT NULL DEFAULT 0, correction INTEGER NOT NULL DEFAULT 0,
            provider TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '',
            attempt INTEGER NOT NULL DEFAULT 1, estimated_tokens INTEGER, ok INTEGER, ending TEXT,
            error TEXT, input_tokens INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0,
            kept_tokens INTEGER NOT NULL DEFAULT 0, cost_microdollars INTEGER NOT NULL DEFAULT 0,
            priced INTEGER NOT NULL DEFAULT 0, took_ms INTEGER, PRIMARY KEY (session, n)""",
        "planned_by": """
            session TEXT NOT NULL, step INTEGER NOT NULL, driver TEXT NOT NULL,
            done INTEGER NOT NULL, PRIMARY KEY (session, step)""",
    }

    @hears
    def _ask(self, entry: Entry, request: AdviceRequested) -> None:
        _insert(entry, **{name: getattr(request, name) for name in ASKED})

    @hears
    def _prepare(self, entry: Entry, prepared: AdvicePrepared) -> None:
        _update(entry, prepared.request, estimated_tokens=prepared.tokens)

    @hears
    def _receive(self, entry: Entry, answer: AdviceReceived) -> None:
        known = {"ending": answer.ending, "provider": answer.provider, "model": answer.model}
        spent = {"cost_microdollars": answer.cost_microdollars, **_tokens(answer.usage)}
        error = "invalid" if answer.invalid else ""
        _end(entry, answer, error, took_ms=answer.took_ms, **known, **spent)

    @hears
    def _fail(self, entry: Entry, failed: AdviceFailed) -> None:
        _end(entry, failed, failed.code, took_ms=failed.took_ms, provider=failed.provider)

    @hears
    def _lose(self, entry: Entry, lost: AdviceLost) -> None:
        _end(entry, lost, "lost")

    @hears
    def _look(self, entry: Entry, given: VisionGiven) -> None:
        """Asked and answered in one: whoever looks at a picture is told of when they have."""
        if not is_call(given):
            return
        _insert(
            entry,
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

    @hears
    def _plan(self, entry: Entry, plan: PlanProposed) -> None:
        if not only_checks(plan):
            entry.execute(
                "INSERT INTO planned_by VALUES (?, ?, ?, 0) "
                "ON CONFLICT DO UPDATE SET driver = excluded.driver",
                entry.session,
                plan.step,
                plan.driver,
            )

    @hears
    def _come_to(self, entry: Entry, end: ActionJudged | QueryAnswered) -> None:
        if entry.step is not None and entry.step.done:
            done = "UPDATE planned_by SET done = 1 WHERE session = ? AND step = ?"
            entry.execute(done, entry.session, end.step)


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
    return named_rows(
        db.execute(
            f"SELECT {columns}count(*) AS calls, coalesce(sum(ok IS 0), 0) AS failed, "
            "coalesce(sum(input_tokens), 0) AS input_tokens, "
            "coalesce(sum(output_tokens), 0) AS output_tokens, "
            "coalesce(sum(cached_tokens), 0) AS cached_tokens, "
            "coalesce(sum(kept_tokens), 0) AS kept_tokens, "
            "coalesce(sum(cost_microdollars), 0) AS cost_microdollars, "
            "coalesce(sum(NOT priced), 0) AS unpriced, coalesce(sum(took_ms), 0) AS took_ms "
            f"FROM model_calls WHERE provider != '{TESSERACT}' {grouped}"
        )
    )


def _tokens(usage: TokenUsage) -> dict[str, object]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "kept_tokens": usage.kept,
    }


def _end(
    entry: Entry,
    end: AdviceReceived | AdviceFailed | AdviceLost,
    error: str,
    **columns: object,
) -> None:
    _update(entry, end.request, ok=not error, error=error, priced=is_priced(end), **columns)


def _update(entry: Entry, request: str, **columns: object) -> None:
    """The call that has this name and no answer yet; if that was erased, it begins here."""
    row = entry.execute(
        "SELECT max(n) FROM model_calls WHERE session = ? AND request = ? AND ok IS NULL",
        entry.session,
        request,
    ).fetchone()
    if row[0] is None:
        _insert(entry, request, **columns)
        return
    updates = ", ".join(f"{name} = ?" for name in columns)
    changed = f"UPDATE model_calls SET {updates} WHERE session = ? AND n = ?"
    entry.execute(changed, *columns.values(), entry.session, row[0])


def _insert(entry: Entry, request: str, **columns: object) -> None:
    own = {"session": entry.session, "n": entry.envelope.n, "at_ns": entry.at_ns}
    entry.insert("model_calls", **own, request=request, **columns)
