"""The desk of a session driven from outside holds the call that is open and the step under way.

What can be said of them without looking further is asked here: whether a step is tried again,
whether it may be, and whether the open call claims that all is done.
"""

from typing import Literal

import msgspec

from rutter.actors.planner.model_led import ModelLead, open_lead
from rutter.actors.rules.policy.policy import READING
from rutter.actors.rules.steps.retry import REPEATABLE, TRANSIENT
from rutter.actors.rules.tools.tool_table import TOOLS, Logged
from rutter.events.action import Target, Untrusted
from rutter.events.critic import ActionJudged
from rutter.events.executor import ActionFailed, QueryFailed
from rutter.events.page import Resolved
from rutter.events.planner import PlanProposed
from rutter.events.runtime import DeadlinePassed, SessionStarted
from rutter.events.tools import ToolAnswered, ToolCalled

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


def is_its_time(desk: Desk, passed: DeadlinePassed) -> bool:
    """Whether it is the open call whose time is up: one that comes late may be about another."""
    return desk.call is not None and passed.call in ("", desk.call.call)


def second_try(desk: Desk) -> PlanProposed | None:
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
    if not is_harmless(flight) and (failure is None or failure.dispatched):
        return None
    if action.target is not None and flight.element is not None:
        action = msgspec.structs.replace(action, target=Target(flight.element.ways))
    return msgspec.structs.replace(flight.plan, attempt=2, action=action)


def _has_second_try(desk: Desk) -> bool:
    """Whether the step under way is the open call's, and its tool is one that is tried twice."""
    tool = TOOLS.get(desk.call.tool) if desk.call is not None else None
    return desk.stage == "acting" and tool is not None and tool.retry_profile == "once"


def may_repeat(desk: Desk) -> bool:
    """Whether the open call may be made again although nobody knows what it came to."""
    flight = desk.flight
    if flight is None or desk.call is None or flight.call != desk.call.call:
        return True
    untouched = flight.failure is not None and not flight.failure.dispatched
    return not flight.started or untouched or is_harmless(flight)


def is_harmless(flight: Flight) -> bool:
    """Whether doing it twice is doing it once."""
    action = flight.plan.action
    repeatable = action.type in REPEATABLE or action.type in READING
    return repeatable and not flight.irreversible and not action.append


def claims(desk: Desk) -> bool:
    waits = desk.stage == "waiting" and desk.call is not None
    return waits and desk.call is not None and desk.call.tool == "complete_task"


def gives_up(desk: Desk) -> bool:
    return claims(desk) and desk.call is not None and arguments_of(desk.call).status == "failed"


def arguments_of(call: ToolCalled) -> Logged:
    return msgspec.json.decode(call.arguments, type=Logged)
