"""A workflow is recorded again from one of its steps on: those before it stay as they are.

Who picks a new element for one step does that step alone: what comes behind it stays too.
"""

from collections.abc import Sequence

import msgspec

from rutter.actors.predictor.learning.recording import pictured_as
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.expected_changes import ending
from rutter.actors.rules.workflows.templates import hosts_of, names_used
from rutter.events.workflow import Step, Workflow


def recorded_again(
    state: PredictorState, steps: Sequence[Step], newest: Workflow | None, version: int
) -> Workflow | None:
    """The next version; nothing where the person did nothing. `steps` are all of the session."""
    started = state.started
    known, since = started.workflow, started.by_hand_from
    own = [
        step
        for step, number in zip(steps, state.numbers, strict=True)
        if state.hand_since and number >= state.hand_since
    ]
    if known is None or not own:
        return None
    shown = pictured_as(known, newest)
    if started.by_hand_only:
        own = [*(msgspec.structs.replace(step, optional=True) for step in own[:-1]), own[-1]]
        own[-1] = _in_place_of(shown.steps[since], own[-1])
    behind = shown.steps[since + 1 :] if started.by_hand_only else ()
    made = (*shown.steps[:since], *own, *behind)
    parameters, secrets = names_used(made, started.values)
    return msgspec.structs.replace(
        shown,
        version=version,
        steps=made,
        end=shown.end if started.by_hand_only else ending(state.look.page, started.values),
        parameters=parameters,
        secrets=secrets,
        hosts=tuple(dict.fromkeys((*shown.hosts, *hosts_of(made)))),
        session=state.session,
    )


def _in_place_of(recorded: Step, step: Step) -> Step:
    """What was stated about the step holds for the new element too."""
    after = msgspec.structs.replace(
        step.after, checks=recorded.after.checks, read_back=recorded.after.read_back
    )
    return msgspec.structs.replace(
        step,
        after=after,
        optional=recorded.optional,
        irreversible=recorded.irreversible or step.irreversible,
    )
