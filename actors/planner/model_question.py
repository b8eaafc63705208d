"""One action from a language model where a run is lost (C1, C5, B4): the Planner's part.

Asked for is a step that cannot be done as it was recorded, or the next one where the learned model
is not sure. What comes back is a proposal like any other, and has no standing anywhere.
"""

import msgspec

from rutter.actors.planner.correction import (
    ModelHelp,
    another_way,
    having_failed,
    having_tried,
    led_by,
)
from rutter.actors.planner.provider_choice import ProviderChoice, request, wanting
from rutter.events.action import Action, kind_of
from rutter.events.advisor import AdviceReceived, Proposal
from rutter.events.page import Resolved
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import StepDue
from rutter.events.run_settings import MILLION
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation

# Questions about one step, detours that were confirmed among them: then the way is lost.
MOST_ASKS = 8
AGAIN = " (look again: "  # what a model is told behind the reason, when it was not sure


class ModelRun(msgspec.Struct, frozen=True):
    """A run that may ask a model, as far as it is with that."""

    asking: ProviderChoice
    helping: ModelHelp = ModelHelp()


def ask(on: ModelRun | None, step: int, index: int, why: str) -> AdviceRequested | None:
    """The question about this step; nothing, where nobody can be asked or enough was."""
    if on is None:
        return None
    helping = on.helping.of(index)
    if helping.asks >= MOST_ASKS:
        return None
    if not helping.errors:
        plain = AdviceRequested("", "plan", "", step=step, note=why)
        repair = AdviceRequested("", "repair", "", step=step, index=index, note=why)
        return request(on.asking, repair if index >= 0 else plain)
    if helping.corrections >= on.asking.models.corrections:
        return None
    return request(
        on.asking,
        AdviceRequested(
            "",
            "correct",
            "",
            step=step,
            index=index,
            correction=helping.corrections + 1,
            note=why,
            errors=helping.errors,
            tried=helping.tried,
        ),
    )


def again(on: ModelRun, received: AdviceReceived) -> AdviceRequested | str | None:
    """What the answer lacks: another question, or why there is none; nothing, when it is good."""
    last, models = on.asking.last, on.asking.models
    assert last is not None
    if wanting(received, on.asking):
        return request(on.asking, last) or f"no model could be asked: {on.asking.failed}"
    proposal = received.proposal
    assert proposal is not None
    if proposal.certainty < models.certainty:
        said = f"certainty {_share(proposal.certainty)} is below {_share(models.certainty)}"
        if on.helping.unsure >= models.asks:
            return f"the model is not sure: {said}"
        why = last.note.partition(AGAIN)[0]
        note = f"{why}{AGAIN}{said}: propose what you are sure of)"
        return request(on.asking, msgspec.structs.replace(last, note=note)) or said
    if last.purpose == "correct" and another_way(proposal.action, on.helping) is None:
        why = f"the same strategy again ({led_by(proposal.action)}) is no correction"
        return ask(on, last.step, last.index, why) or why
    return None


def planned(on: ModelRun, received: AdviceReceived, step: int, due: StepDue | None) -> PlanProposed:
    """The proposal as a step of the run: in place of the one that is due, or on the way to it."""
    last, proposal = on.asking.last, received.proposal
    assert last is not None
    assert proposal is not None
    action = proposal.action
    if last.purpose == "correct":
        action = another_way(action, on.helping) or action
    recorded = due if due is not None and due.index == last.index else None
    instead = recorded is not None and proposal.instead and _may_stand_for(action, recorded)
    if instead and recorded is not None:
        action = _in_place_of(recorded.step.action, action)
    return PlanProposed(
        step=step,
        attempt=1,
        driver="model",
        action=action,
        reason=f"advice_{last.purpose}_{received.request}",
        index=recorded.index if recorded is not None and instead else -1,
        certainty=proposal.certainty,
        expects=_expected(proposal, recorded if instead else None),
        healed=instead,
        kind=kind_of(action),
    )


def evolve_consulting(on: ModelRun, event: AnyEvent) -> ModelRun:
    """What was asked and answered; `ProviderChoice` is evolved by whoever holds this."""
    change, helping = msgspec.structs.replace, on.helping
    match event:
        case AdviceRequested(index=index, correction=correction):
            helping = helping.of(index)
            asked = change(helping, asks=helping.asks + 1, corrections=correction)
            return change(on, helping=asked)
        case AdviceReceived(proposal=Proposal(certainty=certainty) as proposal):
            if certainty < on.asking.models.certainty:
                return change(on, helping=change(helping, unsure=helping.unsure + 1))
            last = on.asking.last
            if last is None or last.purpose != "correct":
                return on
            if another_way(proposal.action, helping) is None:
                return change(on, helping=having_failed(helping, "that was tried before"))
            return on
        case _:
            return on


def tried(on: ModelRun, index: int, action: Action, element: Resolved | None, why: str) -> ModelRun:
    """What a model proposed for this step did not work; also when it first seemed to."""
    known = on.helping if on.helping.index == index else on.helping.of(index)
    helping = having_failed(having_tried(known, action, element), why)
    return msgspec.structs.replace(on, helping=helping)


def claimed(on: ModelRun) -> ModelRun:
    """The model said that it is done, and the page does not."""
    helping = msgspec.structs.replace(on.helping, claims=on.helping.claims + 1)
    return msgspec.structs.replace(on, helping=helping)


def worked(on: ModelRun, *, there: bool) -> ModelRun:
    """A step was confirmed. `there`: it was the one that help was needed for, and not on the way
    to it: how often may be asked about that one is still counted."""
    helping = ModelHelp() if there else msgspec.structs.replace(on.helping, settled=True)
    return msgspec.structs.replace(on, helping=helping)


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


def _share(millionths: int) -> str:
    hundredths = (millionths * 100 + MILLION // 2) // MILLION
    return f"{hundredths // 100}.{hundredths % 100:02d}"
