"""The progress of a session driven by calls changes its desk with each event.

What every run takes from an event it has by then. What follows is decided by `tool_led`.
"""

import msgspec

from rutter.actors.planner.called_ghost import with_look
from rutter.actors.planner.model_led import called_as, comes_to_nothing
from rutter.actors.planner.run import remembering
from rutter.actors.planner.tool_desk import (
    Desk,
    approval_answer,
    bad_answer,
    claim_answer,
    claims,
    good_answer,
    is_its_time,
    late_answer,
    may_repeat,
    refusal_answer,
    second_try,
    stale_ref_answer,
    verdict_answer,
)
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.tools.tool_table import WITHOUT_SNAPSHOT
from rutter.events.advisor import AdviceReceived
from rutter.events.critic import ActionJudged, CompletionChecked, PageAssessed
from rutter.events.observer import ObservationFailed, PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    AdviceRequested,
    CheckpointReached,
    ObservationRequested,
    PlanProposed,
)
from rutter.events.runtime import DeadlinePassed
from rutter.events.tools import (
    ApprovalSought,
    CompletionClaimed,
    FileRead,
    ToolAnswered,
    ToolCalled,
    approval_of,
)
from rutter.events.validator import ActionRejected, ActionStarted, ActionWithheld, CheckpointPassed
from rutter.events.vocabulary import AnyEvent


def evolve_desk(desk: Desk, event: AnyEvent) -> Desk:
    """While the session is paused, what is called waits until it goes on."""
    change = msgspec.structs.replace
    if desk.led:
        desk = _led(desk, event)
    match event:
        case ToolCalled() as called if desk.call is None:
            return _taken(desk, called)
        case ToolAnswered(call=call) if desk.call is not None and call == desk.call.call:
            given = desk.given or desk.call.tool not in WITHOUT_SNAPSHOT
            return change(desk, stage="idle", call=None, answer=None, given=given)
        case PageObserved(page=page, why=why, look=look):
            return change(desk, refs=len(page.elements), look=look, given=False, seen=why)
        case PageAssessed():
            return _settled(desk)
        case PlanProposed():
            return _flown(desk)
        case ActionStarted():
            return _warned(desk)
        case ObservationRequested(why="tool"):
            answer = desk.answer or stale_ref_answer(desk) or good_answer(desk)
            return change(desk, stage="looking", answer=answer)
        case ApprovalSought() | CompletionClaimed() if desk.call is not None:
            return change(desk, stage="waiting")
        case ActionRejected(rule=rule) if rule == PAUSED:
            return _let_go(desk)
        case ActionRejected() | ActionWithheld() as refused:
            return _landed(desk, with_look(desk, refusal_answer(desk, refused)))
        case _:
            return _heard(desk, event)


def _led(desk: Desk, event: AnyEvent) -> Desk:
    """What concerns the model that leads. When it is asked it is shown the last look."""
    change = msgspec.structs.replace
    match event:
        case AdviceRequested():
            return change(desk, given=True)
        case AdviceReceived(ending=ending, calls=calls):
            silent = 0 if calls or ending == "refused" else desk.silent + 1
            return change(desk, turns=desk.turns + 1, silent=silent)
        case ToolCalled(tool=tool) as called:
            return change(remembering(desk, called_as(called)), claimed=tool == "complete_task")
        case CompletionClaimed(call=call):
            return change(desk, claimed=True, asks_page=not call)
        case ToolAnswered(success=success):
            failures = 0 if success else desk.failures + 1
            return change(desk, failures=failures, closing=success and desk.claimed)
        case CheckpointReached():
            return change(desk, in_window=True, failures=0)
        case CheckpointPassed():
            return change(desk, in_window=False)
        case ActionJudged() if desk.busy and second_try(desk) is None:
            return change(desk, ends=comes_to_nothing(desk))
        case _:
            return desk


