"""A session driven from outside: what each call of a tool leads to, and what it is answered.

The Planner's part for the purpose `tools`. A call becomes a plan, a look, a question or a claim,
and goes down the same road as every other step. What fails is the answer; the session goes on.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from rutter.actors.planner.model_led import (
    OPENING,
    ModelLead,
    ended,
    evolve_lead,
    heard,
    lead_on,
    open_lead,
    went,
)
from rutter.actors.planner.provider_choice import lost
from rutter.actors.rules.policy.policy import READING
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.steps.retry import REPEATABLE, TRANSIENT
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.actors.rules.tools.tool_table import (
    TOOLS,
    WITHOUT_SNAPSHOT,
    Logged,
    action_of,
    place_of_ref,
)
from rutter.events.action import Target, Untrusted, kind_of
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.envelope import Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetResolved,
)
from rutter.events.faults import RETRIABLE, SAID_AS, TYPE_OF
from rutter.events.observer import BrowserLost, ObservationFailed, PageObserved
from rutter.events.page import Resolved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import AdviceRequested, ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import PredictionMade
from rutter.events.runtime import (
    DeadlinePassed,
    Failure,
    SessionInterrupted,
    SessionStarted,
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
    approval_of,
)
from rutter.events.validator import (
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    CheckpointPassed,
    CheckpointRefused,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver

# Held behind a step that is not over; due now; its step under way; its page being read; somebody's
# word awaited; and what it came to ready to be said.
Stage = Literal["idle", "held", "due", "acting", "looking", "waiting", "answering"]


class Flight(msgspec.Struct, frozen=True):
    """A step from its proposal to its verdict. `call` is whose step it is; `started` says that
    its input may have reached the page, whatever is known of it."""

    plan: PlanProposed
    call: str = ""
    started: bool = False
    element: Resolved | None = None
    irreversible: bool = False
    failure: ActionFailed | None = None
    done: bool = False
    judged: ActionJudged | None = None
    answered: bool = False
    missed: QueryFailed | None = None
    extracted: Untrusted | None = None

    @property
    def over(self) -> bool:
        return self.judged is not None or self.answered or self.missed is not None


class Desk(msgspec.Struct, frozen=True):
    """Where a session is that is driven by calls. `refs` are the elements of the last look, which
    is number `look`, and `given` says that the caller has that very look: any later one makes its
    refs stale (D2). `lead` is there when a language model does the calling, and `alone` says that
    the last step was the service's own."""

    started: SessionStarted
    stage: Stage = "idle"
    call: ToolCalled | None = None
    answer: ToolAnswered | None = None
    flight: Flight | None = None
    step: int = 0
    turns: int = 0
    looked: bool = False
    opened: bool = False
    seen: str = ""
    refs: int = 0
    look: int = 0
    given: bool = False
    said: str = ""
    lead: ModelLead | None = None
    alone: bool = False


def open_desk(started: SessionStarted) -> Desk | None:
    if started.purpose != "tools":
        return None
    return Desk(started, opened=not started.script, lead=open_lead(started))


# -- what changes --------------------------------------------------------------------------------


def evolve_desk(desk: Desk, envelope: Envelope, *, held: bool = False) -> Desk:
    """`held`: the session is paused. What is called meanwhile waits until it goes on."""
    change = msgspec.structs.replace
    if desk.lead is not None:
        desk = _led(desk, desk.lead, envelope.event)
    match envelope.event:
        case ToolCalled() as called if desk.call is None:
            return _taken(desk, called, held=held)
        case ToolAnswered(call=call) if desk.call is not None and call == desk.call.call:
            given = desk.given or desk.call.tool not in WITHOUT_SNAPSHOT
            return change(desk, stage="idle", call=None, answer=None, given=given)
        case PageObserved(page=page, why=why, look=look):
            return change(desk, refs=len(page.elements), look=look, given=False, seen=why)
        case PredictionMade():
            return _settled(desk, held=held)
        case PlanProposed() as plan:
            return _flown(desk, plan)
        case ObservationRequested(why="tool"):
            answer = desk.answer or _stale(desk) or _well(desk)
            return change(desk, stage="looking", answer=answer)
        case ApprovalSought() | CompletionClaimed() if desk.call is not None:
            return change(desk, stage="waiting")
        case ActionRejected(rule=rule) if rule == PAUSED:
            return _let_go(desk)
        case ActionRejected(reason=reason) | ActionWithheld(reason=reason) as refused:
            error = _refusal(desk, refused)
            return _landed(desk, _bad(desk, error, _told(desk, error, reason)), held=held)
        case _:
            return _in_flight(desk, envelope.event, held=held)


