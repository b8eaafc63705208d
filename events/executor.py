"""The Executor says which element it found, and what came of acting on it."""

from typing import Literal

from rutter.events.action import Action, RenderMode, Untrusted
from rutter.events.event import StepEvent, TryEvent
from rutter.events.page import Artifact, Lookalike, Resolved, Rest, Try
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
    "reader_failed",
    "nothing_read",
]


class TargetResolved(TryEvent, frozen=True, tag="TargetResolved"):
    """The Executor found and pinned the element, and touched nothing. `hindered` is what kept it
    from being used as long as it was waited for, if anything did."""

    element: Resolved
    tries: tuple[Try, ...] = ()
    took_us: int = 0
    rest: Rest | None = None
    hindered: ErrorCode | Literal[""] = ""


class TargetMissing(TryEvent, frozen=True, tag="TargetMissing"):
    """The Executor found no element to use. `instead` is which of the elements that end the wait
    was there. `waited_ms` is how long it waited, where that was all the patience there is. `says`
    is what the page says of there being nothing: "0 results"."""

    code: ErrorCode
    tries: tuple[Try, ...] = ()
    took_us: int = 0
    instead: int = -1
    rest: Rest | None = None
    waited_ms: int = 0
    says: Untrusted = Untrusted()


class TargetChanged(TryEvent, frozen=True, tag="TargetChanged"):
    """The element was not the judged one at the moment of acting, so the Executor did nothing."""

    element: Resolved


class LookalikesFound(TryEvent, frozen=True, tag="LookalikesFound"):
    """The Executor found these in place of the recorded target, in document order. `others` are
    what only a person may choose: of another role, hidden, or in the way."""

    elements: tuple[Resolved, ...] = ()
    took_us: int = 0
    others: tuple[Lookalike, ...] = ()


class ActionDone(TryEvent, frozen=True, tag="ActionDone"):
    """The Executor dispatched input and the page settled. Whether it worked is the Critic's to say.
    `url` is the page's address when it was dispatched. `file`: the address that was gone to sends
    one in place of a page. `hung`: the page from which it was gone there answered nothing, and
    another one took its place, without what that had kept for itself alone."""

    took_us: int
    navigated: bool = False
    value_set: bool | None = None
    extracted: Untrusted | None = None
    typed: str | None = None
    rest: Rest | None = None
    url: str = ""
    file: bool = False
    hung: bool = False


class ActionFailed(TryEvent, frozen=True, tag="ActionFailed"):
    """The action failed; with `dispatched` input reached the page, and nothing is simply repeated.
    `waited_ms` is how long the element was waited for, where that was all the patience there is;
    `dialog` what the dialog is called that is in the way, if one is; `offers` what a list has in
    place of the option that it has not."""

    code: ErrorCode
    dispatched: bool
    message: str = ""
    took_us: int = 0
    waited_ms: int = 0
    dialog: str = ""
    offers: str = ""


class QueryAnswered(TryEvent, frozen=True, tag="QueryAnswered"):
    """The Executor read what was asked for, of a table also its rows, and changed nothing. `pages`
    are those of the text that a read_page read; `unread`: not all that the page says is in them.
    `rest` is how the page was waited for, where that was asked for. With the `render_mode` ghost
    the Advisor had it read from these `pictures`."""

    took_us: int
    text: Untrusted | None = None
    table: Table | None = None
    pages: int = 0
    unread: bool = False
    rest: Rest | None = None
    render_mode: RenderMode = "dom"
    pictures: tuple[Artifact, ...] = ()


class QueryFailed(TryEvent, frozen=True, tag="QueryFailed"):
    """An observation found nothing. It is not tried again."""

    code: ErrorCode
    message: str = ""
    took_us: int = 0


class PersonActed(StepEvent, frozen=True, tag="PersonActed"):
    """A person took this step: it had happened when we heard of it."""

    action: Action
    element: Resolved | None = None


class StepMarked(StepEvent, frozen=True, tag="StepMarked"):
    """A person said in the bar what becomes of a step of theirs: it is `left_out` of the workflow,
    `optional` in it, or what it typed `varies`, by this name."""

    mark: Literal["left_out", "optional", "varies"]
    name: str = ""
    value: str = ""


class StepPictured(StepEvent, frozen=True, tag="StepPictured"):
    """A picture shows the element of a recorded step in its surroundings, before anything came of
    it. Secrets are covered."""

    artifact: Artifact
