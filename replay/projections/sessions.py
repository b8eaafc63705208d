"""The sessions table holds one row a session, from its start to its end.

`done` of its `proposed` steps were confirmed or, where they only read, answered. A model call
counts from when it is asked for; what `unpriced` of them cost is not known, or not yet. What a
session taught counts until it is forgotten. `paused` says by whom, as long as it is. `sent`:
something that cannot be undone was done, or may have been.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived, VisionGiven
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import kind
from rutter.events.executor import ActionFailed, PersonActed, QueryAnswered
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import SessionForgotten
from rutter.events.runtime import (
    PayloadGone,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    SessionStarted,
)
from rutter.events.validator import ActionStarted
from rutter.replay.fold import hears
from rutter.replay.projections.projection import Entry, Projection
from rutter.replay.story.cost import is_call, is_priced


class SessionsTable(Projection):
    name: ClassVar[str] = "sessions"
    tables: ClassVar[Mapping[str, str]] = {
        "sessions": """
            session TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, purpose TEXT NOT NULL,
            driver TEXT NOT NULL DEFAULT '', name TEXT NOT NULL DEFAULT '', version INTEGER,
            started_ns INTEGER NOT NULL, ended_ns INTEGER, reason TEXT, failure TEXT, detail TEXT,
            proposed INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0,
            model_calls INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0,
            cost_microdollars INTEGER NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0,
            vals TEXT NOT NULL DEFAULT '{}', goal TEXT NOT NULL DEFAULT '', forgotten_ns INTEGER,
            paused TEXT, sent INTEGER NOT NULL DEFAULT 0""",
    }

    @hears
    def _start(self, entry: Entry, started: SessionStarted) -> None:
        _insert(
            entry,
            purpose=started.purpose,
            driver=started.driver,
            name=started.name,
            version=started.workflow.version if started.workflow else None,
            vals=msgspec.json.encode(started.values, order="sorted").decode(),
            goal=started.goal,
        )

    @hears
    def _propose(self, entry: Entry, begun: PlanProposed | PersonActed) -> None:
        """A step that is tried twice is proposed twice, and is one step."""
        _set(entry, "proposed = max(proposed, ?)", begun.step)

    @hears
    def _come_to(self, entry: Entry, end: ActionJudged | QueryAnswered) -> None:
        if isinstance(end, QueryAnswered) or end.verdict == "confirmed":
            _set(entry, "done = done + 1")

    @hears
    def _send(self, entry: Entry, _said: ActionStarted | ActionFailed | OutcomeUnknown) -> None:
        _set(entry, "sent = ?", entry.steps.sent or entry.steps.in_doubt)

    @hears
    def _ask(self, entry: Entry, asked: AdviceRequested | VisionGiven) -> None:
        if is_call(asked):
            _set(entry, "model_calls = model_calls + 1, unpriced = unpriced + 1")

    @hears
    def _spend(
        self, entry: Entry, end: AdviceReceived | AdviceFailed | AdviceLost | VisionGiven
    ) -> None:
        if not isinstance(end, AdviceLost) and not is_call(end):
            return
        tokens = cost = 0
        if isinstance(end, AdviceReceived | VisionGiven):
            tokens, cost = end.usage.input + end.usage.output, end.cost_microdollars
        spent = "tokens = tokens + ?, cost_microdollars = cost_microdollars + ?"
        priced = is_priced(end)
        _set(entry, f"{spent}, unpriced = max(unpriced - ?, 0)", tokens, cost, priced)

    @hears
    def _pause(self, entry: Entry, said: SessionPaused | SessionResumed) -> None:
        _set(entry, "paused = ?", said.by if isinstance(said, SessionPaused) else None)

    @hears
    def _end(self, entry: Entry, end: SessionEnded) -> None:
        columns = "ended_ns = ?, reason = ?, failure = ?, detail = ?, paused = NULL"
        _set(entry, columns, entry.at_ns, end.reason, end.failure, end.detail)

    @hears
    def _gone(self, entry: Entry, gone: PayloadGone) -> None:
        """That a session was, and when, is still known when its payloads are erased."""
        if gone.was == kind(SessionStarted):
            _insert(entry, purpose="erased")
        elif gone.was == kind(SessionEnded):
            _set(entry, "ended_ns = ?, reason = 'erased', paused = NULL", entry.at_ns)

    @hears
    def _forget(self, entry: Entry, forgotten: SessionForgotten) -> None:
        entry.execute(
            "UPDATE sessions SET forgotten_ns = ? WHERE session = ? AND forgotten_ns IS NULL",
            entry.at_ns,
            forgotten.session,
        )


def _insert(entry: Entry, **columns: object) -> None:
    seq, at_ns = entry.envelope.seq, entry.at_ns
    entry.insert("sessions", session=entry.session, seq=seq, started_ns=at_ns, **columns)


def _set(entry: Entry, columns: str, *values: object) -> None:
    entry.execute(f"UPDATE sessions SET {columns} WHERE session = ?", *values, entry.session)
