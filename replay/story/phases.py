"""A step goes through phases by its kind (S2 7); each event enters one of them, or none.

An observation is planned, made and kept; nothing of it is allowed or verified.
"""

from collections.abc import Mapping
from typing import Final, Literal

from rutter.events.action import Kind
from rutter.events.critic import ActionJudged, FilesRequested, ReadBackDue, VisionSought
from rutter.events.event import Event
from rutter.events.executor import (
    PersonActed,
    QueryAnswered,
    QueryFailed,
    TargetMissing,
    TargetResolved,
)
from rutter.events.planner import PlanProposed
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    QueryStarted,
)

Phase = Literal["PLAN", "POLICY CHECK", "ACT", "OBSERVE", "VERIFY", "COMMIT"]

_ACTING: Final[tuple[Phase, ...]] = ("PLAN", "POLICY CHECK", "ACT", "VERIFY", "COMMIT")
PHASES: Final[Mapping[Kind, tuple[Phase, ...]]] = {
    "action": _ACTING,
    "verification": _ACTING,
    "observation": ("PLAN", "OBSERVE", "COMMIT"),
}
_ENTERED: Final[Mapping[type[Event], tuple[Phase, ...]]] = {
    PlanProposed: ("PLAN",),
    TargetResolved: ("POLICY CHECK",),
    TargetMissing: ("POLICY CHECK",),
    ApprovalRequested: ("POLICY CHECK",),
    ActionApproved: ("POLICY CHECK",),
    ActionRejected: ("POLICY CHECK",),
    ActionWithheld: ("POLICY CHECK",),
    ActionStarted: ("ACT",),
    PersonActed: ("ACT",),
    QueryStarted: ("OBSERVE",),
    QueryAnswered: ("OBSERVE", "COMMIT"),
    QueryFailed: ("OBSERVE", "COMMIT"),
    FilesRequested: ("VERIFY",),
    ReadBackDue: ("VERIFY",),
    VisionSought: ("VERIFY",),
    ActionJudged: ("VERIFY", "COMMIT"),
}


def entered(event: Event, kind: Kind) -> tuple[Phase, ...]:
    """The phases that a step of this kind is in with this event, in order."""
    found = _ENTERED.get(type(event), ())
    if kind == "observation" and isinstance(event, ActionRejected):
        return ("OBSERVE", "COMMIT")  # refused, or not there: that is all that comes of it
    return tuple(phase for phase in found if phase in PHASES[kind])


def heading(phase: Phase, kind: Kind) -> str:
    """S2 9.2: `PHASE 2: OBSERVE`."""
    return f"PHASE {PHASES[kind].index(phase) + 1}: {phase}"
