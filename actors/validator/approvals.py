"""Approvals say whether a step still stands by what a recording or a bound credential allowed."""

import msgspec

from rutter.actors.rules.pages.address import origin_of, place_of
from rutter.actors.rules.policy.policy import PolicyCase, PolicyVerdict, is_irreversible, stands
from rutter.actors.rules.policy.policy_case import is_a_door
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.actors.validator.state import FinalStep, ValidatorState
from rutter.events.page import Resolved
from rutter.events.signature import signature
from rutter.events.validator import ActionStarted
from rutter.events.workflow import StandingApproval, Step


def is_let_in(state: ValidatorState, case: PolicyCase, verdict: PolicyVerdict) -> bool:
    """A credential that is bound to the origin satisfies the sign-in there (E3), on the way that a
    service or a model found, if it is sent nowhere else. What was healed or proposed by a model is
    not that way."""
    started, plan, element = state.started, state.plan, state.element
    if plan is None or element is None or plan.healed:
        return False
    if not is_a_door(case) or verdict.rule not in ("sends_a_form", "denylist"):
        return False
    found = started.workflow is not None and bool(started.workflow.goal)
    if not (is_of_way(plan) or (plan.driver == "workflow" and found)):
        return False
    if element.form_action and origin_of(element.form_action) != element.origin:
        return False
    homes = started.policy.secret_origins
    return any(name in started.secrets and origin == element.origin for name, origin in homes)


def is_on_the_way(state: ValidatorState) -> bool:
    """Whether what is done in a run of a workflow is none of its steps."""
    started, plan = state.started, state.plan
    if started.workflow is None or plan is None:
        return False
    return plan.index < 0 and not plan.read_back_of


def was_done_on_the_way(state: ValidatorState, case: PolicyCase) -> bool:
    """Something that cannot be undone was done in place of no step of the workflow: it may have
    been this very one, so that no recording approves it any more (E7)."""
    return state.done_on_the_way and is_final(state, case)


def seen_as(element: Resolved | None) -> str:
    """What the element was to the last letter. A standing approval is for its kind across runs;
    an intent and a person's answer are for this very one."""
    return (element.exact or element.digest) if element is not None else ""


def is_final(state: ValidatorState, case: PolicyCase) -> bool:
    """Whether it cannot be undone: by what the element is, or by what it was when it was recorded.
    A button that lost its form still says what it said."""
    return was_irreversible(state) or is_irreversible(case)


def was_irreversible(state: ValidatorState) -> bool:
    workflow, plan = state.started.workflow, state.plan
    if workflow is None or plan is None or not 0 <= plan.index < len(workflow.steps):
        return False
    return workflow.steps[plan.index].irreversible


def with_final(state: ValidatorState, begun: ActionStarted) -> tuple[FinalStep, ...]:
    """The steps that cannot be undone, this one with them; another try takes its own place."""
    others = [each for each in state.final if each.step != begun.step]
    return (*others, FinalStep(begun.step, signature(begun.action), state.element))


def with_unknown(state: ValidatorState, step: int) -> tuple[FinalStep, ...]:
    return tuple(
        msgspec.structs.replace(each, unknown=each.unknown or each.step == step)
        for each in state.final
    )


def maybe_done_by(state: ValidatorState) -> int:
    """The last step of this session that may have done the same already, for all that is known."""
    plan, element = state.plan, state.element
    if plan is None:
        return 0
    doing = signature(plan.action)
    same = (
        each.step
        for each in reversed(state.final)
        if each.unknown and each.step != plan.step and _is_same(each, doing, element)
    )
    return next(same, 0)


def _is_same(final: FinalStep, doing: str, element: Resolved | None) -> bool:
    """The same element, or one that sends the same form; without an element, the same action."""
    before = final.element
    if before is None or element is None:
        return before is element and final.doing == doing
    if before.digest == element.digest or (before.identity and before.identity == element.identity):
        return True
    sent = (before.form_action, before.form_method, before.origin)
    both = before.submits and element.submits and bool(element.form_action)
    return both and sent == (element.form_action, element.form_method, element.origin)


def stands_by_recording(state: ValidatorState) -> bool:
    """Whether the recording has approved this. Two addresses are the same page's if the recording
    saw it go by both."""
    return stands(_standing_approval(state), state.element, same_page=_is_sent_there(state))


def _is_sent_there(state: ValidatorState) -> bool:
    """Whether its form is sent to the page of the recording: to one of its addresses as they are,
    for what varies in them stands for no word."""
    step, element = _recorded(state), state.element
    if step is None or element is None:
        return False
    led = place_of(element.form_action)
    return led.origin == step.before.origin and led.path in step.before.paths


def _recorded(state: ValidatorState) -> Step | None:
    workflow, plan = state.started.workflow, state.plan
    if workflow is None or plan is None or plan.driver != "workflow":
        return None
    return workflow.steps[plan.index] if 0 <= plan.index < len(workflow.steps) else None


def _standing_approval(state: ValidatorState) -> StandingApproval | None:
    """The approval that the recording gave this very step of this workflow version. What was
    healed is another element, and has none."""
    step = _recorded(state)
    if step is None or state.plan is None or state.plan.healed:
        return None
    return step.standing_approval
