"""A language model leads a conversation by calling tools (C4, S3 1.4); this says what to ask when.

The Planner's part beside `tool_led`, which does what is called. A page where somebody signs in is
never shown to the model; what is known of the service goes on there, and wherever there is none.
"""

import re
from collections.abc import Iterable
from typing import Literal

from rutter.actors.planner.expired_login import sign_in_words, signed_out
from rutter.actors.planner.provider_choice import NEVER_SHOWN, request
from rutter.actors.planner.run import loops, out_of_steps, own_way, stop_run
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.events.advisor import AdviceReceived, WantedCall
from rutter.events.causes import OTHER, Cause
from rutter.events.critic import CompletionChecked
from rutter.events.planner import AdviceRequested, CheckpointReached, RunStopped
from rutter.events.runtime import Failure
from rutter.events.tools import CompletionClaimed, ToolCalled
from rutter.events.vocabulary import AnyEvent

TO_COMPLETE = (
    "You called no tool. Call complete_task if the goal is achieved or cannot be achieved, "
    "or the next tool if it can."
)
NO_MORE = "No step is left. Call complete_task: say whether the goal is achieved."
MOST_SILENT = 2  # answers without a call, in a row
# Calls that are steps on the page; all others look, ask or end.
STEPS = frozenset({"browser_click", "browser_fill", "browser_select", "navigate", "press"})


def lead_on(desk: Desk) -> Iterable[AnyEvent]:
    """What comes next, now that nothing is under way."""
    if (over := _over(desk)) is not None:
        yield over
    elif desk.going.state in NEVER_SHOWN:
        yield own_way(desk) or _sign_in(desk)
    else:
        # Where nobody can say that it is done, the page is asked (D5), once.
        done = CompletionClaimed("", "success", f"the page is {desk.going.state}")
        at_its_end = None if desk.claimed else done
        yield _asked(desk) or own_way(desk) or at_its_end or _nobody(desk)


def ended(desk: Desk, checked: CompletionChecked) -> RunStopped:
    """What the page says where nobody else does."""
    return stop_run(desk, "completed", "", checked.reason) if checked.verified else _nobody(desk)


def heard(desk: Desk, advice: AdviceReceived) -> Iterable[AnyEvent]:
    """What follows from an answer: its first call and no other (S3 1.4.3)."""
    first = advice.calls[0] if advice.calls and advice.ending != "refused" else None
    if first is None and (advice.ending == "refused" or desk.silent < MOST_SILENT):
        yield from lead_on(desk)
    elif first is None:
        yield stop_run(desk, "no_op_loop", "", f"{desk.silent} answers without a call")
    elif loops(desk, called_as(first)):
        yield stop_run(desk, "no_op_loop", "", f"the same call on the same page: {first.tool}")
    elif desk.taken >= desk.started.settings.limits.max_steps and first.tool in STEPS:
        yield out_of_steps(desk)  # what is no step always has room (E6)
    else:
        yield ToolCalled(first.call, first.tool, first.arguments, "model", invalid=first.invalid)


def called_as(call: WantedCall | ToolCalled) -> str:
    """By what a call is known again. The numbers of what is typed are left out: each is another,
    and the text may be the same."""
    plain = re.sub(r'"typed":\d+', '"typed":0', call.arguments)
    return f"{call.tool} {plain}"


def comes_to_nothing(desk: Desk) -> RunStopped | None:
    """The end that the verdict on the step under way is. What cannot be undone and may have been
    done is nothing to go on from (E7); the service's own way is known or it is not. An opening may
    lead on, as many addresses do."""
    flight = desk.flight
    if flight is None or flight.judged is None:
        return None
    plan, judged = flight.plan, flight.judged
    said, cause = f"{judged.verdict}: {judged.reason}", Cause(code=judged.code)
    if judged.verdict == "unknown" and flight.irreversible:
        return stop_run(desk, "failed", "verification_failed", said, cause)
    opened = plan.source == "opening" and judged.verdict == "wrong_target"
    if plan.driver != "script" or judged.verdict == "confirmed" or opened:
        return None
    if not desk.going.stuck and is_of_way(plan):
        return None
    gone = flight.failure is not None and flight.failure.code == "navigation_failed"
    kind: Failure = "unreachable" if gone else "verification_failed"
    return stop_run(desk, "failed", kind, said, cause)


def _over(desk: Desk) -> RunStopped | CheckpointReached | None:
    """E6, each turn: steps, turns, and failures, after which a person is asked who has a window."""
    limits = desk.started.settings.limits
    if desk.taken > limits.max_steps:
        return out_of_steps(desk)
    if desk.turns >= limits.max_turns:
        said = f"max_turns_exceeded: {desk.turns} answers of a model"
        return stop_run(desk, "max_turns_exceeded", "", said)
    if desk.failures < limits.max_failures:
        return None
    why = f"{desk.failures} calls failed, one after the other"
    return _asks_first(desk, "unknown", stop_run(desk, "max_failures", "", why))


def _asked(desk: Desk) -> AdviceRequested | None:
    note = TO_COMPLETE if desk.silent else ""
    if desk.taken >= desk.started.settings.limits.max_steps:
        note = NO_MORE
    return request(desk.asking, AdviceRequested("", "act", "", note=note))


def _sign_in(desk: Desk) -> CheckpointReached | RunStopped:
    cause, why = OTHER, "there is no page yet"
    if desk.going.state == "LOGIN_REQUIRED":
        cause = signed_out(desk, desk.started.url)
        why = sign_in_words(cause)
    return _asks_first(desk, "login", stop_run(desk, "policy_denied", "needs_person", why, cause))


def _asks_first(
    desk: Desk, kind: Literal["login", "unknown"], stop: RunStopped
) -> CheckpointReached | RunStopped:
    """A person who has a window is asked before it ends, once."""
    if not desk.started.headed or desk.by_hand[1]:
        return stop
    return CheckpointReached(kind, desk.step + 1, stop.detail)


def _nobody(desk: Desk) -> RunStopped:
    if desk.asking is None:
        why = f"no model may be asked, and nothing is known of a page that is {desk.going.state}"
        return stop_run(desk, "failed", "lost", why, Cause("no_model"))
    return stop_run(desk, "failed", "model_unavailable", desk.asking.failed)
