"""A call that looks at a page may go on with a picture of it: because it asks for one, or because
the page is shut and the run reads it by itself (S4 W8)."""

import msgspec

from rutter.actors.planner.run import propose
from rutter.actors.planner.tool_desk import Desk, arguments_of
from rutter.actors.rules.steps.ghost import ghost_refusal, reads_by_itself
from rutter.actors.rules.tools.tool_table import Logged, action_of
from rutter.events.action import Action
from rutter.events.planner import PlanProposed
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.workflow import Driver

GHOST = "ghost_extract"
LOOKS = frozenset({"get_snapshot", "navigate"})  # what is answered by how the page looks


def first_of(desk: Desk, call: ToolCalled, given: Logged) -> Action | None:
    """What the call does first. Nobody goes anywhere for a picture that is not to be taken."""
    action = action_of(call.tool, given, desk.look)
    if call.tool != GHOST or given.url is None or action is None:
        return action
    refused = ghost_refusal(desk.started.settings.ghost, _driver(desk), action)
    return action if refused is not None else Action("navigate", url=given.url)


def ghost_due(desk: Desk) -> PlanProposed | None:
    """The reading of a picture that the call goes on with, before it is answered."""
    call, answer = desk.call, desk.answer
    if call is None or answer is None or desk.stage != "answering" or not answer.success:
        return None
    if _was_pictured(desk, call):
        return None
    if call.tool == GHOST:
        action = action_of(GHOST, arguments_of(call))
        return propose(desk, "tool", _driver(desk), action, f"tool_{GHOST}") if action else None
    shut = reads_by_itself(desk.started.settings.ghost, desk.barrier)
    anew = call.tool == "navigate" or desk.pictured != (desk.url, desk.digest)
    if call.tool not in LOOKS or not shut or not anew:
        return None
    assert desk.barrier is not None
    reason = f"ghost_{desk.barrier.kind}"
    return propose(desk, "tool", _driver(desk), Action("read_page"), reason)


def with_look(desk: Desk, answer: ToolAnswered | None) -> ToolAnswered | None:
    """The answer after a picture was to be read. A look that nobody asked to be more than that is
    good without; why there is no more is said."""
    looked = desk.answer
    if looked is None or not looked.success or answer is None or answer.success:
        return answer
    if desk.call is None or desk.call.tool not in LOOKS or not _was_pictured(desk, desk.call):
        return answer
    return msgspec.structs.replace(looked, message=f"{answer.error}: {answer.message}")


def _was_pictured(desk: Desk, call: ToolCalled) -> bool:
    return desk.plan is not None and desk.plan.render_mode == "ghost" and desk.whose == call.call


def _driver(desk: Desk) -> Driver:
    return "model" if desk.led else "agent"
