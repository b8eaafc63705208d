"""The vocabulary is the one union of all events: the codec reads it, type checkers exhaust it."""

from rutter.events import (
    advisor,
    critic,
    executor,
    jobs,
    logins,
    observer,
    person,
    planner,
    predictor,
    runtime,
    tools,
    triggers,
    validator,
)

RuntimeEvent = (
    runtime.ProcessStarted
    | runtime.ProcessStopped
    | runtime.LogSealed
    | runtime.PayloadErased
    | runtime.PayloadGone
    | runtime.ArtifactsExpired
    | runtime.SessionStarted
    | runtime.DeadlinePassed
    | runtime.StopRequested
    | runtime.RecordingFinished
    | runtime.SessionPaused
    | runtime.SessionResumed
    | runtime.SessionInterrupted
    | runtime.ActorFailed
    | runtime.SessionEnded
    | jobs.JobQueued
    | jobs.JobStarted
    | jobs.JobEnded
    | triggers.ScheduleSet
    | triggers.ScheduleDropped
    | triggers.HookSet
    | triggers.HookDropped
)
ObserverEvent = (
    observer.PageObserved
    | observer.ObservationFailed
    | observer.ScreenshotTaken
    | observer.FilesSeen
    | observer.BrowserLost
    | observer.BarDisturbed
    | observer.DialogOpened
    | observer.PopupOpened
    | observer.DownloadFinished
    | observer.RequestBlocked
    | observer.HostsContacted
    | logins.LoginUsed
    | logins.LoginKept
    | logins.LoginNotKept
)
PredictorEvent = (
    predictor.PredictionMade
    | predictor.StepDue
    | predictor.WorkflowFinished
    | predictor.TransitionLearned
    | predictor.TransitionUndone
    | predictor.EffectsLearned
    | predictor.EndLearned
    | predictor.WorkflowLearned
    | predictor.WorkflowDeleted
    | predictor.WorkflowRenamed
    | predictor.SessionForgotten
)
PlannerEvent = (
    planner.PlanProposed
    | planner.PlanWithheld
    | planner.ObservationRequested
    | planner.PersonAwaited
    | planner.LookalikesRequested
    | planner.TargetHealed
    | planner.StepLost
    | planner.RunStopped
    | planner.AdviceRequested
    | planner.CheckpointReached
    | planner.StepSettled
    | planner.StepsRecalled
)
AdvisorEvent = (
    advisor.AdvicePrepared
    | advisor.AdviceReceived
    | advisor.AdviceFailed
    | advisor.AdviceLost
    | advisor.VisionGiven
)
ValidatorEvent = (
    validator.PlanAdmitted
    | validator.ActionApproved
    | validator.ActionRejected
    | validator.ActionWithheld
    | validator.ActionStarted
    | validator.QueryStarted
    | validator.ApprovalRequested
    | validator.ApprovalVoided
    | validator.CheckpointPassed
    | validator.CheckpointRefused
)
ExecutorEvent = (
    executor.TargetResolved
    | executor.TargetMissing
    | executor.TargetChanged
    | executor.LookalikesFound
    | executor.ActionDone
    | executor.ActionFailed
    | executor.QueryAnswered
    | executor.QueryFailed
    | executor.PersonActed
    | executor.StepMarked
    | executor.StepPictured
)
ToolEvent = (
    tools.ToolCalled
    | tools.FileRead
    | tools.ApprovalSought
    | tools.CompletionClaimed
    | tools.ToolAnswered
)
CriticEvent = (
    critic.ActionJudged
    | critic.PageAssessed
    | critic.CompletionChecked
    | critic.OutcomeUnknown
    | critic.FilesRequested
    | critic.ReadBackDue
    | critic.ReadBackFound
    | critic.StateDiffered
    | critic.VisionSought
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
    | person.ApprovalAnswered
    | person.QuestionPictured
)
