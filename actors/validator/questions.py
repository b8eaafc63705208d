"""Questions ask a person what no recording has answered; their answer lets a step pass or not."""

import msgspec

from rutter.actors.rules.policy.policy import PolicyCase, PolicyVerdict
from rutter.actors.rules.steps.already_done import doubt as may_have_happened
from rutter.actors.rules.steps.confidence import RULE as SUGGESTED
from rutter.actors.rules.steps.confidence import is_suggested, why_suggested
from rutter.actors.rules.steps.healing import doubtful
from rutter.actors.rules.steps.lost_step import called
from rutter.actors.rules.steps.pause import HAD_THE_WHEEL
from rutter.actors.rules.steps.service_script import is_of_way
from rutter.actors.validator.approvals import (
    is_final,
    is_let_in,
    maybe_done_by,
    seen_as,
    stands_by_recording,
    was_done_on_the_way,
    was_irreversible,
)
from rutter.actors.validator.state import ValidatorState
from rutter.events.action import Action, Box, Secret
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import CheckpointReached, PlanProposed
from rutter.events.runtime import SessionStarted
from rutter.events.signature import signature
from rutter.events.tools import ApprovalSought, approval_of
from rutter.events.validator import ApprovalRequested, CheckpointPassed, CheckpointRefused

CONFIRM = "confirm"  # S1 FR-008: what the person types out before the last step
LONG, MANY = 40, 3  # characters of a value, and values, in a question
ASKED = {"type": "Type into", "select": "Choose in", "extract": "Read"}
FORM = "it sends the form"
# What a person does in the window, and what they are asked then.
BY_HAND = {
    "login": "Sign in in the window",
    "unknown": "Bring the page to where this step is due, in the window",
    "barrier": "Do in the window what the site asks for there",
    "by_hand": "Do this step in the window",
}


def left_to_ask(
    state: ValidatorState, case: PolicyCase, verdict: PolicyVerdict
) -> PolicyVerdict | None:
    """What a person is to be asked: what no recording has answered, and whether to do at all what
    was predicted and is not sure enough, whatever else it is."""
    asks, suggested = _unsettled(state, case, verdict), as_suggestion(state)
    if asks is None or suggested is None:
        return asks or suggested
    return msgspec.structs.replace(asks, reason=f"{asks.reason}; {suggested.reason}")


def as_suggestion(state: ValidatorState) -> PolicyVerdict | None:
    assert state.plan is not None
    settings = state.started.settings
    if not is_suggested(state.plan, settings):
        return None
    return PolicyVerdict(
        "ask", SUGGESTED, why_suggested(state.plan, settings, state.started.values)
    )


def _unsettled(
    state: ValidatorState, case: PolicyCase, verdict: PolicyVerdict
) -> PolicyVerdict | None:
    started, plan, element = state.started, state.plan, state.element
    assert plan is not None
    if 0 <= plan.index < started.done_before and is_final(state, case):
        return _done_before(state, started, verdict)
    if state.had_wheel and is_final(state, case):
        return _done_by_hand(state, verdict)
    if maybe_done_by(state) and is_final(state, case):
        certain = PolicyVerdict("ask", "maybe_done", "it cannot be undone")
        return verdict if verdict.effect == "ask" else certain
    stood = stands_by_recording(state) and not was_done_on_the_way(state, case)
    if verdict.effect == "ask":
        answered = stood or is_let_in(state, case, verdict)
        return None if answered and not verdict.always else verdict
    if unbound := _unbound_secret(started, plan):
        return unbound
    if doubt := doubtful(started, plan, element):
        return PolicyVerdict("ask", "healed", doubt)
    if was_irreversible(state) and not stood:
        reason = "it could not be undone when it was recorded, and the element is another now"
        return PolicyVerdict("ask", "was_irreversible", reason)
    return None


def _unbound_secret(started: SessionStarted, plan: PlanProposed) -> PolicyVerdict | None:
    """Nobody recorded where the service script types a secret: its origin has to be bound."""
    value = plan.action.value
    if not is_of_way(plan) or not isinstance(value, Secret):
        return None
    if any(name == value.name for name, _ in started.policy.secret_origins):
        return None
    reason = f"the secret {value.name!r} would be typed there, and is bound to no origin"
    return PolicyVerdict("ask", "secret_unbound", reason)


def not_typed_out(answer: ApprovalAnswered, asked: ApprovalRequested) -> ApprovalAnswered:
    """A yes is not enough where the phrase was asked for, whoever says it (E3)."""
    said = f'{asked.phrase!r} was not typed out (in --answers: "phrase": "{asked.phrase}")'
    return msgspec.structs.replace(answer, approved=False, message=said)


def _done_before(
    state: ValidatorState, started: SessionStarted, verdict: PolicyVerdict
) -> PolicyVerdict:
    """An earlier session may have done it already: no recording has answered that."""
    plan, settled = state.plan, state.settled
    seen = settled if plan is not None and settled and settled.index == plan.index else None
    reason = may_have_happened(started, seen)
    kind = verdict.kind if verdict.effect == "ask" else "policy"
    return PolicyVerdict("ask", "done_before", reason, kind, always=True)


