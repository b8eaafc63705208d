"""What the Executor says: the element it found, and what came of acting on it."""

from typing import Literal

from events.action import Action, Untrusted
from events.event import Event
from events.page import Resolved, Try

ErrorCode = Literal[
    "ref_invalid",
    "element_not_found",
    "element_ambiguous",
    "element_disabled",
    "element_obscured",
    "element_not_visible",
    "option_not_found",
    "value_unbound",
    "navigation_failed",
    "action_failed",
    "timeout",
    "page_crashed",
]


class TargetResolved(Event, frozen=True, tag="TargetResolved"):
    """The element is found and pinned; nothing was touched."""

    step: int
    attempt: int
    element: Resolved
    tries: tuple[Try, ...] = ()
    took_us: int = 0


class TargetMissing(Event, frozen=True, tag="TargetMissing"):
    step: int
    attempt: int
    code: ErrorCode
    tries: tuple[Try, ...] = ()
    took_us: int = 0


class TargetChanged(Event, frozen=True, tag="TargetChanged"):
    """At the moment of acting the element was not the one that was judged. Nothing was done."""

    step: int
    attempt: int
    element: Resolved


class TargetHealed(Event, frozen=True, tag="TargetHealed"):
    """The recorded target is gone; this element is clearly the most like it."""

    step: int
    attempt: int
    element: Resolved
    score: int
    runner_up: int


class ActionDone(Event, frozen=True, tag="ActionDone"):
    """Input was dispatched and the page settled. Whether it worked is the Critic's to say."""

    step: int
    attempt: int
    took_us: int
    navigated: bool = False
    value_set: bool | None = None
    extracted: Untrusted | None = None
    typed: str | None = None


class ActionFailed(Event, frozen=True, tag="ActionFailed"):
    """`dispatched` says whether input reached the page: after it nothing is simply repeated."""

    step: int
    attempt: int
    code: ErrorCode
    dispatched: bool
    message: str = ""
    took_us: int = 0


class PersonActed(Event, frozen=True, tag="PersonActed"):
    """A person's own step: it had happened when we heard of it."""

    action: Action
    element: Resolved | None = None
