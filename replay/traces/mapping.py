"""The one table from events to spans: names, kinds and attributes, under one version.

`rutter.*` says what the log says. Beside it stand the GenAI conventions for model calls and tools,
and OpenInference's kinds, by which Phoenix draws them. Page text and messages go out bounded, URLs
without their query; parameter values and secrets do not go out at all. Change a row and count
`MAPPING` up: it is in every export, so that whoever reads spans knows by which table.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from events import advisor, critic, executor, observer, person, planner, predictor, runtime
from events import validator as gate
from events.action import Action
from events.event import Event
from events.workflow import MILLION
from replay.traces.span import Attributes
from replay.wording import in_words

MAPPING: Final = "1"
TEXT: Final = 200  # characters of page text or of a message in one attribute

RESOURCE: Final[Attributes] = {
    "service.name": "rutter",
    "openinference.project.name": "rutter",
    "rutter.mapping": MAPPING,
}
SCOPE: Final = "rutter.replay.traces"

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
    "rutter.model_calls",
    "rutter.tokens.input",
    "rutter.tokens.output",
    "rutter.cost_microdollars",
)

_QUERY = re.compile(r"(://[^\s?#]*)[?#]\S*")
_USER = re.compile(r"://[^\s/?#@]*@")


def said(text: str) -> str:
    """Free text as it may leave: bounded, and no URL in it keeps its query or its user."""
    if "://" in text:
        text = _USER.sub("://", _QUERY.sub(r"\1", text[: 2 * TEXT]))
    return text[:TEXT]


def share(millionths: int) -> float:
    return millionths / MILLION


# -- the run and its steps -----------------------------------------------------------------------


def _session_started(event: runtime.SessionStarted) -> Attributes:
    found: Attributes = {
        "rutter.purpose": event.purpose,
        "rutter.driver": event.driver,
        "rutter.logic": event.logic,
        "rutter.policy": event.policy.version,
        "rutter.predictor": event.settings.predictor,
        "rutter.threshold": share(event.settings.threshold),
        "rutter.dry_run": event.settings.dry_run,
    }
    if event.name:
        found["rutter.workflow"] = event.name
    if event.workflow is not None:
        found["rutter.workflow.version"] = event.workflow.version
        found["rutter.workflow.steps"] = len(event.workflow.steps)
    if event.values:
        found["rutter.parameters"] = tuple(sorted(event.values))
    wanted = event.goal or event.url or event.name
    if wanted:
        found["input.value"] = said(wanted)
    return found


def _ended(event: runtime.SessionEnded | planner.RunStopped) -> Attributes:
    found: Attributes = {
        "rutter.end.reason": event.reason,
        "output.value": said(event.detail or event.reason),
    }
    if event.failure:
        found["rutter.end.failure"] = event.failure
    return found


def run_attributes(
    session: str, started: runtime.SessionStarted, ended: runtime.SessionEnded
) -> Attributes:
    return {
        "openinference.span.kind": KINDS["run"],
        "session.id": session,
        "rutter.session": session,
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "rutter",
        **_session_started(started),
        **_ended(ended),
    }


def step_attributes(number: int, driver: str, action: Action, words: str, url: str) -> Attributes:
    """What a step is known by when it opens; verdict and attempts follow."""
    return {
        "openinference.span.kind": KINDS["step"],
        "rutter.step": number,
        "rutter.driver": driver,
        "rutter.action": action.type,
        "rutter.page.url": url,
        "input.value": words,
    }


def verdict_of(event: Event) -> str:
    """What a step is told to have come to, in one word."""
    match event:
        case critic.ActionJudged(verdict=verdict):
            return verdict
        case gate.ActionRejected():
            return "rejected"
        case gate.ActionWithheld():
            return "withheld"
        case _:
            return "unknown"


def words_of(action: Action) -> str:
    return said(in_words(action))


# -- what each event adds to the span that it is part of ------------------------------------------


def _page_observed(event: observer.PageObserved) -> Attributes:
    page = event.page
    return {
        "rutter.why": event.why,
        "rutter.page.url": said(page.url),
        "rutter.page.elements": len(page.elements),
        "rutter.page.dropped": page.dropped,
        "output.value": said(page.title.text),
    }


def _observation_failed(event: observer.ObservationFailed) -> Attributes:
    return {"error.type": event.code, "rutter.message": said(event.message)}


def _browser_lost(event: observer.BrowserLost) -> Attributes:
    return {"error.type": "browser_lost", "rutter.message": said(event.why)}


def _prediction_made(event: predictor.PredictionMade) -> Attributes:
    found: Attributes = {
        "rutter.predictor": event.model,
        "rutter.position": event.position,
        "rutter.candidates": len(event.candidates),
    }
    if event.candidates:
        top = event.candidates[0]
        found["rutter.probability"] = share(top.probability)
        found["rutter.source"] = top.source
        found["output.value"] = said(top.token)
    return found


def _step_due(event: predictor.StepDue) -> Attributes:
    found: Attributes = {"rutter.index": event.index, "rutter.of": event.of}
    if event.unmet:
        found["rutter.unmet"] = said(event.unmet)
    return found


def _workflow_finished(event: predictor.WorkflowFinished) -> Attributes:
    return {"rutter.workflow.steps": event.steps}


def _transition_learned(event: predictor.TransitionLearned) -> Attributes:
    return {"rutter.driver": event.driver, "rutter.after": len(event.after)}


def _workflow_learned(event: predictor.WorkflowLearned) -> Attributes:
    workflow = event.workflow
    return {
        "rutter.workflow": workflow.name,
        "rutter.workflow.version": workflow.version,
        "rutter.workflow.steps": len(workflow.steps),
        "rutter.workflow.complete": workflow.complete,
    }


def _plan_proposed(event: planner.PlanProposed) -> Attributes:
    found: Attributes = {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.driver": event.driver,
        "rutter.action": event.action.type,
        "rutter.reason": said(event.reason),
    }
    if event.probability is not None:
        found["rutter.probability"] = share(event.probability)
    if event.certainty is not None:
        found["rutter.certainty"] = share(event.certainty)
    return found


def _plan_withheld(event: planner.PlanWithheld) -> Attributes:
    return {"rutter.reason": said(event.reason)}


def _observation_requested(event: planner.ObservationRequested) -> Attributes:
    return {"rutter.why": event.why, "rutter.within_ms": event.within_ms}


def _advice_requested(event: planner.AdviceRequested) -> Attributes:
    return {
        "rutter.advice.request": event.request,
        "rutter.advice.purpose": event.purpose,
        "rutter.advice.attempt": event.attempt,
    }


def _plan_admitted(event: gate.PlanAdmitted) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.within_ms": event.within_ms,
    }


def _action_approved(event: gate.ActionApproved) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.rule": event.rule,
        "rutter.reason": said(event.reason),
        "rutter.policy": event.policy,
    }


def _action_rejected(event: gate.ActionRejected) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.rule": event.rule,
        "rutter.reason": said(event.reason),
        "rutter.policy": event.policy,
        "error.type": event.error or event.code,
    }


def _action_withheld(event: gate.ActionWithheld) -> Attributes:
    return {"rutter.step": event.step, "rutter.reason": said(event.reason)}


def _action_started(event: gate.ActionStarted) -> Attributes:
    return {"rutter.attempt": event.attempt, "rutter.irreversible": event.irreversible}


def _approval_requested(event: gate.ApprovalRequested) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.approval": event.approval,
        "rutter.approval.kind": event.kind,
        "rutter.rule": event.rule,
        "rutter.question": said(event.question),
    }


def _approval_voided(event: gate.ApprovalVoided) -> Attributes:
    return {"rutter.approval": event.approval, "rutter.approval.voided": said(event.why)}


def _target_resolved(event: executor.TargetResolved) -> Attributes:
    element = event.element
    found: Attributes = {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.tries": len(event.tries),
        "rutter.element.tag": element.tag,
        "rutter.element.role": element.role,
        "output.value": said(element.name.text),
    }
    if event.tries:
        found["rutter.found_by"] = event.tries[-1].strategy
    return found


def _target_missing(event: executor.TargetMissing) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.tries": len(event.tries),
        "error.type": event.code,
    }


def _target_changed(event: executor.TargetChanged) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "error.type": "target_changed",
    }


def _target_healed(event: executor.TargetHealed) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.healed.score": event.score,
        "rutter.healed.runner_up": event.runner_up,
    }


def _action_done(event: executor.ActionDone) -> Attributes:
    found: Attributes = {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.navigated": event.navigated,
    }
    if event.value_set is not None:
        found["rutter.value_set"] = event.value_set
    if event.extracted is not None:
        found["output.value"] = said(event.extracted.text)
    return found


def _action_failed(event: executor.ActionFailed) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.dispatched": event.dispatched,
        "rutter.message": said(event.message),
        "error.type": event.code,
    }


def _person_acted(event: executor.PersonActed) -> Attributes:
    return {"rutter.driver": "person", **tool_attributes(event.action, words_of(event.action))}


def tool_attributes(action: Action, words: str) -> Attributes:
    """An act is a tool call, whoever asked for it."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": action.type,
        "tool.name": action.type,
        "input.value": words,
    }