def _done_by_hand(state: ValidatorState, verdict: PolicyVerdict) -> PolicyVerdict:
    """The first step that cannot be undone after a person had the wheel: whether they did it, no
    recording has answered. What comes behind it they have not done either, then."""
    plan, settled = state.plan, state.settled
    reason = f"{HAD_THE_WHEEL}, and may have done it already"
    if plan is not None and settled is not None and settled.index == plan.index:
        reason = f"{reason}; {settled.reason}"
    asks = verdict.effect == "ask"
    if asks:
        reason = f"{verdict.reason}; {reason}"
    return PolicyVerdict(
        "ask", "had_the_wheel", reason, verdict.kind if asks else "policy", always=True
    )


def question_on(state: ValidatorState, verdict: PolicyVerdict) -> ApprovalRequested:
    """Bound to this step, action, element and origin: an answer to it is for nothing else."""
    plan, element = state.plan, state.element
    assert plan is not None
    again = maybe_done_by(state)
    return ApprovalRequested(
        approval=f"{plan.step}.{plan.attempt}.{state.questions + 1}",
        step=plan.step,
        kind=verdict.kind,
        question=_in_words(state, plan, verdict, again),
        rule=verdict.rule,
        signature=signature(plan.action),
        digest=seen_as(element),
        origin=element.origin if element is not None else "",
        phrase=CONFIRM if verdict.kind == "confirm" else "",
        policy=state.started.policy.version,
        maybe_done_by=again,
        box=(element.fingerprint.box if element is not None else None) or Box(),
    )


def _in_words(state: ValidatorState, plan: PlanProposed, verdict: PolicyVerdict, again: int) -> str:
    """What is run with which values, what is different from the recording, what is to be done, and
    why that is asked."""
    changed, element = _changed(state, plan, verdict), state.element
    named = "it" if changed or element is None else called(element)
    why = _sentence(why_asked(state, verdict), verdict.rule)
    said = f"{changed}{_asked(plan.action, named)} {why}"
    if again:
        said += f" Step {again} may have done it already: nobody knows what came of that."
    return headed(state.started, said)


def _changed(state: ValidatorState, plan: PlanProposed, verdict: PolicyVerdict) -> str:
    """Empty where the recording says nothing else of this element, or never approved of it."""
    started, element = state.started, state.element
    if started.workflow is None or plan.driver != "workflow" or element is None:
        return ""
    if plan.healed and verdict.rule != "healed":
        recorded = started.workflow.steps[plan.index].action.target
        known = recorded.fingerprint if recorded is not None else None
        place = f" in place of {called(known)}" if known is not None else ""
        return f"{called(element)} was found{place}. "
    approved = started.workflow.steps[plan.index].standing_approval is not None
    if plan.healed or not approved or stands_by_recording(state):
        return ""
    return f"{called(element)} has changed since you recorded it. "


def _asked(action: Action, named: str) -> str:
    match action.type:
        case "press":
            return f"Press {action.key} in {named}?"
        case "type" | "select" | "extract":
            return f"{ASKED[action.type]} {named}?"
        case "navigate":
            return f"Go to {action.url}?"
        case _:
            return f"{action.type.capitalize()} {named}?"


def why_asked(state: ValidatorState, verdict: PolicyVerdict) -> str:
    """The reason, in words that need no knowledge of the web."""
    if verdict.rule != "sends_a_form":
        return verdict.reason
    suggested = as_suggestion(state)
    return f"{FORM}; {suggested.reason}" if suggested is not None else FORM


def _sentence(words: str, rule: str) -> str:
    """What begins with the name of a session is left as it is."""
    first = words[:1] if rule == "done_before" else words[:1].upper()
    return f"{first}{words[1:]}."


def headed(started: SessionStarted, said: str) -> str:
    """`invoice (number INV-1043): ...`, where a workflow is run."""
    if started.workflow is None:
        return said
    values = ", ".join(
        f"{name} {' '.join(value.split())[:LONG]}"
        for name, value in sorted(started.values.items())[:MANY]
    )
    return f"{started.workflow.name}{f' ({values})' if values else ''}: {said}"


def question_by_hand(state: ValidatorState, reached: CheckpointReached) -> ApprovalRequested:
    """What only a person can do, in the window, or knows that they did: nothing of ours is approved
    by it."""
    asked = f"{BY_HAND[reached.kind]}, then say yes. Done?"
    if reached.taken_to >= 0:
        asked = "Is it done?"
    return ApprovalRequested(
        approval=f"{reached.step}.{reached.kind}.{state.questions + 1}",
        step=reached.step,
        kind=reached.kind,
        question=f"{reached.why}. {asked}",
        rule=f"{reached.kind}_checkpoint",
    )


def went_on(
    asked: ApprovalRequested, answer: ApprovalAnswered
) -> CheckpointPassed | CheckpointRefused:
    if answer.approved:
        return CheckpointPassed(asked.kind, asked.approval, 0 if answer.myself else answer.choice)
    return CheckpointRefused(asked.kind, asked.approval, answer.by, answer.message)


def question_of_caller(state: ValidatorState, sought: ApprovalSought) -> ApprovalRequested:
    """The question of whoever calls tools. The answer is its own to act on: what it does next is
    judged as if nobody had been asked."""
    return ApprovalRequested(
        approval=approval_of(sought.call),
        step=state.plan.step if state.plan is not None else 0,
        kind="requested",
        question=f"{sought.action} ({sought.reason}). Approve?",
    )
