"""The Predictor says what comes next, and what was learned."""

from typing import Literal

import msgspec

from rutter.events.action import Action
from rutter.events.checks import AlertSaid, ServerAnswered
from rutter.events.event import Event
from rutter.events.run_settings import PredictorName
from rutter.events.workflow import Driver, StandingApproval, Step, Workflow


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A candidate is one predicted action with its probability in millionths. `recorded` is the
    element on which a recording approved of it."""

    token: str
    action: Action
    probability: int
    source: Literal["first_order", "second_order", "blend"]
    recorded: StandingApproval | None = None


class Within(msgspec.Struct, frozen=True, omit_defaults=True):
    """The session may be in this workflow, with `step` of its `of` steps done, the last one when it
    is at its end. The probability is in millionths."""

    workflow: str
    version: int
    step: int
    of: int
    probability: int


class PredictionMade(Event, frozen=True, tag="PredictionMade"):
    """The Predictor names the most probable next actions, best first; none after what it never saw.

    `position` names the fold that the model was: every learned fact up to it and no other, without
    what was forgotten; each forgetting is a new `generation`. `absent` counts what would have been
    more probable than the last candidate and has no element on this page. `ends` is how probable it
    is that nothing more comes, in millionths. `within` says which recorded workflows this looks
    like, the most probable first.
    """

    model: PredictorName
    position: int
    candidates: tuple[Candidate, ...] = ()
    generation: int = 0
    absent: int = 0
    ends: int = 0
    within: tuple[Within, ...] = ()


class StepDue(Event, frozen=True, tag="StepDue"):
    """The workflow names the next step. `unmet` says what of its recording is missing; `signed_out`
    that the page asks for a sign-in instead. `taken_to` is the place of the step that the page is
    at, where a person had the wheel and alone can say what they did.

    `needless` says why an optional step is not to be waited for. `passed` are the places of those
    that were passed over on the way here and could be on this page; `recalled`: it is one of them,
    looked for once more.
    """

    index: int
    of: int
    step: Step
    unmet: str = ""
    signed_out: bool = False
    taken_to: int = -1
    needless: str = ""
    passed: tuple[int, ...] = ()
    recalled: bool = False


class WorkflowFinished(Event, frozen=True, tag="WorkflowFinished"):
    """The Critic confirmed every step of the workflow: its learned end is reached."""

    steps: int


class TransitionLearned(Event, frozen=True, tag="TransitionLearned"):
    """An action that counts follows what came before it. The model is the fold of these, less what
    was undone or forgotten.

    `place` is where it was done: the page's address without what varies, and its state.
    """

    token: str
    signature: str
    action: Action
    after: tuple[str, ...] = ()
    driver: Driver = "script"
    place: str = ""


class EndLearned(Event, frozen=True, tag="EndLearned"):
    """A session was done with what it was for: after this nothing more came."""

    after: tuple[str, ...] = ()
    driver: Driver = "script"
    place: str = ""


class TransitionUndone(Event, frozen=True, tag="TransitionUndone"):
    """A person took this action back right after it was done, or refused it when it was predicted:
    it counts against it."""

    token: str
    why: Literal["went_back", "turned_back", "undo_key", "refused", "left_out"]
    after: tuple[str, ...] = ()
    place: str = ""


class Notices(msgspec.Struct, frozen=True):
    """The page said this of its own after a step of a workflow, and sent what was answered."""

    index: int
    says: tuple[AlertSaid | ServerAnswered, ...]


class Rewritten(msgspec.Struct, frozen=True):
    """The page had this path by itself when a step of a workflow was due."""

    index: int
    path: str


class EffectsLearned(Event, frozen=True, tag="EffectsLearned"):
    """A run with a verified end shows what its steps led the page to say. What every such run
    showed is expected of the next. `rewritten` are addresses that pages gave themselves in it."""

    workflow: str
    version: int
    notices: tuple[Notices, ...] = ()
    rewritten: tuple[Rewritten, ...] = ()


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recording was merged with the version that was known, or `why` not. `recordings` are the
    sessions of both.

    Places in the new version: `optional` are steps that the recording lacks, `added` those that
    were not known, `varied` those that typed something else.
    """

    version: int
    recordings: tuple[str, str]
    why: str = ""
    optional: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    varied: tuple[int, ...] = ()

    @property
    def merged(self) -> bool:
        return not self.why


class WorkflowLearned(Event, frozen=True, tag="WorkflowLearned"):
    """A workflow has a new version. `compared`: with what was known under its name, when it was
    recorded again. `again` is the version that a person went back to."""

    workflow: Workflow
    stopped_at: str = ""
    compared: Comparison | None = None
    again: int = 0


class WorkflowDeleted(Event, frozen=True, tag="WorkflowDeleted"):
    name: str


class WorkflowRenamed(Event, frozen=True, tag="WorkflowRenamed"):
    name: str
    to: str


class SessionForgotten(Event, frozen=True, tag="SessionForgotten"):
    """The Predictor unlearns what this session taught: transitions, effects, versions of workflows.
    From here on the model is a new generation, folded without it."""

    session: str
    why: str = ""


# The facts of which the Predictor's knowledge is the fold, and nothing else is.
LEARNED: frozenset[type[Event]] = frozenset(
    {
        TransitionLearned,
        TransitionUndone,
        EndLearned,
        EffectsLearned,
        WorkflowLearned,
        WorkflowDeleted,
        WorkflowRenamed,
        SessionForgotten,
    }
)
