"""The step trace has one schema for every driver, every kind of step and every call (S4 W4)."""

import hashlib
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.actors.rules.tools.tool_table import TOOLS, tool_of
from rutter.events.action import kind_of
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.executor import ActionFailed, PersonActed, QueryAnswered, QueryFailed
from rutter.events.faults import fault_of
from rutter.events.observer import BrowserLost, PageObserved, ScreenshotTaken
from rutter.events.planner import PlanProposed
from rutter.events.signature import signature
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
)
from rutter.replay.fold import hears
from rutter.replay.projections.projection import Entry, Projection

EFFECTS = {ActionApproved: "allow", ApprovalRequested: "ask", ActionRejected: "deny"}
LISTS = ("artifacts", "policy_flags")  # of texts, as JSON
# The last try of a step, or whatever came last where an event names none.
_LAST = (
    "rowid = (SELECT rowid FROM step_trace WHERE run_id = ? AND step_id = coalesce(?, step_id) "
    "ORDER BY n DESC LIMIT 1)"
)
# A call that has led to no step yet. One call is worked on at a time: the first of them.
_CALLED = (
    "rowid = (SELECT rowid FROM step_trace WHERE run_id = ? AND call != '' AND step_id = 0 "
    "AND status = 'open' ORDER BY n LIMIT 1)"
)