def _heard(desk: Desk, event: AnyEvent) -> Desk:
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
            unread = bad_answer(desk, read.error, read.message) if read.error else None
            return change(desk, answer=unread or good_answer(desk), stage=stage)
        case CompletionChecked() as checked if claims(desk):
            return change(desk, answer=claim_answer(desk, checked), stage="answering")
        case DeadlinePassed(what="tool", after_ms=after_ms) as passed if is_its_time(desk, passed):
            late = late_answer(desk, f"not done after {after_ms} ms")
            # There is no page to look at yet, or it is being looked at and does not answer.
            now = desk.stage == "looking" or not desk.looked or late.success
            return change(desk, answer=late, stage="answering" if now else desk.stage)
        case ObservationFailed(message=message):
            return _unseen(desk, message)
        case _:
            return desk


def _taken(desk: Desk, called: ToolCalled) -> Desk:
    waits = desk.pause.holds or not desk.looked or not desk.opened or desk.busy
    counted = not desk.led and called.attempt == 1
    return msgspec.structs.replace(
        desk,
        call=called,
        stage="held" if waits else "due",
        turns=desk.turns + counted,
        said="",
    )


def _flown(desk: Desk) -> Desk:
    """A step is under way: the open call's, its second try, or the opening of the session."""
    own = desk.stage in ("due", "acting", "answering") and desk.call is not None
    ghost = desk.plan is not None and desk.plan.render_mode == "ghost"
    return msgspec.structs.replace(
        desk,
        busy=True,
        whose=desk.call.call if own and desk.call is not None else "",
        opened=True,
        stage="acting" if own else desk.stage,
        pictured=(desk.url, desk.digest) if ghost else desk.pictured,
    )


def _warned(desk: Desk) -> Desk:
    """A step that starts when its time is up already: what is to be said of it is no longer so."""
    answer = desk.answer
    if answer is None or answer.error != "timeout" or may_repeat(desk):
        return desk
    return msgspec.structs.replace(desk, answer=msgspec.structs.replace(answer, retriable=False))


def _settled(desk: Desk) -> Desk:
    """The page was looked at, and what was to be judged is judged."""
    change, flight = msgspec.structs.replace, desk.flight
    desk = change(desk, looked=True)
    if desk.busy and flight is not None and flight.over and second_try(desk) is None:
        desk = change(desk, busy=False)
        if desk.stage == "acting":
            answer = with_look(desk, verdict_answer(desk, flight))
            return change(desk, stage="answering", answer=answer)
    if desk.stage == "held" and not desk.busy and desk.opened and not desk.pause.holds:
        return change(desk, stage="due")
    if desk.stage == "looking" and desk.seen == "requested":
        return change(desk, stage="answering")
    return desk


def _landed(desk: Desk, answer: ToolAnswered | None) -> Desk:
    """The step is over before it began: its call is answered, or the one behind it is due."""
    change = msgspec.structs.replace
    desk = change(desk, busy=False)
    if desk.stage == "acting":
        return change(desk, answer=answer)
    return change(desk, stage="due") if desk.stage == "held" and not desk.pause.holds else desk


def _let_go(desk: Desk) -> Desk:
    """A pause came before the step had begun: its call waits, and so does the opening."""
    opening = desk.busy and desk.plan is not None and desk.plan.source == "opening"
    looked = desk.answer is not None and desk.answer.success
    return msgspec.structs.replace(
        desk,
        answer=None if looked else desk.answer,
        busy=False,
        opened=desk.opened and not opening,
        stage="held" if desk.stage == "acting" else desk.stage,
    )


def _unseen(desk: Desk, message: str) -> Desk:
    """The page could not be read in time: whatever waited for that has its answer."""
    change = msgspec.structs.replace
    unread = late_answer(desk, f"the page could not be read: {message}")
    if desk.busy and desk.flight is not None and desk.flight.done:
        landed = _landed(desk, unread)
        if desk.stage == "looking":  # the call's time was up before: it has its answer already
            return change(landed, answer=desk.answer or unread, stage="answering")
        return change(landed, stage="answering") if desk.stage == "acting" else landed
    if desk.stage == "looking" or claims(desk):
        return change(desk, answer=unread, stage="answering")
    return desk
