"""The Planner says what to do next, why not, and when to stop."""

from typing import Literal

from rutter.events.action import Action, Fingerprint, Kind, RenderMode
from rutter.events.causes import Cause, PlanSource
from rutter.events.event import Event, StepEvent, TryEvent
from rutter.events.page import Lookalike, Resolved, Resting
from rutter.events.runtime import Failure, StopReason
from rutter.events.workflow import Driver, Expectation, StandingApproval


class PlanProposed(TryEvent, frozen=True, tag="PlanProposed"):
    """The Planner proposes one action, at `index` of the script or workflow, -1 outside one.
    `source` is what led to it, and `reason` the same for people.

    `read_back_of` is the step whose result it looks for; 0 for everything else. `settles` is the
    place of a step that an earlier session may have done: this looks whether it did. `unless` are
    the places of other steps: when one of them is there, this one is not waited for any longer.
    `within_ms` is how long it is waited for, 0 as long as any; `cover_ms` how long where something
    lies over it, -1 as long as any. With `rest` the page is let come to rest before. With the
    `render_mode` ghost the page is read from a picture of it. `recorded` is the element on which a
    recording approved of what is predicted.
    """

    driver: Driver
    action: Action
    reason: str
    index: int = -1
    probability: int | None = None
    certainty: int | None = None
    expects: Expectation | None = None
    healed: bool = False
    kind: Kind = "action"
    read_back_of: int = 0
    settles: int = -1
    unless: tuple[int, ...] = ()
    within_ms: int = 0
    rest: Resting | None = None
    cover_ms: int = -1
    render_mode: RenderMode = "dom"
    source: PlanSource = ""
    recorded: StandingApproval | None = None


class PlanWithheld(Event, frozen=True, tag="PlanWithheld"):
    """The Planner is sure of nothing to do, for S0's reason; or, with `index`, passes over an
    optional step of a workflow."""

    reason: str
    index: int = -1


class StepsRecalled(Event, frozen=True, tag="StepsRecalled"):
    """Optional steps that were passed over are due once more, in this order, because the step
    `back_to` cannot be done as the page is. Behind them that one is due again."""

    indexes: tuple[int, ...]
    back_to: int
    why: str


class CheckpointReached(Event, frozen=True, tag="CheckpointReached"):
    """A person must go on in the window from here: to sign in, past what keeps programs out, or
    where the run is lost (E3); `by_hand`: they do the step themselves. With `taken_to`, they did:
    whether all that lies before the step of this place, is for them to say."""

    kind: Literal["login", "unknown", "barrier", "by_hand"]
    step: int
    why: str
    index: int = -1
    taken_to: int = -1


class StepSettled(Event, frozen=True, tag="StepSettled"):
    """An earlier session started this step, and, as far as can be seen, did it or did not."""

    index: int
    done: bool
    reason: str


class ObservationRequested(Event, frozen=True, tag="ObservationRequested"):
    """The Planner wants the page looked at when it changes, at the latest after `within_ms`, and
    for these `texts`. `aside_over`: the page that was opened aside is not needed any more.
    `rest_awaited`: when it has come to rest, as `rest` says. `filling_awaited`: it is empty,
    and its scripts may still fill it. `barrier_awaited`: it keeps programs out, and may let this
    one in once it has looked at it."""

    why: Literal[
        "place_unmet",
        "effect_awaited",
        "end_awaited",
        "tab_wanted",
        "tool",
        "aside_over",
        "checkpoint_passed",
        "resumed",
        "rest_awaited",
        "filling_awaited",
        "barrier_awaited",
    ]
    within_ms: int
    tab: int | None = None
    whole_page: bool = False
    texts: tuple[str, ...] = ()
    rest: Resting | None = None


class PersonAwaited(StepEvent, frozen=True, tag="PersonAwaited"):
    """A person acts in the window from here on; `step` is the number of what they do first."""


class LookalikesRequested(TryEvent, frozen=True, tag="LookalikesRequested"):
    """The Planner asks what on this page is most like the recorded element, which is not there.
    `wide`: and what a person who is shown it may choose besides."""

    fingerprint: Fingerprint
    wide: bool = False


class StepLost(TryEvent, frozen=True, tag="StepLost"):
    """The Planner finds no element that is clearly that of the step at `index`, or it is covered.
    A person is to say which of these it is, best first."""

    index: int
    why: str
    lookalikes: tuple[Lookalike, ...] = ()


class TargetHealed(TryEvent, frozen=True, tag="TargetHealed"):
    """The Planner takes this element for the recorded target that is gone: it is clearly the most
    like it. Scores in millionths: of this one, and of the one that is second."""

    element: Resolved
    score: int
    runner_up: int


class RunStopped(Event, frozen=True, tag="RunStopped"):
    """The Planner stops the run, for this `cause` and in these words. The session ends when its
    effects are closed."""

    reason: StopReason
    failure: Failure = ""
    detail: str = ""
    step: int = 0
    cause: Cause | None = None


class AdviceRequested(Event, frozen=True, tag="AdviceRequested"):
    """The Planner wants a language model asked. Durable before the call: it costs money.

    `purpose`: `act` is the next turn of a conversation that the model leads by tools; `plan` one
    action where the learned model is not sure, `repair` one for the step `index` of a workflow,
    `correct` another one after what went wrong (`errors`), by another strategy than `tried`;
    `ghost` what a picture of the page says.
    `attempt` counts the tries at this provider, `note` is what the model is told beside the page,
    `doubt` why its answer before was not taken.
    """

    request: str
    purpose: Literal["act", "plan", "repair", "correct", "vision", "ghost"]
    provider: str
    model: str = ""
    attempt: int = 1
    step: int = 0
    index: int = -1
    correction: int = 0
    note: str = ""
    errors: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def told(self) -> str:
        """Why it is asked, in words."""
        if not self.doubt:
            return self.note
        return f"{self.note} (look again: {self.doubt}: propose what you are sure of)"
