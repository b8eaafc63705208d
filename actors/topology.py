"""The topology says who hears which event: the one table that wires the pipeline.

Deciders hear an event when it is numbered. Effectors hear it when it is on disk, except where
they only read the page: that need not wait (`at_once`).
"""

from typing import NamedTuple

from rutter.events import (
    advisor,
    critic,
    executor,
    logins,
    observer,
    person,
    planner,
    predictor,
    runtime,
    tools,
    validator,
)
from rutter.events.envelope import Actor
from rutter.events.event import Event


class Hearers(NamedTuple):
    deciders: tuple[Actor, ...] = ()
    at_once: tuple[Actor, ...] = ()
    when_durable: tuple[Actor, ...] = ()


DECIDERS: tuple[Actor, ...] = ("critic", "predictor", "planner", "validator")
EFFECTORS: tuple[Actor, ...] = ("observer", "executor", "person", "clock", "advisor")

HEARD: dict[type[Event], Hearers] = {
    # facts of the runtime
    runtime.SessionStarted: Hearers(DECIDERS, when_durable=("observer", "clock", "advisor")),
    runtime.DeadlinePassed: Hearers(("planner",)),
    runtime.StopRequested: Hearers(("planner",)),
    runtime.RecordingFinished: Hearers(("critic", "predictor", "planner")),
    runtime.SessionPaused: Hearers(("predictor", "planner", "validator"), at_once=("clock",)),
    runtime.SessionResumed: Hearers(DECIDERS, at_once=("clock",)),
    runtime.SessionInterrupted: Hearers(("planner",)),
    runtime.ActorFailed: Hearers(when_durable=("observer",)),
    runtime.SessionEnded: Hearers(DECIDERS),
    # facts of the Observer
    observer.PageObserved: Hearers(DECIDERS, when_durable=("advisor",)),
    observer.ObservationFailed: Hearers(("planner",)),
    observer.BrowserLost: Hearers(("planner",)),
    observer.DownloadFinished: Hearers(("critic", "predictor")),
    observer.FilesSeen: Hearers(("critic",)),
    logins.LoginUsed: Hearers(("critic", "predictor", "planner")),
    # decisions of the Critic
    critic.ActionJudged: Hearers(("critic", "predictor", "planner"), when_durable=("advisor",)),
    critic.PageAssessed: Hearers(("predictor", "validator", "planner"), when_durable=("advisor",)),
    critic.CompletionChecked: Hearers(("critic", "planner")),
    critic.OutcomeUnknown: Hearers(("critic", "validator")),
    critic.FilesRequested: Hearers(("critic",), at_once=("observer",)),
    critic.ReadBackDue: Hearers(("critic", "planner")),
    critic.ReadBackFound: Hearers(("predictor",)),
    critic.StateDiffered: Hearers(("planner",)),
    critic.VisionSought: Hearers(("critic",), when_durable=("advisor",)),
    # decisions of the Predictor
    predictor.PredictionMade: Hearers(("planner",)),
    predictor.StepDue: Hearers(("planner",)),
    predictor.WorkflowFinished: Hearers(("critic",)),
    predictor.TransitionLearned: Hearers(("predictor",)),
    predictor.TransitionUndone: Hearers(("predictor",)),
    predictor.EndLearned: Hearers(("predictor",)),
    predictor.EffectsLearned: Hearers(("predictor",)),
    predictor.WorkflowLearned: Hearers(("predictor",)),
    predictor.WorkflowDeleted: Hearers(("predictor",)),
    predictor.WorkflowRenamed: Hearers(("predictor",)),
    predictor.SessionForgotten: Hearers(("predictor",)),
    # decisions of the Planner
    planner.PlanProposed: Hearers(DECIDERS, when_durable=("advisor",)),
    planner.PlanWithheld: Hearers(("predictor", "planner")),
    planner.ObservationRequested: Hearers(DECIDERS, at_once=("observer",)),
    planner.PersonAwaited: Hearers(("planner",), at_once=("observer", "clock")),
    planner.LookalikesRequested: Hearers(at_once=("executor",)),
    planner.TargetHealed: Hearers(("planner", "predictor")),
    planner.StepLost: Hearers(("planner", "validator")),
    planner.RunStopped: Hearers(DECIDERS, when_durable=("observer",)),
    planner.AdviceRequested: Hearers(("planner",), when_durable=("advisor",)),
    planner.CheckpointReached: Hearers(("planner", "validator")),
    planner.StepSettled: Hearers(("planner", "predictor", "validator")),
    planner.StepsRecalled: Hearers(("planner", "predictor")),
    # decisions of the Validator
    validator.PlanAdmitted: Hearers(at_once=("executor",)),
    validator.ActionApproved: Hearers(("predictor",)),
    validator.ActionRejected: Hearers(("planner", "predictor", "validator")),
    validator.ActionWithheld: Hearers(("planner",)),
    validator.ActionStarted: Hearers(
        ("critic", "planner", "validator"), when_durable=("executor",)
    ),
    validator.QueryStarted: Hearers(
        ("planner", "validator"), at_once=("executor", "clock"), when_durable=("advisor",)
    ),
    validator.ApprovalRequested: Hearers(
        ("validator", "planner"), when_durable=("person", "clock")
    ),
    validator.ApprovalVoided: Hearers(("validator", "planner"), when_durable=("clock",)),
    validator.CheckpointPassed: Hearers(("planner", "validator")),
    validator.CheckpointRefused: Hearers(("planner",)),
    # facts of the Executor
    executor.TargetResolved: Hearers(("critic", "validator", "predictor", "planner")),
    executor.TargetChanged: Hearers(("critic", "validator", "predictor")),
    executor.TargetMissing: Hearers(("validator",)),
    executor.LookalikesFound: Hearers(("planner",)),
    executor.ActionDone: Hearers(("critic", "predictor", "planner"), at_once=("observer",)),
    executor.ActionFailed: Hearers(("critic", "planner"), at_once=("observer",)),
    executor.QueryAnswered: Hearers(("predictor", "planner"), at_once=("observer",)),
    executor.QueryFailed: Hearers(("predictor", "planner"), at_once=("observer",)),
    executor.PersonActed: Hearers(("critic", "predictor")),
    executor.StepMarked: Hearers(("critic", "predictor")),
    executor.StepPictured: Hearers(("predictor",)),
    # calls of tools
    tools.ToolCalled: Hearers(("planner",), at_once=("clock",), when_durable=("advisor",)),
    tools.FileRead: Hearers(("planner",)),
    tools.ApprovalSought: Hearers(("planner", "validator")),
    tools.CompletionClaimed: Hearers(("critic", "planner")),
    tools.ToolAnswered: Hearers(("planner",), at_once=("clock",), when_durable=("advisor",)),
    # a person, a language model
    person.ApprovalAnswered: Hearers(("validator", "planner"), at_once=("clock",)),
    advisor.AdvicePrepared: Hearers(when_durable=("advisor",)),
    advisor.AdviceReceived: Hearers(("planner",), when_durable=("advisor",)),
    advisor.AdviceFailed: Hearers(("planner",)),
    advisor.AdviceLost: Hearers(("planner",)),
    advisor.VisionGiven: Hearers(("critic",)),
}
NOBODY = Hearers()


def row(event: Event | type[Event]) -> Hearers:
    """Who hears this event; nobody, when the table does not name it."""
    return HEARD.get(event if isinstance(event, type) else type(event), NOBODY)
