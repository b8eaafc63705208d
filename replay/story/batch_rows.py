"""The log says of each row of a file whether it is done, in doubt, or to be run.

A row is done when one of its runs was completed. It is in doubt when none was and one of them did
something that cannot be undone, or may have: nobody repeats that on their own (E7). Nor what went
to its end and was not verified: it counts as sent, whatever it did. Anything else has left nothing
behind, and may be run again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from rutter.events.causes import OTHER, Cause
from rutter.events.envelope import Envelope
from rutter.events.rows import BatchRow
from rutter.events.runtime import SessionEnded
from rutter.replay.steps import SessionSteps
from rutter.replay.story.results import SessionResults
from rutter.replay.story.session_story import tell
from rutter.replay.story.what_happened import what_happened
from rutter.replay.story.wording import in_words

RowOutcome = Literal[
    "done", "unverified", "failed", "unknown", "cancelled", "interrupted", "not run"
]
IN_DOUBT: tuple[RowOutcome, ...] = ("unverified", "unknown")  # a person's to say
NOT_AGAIN: tuple[RowOutcome, ...] = ("done", *IN_DOUBT)
UNVERIFIED = "completed_unverified"


class RowRun(msgspec.Struct, frozen=True):
    """A row's run says how it ended. `sent`: something that cannot be undone was done, or may have
    been. `at` is the step that it came to last, in words; `words` what happened, where that was
    asked for."""

    session: str
    row: BatchRow
    reason: str = "interrupted"
    failure: str = ""
    detail: str = ""
    cause: Cause = OTHER
    sent: bool = False
    tried: bool = False
    results: SessionResults = SessionResults()
    at: str = ""
    words: str = ""

    @property
    def done(self) -> bool:
        return self.reason == "completed" or self.tried


class RowState(msgspec.Struct, frozen=True):
    """A row's state is its outcome, why, and the run that says so."""

    outcome: RowOutcome = "not run"
    why: str = ""
    run: RowRun | None = None

    @property
    def session(self) -> str:
        return self.run.session if self.run is not None else ""


NOT_RUN = RowState()


def run_of(events: Iterable[Envelope], stands_for: BatchRow | None = None) -> RowRun | None:
    """How one session ended, from its events or those of these `KINDS`; nothing where it is of no
    row and `stands_for` none. One that has no end was cut off with its process."""
    found = SessionSteps()
    ended: SessionEnded | None = None
    for envelope in events:
        found.take(envelope)
        if isinstance(envelope.event, SessionEnded):
            ended = envelope.event
    started, last = found.started, found.planned
    row = stands_for if started is None or started.row is None else started.row
    if started is None or row is None:
        return None
    at = f"step {last.number} ({in_words(last.action)})" if last is not None else ""
    session, sent, results = found.session, found.sent, found.results
    if ended is None:
        return RowRun(session, row, sent=sent, results=results, at=at)
    dry = started.settings.dry_run and ended.reason == UNVERIFIED
    at_its_end = ended.reason == UNVERIFIED and not dry
    cause = ended.cause or OTHER
    return RowRun(
        session,
        row,
        ended.reason,
        ended.failure,
        ended.detail,
        cause,
        sent or at_its_end,
        dry and cause.kind == "dry_run",
        results,
        at,
    )


def in_words_of(run: RowRun, events: Iterable[Envelope]) -> RowRun:
    """The run with a sentence on what happened, from all events of its session."""
    story = tell(events)
    over = story.reason not in ("running", "erased")
    words = what_happened(story).sentence if over and not run.done else ""
    return msgspec.structs.replace(run, words=words)


def told_of(runs: Sequence[RowRun]) -> RowState:
    """What the runs of one row come to, oldest first."""
    if not runs:
        return NOT_RUN
    done = [run for run in runs if run.done]
    if done:
        return RowState("done", run=done[-1])
    last, sent = runs[-1], [run for run in runs if run.sent]
    if sent:
        ended = sent[-1].reason == UNVERIFIED
        return RowState("unverified" if ended else "unknown", _why(sent[-1]), sent[-1])
    outcome: RowOutcome = "failed"
    if last.reason in ("cancelled", "interrupted"):
        outcome = "cancelled" if last.reason == "cancelled" else "interrupted"
    return RowState(outcome, _why(last), last)


def _why(run: RowRun) -> str:
    if run.words:
        return run.words
    kinds = [each for each in (run.failure, run.reason) if each and each != "failed"]
    why = ": ".join([*kinds[:1], *([run.detail] if run.detail else [])]) or run.reason
    return f"{why}, at {run.at}" if run.at and run.cause.index < 0 else why


class FileRow(msgspec.Struct, frozen=True):
    """A file row stands in the file now."""

    number: int
    digest: str


def matched(wanted: Sequence[FileRow], runs: Iterable[RowRun]) -> dict[int, list[RowRun]]:
    """The runs of each row of the file, by its number.

    A run belongs to the row of its number that binds what it bound. Rows may have moved since: what
    was done for a row that stands elsewhere now, or may have been, counts for one that binds the
    same, and each for one alone. So a line that was put in or taken out does nothing twice.
    """
    before: dict[tuple[int, str], list[RowRun]] = {}
    for run in runs:
        before.setdefault((run.row.number, run.row.digest), []).append(run)
    found = {each.number: before.pop((each.number, each.digest), []) for each in wanted}
    moved: dict[str, list[list[RowRun]]] = {}
    for (_, digest), of_row in sorted(before.items(), key=lambda each: each[0]):
        if told_of(of_row).outcome in NOT_AGAIN:
            moved.setdefault(digest, []).append(of_row)
    for each in wanted:
        here = moved.get(each.digest)
        if here and told_of(found[each.number]).outcome not in NOT_AGAIN:
            found[each.number] = [*found[each.number], *here.pop(0)]
    return found


def counted(told: Iterable[RowState]) -> Mapping[RowOutcome, int]:
    """How many of each, the good ones first."""
    outcomes = [each.outcome for each in told]
    return {each: outcomes.count(each) for each in get_args(RowOutcome) if each in outcomes}