def _led(desk: Desk, lead: ModelLead, event: AnyEvent) -> Desk:
    """What concerns whoever leads. A model that is asked is shown the last look."""
    change = msgspec.structs.replace
    flight = desk.flight
    if isinstance(event, ActionJudged) and flight is not None and is_of_way(flight.plan):
        lead = went(lead, event)
    shown = isinstance(event, AdviceRequested)
    lead = evolve_lead(lead, event)
    if isinstance(event, ToolAnswered) and flight is None:
        lead = change(lead, turning=True)
    return change(desk, lead=lead, given=desk.given or shown)


def _in_flight(desk: Desk, event: AnyEvent, *, held: bool) -> Desk:
    """What is learned about the step under way."""
    change = msgspec.structs.replace
    flight = desk.flight
    if flight is None:
        return _heard(desk, event, held=held)
    match event:
        case TargetResolved(element=element):
            return change(desk, flight=change(flight, element=element))
        case ActionStarted(irreversible=irreversible):
            flight = change(flight, started=True, irreversible=irreversible)
            return _warned(change(desk, flight=flight))
        case ActionDone(extracted=extracted):
            return change(desk, flight=change(flight, done=True, extracted=extracted))
        case ActionFailed() as failure:
            return change(desk, flight=change(flight, done=True, failure=failure))
        case ActionJudged() as judged:
            return change(desk, flight=change(flight, judged=judged))
        case QueryAnswered(text=text):
            return change(desk, flight=change(flight, done=True, answered=True, extracted=text))
        case QueryFailed() as missed:
            return change(desk, flight=change(flight, done=True, missed=missed))
        case _:
            return _heard(desk, event, held=held)


def _heard(desk: Desk, event: AnyEvent, *, held: bool) -> Desk:
    """What others said, and time that is up."""
    change = msgspec.structs.replace
    match event:
        case ApprovalAnswered() as word:
            desk = change(desk, said=word.message)
            if desk.call is not None and word.approval == approval_of(desk.call.call):
                return change(desk, answer=_answered(desk, word), stage="answering")
            return desk
        case FileRead(call=call) as read if desk.call is not None and call == desk.call.call:
            stage = "answering" if desk.stage == "waiting" else desk.stage
            return change(desk, answer=_read(desk, read), stage=stage)
        case CompletionChecked() as checked if _claims(desk):
            return change(desk, answer=_judged_claim(desk, checked), stage="answering")
        case DeadlinePassed(what="tool", after_ms=after_ms) as passed if _is_its_time(desk, passed):
            late = _missed(desk, f"not done after {after_ms} ms")
            # There is no page to look at yet, or it is being looked at and does not answer.
            now = desk.stage == "looking" or not desk.looked or late.success
            return change(desk, answer=late, stage="answering" if now else desk.stage)
        case ObservationFailed(message=message):
            return _unseen(desk, message, held=held)
        case _:
            return desk


def _is_its_time(desk: Desk, passed: DeadlinePassed) -> bool:
    """Whether it is the open call whose time is up: one that comes late may be about another."""
    return desk.call is not None and passed.call in ("", desk.call.call)


