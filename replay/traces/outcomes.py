"""A span's status follows from verdicts and failures, by the event that tells."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.events import advisor, critic, executor, observer, person, planner, runtime
from rutter.events import validator as gate
from rutter.events.event import Event
from rutter.replay.traces.outgoing_text import said
from rutter.replay.traces.span import ERROR, OK, UNSET


class SpanStatus(NamedTuple):
    status: int = UNSET
    message: str = ""


OPEN: Final = SpanStatus()
GOOD: Final = SpanStatus(OK)
# Neither is a fault: a dry run ends unverified by design, and a person may stop what they started.
NEUTRAL_ENDS: Final = frozenset({"completed_unverified", "cancelled"})


def bad(*parts: str) -> SpanStatus:
    return SpanStatus(ERROR, said(": ".join(part for part in parts if part)))


def _ended(event: runtime.SessionEnded | planner.RunStopped) -> SpanStatus:
    if event.reason == "completed":
        return GOOD
    if event.reason in NEUTRAL_ENDS:
        return OPEN
    return bad(event.failure or event.reason, event.detail)


def _judged(event: critic.ActionJudged) -> SpanStatus:
    return GOOD if event.verdict == "confirmed" else bad(event.verdict, event.reason)


def _checked(event: critic.CompletionChecked) -> SpanStatus:
    return GOOD if event.verified else bad("not verified", event.reason)


def _advised(event: advisor.AdviceReceived) -> SpanStatus:
    """Whether advice was good shows in the step that follows; what is none is a failed call."""
    return bad("invalid", event.invalid) if event.invalid else OPEN


def _looked(event: advisor.VisionGiven) -> SpanStatus:
    return OPEN if event.error is None else bad(event.error, event.message)


def _rejected(event: gate.ActionRejected) -> SpanStatus:
    """That a pause came before it is no fault of a step."""
    return OPEN if event.rule == PAUSED else bad(event.error or event.code, event.reason)


def _answered(event: person.ApprovalAnswered) -> SpanStatus:
    return GOOD if event.approved else bad("not approved", event.message)


# What is not here leaves the status as it is: that input was dispatched says nothing yet.
OUTCOMES: Final[Mapping[type[Event], Callable[[Any], SpanStatus]]] = {
    runtime.SessionEnded: _ended,
    planner.RunStopped: _ended,
    critic.ActionJudged: _judged,
    critic.CompletionChecked: _checked,
    critic.OutcomeUnknown: lambda event: bad("outcome unknown", event.why),
    gate.ActionApproved: lambda _: GOOD,
    gate.ActionRejected: _rejected,
    person.ApprovalAnswered: _answered,
    executor.TargetMissing: lambda event: bad(event.code),
    executor.TargetChanged: lambda _: bad("target_changed"),
    executor.ActionFailed: lambda event: bad(event.code, event.message),
    executor.QueryAnswered: lambda _: GOOD,
    executor.QueryFailed: lambda event: bad(event.code, event.message),
    observer.ObservationFailed: lambda event: bad(event.code, event.message),
    observer.BrowserLost: lambda event: bad("browser_lost", event.why),
    advisor.AdviceReceived: _advised,
    advisor.AdviceFailed: lambda event: bad(event.code, event.message),
    advisor.AdviceLost: lambda _: bad("lost"),
    advisor.VisionGiven: _looked,
    runtime.ActorFailed: lambda event: bad(event.error, event.message),
}