def _action_judged(event: critic.ActionJudged) -> Attributes:
    found: Attributes = {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.verdict": event.verdict,
        "rutter.reason": said(event.reason),
    }
    if event.evidence:
        found["rutter.evidence"] = said(event.evidence[0].checked)
        found["rutter.confidence"] = share(event.evidence[0].confidence)
    return found


def _page_assessed(event: critic.PageAssessed) -> Attributes:
    return {"rutter.state": said(event.state)} if event.state else {}


def _completion_checked(event: critic.CompletionChecked) -> Attributes:
    return {"rutter.verified": event.verified, "rutter.reason": said(event.reason)}


def _outcome_unknown(event: critic.OutcomeUnknown) -> Attributes:
    return {
        "rutter.step": event.step,
        "rutter.attempt": event.attempt,
        "rutter.verdict": "unknown",
        "rutter.reason": said(event.why),
    }


def _approval_answered(event: person.ApprovalAnswered) -> Attributes:
    return {
        "rutter.approval": event.approval,
        "rutter.approved": event.approved,
        "rutter.answered_by": event.by,
        "output.value": said(event.message or ("yes" if event.approved else "no")),
    }


def request_attributes(event: planner.AdviceRequested) -> Attributes:
    """What was asked of a model, on the span of the call itself."""
    found: Attributes = {**_advice_requested(event), "gen_ai.operation.name": "chat"}
    if event.provider:
        found |= {"gen_ai.provider.name": event.provider, "llm.provider": event.provider}
    if event.model:
        found |= {"gen_ai.request.model": event.model, "llm.model_name": event.model}
    return found


