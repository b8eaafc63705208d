"""Healing finds a recorded element again on a redesigned page: decisions, no model (design 7).

When its recorded locators find nothing, or something that is clearly not it, the page is asked what
is most like it; the best is taken when it is clearly ahead. A healed step has no standing approval,
and is learned when the run's end was verified.
"""

from collections.abc import Mapping, Sequence

import msgspec

from rutter.actors.rules.policy.policy import CELLS, READING
from rutter.actors.rules.steps.likeness import (
    LikenessChoice,
    choose,
    filled,
    found_by_data,
    grounds,
    weigh,
)
from rutter.events.action import Fingerprint, Secret, Target
from rutter.events.page import Resolved
from rutter.events.planner import LookalikesRequested, PlanProposed, TargetHealed
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionRejected

# The element is not there, or not alone, or not to be seen. A page that did not answer is another
# matter, and so is whatever policy says.
GONE = frozenset({"element_not_found", "element_ambiguous", "element_not_visible"})
LIKENESS = "likeness"  # the Validator's rule: found, but not what was recorded


def recorded_target(plan: PlanProposed, values: Mapping[str, str]) -> Target | None:
    """What of the plan can be known again; nothing for what no recording tells of."""
    target = plan.action.target
    if plan.driver != "workflow" or target is None or target.fingerprint is None:
        return None
    if not target.fingerprint.tag or found_by_data(target):
        return None
    fingerprint = target.fingerprint if plan.healed else filled(target.fingerprint, values)
    return msgspec.structs.replace(target, fingerprint=fingerprint)


def unlike(plan: PlanProposed, element: Resolved | None, values: Mapping[str, str]) -> str:
    """Why the element that was found is not the recorded one; empty when it can be."""
    target = recorded_target(plan, values)
    if target is None or element is None:
        return ""
    if plan.healed:
        # The very one that was chosen a moment ago, wherever the page put it since.
        same = _but_for_place(target.fingerprint) == _but_for_place(element.fingerprint)
    else:
        sure = grounds(target, element, reading=_reads(plan)) == "sure"
        same = sure and not _unveiled(plan, element)
        same = same or _is_that_cell(target, element, values) or _is_that_icon(target, element)
        same = same or _stands_alone(target, element)
    if same:
        return ""
    return f"{_called(element)} is in the place of the recorded {_recorded(target)}"


def _is_that_cell(target: Target, element: Resolved, values: Mapping[str, str]) -> bool:
    """What a cell says is data. It is found by its place, in the row of what this run is about."""
    recorded = target.fingerprint
    if recorded is None or recorded.role not in CELLS or not _is_plain(recorded, element):
        return False
    row = {text.text for text in element.fingerprint.near}
    return all(
        text.text in row
        for text in recorded.near
        if any(value and value in text.text for value in values.values())
    )


def _is_that_icon(target: Target, element: Resolved) -> bool:
    """What says nothing is known by its picture, where it was: what is around it may be data."""
    recorded, found = target.fingerprint, element.fingerprint
    if recorded is None or recorded.name.text or found.name.text:
        return False
    icon = dict(recorded.attributes).get("icon", "")
    same = icon != "" and dict(found.attributes).get("icon") == icon
    return same and _is_plain(recorded, element)


def _stands_alone(target: Target, element: Resolved) -> bool:
    """It says the same or, now as then, nothing, and nothing else was there to tell it by."""
    evidence = weigh(target, element)
    if evidence is None or evidence.says not in (None, MILLION) or not evidence.tag:
        return False
    if "icon" in dict((target.fingerprint or Fingerprint()).attributes):
        return False
    return evidence.near is None and evidence.called is None and evidence.does is None


def _is_plain(recorded: Fingerprint, element: Resolved) -> bool:
    """Of the same kind, and neither leads anywhere nor sends anything as far as it shows."""
    found = element.fingerprint
    same = (recorded.tag, recorded.role) == (found.tag, found.role)
    return same and "href" not in dict(found.attributes) and not element.submits


