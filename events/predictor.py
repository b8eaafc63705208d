"""What the Predictor says: what comes next, and what was learned."""

from typing import Literal

import msgspec

from events.action import Action
from events.checks import Said
from events.event import Event
from events.workflow import Driver, PredictorName, Step, Workflow


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """One predicted action with its probability in millionths."""

    token: str
    action: Action
    probability: int
    source: Literal["first_order", "second_order"]


class PredictionMade(Event, frozen=True, tag="PredictionMade"):
    """The most probable next actions, best first; none when nothing like this was seen.

    `position` names the fold that the model was: every learned fact up to it and no other.
    """

    model: PredictorName
    position: int
    candidates: tuple[Candidate, ...] = ()


class StepDue(Event, frozen=True, tag="StepDue"):
    """Inside a workflow the next step is known. `unmet` says what of its recording is missing;
    `signed_out` that the page asks for a sign-in instead."""

    index: int
    of: int
    step: Step
    unmet: str = ""
    signed_out: bool = False


class WorkflowFinished(Event, frozen=True, tag="WorkflowFinished"):
    """Every step of the workflow was confirmed: its learned end is reached."""

    steps: int


class TransitionLearned(Event, frozen=True, tag="TransitionLearned"):
    """A confirmed action and what came before it. The model is the fold of these alone."""

    token: str
    signature: str
    action: Action
    after: tuple[str, ...] = ()
    driver: Driver = "script"


class Notices(msgspec.Struct, frozen=True):
    """What the page said of its own after this step of a workflow."""

    index: int
    says: tuple[Said, ...]


class EffectsLearned(Event, frozen=True, tag="EffectsLearned"):
    """A run whose end was verified, and what its steps led the page to say. What every such run
    showed is expected of the next."""

    workflow: str
    version: int
    notices: tuple[Notices, ...] = ()


class WorkflowLearned(Event, frozen=True, tag="WorkflowLearned"):
    """A new version of a workflow."""

    workflow: Workflow
    stopped_at: str = ""


class WorkflowDeleted(Event, frozen=True, tag="WorkflowDeleted"):
    name: str


class WorkflowRenamed(Event, frozen=True, tag="WorkflowRenamed"):
    name: str
    to: str


class SessionForgotten(Event, frozen=True, tag="SessionForgotten"):
    """What this session taught is unlearned by the next fold."""

    session: str
    why: str = ""
