"""The Validator shows a person which elements a lost step may be about, and what policy would ask
of each: one answer says which it is and that it may be done."""

import msgspec

from rutter.actors.rules.policy.policy import judge
from rutter.actors.rules.policy.policy_case import PolicyCase
from rutter.actors.rules.steps.lost_step import as_judged, box_of, in_words, recorded_as, target_of
from rutter.actors.validator.approvals import seen_as
from rutter.actors.validator.questions import headed, left_to_ask, why_asked
from rutter.actors.validator.state import ChosenElement, ValidatorState
from rutter.events.action import Action, kind_of
from rutter.events.page import Lookalike, Resolved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import PlanProposed, StepLost
from rutter.events.signature import signature
from rutter.events.validator import ApprovalRequested, CheckpointPassed, Choice
from rutter.events.vocabulary import AnyEvent

WHICH, NOTHING = "Which one is it now?", "Nothing here is like it."
FIRST = "Which one is to be pressed first?"


def question_of_choice(state: ValidatorState, lost: StepLost) -> ApprovalRequested:
    """Bound to this step and to the elements that are shown."""
    plan = state.plan
    assert plan is not None
    words = in_words(lost.lookalikes, recorded_as(plan, state.started.values))
    choices = tuple(
        Choice(number, said, box_of(each), _told(state, each))
        for number, (each, said) in enumerate(zip(lost.lookalikes, words, strict=True), 1)
    )
    return ApprovalRequested(
        approval=f"{lost.step}.choice.{state.questions + 1}",
        step=lost.step,
        kind="choice",
        question=headed(state.started, f"{lost.why}. {_which(lost)}"),
        rule="lost_step",
        signature=signature(plan.action),
        policy=state.started.policy.version,
        choices=choices,
        window=state.started.headed,
    )


def _which(lost: StepLost) -> str:
    if not lost.lookalikes:
        return NOTHING
    return WHICH if any(each.element is not None for each in lost.lookalikes) else FIRST


def unless_chosen(answer: ApprovalAnswered, asked: ApprovalRequested) -> ApprovalAnswered:
    """A yes that names none of the elements that were shown is none."""
    if not answer.approved or asked.kind != "choice":
        return answer
    numbers = [each.number for each in asked.choices]
    if answer.choice in numbers or (answer.myself and asked.window):
        return answer
    said = 'a yes must say which one it is (in --answers: "choice": 1)'
    return msgspec.structs.replace(answer, approved=False, message=said)


def evolve_choice(state: ValidatorState, event: AnyEvent) -> ValidatorState:
    """What is lost, and what a person chose."""
    match event:
        case StepLost() as lost:
            return msgspec.structs.replace(state, lost=lost, chosen=None)
        case CheckpointPassed(kind="choice", choice=choice, approval=approval):
            return msgspec.structs.replace(state, chosen=_chosen(state, choice, approval))
        case _:
            return state


def _chosen(state: ValidatorState, choice: int, approval: str) -> ChosenElement | None:
    """What a person chose, and which rules they were told of."""
    if state.lost is None or not choice:
        return None
    lookalike = state.lost.lookalikes[choice - 1]
    rules = tuple(rule for rule, _ in _asks(state, lookalike))
    elements = tuple(each for each in (lookalike.first, lookalike.element) if each is not None)
    return ChosenElement(approval, elements, rules)


def settled_by_choice(state: ValidatorState, rule: str) -> str:
    """The approval by which a person chose this very element and was told of this rule; empty
    where they were not. What they were told of a hidden one holds for it as policy judges it."""
    chosen, element = state.chosen, state.element
    if chosen is None or element is None or rule not in (*chosen.rules, "healed"):
        return ""
    hidden = chosen.elements[1:]
    same = any(seen_as(each) == seen_as(element) for each in chosen.elements)
    same = same or any(as_judged(each) == as_judged(element) for each in hidden)
    return chosen.approval if same else ""


def _told(state: ValidatorState, lookalike: Lookalike) -> str:
    return "; ".join(reason for _, reason in _asks(state, lookalike))


def _asks(state: ValidatorState, lookalike: Lookalike) -> list[tuple[str, str]]:
    """The rules that would ask about what is pressed first, and about the step on that element.
    Where it must be typed out, or the answer to it is not a plain yes, it is asked for itself."""
    plan, found = state.plan, []
    assert plan is not None
    if lookalike.first is not None:
        pressed = Action("click", target=target_of(lookalike.first))
        way = PlanProposed(plan.step + 1, 1, "person", pressed, "chosen", source="person")
        found += _asked_about(state, way, lookalike.first)
    if lookalike.element is not None:
        action = msgspec.structs.replace(plan.action, target=target_of(lookalike.element))
        healed = msgspec.structs.replace(plan, action=action, healed=True)
        found += _asked_about(state, healed, lookalike.element)
    return found


def _asked_about(
    state: ValidatorState, plan: PlanProposed, element: Resolved
) -> list[tuple[str, str]]:
    if kind_of(plan.action) == "observation":
        return []
    case = PolicyCase(
        state.started.policy,
        plan.action,
        plan.driver,
        element,
        state=state.page_state,
        checkpoint=state.checkpoint,
        page=state.page,
        start=state.started.url,
    )
    at = msgspec.structs.replace(state, plan=plan, element=element)
    asks = left_to_ask(at, case, judge(case))
    if asks is None or asks.kind != "policy" or asks.rule == "healed":
        return []
    return [(asks.rule, why_asked(at, asks))]
