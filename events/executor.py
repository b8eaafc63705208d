"""What the Executor says: the element it found, and what came of acting on it."""

from typing import Literal

from rutter.events.action import Action, Untrusted
from rutter.events.event import Event
from rutter.events.page import Artifact, Resolved, Rest, Try
from rutter.events.tables import Table

ErrorCode = Literal[
    "ref_invalid",
    "element_not_found",
    "element_ambiguous",
    "element_disabled",
    "element_obscured",
    "element_not_visible",
    "element_moving",
    "option_not_found",
    "value_unbound",
    "navigation_failed",
    "action_failed",
    "timeout",
    "page_crashed",
]


class TargetResolved(Event, frozen=True, tag="TargetResolved"):
    """The element is found and pinned; nothing was touched. `hindered` is what kept it from being
    used as long as it was waited for, if anything did."""

    step: int
    attempt: int
    element: Resolved
    tries: tuple[Try, ...] = ()
    took_us: int = 0
    rest: Rest | None = None
    hindered: ErrorCode | Literal[""] = ""


class TargetMissing(Event, frozen=True, tag="TargetMissing"):
    """`instead` says which of the elements that end the wait was there, by its place among them.
    `waited_ms` is how long it was waited for, where that was all the patience there is."""

    step: int
    attempt: int
    code: ErrorCode
    tries: tuple[Try, ...] = ()
    took_us: int = 0
    instead: int = -1
    rest: Rest | None = None
    waited_ms: int = 0


class TargetChanged(Event, frozen=True, tag="TargetChanged"):
    """At the moment of acting the element was not the one that was judged. Nothing was done."""

    step: int
    attempt: int
    element: Resolved


class LookalikesFound(Event, frozen=True, tag="LookalikesFound"):
    """The recorded target is not there. These are on the page and may be it, in document order."""

    step: int
    attempt: int
    elements: tuple[Resolved, ...] = ()
    took_us: int = 0


class ActionDone(Event, frozen=True, tag="ActionDone"):
    """Input was dispatched and the page settled. Whether it worked is the Critic's to say. `url` is
    what the page's address was when it was dispatched."""

    step: int
    attempt: int
    took_us: int
    navigated: bool = False
    value_set: bool | None = None
    extracted: Untrusted | None = None
    typed: str | None = None
    rest: Rest | None = None
    url: str = ""


class ActionFailed(Event, frozen=True, tag="ActionFailed"):
    """`dispatched` says whether input reached the page: after it nothing is simply repeated.
    `waited_ms` is how long the element was waited for, where that was all the patience there is."""

    step: int
    attempt: int
    code: ErrorCode
    dispatched: bool
    message: str = ""
    took_us: int = 0
    waited_ms: int = 0


class QueryAnswered(Event, frozen=True, tag="QueryAnswered"):
    """What was looked for was there, and what was read; nothing was changed. Of a table also its
    rows."""

    step: int
    attempt: int
    took_us: int
    text: Untrusted | None = None
    table: Table | None = None


class QueryFailed(Event, frozen=True, tag="QueryFailed"):
    """An observation that found nothing. It is not tried again."""

    step: int
    attempt: int
    code: ErrorCode
    message: str = ""
    took_us: int = 0


class PersonActed(Event, frozen=True, tag="PersonActed"):
    """A person's own step: it had happened when we heard of it."""

    step: int
    action: Action
    element: Resolved | None = None


class StepPictured(Event, frozen=True, tag="StepPictured"):
    """The element of a step that is being recorded, in its surroundings, before anything came of
    it. Secrets are covered."""

    step: int
    artifact: Artifact