def _advice_received(event: advisor.AdviceReceived) -> Attributes:
    found: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": event.provider,
        "gen_ai.response.model": event.model,
        "gen_ai.usage.input_tokens": event.input_tokens,
        "gen_ai.usage.output_tokens": event.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": event.cached_tokens,
        "llm.provider": event.provider,
        "llm.model_name": event.model,
        "llm.token_count.prompt": event.input_tokens,
        "llm.token_count.completion": event.output_tokens,
        "llm.token_count.total": event.input_tokens + event.output_tokens,
        "llm.token_count.prompt_details.cache_read": event.cached_tokens,
        "llm.cost.total": share(event.cost_microdollars),
        "rutter.cost_microdollars": event.cost_microdollars,
        "output.value": said(event.text.text or event.arguments.text),
    }
    if event.tool:
        found["rutter.advice.tool"] = event.tool
    if event.certainty is not None:
        found["rutter.certainty"] = share(event.certainty)
    return found


def _advice_failed(event: advisor.AdviceFailed) -> Attributes:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": event.provider,
        "llm.provider": event.provider,
        "error.type": event.code,
        "rutter.transient": event.transient,
        "rutter.message": said(event.message),
    }


def _advice_lost(event: advisor.AdviceLost) -> Attributes:
    return {"gen_ai.operation.name": "chat", "error.type": "lost"}


def _actor_failed(event: runtime.ActorFailed) -> Attributes:
    return {"rutter.failed": event.actor, "error.type": event.error}


# -- facts beside the road: moments inside whatever span is open -----------------------------------


def _screenshot_taken(event: observer.ScreenshotTaken) -> Attributes:
    return {"rutter.artifact": event.artifact.sha256, "rutter.why": said(event.why)}


def _dialog_opened(event: observer.DialogOpened) -> Attributes:
    return {
        "rutter.dialog": event.kind,
        "rutter.answer": event.answer,
        "rutter.repeats": event.repeats,
        "rutter.message": said(event.message.text),
    }


def _popup_opened(event: observer.PopupOpened) -> Attributes:
    return {"rutter.page.url": said(event.url), "rutter.repeats": event.repeats}


def _download_finished(event: observer.DownloadFinished) -> Attributes:
    return {"rutter.artifact": event.artifact.sha256, "rutter.name": said(event.name.text)}


def _request_blocked(event: observer.RequestBlocked) -> Attributes:
    return {
        "server.address": event.host,
        "server.port": event.port,
        "rutter.channel": event.channel,
        "rutter.repeats": event.repeats,
    }


def _deadline_passed(event: runtime.DeadlinePassed) -> Attributes:
    return {"rutter.what": event.what, "rutter.after_ms": event.after_ms}


