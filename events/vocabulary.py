"""The vocabulary is the one union of all events: the codec reads it, type checkers exhaust it."""

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
from rutter.events.jobs import JobEnded, JobQueued, JobStarted
from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.events.observer import (
    BrowserLost,
    DialogOpened,
    DownloadFinished,
    FilesSeen,
    HostsContacted,
    ObservationFailed,
    PageObserved,
    PopupOpened,
    RequestBlocked,
    ScreenshotTaken,
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
    ArtifactsExpired,
    DeadlinePassed,
    LogSealed,
    PayloadErased,
    PayloadGone,
    ProcessStarted,
    ProcessStopped,
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
from rutter.events.triggers import HookDropped, HookSet, ScheduleDropped, ScheduleSet
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

RuntimeEvent = (
    ProcessStarted
    | ProcessStopped
    | LogSealed
    | PayloadErased
    | PayloadGone
    | ArtifactsExpired
    | SessionStarted
    | DeadlinePassed
    | StopRequested
    | RecordingFinished
    | SessionPaused
    | SessionResumed
    | SessionInterrupted
    | ActorFailed
    | SessionEnded
    | JobQueued
    | JobStarted
    | JobEnded
    | ScheduleSet
    | ScheduleDropped
    | HookSet
    | HookDropped
)
ObserverEvent = (
    PageObserved
    | ObservationFailed
    | ScreenshotTaken
    | FilesSeen
    | BrowserLost
    | DialogOpened
    | PopupOpened
    | DownloadFinished
    | RequestBlocked
    | HostsContacted
    | LoginUsed
    | LoginKept
    | LoginNotKept
)
PredictorEvent = (
    PredictionMade
    | StepDue
    | WorkflowFinished
    | TransitionLearned
    | TransitionUndone
    | EffectsLearned
    | EndLearned
    | WorkflowLearned
    | WorkflowDeleted
    | WorkflowRenamed
    | SessionForgotten
)
PlannerEvent = (
    PlanProposed
    | PlanWithheld
    | ObservationRequested
    | PersonAwaited
    | LookalikesRequested
    | TargetHealed
    | RunStopped
    | AdviceRequested
    | CheckpointReached
    | StepSettled
    | StepsRecalled
)
AdvisorEvent = AdvicePrepared | AdviceReceived | AdviceFailed | AdviceLost | VisionGiven
ValidatorEvent = (
    PlanAdmitted
    | ActionApproved
    | ActionRejected
    | ActionWithheld
    | ActionStarted
    | QueryStarted
    | ApprovalRequested
    | ApprovalVoided
    | CheckpointPassed
    | CheckpointRefused
)
ExecutorEvent = (
    TargetResolved
    | TargetMissing
    | TargetChanged
    | LookalikesFound
    | ActionDone
    | ActionFailed
    | QueryAnswered
    | QueryFailed
    | PersonActed
    | StepPictured
)
ToolEvent = ToolCalled | FileRead | ApprovalSought | CompletionClaimed | ToolAnswered
CriticEvent = (
    ActionJudged
    | PageAssessed
    | CompletionChecked
    | OutcomeUnknown
    | FilesRequested
    | ReadBackDue
    | ReadBackFound
    | StateDiffered
    | VisionSought
)

AnyEvent = (
    RuntimeEvent
    | ObserverEvent
    | PredictorEvent
    | PlannerEvent
    | AdvisorEvent
    | ValidatorEvent
    | ExecutorEvent
    | CriticEvent
    | ToolEvent
    | ApprovalAnswered
)