def doubtful(started: SessionStarted, plan: PlanProposed, element: Resolved | None) -> str:
    """Why a person is to say whether what was healed is the recorded element; empty if it is."""
    if not plan.healed or started.workflow is None or element is None:
        return ""
    recorded = msgspec.structs.replace(plan, action=started.workflow.steps[plan.index].action)
    target = recorded_target(msgspec.structs.replace(recorded, healed=False), started.values)
    if target is None or grounds(target, element, reading=_reads(plan)) == "sure":
        return ""
    return f"it may not be the recorded {_recorded(target)}"


def look_for(
    plan: PlanProposed | None, rejected: ActionRejected, values: Mapping[str, str]
) -> LookalikesRequested | None:
    """The question to the page, when a step may be healed. Once: what was healed is not again."""
    if plan is None or plan.healed:
        return None
    if rejected.rule != LIKENESS and rejected.error not in GONE:
        return None
    return request_of(plan, values)


def request_of(
    plan: PlanProposed, values: Mapping[str, str], *, wide: bool = False
) -> LookalikesRequested | None:
    target = recorded_target(plan, values)
    if target is None or target.fingerprint is None:
        return None
    return LookalikesRequested(plan.step, plan.attempt, target.fingerprint, wide)


def heal(
    plan: PlanProposed, elements: Sequence[Resolved], values: Mapping[str, str]
) -> tuple[TargetHealed, PlanProposed] | str:
    """The step with its new element, or why there is none."""
    target = recorded_target(plan, values)
    if target is None:
        return "nothing is known of the recorded element"
    fitting = [element for element in elements if fits(plan, element)]
    choice = choose(target, fitting, reading=_reads(plan))
    element = choice.element
    if element is None or not choice.clear or not element.ways:
        return _unclear(target, choice)
    return healed_to(plan, element, choice.score, choice.runner_up)


def healed_to(
    plan: PlanProposed, element: Resolved, score: int, runner_up: int = 0
) -> tuple[TargetHealed, PlanProposed]:
    """The step on this element in place of the recorded one."""
    healed = TargetHealed(plan.step, plan.attempt, element, score, runner_up)
    action = msgspec.structs.replace(plan.action, target=Target(element.ways, element.fingerprint))
    reason = f"{plan.reason}_healed"
    return healed, msgspec.structs.replace(plan, action=action, reason=reason, healed=True)


def _but_for_place(fingerprint: Fingerprint | None) -> Fingerprint | None:
    return None if fingerprint is None else msgspec.structs.replace(fingerprint, box=None)


def _reads(plan: PlanProposed) -> bool:
    return plan.action.type in READING


def fits(plan: PlanProposed, element: Resolved) -> bool:
    """A secret goes where a secret went, and nothing else does."""
    return element.secret == _is_secret(plan)


def _unveiled(plan: PlanProposed, element: Resolved) -> bool:
    """Plain text would go into a field that keeps secrets. For the other way round policy asks."""
    return element.secret and plan.action.type == "type" and not _is_secret(plan)


def _is_secret(plan: PlanProposed) -> bool:
    target = plan.action.target
    recorded = target.fingerprint if target is not None else None
    password = recorded is not None and ("type", "password") in recorded.attributes
    return password or isinstance(plan.action.value, Secret)


def _unclear(target: Target, choice: LikenessChoice) -> str:
    wanted = f"nothing here is clearly the recorded {_recorded(target)}"
    if choice.element is None:
        return f"{wanted}: nothing is like it"
    said = f"{wanted}: most like it is {_called(choice.element)} ({_percent(choice.score)})"
    if choice.second is None:
        return said
    return f"{said}, then {_called(choice.second)} ({_percent(choice.runner_up)})"


def _recorded(target: Target) -> str:
    recorded = target.fingerprint
    assert recorded is not None
    return repr((recorded.name.text or recorded.text.text or recorded.tag)[:60])


def _called(element: Resolved) -> str:
    return repr((element.name.text or element.text.text or element.tag)[:60])


def _percent(millionths: int) -> str:
    return f"{millionths // 10_000} %"
