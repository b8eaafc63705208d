"""The mapping turns events into spans: names, kinds and attributes, under one version.

`rutter.*` says what the log says. Beside it stand the GenAI conventions for model calls and tools,
and OpenInference's kinds, by which Phoenix draws them. Page text and messages go out bounded, URLs
without their query; parameter values and secrets do not go out at all. Change a row and count
`MAPPING` up: it is in every export, so that whoever reads spans knows by which table.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

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
)
from rutter.events import validator as gate
from rutter.events.action import Action, Kind
from rutter.events.event import Event
from rutter.replay.traces.attributes import FieldsTaken
from rutter.replay.traces.event_attributes import (
    action_done,
    action_judged,
    advice_prepared,
    advice_received,
    advice_requested,
    approval_answered,
    download_finished,
    files_seen,
    hosts_contacted,
    lookalikes_found,
    page_observed,
    person_acted,
    prediction_made,
    query_answered,
    read_back_due,
    target_missing,
    target_resolved,
    transition_learned,
    vision_given,
    workflow_learned,
)
from rutter.replay.traces.outgoing_text import said
from rutter.replay.traces.span import Attributes

MAPPING: Final = "5"

RESOURCE: Final[Attributes] = {
    "service.name": "rutter",
    "openinference.project.name": "rutter",
    "rutter.mapping": MAPPING,
}
SCOPE: Final = "rutter.replay.traces"

# By the name of a span: its kind in OpenInference.
KINDS: Final[Mapping[str, str]] = {
    "run": "AGENT",
    "step": "CHAIN",
    "observe": "RETRIEVER",
    "predict": "CHAIN",
    "learn": "CHAIN",
    "plan": "CHAIN",
    "validate": "GUARDRAIL",
    "ask person": "GUARDRAIL",
    "resolve": "RETRIEVER",
    "act": "TOOL",
    "judge": "EVALUATOR",
    "chat": "LLM",
    "runtime": "CHAIN",
}
# What an actor's work is called where the event alone does not tell.
WORK_OF: Final[Mapping[str, str]] = {
    "observer": "observe",
    "predictor": "predict",
    "planner": "plan",
    "validator": "validate",
    "executor": "act",
    "critic": "judge",
    "person": "ask person",
    "advisor": "chat",
}
# Counted over a run, and told on its span.
TOTALS: Final = (
    "rutter.event_count",
    "rutter.steps",
    "rutter.steps.confirmed",
    "rutter.steps.answered",
    "rutter.model_calls",
    "rutter.model_calls.failed",
    "rutter.model_calls.unpriced",
    "rutter.tokens.input",
    "rutter.tokens.output",
    "rutter.tokens.cached",
    "rutter.cost_microdollars",
)


# -- the table -------------------------------------------------------------------------------------

_HEALED = FieldsTaken(
    "step attempt",
    text="output.value=element.name.text",
    shares="rutter.healed.score=score rutter.healed.runner_up=runner_up",
)
_ASKED = FieldsTaken(
    maybe="gen_ai.provider.name=provider llm.provider=provider gen_ai.request.model=model "
    "llm.model_name=model"
)
_END = FieldsTaken(
    "rutter.end.reason=reason", maybe="rutter.end.failure=failure output.value=detail"
)
_STARTED = FieldsTaken(
    "purpose driver logic rutter.policy=policy.version rutter.predictor=settings.predictor "
    "rutter.dry_run=settings.dry_run",
    maybe="rutter.workflow=name",
    shares="rutter.threshold=settings.threshold",
)
_CALLED = FieldsTaken("rutter.call=call gen_ai.tool.call.id=call gen_ai.tool.name=tool by attempt")
_NONE = FieldsTaken()

BY_ACTOR: Final = "?"  # named after whose work it is, see `WORK_OF`


class SpanRule(NamedTuple):
    """A rule names the span that an event is part of (none: a moment in the one around it), and
    says what the event adds."""

    span: str
    adds: Callable[[Any], Attributes]


SPAN_RULES: Final[Mapping[type[Event], SpanRule]] = {
    # the run
    runtime.SessionStarted: SpanRule("run", _STARTED),
    runtime.SessionEnded: SpanRule("run", _END),
    # actors at work
    observer.PageObserved: SpanRule("observe", page_observed),
    observer.ObservationFailed: SpanRule("observe", FieldsTaken("error.type=code", text="message")),
    observer.BrowserLost: SpanRule(
        BY_ACTOR, FieldsTaken(text="rutter.message=why", error="browser_lost")
    ),
    predictor.PredictionMade: SpanRule("predict", prediction_made),
    predictor.StepDue: SpanRule("predict", FieldsTaken("index of", maybe="unmet")),
    predictor.WorkflowFinished: SpanRule("predict", FieldsTaken("rutter.workflow.steps=steps")),
    predictor.TransitionLearned: SpanRule("learn", transition_learned),
    predictor.EndLearned: SpanRule("learn", FieldsTaken("driver")),
    predictor.TransitionUndone: SpanRule("learn", FieldsTaken("rutter.why=why")),
    predictor.EffectsLearned: SpanRule(
        "learn", FieldsTaken("rutter.workflow.version=version", text="rutter.workflow=workflow")
    ),
    predictor.WorkflowLearned: SpanRule("learn", workflow_learned),
    planner.PlanProposed: SpanRule(
        "plan",
        FieldsTaken(
            "step attempt driver kind rutter.action=action.type",
            text="reason",
            shares="probability certainty",
        ),
    ),
    planner.PlanWithheld: SpanRule("plan", FieldsTaken(text="reason")),
    planner.ObservationRequested: SpanRule(BY_ACTOR, FieldsTaken("why within_ms")),
    planner.PersonAwaited: SpanRule("plan", FieldsTaken("step")),
    planner.LookalikesRequested: SpanRule("plan", FieldsTaken("step attempt")),
    planner.TargetHealed: SpanRule("plan", _HEALED),
    planner.RunStopped: SpanRule("plan", _END),
    planner.AdviceRequested: SpanRule("plan", advice_requested),
    planner.CheckpointReached: SpanRule(
        "plan", FieldsTaken("step rutter.approval.kind=kind", text="rutter.reason=why")
    ),
    planner.StepSettled: SpanRule(
        "plan", FieldsTaken("rutter.index=index rutter.settled=done", text="reason")
    ),
    planner.StepsRecalled: SpanRule(
        "plan", FieldsTaken("rutter.index=back_to", text="rutter.reason=why")
    ),
    gate.PlanAdmitted: SpanRule("validate", FieldsTaken("step attempt within_ms")),
    gate.ActionApproved: SpanRule("validate", FieldsTaken("step rule policy", text="reason")),
    gate.ActionRejected: SpanRule(
        "validate", FieldsTaken("step rule policy error.type=code", text="reason", maybe="error")
    ),
    gate.ActionWithheld: SpanRule("validate", FieldsTaken("step", text="reason")),
    gate.ActionStarted: SpanRule("validate", FieldsTaken("attempt irreversible")),
    gate.QueryStarted: SpanRule("validate", FieldsTaken("step attempt")),
    gate.ApprovalRequested: SpanRule(
        "validate", FieldsTaken("step approval rutter.approval.kind=kind rule", text="question")
    ),
    gate.ApprovalVoided: SpanRule(
        "validate", FieldsTaken("approval", text="rutter.approval.voided=why")
    ),
    gate.CheckpointPassed: SpanRule("validate", FieldsTaken("approval rutter.approval.kind=kind")),
    gate.CheckpointRefused: SpanRule(
        "validate",
        FieldsTaken(
            "approval rutter.approval.kind=kind rutter.answered_by=by",
            maybe="message",
            error="checkpoint_refused",
        ),
    ),
    executor.TargetResolved: SpanRule("resolve", target_resolved),
    executor.TargetMissing: SpanRule("resolve", target_missing),
    executor.LookalikesFound: SpanRule("resolve", lookalikes_found),
    executor.TargetChanged: SpanRule("act", FieldsTaken("step attempt", error="target_changed")),
    executor.ActionDone: SpanRule("act", action_done),
    executor.ActionFailed: SpanRule(
        "act", FieldsTaken("step attempt dispatched error.type=code", text="message")
    ),
    executor.QueryAnswered: SpanRule("act", query_answered),
    executor.QueryFailed: SpanRule(
        "act", FieldsTaken("step attempt error.type=code", text="message")
    ),
    executor.PersonActed: SpanRule("act", person_acted),
    executor.StepPictured: SpanRule(BY_ACTOR, FieldsTaken("step rutter.artifact=artifact.sha256")),
    critic.ActionJudged: SpanRule("judge", action_judged),
    critic.PageAssessed: SpanRule("judge", FieldsTaken(maybe="state")),
    critic.CompletionChecked: SpanRule("judge", FieldsTaken("verified", text="reason")),
    critic.OutcomeUnknown: SpanRule(
        "judge", FieldsTaken("step attempt", text="rutter.reason=why", error="outcome_unknown")
    ),
    critic.FilesRequested: SpanRule("judge", FieldsTaken("step within_ms")),
    critic.ReadBackDue: SpanRule("judge", read_back_due),
    critic.ReadBackFound: SpanRule("judge", FieldsTaken("step index")),
    critic.StateDiffered: SpanRule(
        "judge", FieldsTaken("step attempt rutter.state.expected=expected rutter.state=actual")
    ),
    critic.VisionSought: SpanRule(
        "judge", FieldsTaken("step attempt", text="rutter.checked=checked")
    ),
    person.ApprovalAnswered: SpanRule("ask person", approval_answered),
    advisor.AdvicePrepared: SpanRule("chat", advice_prepared),
    advisor.AdviceReceived: SpanRule("chat", advice_received),
    advisor.AdviceFailed: SpanRule(
        "chat",
        FieldsTaken(
            "error.type=code transient",
            text="gen_ai.provider.name=provider llm.provider=provider message",
        ),
    ),
    advisor.VisionGiven: SpanRule("chat", vision_given),
    advisor.AdviceLost: SpanRule("chat", FieldsTaken(error="lost")),
    tools.ToolCalled: SpanRule("", _CALLED),
    tools.FileRead: SpanRule("", FieldsTaken("rutter.call=call", maybe="error")),
    tools.ApprovalSought: SpanRule(
        "plan", FieldsTaken("rutter.call=call", text="rutter.reason=reason")
    ),
    tools.CompletionClaimed: SpanRule(
        "plan", FieldsTaken("rutter.call=call status", text="rutter.reason=reason")
    ),
    tools.ToolAnswered: SpanRule(
        "plan",
        FieldsTaken(
            "rutter.call=call success retriable", maybe="error error.type=error_code message"
        ),
    ),
    runtime.ActorFailed: SpanRule(BY_ACTOR, FieldsTaken("error.type=error rutter.failed=actor")),
    # moments
    observer.ScreenshotTaken: SpanRule(
        "", FieldsTaken("rutter.artifact=artifact.sha256", text="why")
    ),
    observer.DialogOpened: SpanRule(
        "", FieldsTaken("rutter.dialog=kind answer repeats", text="rutter.message=message.text")
    ),
    observer.PopupOpened: SpanRule("", FieldsTaken("repeats", text="rutter.page.url=url")),
    observer.DownloadFinished: SpanRule("", download_finished),
    observer.FilesSeen: SpanRule("observe", files_seen),
    observer.RequestBlocked: SpanRule(
        "",
        FieldsTaken(
            "server.port=port repeats", text="server.address=host channel", maybe="rule policy"
        ),
    ),
    observer.HostsContacted: SpanRule("", hosts_contacted),
    logins.LoginUsed: SpanRule("", FieldsTaken(text="rutter.login=origin")),
    logins.LoginKept: SpanRule("", FieldsTaken(text="rutter.login=origin")),
    logins.LoginNotKept: SpanRule("", FieldsTaken(text="rutter.login=origin why")),
    runtime.DeadlinePassed: SpanRule("", FieldsTaken("what after_ms")),
    runtime.StopRequested: SpanRule("", FieldsTaken("by", text="why")),
    runtime.RecordingFinished: SpanRule("", FieldsTaken("by")),
    runtime.SessionPaused: SpanRule("", FieldsTaken("by")),
    runtime.SessionResumed: SpanRule("", FieldsTaken("by")),
    runtime.SessionInterrupted: SpanRule("", FieldsTaken(text="why")),
    runtime.PayloadGone: SpanRule("", FieldsTaken("was")),
    # of a process or of the whole log: in no run
    runtime.ProcessStarted: SpanRule("", _NONE),
    runtime.ProcessStopped: SpanRule("", _NONE),
    runtime.LogSealed: SpanRule("", _NONE),
    runtime.PayloadErased: SpanRule("", _NONE),
    runtime.ArtifactsExpired: SpanRule("", _NONE),
    jobs.JobQueued: SpanRule("", _NONE),
    jobs.JobStarted: SpanRule("", _NONE),
    jobs.JobEnded: SpanRule("", _NONE),
    triggers.ScheduleSet: SpanRule("", _NONE),
    triggers.ScheduleDropped: SpanRule("", _NONE),
    triggers.HookSet: SpanRule("", _NONE),
    triggers.HookDropped: SpanRule("", _NONE),
    predictor.WorkflowDeleted: SpanRule("", _NONE),
    predictor.WorkflowRenamed: SpanRule("", _NONE),
    predictor.SessionForgotten: SpanRule("", _NONE),
}
MOMENT: Final = SpanRule("", _NONE)  # an event newer than this table still shows, by its name


# -- what a span knows from more than one event ----------------------------------------------------


def run_attributes(
    session: str, started: runtime.SessionStarted, ended: runtime.SessionEnded | None
) -> Attributes:
    """How a run began and how it ended, unless that was erased."""
    found: Attributes = {
        "openinference.span.kind": KINDS["run"],
        "session.id": session,
        "rutter.session": session,
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "rutter",
        **_STARTED(started),
    }
    if started.workflow is not None:
        found["rutter.workflow.version"] = started.workflow.version
        found["rutter.workflow.steps"] = len(started.workflow.steps)
    if started.values:
        found["rutter.parameters"] = tuple(sorted(started.values))
    wanted = started.goal or started.url or started.name
    if wanted:
        found["input.value"] = said(wanted)
    return found if ended is None else found | _END(ended)


def step_attributes(
    number: int, driver: str, kind: Kind, action: Action, words: str, url: str
) -> Attributes:
    """What a step is known by when it opens; verdict and attempts follow."""
    return {
        "openinference.span.kind": KINDS["step"],
        "rutter.step": number,
        "rutter.driver": driver,
        "rutter.kind": kind,
        "rutter.action": action.type,
        "rutter.page.url": url,
        "input.value": words,
    }


def verdict_of(event: Event) -> str:
    """What a step is told to have come to, in one word."""
    match event:
        case critic.ActionJudged(verdict=verdict):
            return verdict
        case executor.QueryAnswered():
            return "answered"
        case executor.QueryFailed():
            return "failed"
        case gate.ActionRejected():
            return "rejected"
        case gate.ActionWithheld():
            return "withheld"
        case _:
            return "unknown"


def request_attributes(event: planner.AdviceRequested) -> Attributes:
    """What was asked of a model, on the span of the call itself."""
    return {"gen_ai.operation.name": "chat", **advice_requested(event), **_ASKED(event)}