def _taken(desk: Desk, called: ToolCalled, *, held: bool) -> Desk:
    busy = held or not desk.looked or not desk.opened or desk.flight is not None
    return msgspec.structs.replace(
        desk,
        call=called,
        stage="held" if busy else "due",
        turns=desk.turns + (called.attempt == 1),
        said="",
    )


def _flown(desk: Desk, plan: PlanProposed) -> Desk:
    """A step is under way: the open call's, its second try, or the opening of the session."""
    own = desk.stage in ("due", "acting") and desk.call is not None
    return msgspec.structs.replace(
        desk,
        flight=Flight(plan, desk.call.call if own and desk.call is not None else ""),
        step=plan.step,
        opened=True,
        alone=plan.driver == "script",
        stage="acting" if desk.stage == "due" else desk.stage,
    )


def _warned(desk: Desk) -> Desk:
    """A step that starts when its time is up already: what is to be said of it is no longer so."""
    answer = desk.answer
    if answer is None or answer.error != "timeout" or _may_repeat(desk):
        return desk
    return msgspec.structs.replace(desk, answer=msgspec.structs.replace(answer, retriable=False))


def _settled(desk: Desk, *, held: bool) -> Desk:
    """The page was looked at, and what was to be judged is judged."""
    change = msgspec.structs.replace
    desk = change(desk, looked=True)
    flight = desk.flight
    if flight is not None and flight.over and _again(desk) is None:
        desk = change(desk, flight=None)
        if desk.stage == "acting":
            return change(desk, stage="answering", answer=_came_to(desk, flight))
    if desk.stage == "held" and desk.flight is None and desk.opened and not held:
        return change(desk, stage="due")
    if desk.stage == "looking" and desk.seen == "requested":
        return change(desk, stage="answering")
    return desk


def _landed(desk: Desk, answer: ToolAnswered | None, *, held: bool) -> Desk:
    """The step is over before it began: its call is answered, or the one behind it is due."""
    change = msgspec.structs.replace
    desk = change(desk, flight=None)
    if desk.stage == "acting":
        return change(desk, answer=answer)
    return change(desk, stage="due") if desk.stage == "held" and not held else desk


def _let_go(desk: Desk) -> Desk:
    """A pause came before the step had begun: its call waits, and so does the opening."""
    opening = desk.flight is not None and desk.flight.plan.reason == OPENING
    return msgspec.structs.replace(
        desk,
        flight=None,
        opened=desk.opened and not opening,
        stage="held" if desk.stage == "acting" else desk.stage,
    )


def _unseen(desk: Desk, message: str, *, held: bool) -> Desk:
    """The page could not be read in time: whatever waited for that has its answer."""
    change = msgspec.structs.replace
    unread = _missed(desk, f"the page could not be read: {message}")
    if desk.flight is not None and desk.flight.done:
        landed = _landed(desk, unread, held=held)
        if desk.stage == "looking":  # the call's time was up before: it has its answer already
            return change(landed, answer=desk.answer or unread, stage="answering")
        return change(landed, stage="answering") if desk.stage == "acting" else landed
    if desk.stage == "looking" or _claims(desk):
        return change(desk, answer=unread, stage="answering")
    return desk


# -- what follows --------------------------------------------------------------------------------


def decide_call(desk: Desk, envelope: Envelope, *, held: bool = False) -> Iterable[AnyEvent]:
    event = envelope.event
    if stopping := _stopping(desk, event) or _led_astray(desk, event):
        error, stop = stopping
        answer = _bad(desk, error, stop.detail, retriable=False)
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
        case DeadlinePassed(what="tool") as passed if _is_its_time(desk, passed):
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
    if (again := _again(desk)) is not None:
        yield again
    elif not desk.opened and desk.looked:
        yield PlanProposed(1, 1, "script", desk.started.script[0].action, OPENING, index=0)


