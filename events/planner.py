"""What the Planner says: what to do next, why not, and when to stop."""

from typing import Literal

from events.action import Action
from events.event import Event
from events.runtime import Failure, StopReason
from events.workflow import Driver, Expectation


class PlanProposed(Event, frozen=True, tag="PlanProposed"):
    """One action put forward. `index` is its place in the script or workflow, -1 outside one."""

    step: int
    attempt: int
    driver: Driver
    action: Action
    reason: str
    index: int = -1
    probability: int | None = None
    certainty: int | None = None
    expects: Expectation | None = None


class PlanWithheld(Event, frozen=True, tag="PlanWithheld"):
    """Nothing sure enough to do, with S0's reason."""

    reason: str


class ObservationRequested(Event, frozen=True, tag="ObservationRequested"):
    """Look again when the page changes, at the latest after `within_ms`."""

    why: Literal["place_unmet", "effect_awaited", "end_awaited"]
    within_ms: int


class RunStopped(Event, frozen=True, tag="RunStopped"):
    """The decision to stop. The session ends when its effects are closed."""

    reason: StopReason
    failure: Failure = ""
    detail: str = ""
    step: int = 0


class AdviceRequested(Event, frozen=True, tag="AdviceRequested"):
    """A language model is to be asked. Durable before the call: it costs money."""

    request: str
    purpose: Literal["plan", "repair", "correct", "vision"]
    prompt_sha256: str
    attempt: int = 1
    provider: str = ""
    model: str = ""
