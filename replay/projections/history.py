"""The history tables hold what was done, with its evidence, and apart from it what was only
looked at (S2 8)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from rutter.events.action import Action, ByPoint, Text, kind_of
from rutter.events.critic import ActionJudged
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.observer import FilesSeen, ObservationFailed, PageObserved
from rutter.events.run_settings import MILLION
from rutter.events.tools import FileRead
from rutter.events.validator import ActionRejected
from rutter.replay.fold import hears
from rutter.replay.projections.projection import Entry, Projection
from rutter.replay.step_record import StepRecord
from rutter.replay.story.evidence_weight import deciding, overall
from rutter.replay.story.wording import file_in_words, in_words, locator_in_words, value_in_words


class HistoryTables(Projection):
    """The two tables of S2 8 have the session and step behind the seed's own columns."""

    name: ClassVar[str] = "history"
    tables: ClassVar[Mapping[str, str]] = {
        "action_history": """
            id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL,
            action_type TEXT NOT NULL, target TEXT, text_content TEXT, coordinates TEXT,
            success INTEGER NOT NULL, message TEXT, error TEXT, verification_evidence TEXT,
            session TEXT NOT NULL, step INTEGER NOT NULL""",
        "observation_log": """
            id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL,
            query_type TEXT NOT NULL, target TEXT, result TEXT, success INTEGER NOT NULL,
            session TEXT NOT NULL""",
    }

    @hears
    def _judged(self, entry: Entry, judged: ActionJudged) -> None:
        step, action = entry.step, _action_of(entry.step)
        if step is None or action is None:
            return
        success = judged.verdict == "confirmed"
        error = step.failure[1]
        if kind_of(action) == "observation":  # of a log from before these had a way of their own
            result = step.extracted or error or None
            _observed(entry, action.type, _target(action), result, success=success)
            return
        entry.insert(
            "action_history",
            timestamp=timestamp(entry.at_ns),
            action_type=action.type,
            target=_target(action),
            text_content=_text(action),
            coordinates=_coordinates(action),
            success=success,
            message=in_words(action),
            error=None if success else error or f"{judged.verdict}: {judged.reason}",
            verification_evidence=_evidence(judged),
            session=entry.session,
            step=judged.step,
        )

    @hears
    def _looked(self, entry: Entry, end: QueryAnswered | QueryFailed | ActionRejected) -> None:
        """What only reads, whoever asked for it."""
        step, action = entry.step, _action_of(entry.step)
        if step is None or action is None or kind_of(action) != "observation":
            return
        answered = isinstance(end, QueryAnswered)
        result = step.extracted if answered else step.reason
        _observed(entry, action.type, _target(action), result, success=answered)

    @hears
    def _saw(self, entry: Entry, seen: PageObserved) -> None:
        _observed(entry, "page", seen.page.url, seen.page.title.text, success=True)

    @hears
    def _saw_nothing(self, entry: Entry, failed: ObservationFailed) -> None:
        _observed(entry, "page", "", f"{failed.code}: {failed.message}", success=False)

    @hears
    def _saw_files(self, entry: Entry, looked: FilesSeen) -> None:
        for seen in looked.files:
            found = seen.exists and not seen.error
            _observed(entry, "file", seen.path, file_in_words(seen), success=found)

    @hears
    def _file_read(self, entry: Entry, read: FileRead) -> None:
        """That it was read, and how much; what it holds stays in the log (S2 5.2)."""
        path = entry.steps.in_order[-1].file or None
        length = len(read.text.text) if read.text is not None else 0
        result = f"{read.error}: {read.message}" if read.error else f"{length} characters"
        _observed(entry, "file", path, result, success=not read.error)


def _action_of(step: StepRecord | None) -> Action | None:
    """What was done last of it; an observation counts from its plan on."""
    if step is None or step.acting is not None or step.kind != "observation":
        return None if step is None else step.acting or step.begun
    return step.action


def timestamp(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat(timespec="milliseconds")


def _observed(
    entry: Entry, query: str, target: str | None, result: str | None, *, success: bool
) -> None:
    when, session = timestamp(entry.at_ns), entry.session
    row = {"query_type": query, "target": target, "result": result, "success": success}
    entry.insert("observation_log", timestamp=when, session=session, **row)


def _target(action: Action) -> str | None:
    if action.target is not None and action.target.primary is not None:
        return locator_in_words(action.target.primary)
    return action.url or action.key


def _text(action: Action) -> str | None:
    """What was typed; a parameter or secret by its name."""
    value = action.value
    if isinstance(value, Text):
        return value.text
    return None if value is None else value_in_words(value)


def _coordinates(action: Action) -> str | None:
    locator = action.target.primary if action.target else None
    return f"{locator.x},{locator.y}" if isinstance(locator, ByPoint) else None


def _evidence(judged: ActionJudged) -> str | None:
    """The deciding evidence in the seed's own form (S2 5.1), with the confidence over all."""
    decided = deciding(judged.evidence)
    if decided is None:
        return None
    said = {
        "source": decided.source,
        "checked_text": decided.checked,
        "sample": decided.sample.text if decided.sample else None,
        "confidence": overall(judged) / MILLION,
    }
    return msgspec.json.encode(said).decode()
