"""Who hears which event: the one table that wires the pipeline.

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


class Row(NamedTuple):
    deciders: tuple[Actor, ...] = ()
    at_once: tuple[Actor, ...] = ()
    when_durable: tuple[Actor, ...] = ()


DECIDERS: tuple[Actor, ...] = ("critic", "predictor", "planner", "validator")
EFFECTORS: tuple[Actor, ...] = ("observer", "executor", "person", "clock", "advisor")

HEARD: dict[type[Event], Row] = {
    # facts of the runtime
    SessionStarted: Row(DECIDERS, when_durable=("observer", "clock", "advisor")),
    DeadlinePassed: Row(("planner",)),
    StopRequested: Row(("planner",)),
    RecordingFinished: Row(("critic", "planner")),
    SessionPaused: Row(("predictor", "planner", "validator"), at_once=("clock",)),
    SessionResumed: Row(DECIDERS, at_once=("clock",)),
    SessionInterrupted: Row(("planner",)),
    ActorFailed: Row(when_durable=("observer",)),
    SessionEnded: Row(DECIDERS),
    # facts of the Observer
    PageObserved: Row(DECIDERS, when_durable=("advisor",)),
    ObservationFailed: Row(("planner",)),
    BrowserLost: Row(("planner",)),
    DownloadFinished: Row(("critic", "predictor")),
    FilesSeen: Row(("critic",)),
    LoginUsed: Row(("predictor", "planner")),
    # decisions of the Critic
    ActionJudged: Row(("critic", "predictor", "planner"), when_durable=("advisor",)),
    PageAssessed: Row(("predictor", "validator", "planner"), when_durable=("advisor",)),
    CompletionChecked: Row(("critic", "planner")),
    OutcomeUnknown: Row(("critic",)),
    FilesRequested: Row(("critic",), at_once=("observer",)),
    ReadBackDue: Row(("critic", "planner")),
    ReadBackFound: Row(("predictor",)),
    StateDiffered: Row(("planner",)),
    VisionSought: Row(("critic",), when_durable=("advisor",)),
    # decisions of the Predictor
    PredictionMade: Row(("planner",)),
    StepDue: Row(("planner",)),
    WorkflowFinished: Row(("critic",)),
    TransitionLearned: Row(("predictor",)),
    TransitionUndone: Row(("predictor",)),
    EndLearned: Row(("predictor",)),
    EffectsLearned: Row(("predictor",)),
    WorkflowLearned: Row(("predictor",)),
    WorkflowDeleted: Row(("predictor",)),
    WorkflowRenamed: Row(("predictor",)),
    SessionForgotten: Row(("predictor",)),
    # decisions of the Planner
    PlanProposed: Row(DECIDERS, when_durable=("advisor",)),
    PlanWithheld: Row(("predictor", "planner")),
    ObservationRequested: Row(DECIDERS, at_once=("observer",)),
    PersonAwaited: Row(("planner",), at_once=("observer", "clock")),
    LookalikesRequested: Row(at_once=("executor",)),
    TargetHealed: Row(("planner", "predictor")),
    RunStopped: Row(DECIDERS, when_durable=("observer",)),
    AdviceRequested: Row(("planner",), when_durable=("advisor",)),
    CheckpointReached: Row(("planner", "validator")),
    StepSettled: Row(("planner", "predictor", "validator")),
    StepsRecalled: Row(("planner", "predictor")),
    # decisions of the Validator
    PlanAdmitted: Row(at_once=("executor",)),
    ActionApproved: Row(("predictor",)),
    ActionRejected: Row(("planner", "predictor", "validator")),
    ActionWithheld: Row(("planner",)),
    ActionStarted: Row(("critic", "planner", "validator"), when_durable=("executor",)),
    QueryStarted: Row(("planner", "validator"), at_once=("executor",)),
    ApprovalRequested: Row(("validator", "planner"), when_durable=("person", "clock")),
    ApprovalVoided: Row(("validator", "planner"), when_durable=("clock",)),
    CheckpointPassed: Row(("planner",)),
    CheckpointRefused: Row(("planner",)),
    # facts of the Executor
    TargetResolved: Row(("critic", "validator", "predictor", "planner")),
    TargetChanged: Row(("critic", "validator", "predictor")),
    TargetMissing: Row(("validator",)),
    LookalikesFound: Row(("planner",)),
    ActionDone: Row(("critic", "predictor", "planner"), at_once=("observer",)),
    ActionFailed: Row(("critic", "planner"), at_once=("observer",)),
    QueryAnswered: Row(("predictor", "planner"), at_once=("observer",)),
    QueryFailed: Row(("predictor", "planner"), at_once=("observer",)),
    PersonActed: Row(("critic", "predictor")),
    StepPictured: Row(("predictor",)),
    # calls of tools
    ToolCalled: Row(("planner",), at_once=("clock",), when_durable=("advisor",)),
    FileRead: Row(("planner",)),
    ApprovalSought: Row(("planner", "validator")),
    CompletionClaimed: Row(("critic", "planner")),
    ToolAnswered: Row(("planner",), at_once=("clock",), when_durable=("advisor",)),
    # a person, a language model
    ApprovalAnswered: Row(("validator", "planner"), at_once=("clock",)),
    AdvicePrepared: Row(when_durable=("advisor",)),
    AdviceReceived: Row(("planner",), when_durable=("advisor",)),
    AdviceFailed: Row(("planner",)),
    AdviceLost: Row(("planner",)),
    VisionGiven: Row(("critic",)),
}
NOBODY = Row()


def row(event: Event | type[Event]) -> Row:
    """Who hears this event; nobody, when the table does not name it."""
    return HEARD.get(event if isinstance(event, type) else type(event), NOBODY)