def _begin(desk: Desk, call: ToolCalled) -> Iterable[AnyEvent]:
    """What a call leads to, now that nothing else is under way."""
    if call.invalid:
        yield _bad(desk, "invalid_params", call.invalid)
        return
    if desk.answer is not None:
        yield desk.answer
        return
    given = _given(call)
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
            yield _bad(desk, "unavailable", "not configured: no model for pictures is set up")
        case _:
            yield from _acted(desk, call, given)


def _acted(desk: Desk, call: ToolCalled, given: Logged) -> Iterable[AnyEvent]:
    action = action_of(call.tool, given, desk.look)
    if action is None:
        yield _bad(desk, "invalid_params", f"there is no tool {call.tool!r}")
    elif _stale(desk) is not None:
        yield ObservationRequested("tool", 0)
    else:
        driver: Driver = "agent" if desk.lead is None else "model"
        plan = PlanProposed(desk.step + 1, 1, driver, action, f"tool_{call.tool}")
        yield msgspec.structs.replace(plan, kind=kind_of(action))


def _over(desk: Desk, answer: ToolAnswered) -> Iterable[AnyEvent]:
    """The answer. A claim that holds ends the session with it, and so does giving up."""
    yield answer
    if answer.success and desk.call is not None and desk.call.tool == "complete_task":
        given = _given(desk.call)
        reason: StopReason = "completed" if given.status == "success" else "failed"
        yield RunStopped(reason, detail=given.reason, step=desk.step)


def _again(desk: Desk) -> PlanProposed | None:
    """The second try of a step that failed, where its tool has one. A ref is good for one action:
    the second try looks for the element that it was."""
    flight = desk.flight
    if flight is None or flight.judged is None or flight.judged.verdict != "failed":
        return None
    opening = flight.plan.driver == "script"
    if flight.plan.attempt > 1 or not (opening or _has_second_try(desk)):
        return None
    failure, action = flight.failure, flight.plan.action
    if failure is not None and failure.code not in TRANSIENT:
        return None
    if not _is_harmless(flight) and (failure is None or failure.dispatched):
        return None
    if action.target is not None and flight.element is not None:
        action = msgspec.structs.replace(action, target=Target(flight.element.ways))
    return msgspec.structs.replace(flight.plan, attempt=2, action=action)


def _has_second_try(desk: Desk) -> bool:
    """Whether the step under way is the open call's, and its tool is one that is tried twice."""
    tool = TOOLS.get(desk.call.tool) if desk.call is not None else None
    return desk.stage == "acting" and tool is not None and tool.retry_profile == "once"


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
        case ActionJudged() as judged if flight is not None and _again(desk) is None:
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


# -- what is answered ----------------------------------------------------------------------------


def _well(desk: Desk, message: str = "", result: Untrusted | None = None) -> ToolAnswered | None:
    if desk.call is None:
        return None
    return ToolAnswered(desk.call.call, True, message=message, result=result)


def _bad(
    desk: Desk, error: ToolError, message: str, *, retriable: bool | None = None
) -> ToolAnswered:
    call = desk.call.call if desk.call is not None else ""
    again = error in RETRIABLE if retriable is None else retriable
    return ToolAnswered(call, False, error, TYPE_OF[error], again, message)


def _stale(desk: Desk) -> ToolAnswered | None:
    """The answer to a ref that is of no snapshot that the caller has now."""
    if desk.call is None or desk.call.invalid:
        return None
    ref = _given(desk.call).ref
    if ref is None or (desk.given and 0 <= place_of_ref(ref) < desk.refs):
        return None
    why = "is not in the last snapshot" if desk.given else "is of a snapshot that is no longer true"
    return _bad(desk, "ref_invalid", f"{ref} {why}")


