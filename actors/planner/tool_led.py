"""A call of a tool leads to a plan, a look, a question, a claim or the end of its session.

The Planner's part for the purpose `tools`. A call goes down the same road as every other step.
What fails is the answer; the session goes on.
"""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.model_led import OPENING, ModelLead, ended, heard, lead_on
from rutter.actors.planner.provider_choice import lost
from rutter.actors.planner.tool_answers import bad_answer, stale_ref_answer
from rutter.actors.planner.tool_desk import Desk, Flight, arguments_of, is_its_time, second_try
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.actors.rules.tools.tool_table import Logged, action_of
from rutter.events.action import kind_of
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.envelope import Envelope
from rutter.events.observer import BrowserLost, ObservationFailed
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import PredictionMade
from rutter.events.runtime import (
    DeadlinePassed,
    Failure,
    SessionInterrupted,
    StopReason,
    StopRequested,
)
from rutter.events.tools import (
    ApprovalSought,
    CompletionClaimed,
    FileRead,
    ToolAnswered,
    ToolCalled,
    ToolError,
)
from rutter.events.validator import (
    ActionRejected,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver


def decide_call(desk: Desk, envelope: Envelope, *, held: bool = False) -> Iterable[AnyEvent]:
    event = envelope.event
    if stopping := _stopping(desk, event) or _led_astray(desk, event):
        error, stop = stopping
        answer = bad_answer(desk, error, stop.detail, retriable=False)
        if (left := lost(desk.lead.asking if desk.lead is not None else None)) is not None:
            yield left
        if desk.lead is not None:
            # The end first: what a call came to is followed by the next question otherwise.
            yield stop
        if desk.call is not None:
            yield answer
        if desk.lead is None:
            yield stop
        return
    yield from _called(desk, event)
    if desk.lead is not None and (not held or isinstance(event, CompletionChecked)):
        yield from _leading(desk, desk.lead, event)


def _leading(desk: Desk, lead: ModelLead, event: AnyEvent) -> Iterable[AnyEvent]:
    """What the model is asked, and what follows from what it says."""
    idle = desk.stage == "idle" and desk.call is None and desk.flight is None
    ready = idle and desk.opened and desk.looked and not lead.waits
    match event:
        case AdviceReceived() as advice if ready:
            yield from heard(lead, advice, desk.step)
        case PredictionMade() if ready and not lead.turning:
            yield from lead_on(lead, desk.step)
        case ToolAnswered() | AdviceFailed() | ActionRejected() if ready:
            yield from lead_on(lead, desk.step)
        case CompletionChecked() as checked if idle and lead.asks_page:
            yield ended(lead, checked, desk.step)
        case CheckpointPassed():
            yield ObservationRequested("checkpoint_passed", desk.started.settings.place_ms)
        case _:
            return


def _called(desk: Desk, event: AnyEvent) -> Iterable[AnyEvent]:
    match event:
        case ToolCalled(call=call) as called:
            if desk.call is None or desk.call.call != call or desk.call.attempt != called.attempt:
                yield ToolAnswered(
                    call, False, "unavailable", "tool_unavailable", True, "another call is open"
                )
            else:
                yield from _next(desk)
        case PredictionMade() | ApprovalAnswered() | FileRead():
            yield from _next(desk)
        case ObservationFailed() | CompletionChecked():
            yield from _next(desk)
        case ActionRejected() | ActionWithheld():
            if desk.stage == "acting":
                yield ObservationRequested("tool", 0)
            else:
                yield from _next(desk)
        case DeadlinePassed(what="tool") as passed if is_its_time(desk, passed):
            if desk.stage == "answering":
                yield from _next(desk)
            else:
                yield ObservationRequested("tool", 0)
        case _:
            return


def _next(desk: Desk) -> Iterable[AnyEvent]:
    if desk.stage == "answering" and desk.answer is not None:
        yield from _over(desk, desk.answer)
    elif desk.stage == "due" and desk.call is not None:
        yield from _begin(desk, desk.call)
    if (again := second_try(desk)) is not None:
        yield again
    elif not desk.opened and desk.looked:
        yield PlanProposed(1, 1, "script", desk.started.script[0].action, OPENING, index=0)


def _begin(desk: Desk, call: ToolCalled) -> Iterable[AnyEvent]:
    """What a call leads to, now that nothing else is under way."""
    if call.invalid:
        yield bad_answer(desk, "invalid_params", call.invalid)
        return
    if desk.answer is not None:
        yield desk.answer
        return
    given = arguments_of(call)
    match call.tool:
        case "get_snapshot":
            yield ObservationRequested("tool", 0, whole_page=not given.viewport_only)
        case "request_human_approval":
            yield ApprovalSought(call.call, given.action, given.reason)
        case "complete_task":
            yield CompletionClaimed(call.call, given.status, given.reason)
        case "read_file":
            return  # the file is being read; what came of it is a fact
        case "ghost_extract":
            yield bad_answer(desk, "unavailable", "not configured: no model for pictures is set up")
        case _:
            yield from _acted(desk, call, given)


def _acted(desk: Desk, call: ToolCalled, given: Logged) -> Iterable[AnyEvent]:
    action = action_of(call.tool, given, desk.look)
    if action is None:
        yield bad_answer(desk, "invalid_params", f"there is no tool {call.tool!r}")
    elif stale_ref_answer(desk) is not None:
        yield ObservationRequested("tool", 0)
    else:
        driver: Driver = "agent" if desk.lead is None else "model"
        plan = PlanProposed(desk.step + 1, 1, driver, action, f"tool_{call.tool}")
        yield msgspec.structs.replace(plan, kind=kind_of(action))


def _over(desk: Desk, answer: ToolAnswered) -> Iterable[AnyEvent]:
    """The answer. A claim that holds ends the session with it, and so does giving up."""
    yield answer
    if answer.success and desk.call is not None and desk.call.tool == "complete_task":
        given = arguments_of(desk.call)
        reason: StopReason = "completed" if given.status == "success" else "failed"
        yield RunStopped(reason, detail=given.reason, step=desk.step)


def _stopping(desk: Desk, event: AnyEvent) -> tuple[ToolError, RunStopped] | None:
    """What ends the session whatever is being done (E6). Steps and failures are not counted: how
    often it is tried is the caller's to say, and the number of its calls is limited."""
    match event:
        case ToolCalled() if desk.turns > desk.started.settings.limits.max_turns:
            turns = desk.started.settings.limits.max_turns
            said = f"max_turns_exceeded: {turns} calls were made"
            return "unavailable", _stop(desk, "max_turns_exceeded", "", said)
        case DeadlinePassed(what="wall_time", after_ms=after_ms):
            return "timeout", _stop(desk, "max_wall_time", "", f"{after_ms} ms have passed")
        case StopRequested(by=by, why=why):
            said = f"stopped by {by}{': ' if why else ''}{why}"
            return "unavailable", _stop(desk, "cancelled", "", said)
        case BrowserLost(why=why):
            return "browser_gone", _stop(desk, "interrupted", "browser_lost", why)
        case SessionInterrupted(why=why):
            return "unavailable", _stop(desk, "interrupted", "", why)
        case ObservationFailed(code=code, message=message) if (
            code == "page_crashed" or not desk.looked
        ):
            said = f"{code}: {message}"
            return "browser_gone", _stop(desk, "interrupted", "browser_lost", said)
        case _:
            return None


def _led_astray(desk: Desk, event: AnyEvent) -> tuple[ToolError, RunStopped] | None:
    """What ends a run that a model leads, though an outside agent would be told and go on: it has
    nobody to ask, it was only to be tried, or the service's own way does not lead on."""
    flight = desk.flight
    if desk.lead is None:
        return None
    match event:
        case ActionWithheld(reason=reason):
            said = f"dry run: {reason}"
            return "policy_denied", _stop(desk, "completed_unverified", "", said)
        case ActionRejected(rule=rule) if rule == PAUSED:
            return None
        case ActionRejected(error="needs_person", reason=reason):
            return "policy_denied", _stop(desk, "policy_denied", "needs_person", reason)
        case ActionRejected(code="policy_denied", reason=reason) if desk.alone:
            return "policy_denied", _stop(desk, "policy_denied", "policy_denied", reason)
        case ActionRejected(reason=reason) if desk.alone:
            return "action_failed", _stop(desk, "failed", "lost", reason)
        case CheckpointRefused(message=message, by=by):
            needs: Failure = "needs_person" if by == "nobody" else "policy_denied"
            said = message or "a person said no"
            return "human_rejected", _stop(desk, "policy_denied", needs, said)
        case ActionJudged() as judged if flight is not None and second_try(desk) is None:
            return _came_to_nothing(desk, flight, judged)
        case ObservationFailed(code=code, message=message) if desk.call is None:
            said = f"{code}: {message}"
            return "browser_gone", _stop(desk, "interrupted", "browser_lost", said)
        case _:
            return None


def _came_to_nothing(
    desk: Desk, flight: Flight, judged: ActionJudged
) -> tuple[ToolError, RunStopped] | None:
    """What cannot be undone and may have been done is nothing to go on from (E7); the service's
    own way is known or it is not. An opening may lead on, as many addresses do."""
    said = f"{judged.verdict}: {judged.reason}"
    if judged.verdict == "unknown" and flight.irreversible:
        return "action_failed", _stop(desk, "failed", "verification_failed", said)
    opened = flight.plan.reason == OPENING and judged.verdict == "wrong_target"
    if flight.plan.driver != "script" or judged.verdict == "confirmed" or opened:
        return None
    if desk.lead is not None and not desk.lead.going.stuck and is_of_way(flight.plan):
        return None
    kind: Failure = "verification_failed"
    if flight.failure is not None and flight.failure.code == "navigation_failed":
        kind = "unreachable"
    return "action_failed", _stop(desk, "failed", kind, said)


def _stop(desk: Desk, reason: StopReason, failure: Failure, detail: str) -> RunStopped:
    return RunStopped(reason=reason, failure=failure, detail=detail, step=desk.step)
