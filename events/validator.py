"""The Validator gives verdicts with their rule, asks a person, and declares the intent to act."""

from typing import Literal

import msgspec

from rutter.events.action import Action, Box, RenderMode
from rutter.events.event import Event, StepEvent, TryEvent
from rutter.events.page import Resting

ApprovalKind = Literal[
    "policy",
    "login",
    "confirm",
    "unknown",
    "barrier",
    "service",
    "requested",
    "choice",  # which element it is
    "by_hand",  # whether they have done the step themselves
]


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person may choose this element by its number: what it is called and where it is in view.
    `asks` says what policy would ask about it, which the same answer settles."""

    number: int
    words: str
    box: Box = Box()
    asks: str = ""


class PlanAdmitted(TryEvent, frozen=True, tag="PlanAdmitted"):
    """The Validator lets a well-formed proposal be looked at: find its element, touch nothing. It
    is waited for no longer than until one of the elements of `unless` is there and free.

    It is waited for `within_ms` until it is there and can be used, `answer_ms` as long as the page
    itself waits for its server, and `cover_ms` where something lies over it; -1 is as long as any.
    """

    action: Action
    within_ms: int
    unless: tuple[Action, ...] = ()
    rest: Resting | None = None
    answer_ms: int = 0
    cover_ms: int = -1


class ActionApproved(StepEvent, frozen=True, tag="ActionApproved"):
    rule: str
    reason: str
    policy: str
    approval: str = ""


class ActionRejected(StepEvent, frozen=True, tag="ActionRejected"):
    """The Validator refuses by this rule, says why, and which error code a caller gets (E5)."""

    rule: str
    reason: str
    policy: str
    code: Literal["validation_error", "policy_denied", "execution_error", "tool_unavailable"]
    error: str = ""


class ActionWithheld(StepEvent, frozen=True, tag="ActionWithheld"):
    """A dry run stops here and says what it would have done."""

    action: Action
    reason: str


class ActionStarted(TryEvent, frozen=True, tag="ActionStarted"):
    """The intent is durable before the browser is touched: from here on it may have happened."""

    action: Action
    digest: str = ""
    irreversible: bool = False
    rest: Resting | None = None


class QueryStarted(TryEvent, frozen=True, tag="QueryStarted"):
    """An observation may be made: it is well formed, and its element is the one that is meant. It
    changes nothing, so that neither policy nor a commit stands before it. `rest` is waited for
    first, where no element was looked for. With the `render_mode` ghost a picture is read."""

    action: Action
    digest: str = ""
    rest: Resting | None = None
    render_mode: RenderMode = "dom"


class ApprovalRequested(Event, frozen=True, tag="ApprovalRequested"):
    """The Validator asks a person, about this step, action, element and origin alone.

    `maybe_done_by` is the earlier step of the session that may have done the same, with an outcome
    that is unknown; 0 where none may. A yes to `choices` says which of them it is, by its number,
    or with a `window` that they do it themselves. `box` is where the one element is in view that it
    is about."""

    approval: str
    step: int
    kind: ApprovalKind
    question: str
    rule: str = ""
    signature: str = ""
    digest: str = ""
    origin: str = ""
    phrase: str = ""
    policy: str = ""
    maybe_done_by: int = 0
    choices: tuple[Choice, ...] = ()
    window: bool = False
    box: Box = Box()

    @property
    def framed(self) -> dict[str, Box]:
        """What its picture frames: its choices by their numbers, or its one element."""
        boxes = {str(each.number): each.box for each in self.choices} or {"": self.box}
        return {number: box for number, box in boxes.items() if box.width and box.height}


class CheckpointPassed(Event, frozen=True, tag="CheckpointPassed"):
    """A person did in the window what was asked of them: look again, and go on from there. Or they
    made their `choice`, by its number; 0 is that they do it themselves."""

    kind: ApprovalKind
    approval: str
    choice: int = 0


class CheckpointRefused(Event, frozen=True, tag="CheckpointRefused"):
    """The person did not do what was asked of them, or nobody was there."""

    kind: ApprovalKind
    approval: str
    by: str
    message: str = ""


class ApprovalVoided(Event, frozen=True, tag="ApprovalVoided"):
    """An approval is worth nothing now: what was approved changed, or the session ended."""

    approval: str
    why: str