def _came_to(desk: Desk, flight: Flight) -> ToolAnswered | None:
    """The verdict as an answer. A click that changed nothing was done all the same, and so was a
    navigation that the site led on from: the message says it, the snapshot shows it."""
    judged, missed = flight.judged, flight.missed
    if missed is not None:
        said = f"{missed.code}: {missed.message}" if missed.message else missed.code
        error = SAID_AS[missed.code]
        return _bad(desk, error, said, retriable=error in RETRIABLE)
    if judged is None or judged.verdict == "confirmed":
        return _well(desk, result=flight.extracted)
    failure = flight.failure
    slow = judged.verdict == "unknown" and failure is None and not flight.irreversible
    if judged.verdict in ("no_effect", "wrong_target") or slow:
        return _well(desk, judged.reason)
    code = failure.code if failure is not None else judged.reason
    error = SAID_AS[failure.code] if failure is not None else "action_failed"
    message = f"{code}: {failure.message}" if failure is not None and failure.message else code
    untouched = failure is not None and not failure.dispatched
    again = (error in RETRIABLE or code in RETRIABLE) and (_is_harmless(flight) or untouched)
    if judged.verdict == "unknown":
        return _bad(desk, error, f"{message}; its outcome is unknown", retriable=False)  # E7
    return _bad(desk, error, message, retriable=again)


def _refusal(desk: Desk, refused: ActionRejected | ActionWithheld) -> ToolError:
    if isinstance(refused, ActionWithheld):
        return "policy_denied"
    match refused.error:
        case "human_rejected":
            return "human_rejected"
        case "invalid_params":
            return "invalid_params"
        case _ if refused.code == "policy_denied":
            return "policy_denied"
        case _:
            by_ref = desk.call is not None and _given(desk.call).ref is not None
            error = SAID_AS.get(refused.error, "action_failed")
            return "action_failed" if error == "ref_invalid" and not by_ref else error


def _told(desk: Desk, error: ToolError, reason: str) -> str:
    """S3 1.6.3: what the person said goes back to the caller in these words."""
    return f"User feedback: {desk.said}" if error == "human_rejected" and desk.said else reason


def _answered(desk: Desk, word: ApprovalAnswered) -> ToolAnswered | None:
    if word.approved:
        return _well(desk, word.message)
    error: ToolError = "policy_denied" if word.by == "nobody" else "human_rejected"
    return _bad(desk, error, word.message)


def _read(desk: Desk, read: FileRead) -> ToolAnswered | None:
    return _bad(desk, read.error, read.message) if read.error else _well(desk)


def _missed(desk: Desk, why: str) -> ToolAnswered:
    """There is no look at the page: what is known without it is kept, giving up needs none."""
    if desk.answer is not None and desk.answer.error:
        return desk.answer
    late = _bad(desk, "timeout", why, retriable=_may_repeat(desk))
    return (_well(desk, why) or late) if _gives_up(desk) else late


def _may_repeat(desk: Desk) -> bool:
    """Whether the open call may be made again although nobody knows what it came to."""
    flight = desk.flight
    if flight is None or desk.call is None or flight.call != desk.call.call:
        return True
    untouched = flight.failure is not None and not flight.failure.dispatched
    return not flight.started or untouched or _is_harmless(flight)


def _is_harmless(flight: Flight) -> bool:
    """Whether doing it twice is doing it once."""
    action = flight.plan.action
    repeatable = action.type in REPEATABLE or action.type in READING
    return repeatable and not flight.irreversible and not action.append


def _claims(desk: Desk) -> bool:
    waits = desk.stage == "waiting" and desk.call is not None
    return waits and desk.call is not None and desk.call.tool == "complete_task"


def _gives_up(desk: Desk) -> bool:
    return _claims(desk) and desk.call is not None and _given(desk.call).status == "failed"


def _given(call: ToolCalled) -> Logged:
    return msgspec.json.decode(call.arguments, type=Logged)


def _judged_claim(desk: Desk, checked: CompletionChecked) -> ToolAnswered | None:
    """An unverified success is not acknowledged; giving up always is (D5)."""
    assert desk.call is not None
    if _gives_up(desk) or checked.verified:
        return _well(desk, checked.reason if _gives_up(desk) and checked.verified else "")
    return ToolAnswered(desk.call.call, False, message=checked.reason)