def _stop_requested(event: runtime.StopRequested) -> Attributes:
    return {"rutter.by": event.by, "rutter.why": said(event.why)}


def _by(event: runtime.SessionPaused | runtime.SessionResumed) -> Attributes:
    return {"rutter.by": event.by}


def _interrupted(event: runtime.SessionInterrupted) -> Attributes:
    return {"rutter.why": said(event.why)}


def _nothing(_: Event) -> Attributes:
    return {}


BY_ACTOR: Final = "?"  # named after whose work it is, see `WORK_OF`


class Row(NamedTuple):
    """The span that an event is part of (none: a moment in the one around it), and what it adds."""

    span: str
    adds: Callable[[Any], Attributes]


TABLE: Final[Mapping[type[Event], Row]] = {
    # the run
    runtime.SessionStarted: Row("run", _session_started),
    runtime.SessionEnded: Row("run", _ended),
    # actors at work
    observer.PageObserved: Row("observe", _page_observed),
    observer.ObservationFailed: Row("observe", _observation_failed),
    observer.BrowserLost: Row(BY_ACTOR, _browser_lost),
    predictor.PredictionMade: Row("predict", _prediction_made),
    predictor.StepDue: Row("predict", _step_due),
    predictor.WorkflowFinished: Row("predict", _workflow_finished),
    predictor.TransitionLearned: Row("learn", _transition_learned),
    predictor.WorkflowLearned: Row("learn", _workflow_learned),
    planner.PlanProposed: Row("plan", _plan_proposed),
    planner.PlanWithheld: Row("plan", _plan_withheld),
    planner.ObservationRequested: Row(BY_ACTOR, _observation_requested),
    planner.RunStopped: Row("plan", _ended),
    planner.AdviceRequested: Row("plan", _advice_requested),
    gate.PlanAdmitted: Row("validate", _plan_admitted),
    gate.ActionApproved: Row("validate", _action_approved),
    gate.ActionRejected: Row("validate", _action_rejected),
    gate.ActionWithheld: Row("validate", _action_withheld),
    gate.ActionStarted: Row("validate", _action_started),
    gate.ApprovalRequested: Row("validate", _approval_requested),
    gate.ApprovalVoided: Row("validate", _approval_voided),
    executor.TargetResolved: Row("resolve", _target_resolved),
    executor.TargetMissing: Row("resolve", _target_missing),
    executor.TargetHealed: Row("resolve", _target_healed),
    executor.TargetChanged: Row("act", _target_changed),
    executor.ActionDone: Row("act", _action_done),
    executor.ActionFailed: Row("act", _action_failed),
    executor.PersonActed: Row("act", _person_acted),
    critic.ActionJudged: Row("judge", _action_judged),
    critic.PageAssessed: Row("judge", _page_assessed),
    critic.CompletionChecked: Row("judge", _completion_checked),
    critic.OutcomeUnknown: Row("judge", _outcome_unknown),
    person.ApprovalAnswered: Row("ask person", _approval_answered),
    advisor.AdviceReceived: Row("chat", _advice_received),
    advisor.AdviceFailed: Row("chat", _advice_failed),
    advisor.AdviceLost: Row("chat", _advice_lost),
    runtime.ActorFailed: Row(BY_ACTOR, _actor_failed),
    # moments
    observer.ScreenshotTaken: Row("", _screenshot_taken),
    observer.DialogOpened: Row("", _dialog_opened),
    observer.PopupOpened: Row("", _popup_opened),
    observer.DownloadFinished: Row("", _download_finished),
    observer.RequestBlocked: Row("", _request_blocked),
    runtime.DeadlinePassed: Row("", _deadline_passed),
    runtime.StopRequested: Row("", _stop_requested),
    runtime.SessionPaused: Row("", _by),
    runtime.SessionResumed: Row("", _by),
    runtime.SessionInterrupted: Row("", _interrupted),
    # not of any run, or of no use in a trace
    runtime.ProcessStarted: Row("", _nothing),
    runtime.ProcessStopped: Row("", _nothing),
    runtime.LogSealed: Row("", _nothing),
    runtime.PayloadErased: Row("", _nothing),
    runtime.PayloadGone: Row("", _nothing),
    predictor.WorkflowDeleted: Row("", _nothing),
    predictor.WorkflowRenamed: Row("", _nothing),
    predictor.SessionForgotten: Row("", _nothing),
}
MOMENT: Final = Row("", _nothing)  # an event newer than this table still shows, by its name
