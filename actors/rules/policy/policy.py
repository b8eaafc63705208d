"""Policy says what may be done: a pure function over `rule_table`. Deny beats ask beats allow (E1,
E2).

Of several that ask, the one is told that asks most of the person, and no recording has answered
them if it has not answered all; nothing matched means allowed. Standing approval is not a rule: it
answers an `ask` that the recording itself has answered before (design 8).
"""

import msgspec

from rutter.actors.rules.policy.policy_case import (
    CALLERS,
    CELLS,
    READING,
    RECORDED,
    PolicyCase,
    is_a_door,
)
from rutter.actors.rules.policy.risky_words import DENYLIST
from rutter.actors.rules.policy.rule_table import (
    IRREVERSIBLE,
    RULES,
    PolicyVerdict,
    accepts_a_dialog,
)
from rutter.events.action import Action
from rutter.events.page import Resolved
from rutter.events.policy import Policy
from rutter.events.validator import ApprovalKind
from rutter.events.workflow import StandingApproval

__all__ = [
    "CALLERS",
    "CELLS",
    "DENYLIST",
    "READING",
    "RECORDED",
    "RULES",
    "PolicyCase",
    "PolicyVerdict",
]

DEFAULT_POLICY = Policy(version="1", denylist=DENYLIST)

# What each action type cannot do without (E1).
REQUIRED: dict[str, tuple[str, ...]] = {
    "navigate": ("url",),
    "click": ("target",),
    "type": ("target", "value"),
    "press": ("key",),
    "select": ("target", "value"),
    "scroll": (),
    "wait_for": ("target",),
    "wait": ("ms",),
    "extract": ("target",),
    "read_page": (),
    "ghost_extract": (),
    "check": ("verify",),
    "hover": ("target",),
    "drag": ("target", "to"),
    "wheel": ("target", "by"),
}
# Of two questions the one that asks more of the person.
CAREFUL: dict[ApprovalKind, int] = {"confirm": 2, "service": 1}


def missing_field(action: Action) -> str:
    """The first field that this type of action needs and does not have."""
    for field in REQUIRED[action.type]:
        if getattr(action, field) in (None, ()):
            return field
    for found in ("target", "to"):
        target = getattr(action, found)
        if target is not None and not target.strategies:
            return found
    if action.type == "scroll" and action.target is None and action.direction is None:
        return "direction"
    return ""


def judge(case: PolicyCase) -> PolicyVerdict:
    """The verdict of the table. A rule that breaks is a denial, never an opening."""
    asks: list[PolicyVerdict] = []
    for rule in RULES:
        try:
            verdict = rule(case)
        except Exception as error:  # noqa: BLE001 - whatever it is, what could not be judged is not done
            return PolicyVerdict("deny", rule.__name__, f"the rule failed: {type(error).__name__}")
        if verdict is None:
            continue
        if verdict.effect == "deny":
            return verdict
        asks.append(verdict)
    if not asks:
        return PolicyVerdict("allow", "nothing_matched", "no rule is against it")
    told = max(asks, key=lambda verdict: (CAREFUL.get(verdict.kind, 0), verdict.always))
    return msgspec.structs.replace(told, always=any(verdict.always for verdict in asks))


def is_irreversible(case: PolicyCase) -> bool:
    """What a dry run stops before, and what is never repeated once dispatched. A dry run must get
    past the door, so that signing in is not."""
    if accepts_a_dialog(case) is not None:
        return True
    if is_a_door(case):
        return False
    return any(rule(case) is not None for rule in IRREVERSIBLE)


def stands(
    standing_approval: StandingApproval | None, element: Resolved | None, *, same_page: bool = False
) -> bool:
    """Whether the recording's own approval covers this very element on this origin. On the
    `same_page` by another of its addresses, what is sent to that page is the same too."""
    if standing_approval is None or element is None or standing_approval.origin != element.origin:
        return False
    same = standing_approval.identity and standing_approval.identity == element.identity
    at_home = same_page and standing_approval.home and standing_approval.home == element.home
    return bool(same or at_home or standing_approval.digest == element.digest)
