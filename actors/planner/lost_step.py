"""The Planner asks a person who is there which element a lost step is about, and goes on with it.

Nothing is touched until they say. What they choose is judged like any other element; what must be
pressed before it is a step of its own. See docs/healing.md.
"""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.optional_steps import COVERED
from rutter.actors.planner.run import excused, propose, stop_run
from rutter.actors.planner.state import LostStep, PlannedRun
from rutter.actors.rules.steps.healing import healed_to, request_of
from rutter.actors.rules.steps.lost_step import lookalikes, recorded_as, shown_by, target_of
from rutter.events.action import Action
from rutter.events.causes import Cause
from rutter.events.critic import ActionJudged
from rutter.events.executor import LookalikesFound
from rutter.events.page import Lookalike
from rutter.events.planner import (
    CheckpointReached,
    LookalikesRequested,
    ObservationRequested,
    PersonAwaited,
    PlanProposed,
    RunStopped,
    StepLost,
)
from rutter.events.runtime import RecordingFinished
from rutter.events.validator import CheckpointPassed
from rutter.events.vocabulary import AnyEvent

# How often a person is asked about one step: what they chose may have led to another page.
MOST_QUESTIONS = 2


def evolve_lost(state: PlannedRun, event: AnyEvent) -> PlannedRun:
    lost = state.lost
    change = msgspec.structs.replace
    match event:
        case LookalikesFound():
            lost = change(lost, found=event)
        case StepLost(index=index):
            times = lost.asked[1] if lost.asked[0] == index else 0
            lost = change(lost, question=event, asked=(index, times + 1), chosen=None)
        case CheckpointPassed(kind="choice", choice=choice) if choice and lost.question:
            lost = change(lost, chosen=lost.question.lookalikes[choice - 1])
        case ActionJudged(verdict="confirmed", step=step) if lost.question and state.plan:
            of_workflow = state.plan.index >= 0 and state.plan.step == step
            lost = LostStep() if of_workflow else lost
        case PersonAwaited() if state.by_workflow:
            lost = change(lost, by_hand=True)
        case RecordingFinished() if lost.by_hand:
            # Their steps have numbers too; what came of the step before is theirs to make good.
            state = change(excused(state), step=max(state.step, state.last), flight=None)
            return change(state, person=False, lost=LostStep(), unmet_since_ns=0)
        case _:
            pass
    return state if lost is state.lost else change(state, lost=lost)


def covered_by(state: PlannedRun, stop: RunStopped) -> LookalikesRequested | None:
    """Before a run ends because something lies over a step's element: what could be pressed there
    is looked for, if a person is there to say what."""
    failure, plan = state.failure, state.plan
    if failure is None or plan is None or failure.code != COVERED or failure.dispatched:
        return None
    if stop.reason != "failed" or not _may_ask(state, plan):
        return None
    return request_of(plan, state.started.values, wide=True)


def or_asked(state: PlannedRun, decided: AnyEvent) -> AnyEvent:
    """The question to the person who is there, in place of the end of a run that is lost."""
    plan, found = state.plan, state.lost.found
    if not isinstance(decided, RunStopped) or decided.reason != "failed":
        return decided
    if plan is None or found is None or found.step != plan.step or not _may_ask(state, plan):
        return decided
    shown = lookalikes(plan, found, state.started.values)
    if not shown and not state.started.headed:
        return decided
    return StepLost(plan.step, plan.attempt, plan.index, _why(state, plan), shown)


def may_be_shown(state: PlannedRun, request: LookalikesRequested) -> LookalikesRequested:
    """Where a person may be asked, also what only they may choose is looked for."""
    plan = state.plan
    wide = plan is not None and _may_ask(state, plan)
    return msgspec.structs.replace(request, wide=wide)


def _may_ask(state: PlannedRun, plan: PlanProposed) -> bool:
    index, times = state.lost.asked
    asked = times if index == plan.index else 0
    recorded = plan.driver == "workflow" and not plan.read_back_of
    return state.started.attended and recorded and asked < MOST_QUESTIONS


def _why(state: PlannedRun, plan: PlanProposed) -> str:
    recorded = recorded_as(plan, state.started.values)
    failure, place = state.failure, f"step {plan.index + 1}"
    if failure is not None and failure.code == COVERED:
        over = f'the dialog "{failure.dialog}"' if failure.dialog else "something"
        return f"{place}: {over} lies over {recorded}"
    return f"{place}: {recorded} is not there as it was recorded"


def on_choice(state: PlannedRun, answer: CheckpointPassed) -> Iterable[AnyEvent]:
    """What a person chose is done: the step on that element, or what must be pressed before it, or
    they do it themselves."""
    question, plan, chosen = state.lost.question, state.plan, state.lost.chosen
    if question is None or plan is None:
        return
    if not answer.choice:
        yield PersonAwaited(step=state.step + 1)
        yield CheckpointReached("by_hand", state.step + 1, question.why, question.index)
    elif chosen is not None and chosen.first is not None:
        action = Action("click", target=target_of(chosen.first))
        yield propose(state, "person", "person", action, f"chosen_for_step_{plan.index + 1}")
    elif chosen is not None and chosen.element is not None:
        yield from healed_to(plan, chosen.element, chosen.score)


def chosen_before(
    state: PlannedRun, plan: PlanProposed, found: LookalikesFound
) -> Iterable[AnyEvent]:
    """The step on the element that was chosen while it was hidden, and is there now."""
    chosen: Lookalike | None = state.lost.chosen
    if chosen is None or chosen.element is None or state.lost.asked[0] != plan.index:
        return
    others = (each.element for each in found.others if each.element and each.first is None)
    if (element := shown_by(chosen.element, (*found.elements, *others))) is not None:
        yield from healed_to(plan, element, chosen.score)


def declined(state: PlannedRun) -> RunStopped:
    """None of them is it, or nobody does it: the run ends where it was."""
    question = state.lost.question
    said = question.why if question is not None else "a person said no"
    return stop_run(state, "failed", "lost", said, Cause(code="element_not_found"))


def behind_the_person() -> ObservationRequested:
    """They are done: the run goes on from the page as it is."""
    return ObservationRequested("checkpoint_passed", 0)
