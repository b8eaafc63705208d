"""A marked step is one of which a person who is recorded said more than they did.

It is no part of the workflow, a run may do without it, or what it typed varies.
"""

import msgspec

from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.workflows.literals import with_names_in
from rutter.events.action import Parameter
from rutter.events.executor import StepMarked
from rutter.events.predictor import TransitionUndone
from rutter.events.signature import token
from rutter.events.workflow import Step


def marked(state: PredictorState, event: StepMarked) -> PredictorState:
    """With what was said of a step that is recorded."""
    state = msgspec.structs.replace(state, learned=None)
    if event.step not in state.numbers:
        return state
    at = state.numbers.index(event.step)
    match event.mark:
        case "left_out":
            return _left_out(state, at)
        case "varies":
            return _varied(state, at, event.name, event.value)
        case "optional":
            return _optional(state, at)


def _left_out(state: PredictorState, at: int) -> PredictorState:
    """What it did on the page stays, and is no effect of the step before it. It counts against
    what was done, as anything does that a person takes back."""
    change, last = msgspec.structs.replace, state.last
    if at == len(state.steps) - 1:
        state = change(state, before=state.look, late=state.look)
        if last is not None and last.learned.token == token(state.steps[at].action):
            learned = last.learned
            undone = TransitionUndone(learned.token, "left_out", learned.after, learned.place)
            state = change(state, learned=undone, last=None, history=state.history[:-1])
    return change(
        state,
        steps=(*state.steps[:at], *state.steps[at + 1 :]),
        numbers=(*state.numbers[:at], *state.numbers[at + 1 :]),
    )


def _optional(state: PredictorState, at: int) -> PredictorState:
    """Where it led on, the step before it may lead past it."""
    change, step = msgspec.structs.replace, state.steps[at]
    if at and step.after.moved:
        before = state.steps[at - 1]
        state = _with_step(state, at - 1, change(before, after=before.after.without_place))
    return _with_step(state, at, change(step, optional=True))


def _varied(state: PredictorState, at: int, name: str, value: str) -> PredictorState:
    """From here on it is one of the values of the session; what came before is read anew."""
    started, named = state.started, {name: value}
    steps = tuple(with_names_in(each, named) for each in state.steps)
    values = {**started.values, name: value}
    started = msgspec.structs.replace(started, values=values)
    state = msgspec.structs.replace(state, started=started, steps=steps)
    own = with_names_in(state.steps[at], named, name)
    action = msgspec.structs.replace(own.action, value=Parameter(name))
    return _with_step(state, at, msgspec.structs.replace(own, action=action))


def _with_step(state: PredictorState, at: int, step: Step) -> PredictorState:
    return msgspec.structs.replace(state, steps=(*state.steps[:at], step, *state.steps[at + 1 :]))
