"""What the page sent because of a step, and where its result showed: part of how it is known again.

Both may come long after the step was judged, so they are put to it when the session is over.
"""

from collections.abc import Iterable, Mapping

import msgspec

from actors.checking import Seen, result_of
from actors.exchanges import folded, learned_answer
from actors.predictor.state import PredictorState
from events.checks import Answered, Said
from events.observer import PageObserved
from events.page import Exchange, Page
from events.predictor import Notices
from events.workflow import Step

MOST = 500


def heard(state: PredictorState, observed: PageObserved) -> PredictorState:
    """What was sent belongs to the step that was under way; of a person's steps only we know."""
    if not observed.exchanges:
        return state
    step = state.plan.step if state.plan is not None else (state.numbers or (0,))[-1]
    own = [
        each if each.step else msgspec.structs.replace(each, step=step)
        for each in observed.exchanges
    ]
    return msgspec.structs.replace(state, sent=folded(state.sent, own, MOST))


def with_what_followed(state: PredictorState, values: Mapping[str, str]) -> tuple[Step, ...]:
    """The recorded steps with what the page sent after each, and where its result showed."""
    found = dict(state.read_backs)
    steps = []
    for number, step in zip(state.numbers, state.steps, strict=True):
        answered = learned_answer(_of(state.sent, number), step.before.origin, values)
        learned = (*step.after.learned, *((answered,) if answered is not None else ()))
        back = step.after.read_back or found.get(number)
        after = msgspec.structs.replace(step.after, learned=learned, read_back=back)
        steps.append(msgspec.structs.replace(step, after=after))
    return tuple(steps)


def answered_in_run(state: PredictorState) -> tuple[Notices, ...]:
    """What a run's steps led the page to say and to send, in the words of what was expected."""
    workflow, started = state.workflow, state.started
    assert workflow is not None
    assert started is not None
    said: dict[int, tuple[Said | Answered, ...]] = {each.index: each.says for each in state.notices}
    for index, number in state.sailed:
        step, own = workflow.steps[index], _of(state.sent, number)
        expected = [each for each in step.after.learned if isinstance(each, Answered)]
        held = [each for each in expected if result_of(each, Seen(Page(""), exchanges=own)).held]
        new = learned_answer(own, step.before.origin, started.values)
        for check in held or ([new] if new is not None else []):
            said[index] = (*said.get(index, ()), check)
    return tuple(Notices(index, said[index]) for index in sorted(said))


def _of(sent: Iterable[Exchange], number: int) -> tuple[Exchange, ...]:
    return tuple(each for each in sent if each.step == number)
