"""The topology says who hears which event: the one table that wires the pipeline.

Deciders hear an event when it is numbered. Effectors hear it when it is on disk, except where
they only read the page: that need not wait (`at_once`).
"""

from typing import NamedTuple

from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    VisionGiven,
)
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    FilesRequested,
    OutcomeUnknown,
    PageAssessed,
    ReadBackDue,
    ReadBackFound,
    StateDiffered,
    VisionSought,
)
from rutter.events.envelope import Actor
from rutter.events.event import Event
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    LookalikesFound,
    PersonActed,
    QueryAnswered,
    QueryFailed,
    StepPictured,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from rutter.events.logins import LoginUsed
from rutter.events.observer import (
    BrowserLost,
    DownloadFinished,
    FilesSeen,
    ObservationFailed,
    PageObserved,
)
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    LookalikesRequested,
    ObservationRequested,
    PersonAwaited,
    PlanProposed,
    PlanWithheld,
    RunStopped,
    StepSettled,
    StepsRecalled,
    TargetHealed,
)
from rutter.events.predictor import (
    EffectsLearned,
    EndLearned,
    PredictionMade,
    SessionForgotten,
    StepDue,
    TransitionLearned,
    TransitionUndone,
    WorkflowDeleted,
    WorkflowFinished,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.runtime import (
    ActorFailed,
    DeadlinePassed,
    RecordingFinished,
    SessionEnded,
    SessionInterrupted,
    SessionPaused,
    SessionResumed,
    SessionStarted,
    StopRequested,
)
from rutter.events.tools import (
    ApprovalSought,
    CompletionClaimed,
    FileRead,
    ToolAnswered,
    ToolCalled,
)
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    CheckpointPassed,
    CheckpointRefused,
    PlanAdmitted,
    QueryStarted,
)


class Hearers(NamedTuple):
    deciders: tuple[Actor, ...] = ()
    at_once: tuple[Actor, ...] = ()
    when_durable: tuple[Actor, ...] = ()


DECIDERS: tuple[Actor, ...] = ("critic", "predictor", "planner", "validator")
EFFECTORS: tuple[Actor, ...] = ("observer", "executor", "person", "clock", "advisor")

