"""Every event there is, as one union: what the codec reads and type checkers exhaust."""

from events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from events.critic import ActionJudged, CompletionChecked, OutcomeUnknown, PageAssessed
from events.executor import (
    ActionDone,
    ActionFailed,
    LookalikesFound,
    PersonActed,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from events.observer import (
    BrowserLost,
    DialogOpened,
    DownloadFinished,
    ObservationFailed,
    PageObserved,
    PopupOpened,
    RequestBlocked,
    ScreenshotTaken,
)
from events.person import ApprovalAnswered
from events.planner import (
    AdviceRequested,
    LookalikesRequested,
    ObservationRequested,
    PersonAwaited,
    PlanProposed,
    PlanWithheld,
    RunStopped,
    TargetHealed,
)
from events.predictor import (
    PredictionMade,
    SessionForgotten,
    StepDue,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowFinished,
    WorkflowLearned,
    WorkflowRenamed,
)
from events.runtime import (
    ActorFailed,
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
from events.tools import (
    ApprovalSought,
    CompletionClaimed,
    FileRead,
    ToolAnswered,
    ToolCalled,
)
from events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    PlanAdmitted,
)

RuntimeEvent = (
    ProcessStarted
    | ProcessStopped
    | LogSealed
    | PayloadErased
    | PayloadGone
    | SessionStarted
    | DeadlinePassed
    | StopRequested
    | RecordingFinished
    | SessionPaused
    | SessionResumed
    | SessionInterrupted
    | ActorFailed
    | SessionEnded
)
ObserverEvent = (
    PageObserved
    | ObservationFailed
    | ScreenshotTaken
    | BrowserLost
    | DialogOpened
    | PopupOpened
    | DownloadFinished
    | RequestBlocked
)
PredictorEvent = (
    PredictionMade
    | StepDue
    | WorkflowFinished
    | TransitionLearned
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
)
AdvisorEvent = AdviceReceived | AdviceFailed | AdviceLost
ValidatorEvent = (
    PlanAdmitted
    | ActionApproved
    | ActionRejected
    | ActionWithheld
    | ActionStarted
    | ApprovalRequested
    | ApprovalVoided
)
ExecutorEvent = (
    TargetResolved
    | TargetMissing
    | TargetChanged
    | LookalikesFound
    | ActionDone
    | ActionFailed
    | PersonActed
)
ToolEvent = ToolCalled | FileRead | ApprovalSought | CompletionClaimed | ToolAnswered
CriticEvent = ActionJudged | PageAssessed | CompletionChecked | OutcomeUnknown

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
