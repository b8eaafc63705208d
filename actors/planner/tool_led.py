"""A call of a tool leads to a plan, a look, a question, a claim or the end of its session.

The Planner's part for the purpose `tools`. A call goes down the same road as every other step.
What fails is the answer; the session goes on.
"""

from collections.abc import Iterable

from rutter.actors.planner.called_ghost import first_of, ghost_due
from rutter.actors.planner.model_led import ended, heard, lead_on
from rutter.actors.planner.provider_choice import lost
from rutter.actors.planner.run import person_declined, propose, refusal_ends, stop_run, stopped_by
from rutter.actors.planner.tool_desk import (
    Desk,
    arguments_of,
    bad_answer,
    is_its_time,
    second_try,
    stale_ref_answer,
)
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.tools.tool_table import Logged
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.critic import CompletionChecked, PageAssessed
from rutter.events.faults import failed_call
from rutter.events.observer import ObservationFailed
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import ObservationRequested, PlanProposed, RunStopped
from rutter.events.runtime import DeadlinePassed, StopReason
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

# What the open call is told when its session ends so; all else is not there any more.
TOLD_AT_END: dict[StopReason, ToolError] = {
    "max_wall_time": "timeout",
    "policy_denied": "policy_denied",
    "completed_unverified": "policy_denied",
    "failed": "action_failed",
}


def decide_call(desk: Desk, event: AnyEvent) -> Iterable[AnyEvent]:
    if (stop := _stopping(desk, event)) is not None:
        yield from _ended(desk, stop)
        return
    yield from _called(desk, event)
    if desk.led and (not desk.pause.holds or isinstance(event, CompletionChecked)):
        yield from _leading(desk, event)


def _ended(desk: Desk, stop: RunStopped) -> Iterable[AnyEvent]:
    left, answer = lost(desk.asking), None
    if desk.call is not None:
        error = TOLD_AT_END.get(stop.reason, "unavailable")
        error = "browser_gone" if stop.failure == "browser_lost" else error
        answer = bad_answer(desk, error, stop.detail, retriable=False)
    # The end first where a model leads: what a call came to is followed by the next question else.
    yield from filter(None, (left, stop, answer) if desk.led else (left, answer, stop))


def _leading(desk: Desk, event: AnyEvent) -> Iterable[AnyEvent]:
    """What the model is asked, and what follows from what it says."""
    idle = desk.stage == "idle" and desk.call is None and not desk.busy
    ready = idle and desk.opened and desk.looked and not desk.waits
    match event:
        case AdviceReceived() as advice if ready:
            yield from heard(desk, advice)
        case PageAssessed() | ToolAnswered() | AdviceFailed() | ActionRejected() if ready:
            yield from lead_on(desk)
        case CompletionChecked() as checked if idle and desk.asks_page:
            yield ended(desk, checked)
        case CheckpointPassed():
            yield ObservationRequested("checkpoint_passed", desk.started.settings.place_ms)
        case _:
            return


def _called(desk: Desk, event: AnyEvent) -> Iterable[AnyEvent]:
    """What a call comes to. A claim that was checked is answered when the page was assessed."""
    match event:
        case ToolCalled(call=call) as called:
            if desk.call is None or desk.call.call != call or desk.call.attempt != called.attempt:
                yield failed_call(call, "unavailable", "another call is open", retriable=True)
            else:
                yield from _next(desk)
        case PageAssessed() | ApprovalAnswered() | FileRead() | ObservationFailed():
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
    if (look := ghost_due(desk)) is not None:
        yield look
    elif desk.stage == "answering" and desk.answer is not None:
        yield from _over(desk, desk.answer)
    elif desk.stage == "due" and desk.call is not None:
        yield from _begin(desk, desk.call)
    if (again := second_try(desk)) is not None:
        yield again
    elif not desk.opened and desk.looked:
        action = desk.started.script[0].action
        yield PlanProposed(1, 1, "script", action, "opening", index=0, source="opening")


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
            in_view = given.viewport_only is not False
            yield ObservationRequested("tool", 0, whole_page=not in_view)
        case "request_human_approval":
            yield ApprovalSought(call.call, given.action, given.reason)
        case "complete_task":
            yield CompletionClaimed(call.call, given.status, given.reason)
        case "read_file":
            return  # the file is being read; what came of it is a fact
        case _:
            yield from _acted(desk, call, given)


def _acted(desk: Desk, call: ToolCalled, given: Logged) -> Iterable[AnyEvent]:
    action = first_of(desk, call, given)
    if action is None:
        yield bad_answer(desk, "invalid_params", f"there is no tool {call.tool!r}")
    elif stale_ref_answer(desk) is not None:
        yield ObservationRequested("tool", 0)
    else:
        driver: Driver = "model" if desk.led else "agent"
        yield propose(desk, "tool", driver, action, f"tool_{call.tool}")


def _over(desk: Desk, answer: ToolAnswered) -> Iterable[AnyEvent]:
    """The answer. A claim that holds ends the session with it, and so does giving up."""
    yield answer
    if answer.success and desk.call is not None and desk.call.tool == "complete_task":
        given = arguments_of(desk.call)
        reason: StopReason = "completed" if given.status == "success" else "failed"
        yield stop_run(desk, reason, "", given.reason)


def _stopping(desk: Desk, event: AnyEvent) -> RunStopped | None:
    """What ends the session whatever is being done (E6). Steps and failures of an agent are not
    counted: how often it is tried is the caller's to say, and the number of its calls is limited.
    A page that could not be read is told it, and it goes on; whoever else waits for it cannot."""
    limit = desk.started.settings.limits.max_turns
    match event:
        case ToolCalled() if desk.turns > limit:
            said = f"max_turns_exceeded: {limit} calls were made"
            return stop_run(desk, "max_turns_exceeded", "", said)
        case ObservationFailed(code=code) if code != "page_crashed" and desk.looked:
            waits = desk.led and desk.call is None
            return stopped_by(desk, event) if waits else None
        case ActionWithheld() if not desk.led:
            return None
        case _:
            return stopped_by(desk, event) or (_led_astray(desk, event) if desk.led else None)


def _led_astray(desk: Desk, event: AnyEvent) -> RunStopped | None:
    """What ends a run that a model leads, though an outside agent would be told and go on: it has
    nobody to ask, it was only to be tried, or the service's own way does not lead on."""
    alone = desk.plan is not None and desk.plan.driver == "script"
    match event:
        case ActionRejected(rule=rule) if rule == PAUSED:
            return None
        case ActionRejected(error=error) as rejected if alone or error == "needs_person":
            return refusal_ends(desk, rejected)
        case CheckpointRefused() as refused:
            return person_declined(desk, refused)
        case PageAssessed():
            return desk.ends
        case _:
            return None
