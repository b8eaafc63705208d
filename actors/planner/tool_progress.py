"""The progress of a session driven from outside changes its desk with each event.

It is a part of the Planner's state. What follows from it is decided by `tool_led`.
"""

import msgspec

from rutter.actors.planner.model_led import OPENING, ModelLead, evolve_lead, went
from rutter.actors.planner.tool_answers import (
    approval_answer,
    bad_answer,
    claim_answer,
    file_answer,
    good_answer,
    late_answer,
    refusal_error,
    refusal_words,
    stale_ref_answer,
    verdict_answer,
)
from rutter.actors.planner.tool_desk import (
    Desk,
    Flight,
    claims,
    is_its_time,
    may_repeat,
    second_try,
)
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.actors.rules.tools.tool_table import WITHOUT_SNAPSHOT
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.envelope import Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetResolved,
)
from rutter.events.observer import ObservationFailed, PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import AdviceRequested, ObservationRequested, PlanProposed
from rutter.events.predictor import PredictionMade
from rutter.events.runtime import DeadlinePassed
from rutter.events.tools import (
    ApprovalSought,
    CompletionClaimed,
    FileRead,
    ToolAnswered,
    ToolCalled,
    approval_of,
)
from rutter.events.validator import ActionRejected, ActionStarted, ActionWithheld
from rutter.events.vocabulary import AnyEvent


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
            answer = desk.answer or stale_ref_answer(desk) or good_answer(desk)
            return change(desk, stage="looking", answer=answer)
        case ApprovalSought() | CompletionClaimed() if desk.call is not None:
            return change(desk, stage="waiting")
        case ActionRejected(rule=rule) if rule == PAUSED:
            return _let_go(desk)
        case ActionRejected(reason=reason) | ActionWithheld(reason=reason) as refused:
            error = refusal_error(desk, refused)
            return _landed(
                desk, bad_answer(desk, error, refusal_words(desk, error, reason)), held=held
            )
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
                return change(desk, answer=approval_answer(desk, word), stage="answering")
            return desk
        case FileRead(call=call) as read if desk.call is not None and call == desk.call.call:
            stage = "answering" if desk.stage == "waiting" else desk.stage
            return change(desk, answer=file_answer(desk, read), stage=stage)
        case CompletionChecked() as checked if claims(desk):
            return change(desk, answer=claim_answer(desk, checked), stage="answering")
        case DeadlinePassed(what="tool", after_ms=after_ms) as passed if is_its_time(desk, passed):
            late = late_answer(desk, f"not done after {after_ms} ms")
            # There is no page to look at yet, or it is being looked at and does not answer.
            now = desk.stage == "looking" or not desk.looked or late.success
            return change(desk, answer=late, stage="answering" if now else desk.stage)
        case ObservationFailed(message=message):
            return _unseen(desk, message, held=held)
        case _:
            return desk


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
    if answer is None or answer.error != "timeout" or may_repeat(desk):
        return desk
    return msgspec.structs.replace(desk, answer=msgspec.structs.replace(answer, retriable=False))


def _settled(desk: Desk, *, held: bool) -> Desk:
    """The page was looked at, and what was to be judged is judged."""
    change = msgspec.structs.replace
    desk = change(desk, looked=True)
    flight = desk.flight
    if flight is not None and flight.over and second_try(desk) is None:
        desk = change(desk, flight=None)
        if desk.stage == "acting":
            return change(desk, stage="answering", answer=verdict_answer(desk, flight))
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
    unread = late_answer(desk, f"the page could not be read: {message}")
    if desk.flight is not None and desk.flight.done:
        landed = _landed(desk, unread, held=held)
        if desk.stage == "looking":  # the call's time was up before: it has its answer already
            return change(landed, answer=desk.answer or unread, stage="answering")
        return change(landed, stage="answering") if desk.stage == "acting" else landed
    if desk.stage == "looking" or claims(desk):
        return change(desk, answer=unread, stage="answering")
    return desk
