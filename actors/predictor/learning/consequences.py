"""A step's consequences are what the page sent because of it, and where its result showed.

Both may come long after the step was judged, so they are put to it when the session is over.
"""

from collections.abc import Iterable, Mapping

import msgspec

from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.address import with_paths
from rutter.actors.rules.pages.server_exchanges import folded, learned_answer
from rutter.actors.rules.steps.check_results import AfterStep, result_of
from rutter.actors.rules.steps.pace import ENTERS
from rutter.events.checks import AlertSaid, ServerAnswered
from rutter.events.observer import PageObserved
from rutter.events.page import Exchange, Page
from rutter.events.predictor import Notices
from rutter.events.workflow import Place, Step

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
    anyway = _sent_anyway(state)
    sent = [each for each in state.sent if each.document or each.to not in anyway]
    steps = []
    for number, step in zip(state.numbers, state.steps, strict=True):
        answered = learned_answer(_of(sent, number), _page_of(step), values)
        learned = (*step.after.learned, *((answered,) if answered is not None else ()))
        back = step.after.read_back or found.get(number)
        after = msgspec.structs.replace(step.after, learned=learned, read_back=back)
        steps.append(msgspec.structs.replace(step, after=after))
    return tuple(steps)


def _sent_anyway(state: PredictorState) -> frozenset[str]:
    """What the page sends also after steps of a person that only look around. They go on when they
    like, so what comes behind one of their steps may be of the one before, or of none: what keeps
    being sent tells nothing. A script waits until all is over."""
    if state.started.driver != "person":
        return frozenset()
    around = {
        number
        for number, step in zip(state.numbers, state.steps, strict=True)
        if not step.irreversible and step.action.type not in ENTERS
    }
    return frozenset(each.to for each in state.sent if each.step in around)


def answered_in_run(state: PredictorState) -> tuple[Notices, ...]:
    """What a run's steps led the page to say and to send, in the words of what was expected."""
    workflow, started = state.workflow, state.started
    assert workflow is not None
    said: dict[int, tuple[AlertSaid | ServerAnswered, ...]] = {
        each.index: each.says for each in state.notices
    }
    for index, number in state.done_steps:
        step, own = workflow.steps[index], _of(state.sent, number)
        expected = [each for each in step.after.learned if isinstance(each, ServerAnswered)]
        held = [
            each for each in expected if result_of(each, AfterStep(Page(""), exchanges=own)).held
        ]
        new = learned_answer(own, _page_of(step), started.values)
        for check in held or ([new] if new is not None else []):
            said[index] = (*said.get(index, ()), check)
    return tuple(Notices(index, said[index]) for index in sorted(said))


def _page_of(step: Step) -> Place:
    """Where the step was done, by all addresses that the page is known to have called itself: the
    step may have led it to rename itself."""
    after = step.after.place
    if after is None or after.origin != step.before.origin or step.before.path not in after.paths:
        return step.before
    return with_paths(step.before, after.paths)


def _of(sent: Iterable[Exchange], number: int) -> tuple[Exchange, ...]:
    return tuple(each for each in sent if each.step == number)
