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
from rutter.events.run_settings import MILLION
from rutter.replay.story.cost import is_call
from rutter.replay.story.evidence_weight import deciding, overall
from rutter.replay.story.wording import advice_in_words, in_words
from rutter.replay.traces.attributes import FieldsTaken
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
# How an answer ended, in the words of the GenAI conventions.
FINISHED: Final[Mapping[str, str]] = {
    "called": "tool_call",
    "said": "stop",
    "cut": "length",
    "refused": "content_filter",
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


# -- where a field alone does not say it -----------------------------------------------------------


def _prediction_made(event: predictor.PredictionMade) -> Attributes:
    found: Attributes = {
        "rutter.predictor": event.model,
        "rutter.position": event.position,
        "rutter.candidates": len(event.candidates),
    }
    if event.candidates:
        top = event.candidates[0]
        found["rutter.probability"] = top.probability / MILLION
        found["rutter.source"] = top.source
        found["output.value"] = said(top.token)
    if event.within:
        found["rutter.workflow"] = event.within[0].workflow
        found["rutter.workflow.step"] = event.within[0].step
    return found


def _page_observed(event: observer.PageObserved) -> Attributes:
    return {**_PAGE(event), "rutter.page.elements": len(event.page.elements)}


def _download_finished(event: observer.DownloadFinished) -> Attributes:
    found = _FILE(event)
    if event.artifact is not None:
        found["rutter.artifact"] = event.artifact.sha256
    return found


def _target_resolved(event: executor.TargetResolved) -> Attributes:
    found = _TARGET(event)
    found["rutter.tries"] = len(event.tries)
    if event.tries:
        found["rutter.found_by"] = event.tries[-1].strategy
    return found


def _target_missing(event: executor.TargetMissing) -> Attributes:
    return {**_MISSING(event), "rutter.tries": len(event.tries)}


def _lookalikes_found(event: executor.LookalikesFound) -> Attributes:
    return {"rutter.step": event.step, "rutter.lookalikes": len(event.elements)}


def _action_done(event: executor.ActionDone) -> Attributes:
    found = _DONE(event)
    if event.extracted is not None:
        found["output.value"] = said(event.extracted.text)
    return found


def _query_answered(event: executor.QueryAnswered) -> Attributes:
    found: Attributes = {"rutter.step": event.step, "rutter.attempt": event.attempt}
    if event.text is not None:
        found["output.value"] = said(event.text.text)
    return found


def _files_seen(event: observer.FilesSeen) -> Attributes:
    return {"rutter.step": event.step, "rutter.files": len(event.files)}


def _hosts_contacted(event: observer.HostsContacted) -> Attributes:
    return {"rutter.hosts": len(event.contacts) + event.others}


def _read_back_due(event: critic.ReadBackDue) -> Attributes:
    """Where it is looked: an address that is not whole loses its query all the same."""
    address = event.read_back.url.partition("?")[0].partition("#")[0]
    return {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.read_back.url": said(address),
    }


def _action_judged(event: critic.ActionJudged) -> Attributes:
    found = _JUDGED(event)
    if event.evidence:
        found["rutter.evidence.sources"] = tuple(each.source for each in event.evidence)
        found["rutter.confidence"] = overall(event) / MILLION
    decided = deciding(event.evidence)
    if decided is not None:
        found["rutter.evidence"] = said(decided.checked)
    return found


def _approval_answered(event: person.ApprovalAnswered) -> Attributes:
    said_so = said(event.message) or ("yes" if event.approved else "no")
    return {**_ANSWERED(event), "output.value": said_so}


def _advice_requested(event: planner.AdviceRequested) -> Attributes:
    found = _REQUEST(event)
    for key, value, none in (
        ("rutter.step", event.step, 0),
        ("rutter.index", event.index, -1),
        ("rutter.advice.correction", event.correction, 0),
    ):
        if value != none:
            found[key] = value
    return found


def _advice_prepared(event: advisor.AdvicePrepared) -> Attributes:
    """What was asked, by its hash alone: prompts stay in the log."""
    found = _PREPARED(event)
    if event.prompt is not None:
        found["rutter.advice.prompt"] = event.prompt.sha256
    if event.missing:
        found["rutter.advice.missing"] = tuple(map(said, event.missing))
    return found


def _advice_received(event: advisor.AdviceReceived) -> Attributes:
    found = {
        **_ADVICE(event),
        "gen_ai.operation.name": "chat",
        "gen_ai.response.finish_reasons": (FINISHED[event.ending],),
        "output.value": said(event.text.text or advice_in_words(event)),
        **_spent(event),
    }
    if event.invalid:
        found["error.type"] = "invalid"
    return found | _called(event.calls) | _proposed(event.proposal)


def _vision_given(event: advisor.VisionGiven) -> Attributes:
    found = _VISION(event)
    if not is_call(event):
        return found
    found |= {"gen_ai.operation.name": "chat", "rutter.advice.purpose": "vision"}
    return found if event.error is not None else {**found, **_SEEN(event), **_spent(event)}


def _spent(event: advisor.AdviceReceived | advisor.VisionGiven) -> Attributes:
    found: Attributes = {
        **_USAGE(event),
        "llm.token_count.total": event.usage.input + event.usage.output,
    }
    if event.priced:
        found["rutter.cost_microdollars"] = event.cost_microdollars
        found["llm.cost.total"] = event.cost_microdollars / MILLION
    return found


def _called(calls: tuple[advisor.WantedCall, ...]) -> Attributes:
    """All that it wants used; the first alone is."""
    if not calls:
        return {}
    found: Attributes = {
        "gen_ai.tool.call.id": said(calls[0].call),
        "rutter.advice.tool": said(calls[0].tool),
        "rutter.advice.tools": tuple(said(call.tool) for call in calls),
        "rutter.advice.ignored": len(calls) - 1,
    }
    if calls[0].invalid:
        found["rutter.advice.invalid"] = said(calls[0].invalid)
    return found


def _proposed(proposal: advisor.Proposal | None) -> Attributes:
    return {} if proposal is None else _PROPOSAL(proposal)


def _transition_learned(event: predictor.TransitionLearned) -> Attributes:
    return {"rutter.driver": event.driver, "rutter.after": len(event.after)}


def _workflow_learned(event: predictor.WorkflowLearned) -> Attributes:
    return {**_WORKFLOW(event), "rutter.workflow.steps": len(event.workflow.steps)}


def _person_acted(event: executor.PersonActed) -> Attributes:
    return {"rutter.driver": "person", **tool_attributes(event.action, words_of(event.action))}


_PAGE = FieldsTaken(
    "why rutter.page.dropped=page.dropped",
    text="rutter.page.url=page.url output.value=page.title.text",
)
_TARGET = FieldsTaken(
    "step attempt",
    text="rutter.element.tag=element.tag rutter.element.role=element.role "
    "output.value=element.name.text",
)
_HEALED = FieldsTaken(
    "step attempt",
    text="output.value=element.name.text",
    shares="rutter.healed.score=score rutter.healed.runner_up=runner_up",
)
_FILE = FieldsTaken(text="rutter.name=name.text rutter.failure=failure")
_MISSING = FieldsTaken("step attempt error.type=code")
_DONE = FieldsTaken("step attempt navigated", maybe="value_set")
_JUDGED = FieldsTaken("step attempt verdict", text="reason")
_ANSWERED = FieldsTaken("approval approved rutter.answered_by=by")
_WORKFLOW = FieldsTaken(
    "rutter.workflow.version=workflow.version rutter.workflow.complete=workflow.complete",
    text="rutter.workflow=workflow.name",
)
_USAGE = FieldsTaken(
    "gen_ai.usage.input_tokens=usage.input gen_ai.usage.output_tokens=usage.output "
    "gen_ai.usage.cache_read.input_tokens=usage.cached "
    "gen_ai.usage.cache_creation.input_tokens=usage.kept "
    "llm.token_count.prompt=usage.input llm.token_count.completion=usage.output "
    "llm.token_count.prompt_details.cache_read=usage.cached "
    "llm.token_count.prompt_details.cache_write=usage.kept "
    "rutter.advice.priced=priced"
)
_ADVICE = FieldsTaken(
    "rutter.advice.ending=ending",
    text="gen_ai.provider.name=provider gen_ai.response.model=model llm.provider=provider "
    "llm.model_name=model",
    maybe="rutter.advice.invalid=invalid",
)
_VISION = FieldsTaken(
    "step attempt rutter.vision=said",
    maybe="gen_ai.provider.name=provider llm.provider=provider llm.model_name=model message "
    "error.type=error",
)
_SEEN = FieldsTaken(maybe="gen_ai.response.model=model")
_PROPOSAL = FieldsTaken(
    "rutter.action=action.type rutter.state=state rutter.advice.instead=instead",
    maybe="rutter.state.expected=leads_to",
    shares="certainty",
)
_PREPARED = FieldsTaken(
    "rutter.advice.request=request rutter.advice.estimated_tokens=tokens "
    "rutter.advice.pictures=pictures rutter.advice.dropped_turns=dropped_turns"
)
_REQUEST = FieldsTaken(
    "rutter.advice.request=request rutter.advice.purpose=purpose rutter.advice.attempt=attempt"
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


# -- the table -------------------------------------------------------------------------------------

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
    observer.PageObserved: SpanRule("observe", _page_observed),
    observer.ObservationFailed: SpanRule("observe", FieldsTaken("error.type=code", text="message")),
    observer.BrowserLost: SpanRule(
        BY_ACTOR, FieldsTaken(text="rutter.message=why", error="browser_lost")
    ),
    predictor.PredictionMade: SpanRule("predict", _prediction_made),
    predictor.StepDue: SpanRule("predict", FieldsTaken("index of", maybe="unmet")),
    predictor.WorkflowFinished: SpanRule("predict", FieldsTaken("rutter.workflow.steps=steps")),
    predictor.TransitionLearned: SpanRule("learn", _transition_learned),
    predictor.EndLearned: SpanRule("learn", FieldsTaken("driver")),
    predictor.TransitionUndone: SpanRule("learn", FieldsTaken("rutter.why=why")),
    predictor.EffectsLearned: SpanRule(
        "learn", FieldsTaken("rutter.workflow.version=version", text="rutter.workflow=workflow")
    ),
    predictor.WorkflowLearned: SpanRule("learn", _workflow_learned),
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
    planner.AdviceRequested: SpanRule("plan", _advice_requested),
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
    executor.TargetResolved: SpanRule("resolve", _target_resolved),
    executor.TargetMissing: SpanRule("resolve", _target_missing),
    executor.LookalikesFound: SpanRule("resolve", _lookalikes_found),
    executor.TargetChanged: SpanRule("act", FieldsTaken("step attempt", error="target_changed")),
    executor.ActionDone: SpanRule("act", _action_done),
    executor.ActionFailed: SpanRule(
        "act", FieldsTaken("step attempt dispatched error.type=code", text="message")
    ),
    executor.QueryAnswered: SpanRule("act", _query_answered),
    executor.QueryFailed: SpanRule(
        "act", FieldsTaken("step attempt error.type=code", text="message")
    ),
    executor.PersonActed: SpanRule("act", _person_acted),
    executor.StepPictured: SpanRule(BY_ACTOR, FieldsTaken("step rutter.artifact=artifact.sha256")),
    critic.ActionJudged: SpanRule("judge", _action_judged),
    critic.PageAssessed: SpanRule("judge", FieldsTaken(maybe="state")),
    critic.CompletionChecked: SpanRule("judge", FieldsTaken("verified", text="reason")),
    critic.OutcomeUnknown: SpanRule(
        "judge", FieldsTaken("step attempt", text="rutter.reason=why", error="outcome_unknown")
    ),
    critic.FilesRequested: SpanRule("judge", FieldsTaken("step within_ms")),
    critic.ReadBackDue: SpanRule("judge", _read_back_due),
    critic.ReadBackFound: SpanRule("judge", FieldsTaken("step index")),
    critic.StateDiffered: SpanRule(
        "judge", FieldsTaken("step attempt rutter.state.expected=expected rutter.state=actual")
    ),
    critic.VisionSought: SpanRule(
        "judge", FieldsTaken("step attempt", text="rutter.checked=checked")
    ),
    person.ApprovalAnswered: SpanRule("ask person", _approval_answered),
    advisor.AdvicePrepared: SpanRule("chat", _advice_prepared),
    advisor.AdviceReceived: SpanRule("chat", _advice_received),
    advisor.AdviceFailed: SpanRule(
        "chat",
        FieldsTaken(
            "error.type=code transient",
            text="gen_ai.provider.name=provider llm.provider=provider message",
        ),
    ),
    advisor.VisionGiven: SpanRule("chat", _vision_given),
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
    observer.DownloadFinished: SpanRule("", _download_finished),
    observer.FilesSeen: SpanRule("observe", _files_seen),
    observer.RequestBlocked: SpanRule(
        "",
        FieldsTaken(
            "server.port=port repeats", text="server.address=host channel", maybe="rule policy"
        ),
    ),
    observer.HostsContacted: SpanRule("", _hosts_contacted),
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


def words_of(action: Action) -> str:
    return said(in_words(action))


def tool_attributes(action: Action, words: str) -> Attributes:
    """An act is a tool call, whoever asked for it."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": action.type,
        "tool.name": action.type,
        "input.value": words,
    }


def request_attributes(event: planner.AdviceRequested) -> Attributes:
    """What was asked of a model, on the span of the call itself."""
    return {"gen_ai.operation.name": "chat", **_advice_requested(event), **_ASKED(event)}
