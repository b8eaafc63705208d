"""A step teaches what counts, or holds it back, at the place where it was done."""

from collections.abc import Iterable, Iterator

import msgspec

from rutter.actors.predictor.learning.takebacks import taught, undone
from rutter.actors.predictor.model.learners import BREAK, kept, since_break
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.address import host_of, place_of
from rutter.actors.rules.pages.changes import NAMELESS, PageMoment
from rutter.actors.rules.policy.policy import PolicyCase, is_irreversible
from rutter.events.action import Action, kind_of
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.predictor import EndLearned, TransitionLearned, TransitionUndone
from rutter.events.runtime import SessionStarted
from rutter.events.signature import signature, token
from rutter.events.vocabulary import AnyEvent

HISTORY = 2  # markov2 looks back no further
ADDRESSES = ("http", "https", "file")
LONGEST = 180  # characters of a place


def teach(
    state: PredictorState, plan: PlanProposed, action: Action, *, confirmed: bool
) -> PredictorState:
    """What the step teaches. What a person does counts whatever came of it, what they take back
    counts against; anybody else's step counts when it was confirmed. What was predicted freely is
    held back until the end of its session is verified: a model must not teach itself (design 9)."""
    change = msgspec.structs.replace
    learns = foresees(state.started)
    person = learns and plan.driver == "person"
    if not (confirmed or person):
        return change(state, learned=None, last=None, history=broken(state.history))
    back = undone(state.last, action, state.element) if person else None
    if back is not None:
        return change(state, learned=back, last=None, history=state.history[:-1])
    own = learns and _is_own(state, plan)
    learned = _transition(state, action, plan, own=own)
    history = kept((*state.history, learned.token))
    final = is_final(state, plan)
    last = taught(learned, state.before, state.look, final=final) if learns else None
    if plan.driver != "prediction" and not own:
        return change(state, learned=learned, last=last, history=history)
    held = (*state.held_back, learned) if learns else ()
    return change(state, learned=None, last=last, history=history, held_back=held)


def _is_own(state: PredictorState, plan: PlanProposed) -> bool:
    """Whether the step is part of a free run: also the address that it was told to begin at, which
    each of them would foretell better than the one before."""
    free = state.started.purpose == "free"
    return plan.driver == "prediction" or (free and plan.driver == "script")


def ended(state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
    """A session whose end was verified, or whose person was done: what it predicted itself counts
    now, and that nothing came behind it."""
    started = state.started
    if stopped.reason != "completed" or not foresees(started):
        return
    yield from state.held_back
    if state.history:
        after = since_break(state.history, HISTORY)
        yield EndLearned(after, started.driver, place_mark(state.look, started))


def refused(state: PredictorState) -> TransitionUndone | None:
    """A person said no to what was predicted: next time it is less probable here."""
    plan = state.plan
    if plan is None or plan.driver != "prediction" or not foresees(state.started):
        return None
    learned = _transition(state, plan.action, plan)
    return TransitionUndone(learned.token, "refused", learned.after, learned.place)


def foresees(started: SessionStarted) -> bool:
    return started.settings.predictor == "foresight"


def broken(history: tuple[str, ...]) -> tuple[str, ...]:
    return history if not history or history[-1] == BREAK else kept((*history, BREAK))


def place_mark(look: PageMoment, started: SessionStarted) -> str:
    """Where a page is and what it is, without what varies. The address of some pages is all that
    they say: that is no place."""
    if host_of(look.page.url)[0] not in ADDRESSES:
        return ""
    place = place_of(look.page.url, _as_written(started.values.values()))
    state = "" if look.state in NAMELESS else f" {look.state}"
    return f"{place.origin}{place.path}"[:LONGEST] + state


def _as_written(values: Iterable[str]) -> Iterator[str]:
    """Values as addresses write them, too."""
    for value in values:
        yield value
        words = value.split()
        if len(words) > 1:
            yield from ("-".join(words), "_".join(words), "+".join(words), "%20".join(words))


def _transition(
    state: PredictorState, action: Action, plan: PlanProposed, *, own: bool = False
) -> TransitionLearned:
    started = state.started
    return TransitionLearned(
        token=token(action),
        signature=signature(action),
        action=action,
        after=since_break(state.history, HISTORY),
        driver="prediction" if own else plan.driver,
        place=place_mark(state.before, started) if foresees(started) else "",
    )


def is_final(state: PredictorState, plan: PlanProposed) -> bool:
    if kind_of(plan.action) != "action":
        return False
    case = PolicyCase(
        state.started.policy, plan.action, "person", state.element, state=state.before.state
    )
    return is_irreversible(case)
