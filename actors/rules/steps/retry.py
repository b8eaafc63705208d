"""Retry rules say what to try again, and when (F2, E7). Who calls tools decides the rest alone."""

from rutter.events.action import kind_of
from rutter.events.causes import VerdictCode
from rutter.events.critic import ActionJudged, Verdict
from rutter.events.executor import ActionFailed
from rutter.events.planner import PlanProposed

# A page that waits for its server, or asked it for something, as many do.
SENT = ("the_server_has_not_answered", "something_was_sent_and_nothing_is_shown")


def is_kept(verdict: Verdict, code: VerdictCode, *, irreversible: bool) -> bool:
    """Whether a step of a recording is part of it: what was done and showed nothing is, too."""
    if verdict == "unknown":
        return code in SENT and not irreversible
    return verdict in ("confirmed", "no_effect")


# Worth one more try when nothing had reached the page yet.
TRANSIENT = frozenset(
    {
        "timeout",
        "element_obscured",
        "element_not_visible",
        "element_moving",
        "action_failed",
        "navigation_failed",
    }
)
# These may be repeated even after input was dispatched: doing them twice is doing them once.
REPEATABLE = frozenset({"type", "select", "scroll", "navigate", "hover"})


def may_repeat(
    plan: PlanProposed, judged: ActionJudged, failure: ActionFailed | None, *, irreversible: bool
) -> bool:
    """Whether a step that was judged so is tried once more. A verification never is, and what a
    check said no to is no accident."""
    if plan.attempt > 1 or kind_of(plan.action) != "action":
        return False
    if failure is not None and failure.waited_ms and not failure.dispatched:
        return False  # it was tried all the time that the step has
    if failure is not None and failure.code in TRANSIENT and not failure.dispatched:
        return True
    if irreversible:
        return False  # E7
    match judged.verdict:
        case "no_effect":
            return True
        case "failed":
            repeatable = plan.action.type in REPEATABLE and not plan.action.append
            accident = failure is None and judged.code == "value_not_set"
            return repeatable and (accident or (failure is not None and failure.code in TRANSIENT))
        case _:
            return False


def so_long(waited_ms: int) -> str:
    """How long it was waited for in vain, behind a reason: `, for 3.0 s`."""
    return f", for {waited_ms / 1000:.1f} s" if waited_ms else ""