HEARD: dict[type[Event], Hearers] = {
    # facts of the runtime
    SessionStarted: Hearers(DECIDERS, when_durable=("observer", "clock", "advisor")),
    DeadlinePassed: Hearers(("planner",)),
    StopRequested: Hearers(("planner",)),
    RecordingFinished: Hearers(("critic", "planner")),
    SessionPaused: Hearers(("predictor", "planner", "validator"), at_once=("clock",)),
    SessionResumed: Hearers(DECIDERS, at_once=("clock",)),
    SessionInterrupted: Hearers(("planner",)),
    ActorFailed: Hearers(when_durable=("observer",)),
    SessionEnded: Hearers(DECIDERS),
    # facts of the Observer
    PageObserved: Hearers(DECIDERS, when_durable=("advisor",)),
    ObservationFailed: Hearers(("planner",)),
    BrowserLost: Hearers(("planner",)),
    DownloadFinished: Hearers(("critic", "predictor")),
    FilesSeen: Hearers(("critic",)),
    LoginUsed: Hearers(("predictor", "planner")),
    # decisions of the Critic
    ActionJudged: Hearers(("critic", "predictor", "planner"), when_durable=("advisor",)),
    PageAssessed: Hearers(("predictor", "validator", "planner"), when_durable=("advisor",)),
    CompletionChecked: Hearers(("critic", "planner")),
    OutcomeUnknown: Hearers(("critic",)),
    FilesRequested: Hearers(("critic",), at_once=("observer",)),
    ReadBackDue: Hearers(("critic", "planner")),
    ReadBackFound: Hearers(("predictor",)),
    StateDiffered: Hearers(("planner",)),
    VisionSought: Hearers(("critic",), when_durable=("advisor",)),
    # decisions of the Predictor
    PredictionMade: Hearers(("planner",)),
    StepDue: Hearers(("planner",)),
    WorkflowFinished: Hearers(("critic",)),
    TransitionLearned: Hearers(("predictor",)),
    TransitionUndone: Hearers(("predictor",)),
    EndLearned: Hearers(("predictor",)),
    EffectsLearned: Hearers(("predictor",)),
    WorkflowLearned: Hearers(("predictor",)),
    WorkflowDeleted: Hearers(("predictor",)),
    WorkflowRenamed: Hearers(("predictor",)),
    SessionForgotten: Hearers(("predictor",)),
    # decisions of the Planner
    PlanProposed: Hearers(DECIDERS, when_durable=("advisor",)),
    PlanWithheld: Hearers(("predictor", "planner")),
    ObservationRequested: Hearers(DECIDERS, at_once=("observer",)),
    PersonAwaited: Hearers(("planner",), at_once=("observer", "clock")),
    LookalikesRequested: Hearers(at_once=("executor",)),
    TargetHealed: Hearers(("planner", "predictor")),
    RunStopped: Hearers(DECIDERS, when_durable=("observer",)),
    AdviceRequested: Hearers(("planner",), when_durable=("advisor",)),
    CheckpointReached: Hearers(("planner", "validator")),
    StepSettled: Hearers(("planner", "predictor", "validator")),
    StepsRecalled: Hearers(("planner", "predictor")),
    # decisions of the Validator
    PlanAdmitted: Hearers(at_once=("executor",)),
    ActionApproved: Hearers(("predictor",)),
    ActionRejected: Hearers(("planner", "predictor", "validator")),
    ActionWithheld: Hearers(("planner",)),
    ActionStarted: Hearers(("critic", "planner", "validator"), when_durable=("executor",)),
    QueryStarted: Hearers(("planner", "validator"), at_once=("executor",)),
    ApprovalRequested: Hearers(("validator", "planner"), when_durable=("person", "clock")),
    ApprovalVoided: Hearers(("validator", "planner"), when_durable=("clock",)),
    CheckpointPassed: Hearers(("planner",)),
    CheckpointRefused: Hearers(("planner",)),
    # facts of the Executor
    TargetResolved: Hearers(("critic", "validator", "predictor", "planner")),
    TargetChanged: Hearers(("critic", "validator", "predictor")),
    TargetMissing: Hearers(("validator",)),
    LookalikesFound: Hearers(("planner",)),
    ActionDone: Hearers(("critic", "predictor", "planner"), at_once=("observer",)),
    ActionFailed: Hearers(("critic", "planner"), at_once=("observer",)),
    QueryAnswered: Hearers(("predictor", "planner"), at_once=("observer",)),
    QueryFailed: Hearers(("predictor", "planner"), at_once=("observer",)),
    PersonActed: Hearers(("critic", "predictor")),
    StepPictured: Hearers(("predictor",)),
    # calls of tools
    ToolCalled: Hearers(("planner",), at_once=("clock",), when_durable=("advisor",)),
    FileRead: Hearers(("planner",)),
    ApprovalSought: Hearers(("planner", "validator")),
    CompletionClaimed: Hearers(("critic", "planner")),
    ToolAnswered: Hearers(("planner",), at_once=("clock",), when_durable=("advisor",)),
    # a person, a language model
    ApprovalAnswered: Hearers(("validator", "planner"), at_once=("clock",)),
    AdvicePrepared: Hearers(when_durable=("advisor",)),
    AdviceReceived: Hearers(("planner",), when_durable=("advisor",)),
    AdviceFailed: Hearers(("planner",)),
    AdviceLost: Hearers(("planner",)),
    VisionGiven: Hearers(("critic",)),
}
NOBODY = Hearers()


def row(event: Event | type[Event]) -> Hearers:
    """Who hears this event; nobody, when the table does not name it."""
    return HEARD.get(event if isinstance(event, type) else type(event), NOBODY)