class StepTraceTable(Projection):
    """A row for every try of a step, and for every call that led to none: its `step_id` is 0. `n`
    is where in the session it began."""

    name: ClassVar[str] = "step_trace"
    tables: ClassVar[Mapping[str, str]] = {
        "step_trace": """
            run_id TEXT NOT NULL, n INTEGER NOT NULL, step_id INTEGER NOT NULL,
            attempt INTEGER NOT NULL, call TEXT NOT NULL, tool_name TEXT NOT NULL,
            args_hash TEXT NOT NULL, duration_ms INTEGER, status TEXT NOT NULL, error_code TEXT,
            artifacts TEXT NOT NULL DEFAULT '[]', policy_flags TEXT NOT NULL DEFAULT '[]',
            render_mode TEXT NOT NULL DEFAULT 'dom', started_ns INTEGER NOT NULL,
            kind TEXT NOT NULL, PRIMARY KEY (run_id, n)""",
    }

    @hears
    def _called(self, entry: Entry, called: ToolCalled) -> None:
        tool = TOOLS.get(called.tool)
        row = (0, called.attempt, called.call, called.tool, _hash(called.arguments))
        _insert(entry, row, tool.kind if tool is not None else "control")

    @hears
    def _begun(self, entry: Entry, begun: PlanProposed | PersonActed) -> None:
        """A call becomes the step that it leads to. A proposal that corrects the one before it
        (another action, same attempt) takes its place."""
        session, step, digest = entry.session, begun.step, _hash(signature(begun.action))
        attempt = begun.attempt if isinstance(begun, PlanProposed) else 1
        by_call = isinstance(begun, PlanProposed) and begun.driver in ("agent", "model")
        became = by_call and entry.db.execute(
            "UPDATE step_trace SET step_id = ?, attempt = ?, args_hash = ?, kind = ? "
            f"WHERE {_CALLED}",
            (step, attempt, digest, kind_of(begun.action), session),
        )
        if became and became.rowcount:
            return
        earlier = entry.db.execute(
            "SELECT call, attempt FROM step_trace WHERE run_id = ? AND step_id = ? "
            "ORDER BY n DESC LIMIT 1",
            (session, step),
        ).fetchone()
        call, before = earlier or ("", 0)
        if before == attempt:
            entry.db.execute(f"DELETE FROM step_trace WHERE {_LAST}", (session, step))
        row = (step, attempt, call, tool_of(begun.action.type), digest)
        _insert(entry, row, kind_of(begun.action))

    @hears
    def _ruled(self, entry: Entry, by: ActionApproved | ApprovalRequested | ActionRejected) -> None:
        _append(entry, "policy_flags", f"{EFFECTS[type(by)]}:{by.rule}", by.step)
        if isinstance(by, ActionRejected):
            _close(entry, by.step, "rejected", by.code)

    @hears
    def _withheld(self, entry: Entry, by: ActionWithheld) -> None:
        _close(entry, by.step, "withheld")

    @hears
    def _pictured(self, entry: Entry, seen: PageObserved | ScreenshotTaken) -> None:
        artifact = seen.screenshot if isinstance(seen, PageObserved) else seen.artifact
        if artifact is not None:
            _append(entry, "artifacts", artifact.sha256)

    @hears
    def _started(self, entry: Entry, intent: ActionStarted) -> None:
        if intent.irreversible:
            _append(entry, "policy_flags", "irreversible", intent.step)

    @hears
    def _failed(self, entry: Entry, failed: ActionFailed) -> None:
        _fail(entry, fault_of(failed.code).error_code, failed.step)

    @hears
    def _lost(self, entry: Entry, lost: BrowserLost) -> None:
        _fail(entry, "tool_unavailable")

    @hears
    def _judged(self, entry: Entry, judged: ActionJudged) -> None:
        status = "ok" if judged.verdict == "confirmed" else judged.verdict
        _close(entry, judged.step, status)

    @hears
    def _queried(self, entry: Entry, query: QueryAnswered | QueryFailed) -> None:
        if isinstance(query, QueryFailed):
            _close(entry, query.step, "failed", fault_of(query.code).error_code)
        else:
            _close(entry, query.step, "ok")
            for picture in query.pictures:
                _append(entry, "artifacts", picture.sha256, query.step)
            mode = f"UPDATE step_trace SET render_mode = ? WHERE {_LAST}"
            entry.execute(mode, query.render_mode, entry.session, query.step)

    @hears
    def _unknown(self, entry: Entry, by: OutcomeUnknown) -> None:
        _close(entry, by.step, "unknown")

    @hears
    def _answered(self, entry: Entry, end: ToolAnswered) -> None:
        """What led to no step, and what was not over when its time was up. `error_code` is of what
        the caller was told, unless the step itself says more."""
        entry.db.execute(
            "UPDATE step_trace SET status = CASE status WHEN 'open' THEN ? ELSE status END, "
            "error_code = coalesce(error_code, ?), render_mode = ?, duration_ms = "
            "coalesce(duration_ms, (? - started_ns) / 1000000) WHERE run_id = ? AND call = ?",
            (
                "ok" if end.success else "failed",
                end.error_code or None,
                end.render_mode,
                entry.at_ns,
                entry.session,
                end.call,
            ),
        )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _insert(entry: Entry, row: tuple[int, int, str, str, str], kind: str) -> None:
    entry.db.execute(
        "INSERT INTO step_trace (run_id, n, step_id, attempt, call, tool_name, args_hash, status, "
        "started_ns, kind) VALUES (?, ?, ?, ?, ?, ?, ?, 'open', ?, ?)",
        (entry.session, entry.envelope.n, *row, entry.at_ns, kind),
    )


def _append(entry: Entry, column: str, value: str, step: int | None = None) -> None:
    where = (entry.session, step)
    row = entry.db.execute(f"SELECT {column} FROM step_trace WHERE {_LAST}", where).fetchone()
    if row is not None:
        listed = [*msgspec.json.decode(row[0], type=list[str]), value]
        encoded = msgspec.json.encode(listed).decode()
        entry.db.execute(f"UPDATE step_trace SET {column} = ? WHERE {_LAST}", (encoded, *where))


def _fail(entry: Entry, code: str, step: int | None = None) -> None:
    entry.db.execute(
        f"UPDATE step_trace SET error_code = ? WHERE {_LAST}", (code, entry.session, step)
    )


def _close(entry: Entry, step: int, status: str, code: str | None = None) -> None:
    entry.db.execute(
        "UPDATE step_trace SET status = ?, error_code = coalesce(?, error_code), "
        f"duration_ms = (? - started_ns) / 1000000 WHERE status = 'open' AND {_LAST}",
        (status, code, entry.at_ns, entry.session, step),
    )
