"""The Planner asks a language model for one action where a run is lost (C1, C5, B4).

Asked for is a step that cannot be done as it was recorded, or the next one where the learned model
is not sure. What comes back is a proposal like any other, and has no standing anywhere.
"""

import msgspec

from rutter.actors.planner.correction import another_way, led_by
from rutter.actors.planner.provider_choice import ProviderChoice, request, wanting
from rutter.actors.planner.run import propose
from rutter.actors.planner.state import PlannedRun
from rutter.actors.rules.steps.confidence import hundredths
from rutter.events.action import Action
from rutter.events.advisor import AdviceFailed, AdviceReceived, Proposal
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import StepDue
from rutter.events.workflow import Expectation

# Questions about one step, detours that were confirmed among them: then the way is lost.
MOST_ASKS = 8


def ask(state: PlannedRun, index: int, why: str) -> AdviceRequested | None:
    """The question about this step; nothing, where nobody can be asked or enough was."""
    if state.asking is None:
        return None
    helping = state.helping.of(index)
    if helping.asks >= MOST_ASKS:
        return None
    question = AdviceRequested("", "plan", "", step=state.step + 1, index=index, note=why)
    if not helping.errors:
        purpose = "repair" if index >= 0 else "plan"
        return request(state.asking, msgspec.structs.replace(question, purpose=purpose))
    if helping.corrections >= state.asking.models.corrections:
        return None
    corrected = msgspec.structs.replace(
        question,
        purpose="correct",
        correction=helping.corrections + 1,
        errors=helping.errors,
        tried=helping.tried,
    )
    return request(state.asking, corrected)


def again(
    state: PlannedRun, asking: ProviderChoice, received: AdviceReceived | AdviceFailed
) -> AdviceRequested | str:
    """What the answer lacks: another question, or why there is none; empty, when it is good."""
    last, models = asking.last, asking.models
    assert last is not None
    if isinstance(received, AdviceFailed) or wanting(received, asking):
        return request(asking, last) or f"no model could be asked: {asking.failed}"
    proposal = received.proposal
    assert proposal is not None
    if proposal.certainty < models.certainty:
        said = f"certainty {hundredths(proposal.certainty)} is below {hundredths(models.certainty)}"
        if state.helping.unsure >= models.asks:
            return f"the model is not sure: {said}"
        return request(asking, msgspec.structs.replace(last, doubt=said)) or said
    if last.purpose == "correct" and another_way(proposal.action, state.helping) is None:
        why = f"the same strategy again ({led_by(proposal.action)}) is no correction"
        return ask(state, last.index, why) or why
    return ""


def planned(state: PlannedRun, last: AdviceRequested, received: AdviceReceived) -> PlanProposed:
    """The proposal as a step of the run: in place of the one that is due, or on the way to it."""
    proposal, due = received.proposal, state.due
    assert proposal is not None
    action = proposal.action
    if last.purpose == "correct":
        action = another_way(action, state.helping) or action
    if due is not None and not (
        due.index == last.index and proposal.instead and _may_stand_for(action, due)
    ):
        due = None
    if due is not None:
        action = _in_place_of(due.step.action, action)
    index, reason = due.index if due is not None else -1, f"advice_{last.purpose}_{last.request}"
    plan = propose(state, "advice", "model", action, reason, index, _expected(proposal, due))
    return msgspec.structs.replace(plan, certainty=proposal.certainty, healed=due is not None)


def _in_place_of(recorded: Action, action: Action) -> Action:
    """The recorded step on another element: what it types or reads is still what was recorded."""
    if action.type != recorded.type or action.target is None:
        return action
    return msgspec.structs.replace(recorded, target=action.target)


def _may_stand_for(action: Action, due: StepDue) -> bool:
    """Scrolling or waiting is on the way to a step, and never the step itself."""
    if action.type == due.step.action.type:
        return True
    return {action.type, due.step.action.type} <= {"click", "press", "type", "select", "navigate"}


def _expected(proposal: Proposal, recorded: StepDue | None) -> Expectation | None:
    """What was stated still has to hold; where it leads may be another place by now."""
    if recorded is None:
        return Expectation(state=proposal.leads_to) if proposal.leads_to else None
    after = recorded.step.after
    return Expectation(
        effect=after.effect,
        checks=after.checks,
        read_back=after.read_back,
        state=proposal.leads_to,
    )
