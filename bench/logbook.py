"""The logbook reads what came of predictions, in recordings and in runs that went by them."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from bench.voyages import Trip
from rutter.actors.predictor.model.markov2 import Markov2
from rutter.events.action import Action
from rutter.events.envelope import Envelope
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.predictor import PredictionMade, TransitionLearned, Within
from rutter.events.run_settings import MILLION
from rutter.events.signature import bare, doing
from rutter.events.validator import ActionStarted, ApprovalRequested, QueryStarted

EVEN = MILLION // 2
TOLD = 3  # candidates that a prediction names

Way = tuple[str, ...]  # a workflow as what is done to which element
Ways = Mapping[str, Way]
Events = Sequence[Envelope]


class Foretold(NamedTuple):
    """A prediction stood before one step of a recording. `fitting` is what the workflows go on with
    that fit what was done so far; `extra`: the step was not needed."""

    round: int
    said: tuple[tuple[str, int], ...]
    done: str
    fitting: frozenset[str]
    extra: bool

    def right(self, most: int = 1) -> bool:
        return self.done in [token for token, _ in self.said[:most]]

    def is_sure(self, threshold: float) -> bool:
        return bool(self.said) and self.said[0][1] >= threshold * MILLION

    @property
    def astray(self) -> bool:
        """Whether the best guess is what no workflow would go on with here."""
        return bool(self.said) and not self.right() and self.said[0][0] not in self.fitting


class Recognised(NamedTuple):
    """A workflow was known, to its end, after so many of its steps, and was no other any more after
    so many; its end was noticed or not."""

    workflow: str
    after: int | None
    parted: int
    ended: bool


class Step(NamedTuple):
    """A step was predicted and done. `fits`: a workflow goes on with it that fits what was done so
    far; `meant`: it is the one that the run was begun for, which nobody told it."""

    what: str
    probability: int
    asked: bool
    fits: bool
    meant: bool


class Run(NamedTuple):
    """A free run of a workflow did this, had so many steps left, and ended so."""

    workflow: str
    steps: tuple[Step, ...]
    left: int
    stopped: str

    def alone(self, *, fits: bool, meant: bool) -> int:
        """How many steps it did that nobody was asked about."""
        return sum(
            (step.asked, step.fits, step.meant) == (False, fits, meant) for step in self.steps
        )


class Moment(NamedTuple):
    """A prediction of a recording stands beside what was learned next: nothing, at the end."""

    prediction: PredictionMade
    place: int
    learned: TransitionLearned | None


def moments(events: Iterable[Envelope]) -> list[Moment]:
    found: list[Moment] = []
    prediction: PredictionMade | None = None
    index = -1
    for envelope in events:
        match envelope.event:
            case PredictionMade() as prediction:
                pass
            case PlanProposed(index=index):
                pass
            case TransitionLearned() as learned if prediction is not None:
                found.append(Moment(prediction, index, learned))
            case RunStopped() if prediction is not None:
                found.append(Moment(prediction, -1, None))
            case _:
                pass
    return found


def actions_of(trip: Trip, events: Events) -> tuple[Action, ...]:
    """The steps of a workflow as they are learned, without those that were not needed."""
    return tuple(
        moment.learned.action
        for moment in moments(events)
        if moment.learned is not None and moment.place not in trip.extra
    )


def fitting(ways: Ways, done: Sequence[str]) -> frozenset[str]:
    """What comes next in every workflow that begins like this."""
    size = len(done)
    alike = [way for way in ways.values() if way[:size] == tuple(done)]
    return frozenset(way[size] for way in alike if len(way) > size)


def parted(ways: Ways, name: str) -> int:
    """After how many of its steps a workflow is no other any more."""
    way = ways[name]
    others = [other for each, other in ways.items() if each != name]
    sizes = range(len(way) + 1)
    return next(size for size in sizes if all(other[:size] != way[:size] for other in others))


def foretold(trip: Trip, events: Events, ways: Ways) -> list[Foretold]:
    found: list[Foretold] = []
    done: list[str] = []
    for prediction, index, learned in moments(events):
        if learned is None:
            continue
        said = tuple((doing(each.action), each.probability) for each in prediction.candidates)
        token, extra = doing(learned.action), index in trip.extra
        found.append(Foretold(trip.round, said, token, fitting(ways, done), extra))
        if not extra:
            done.append(token)
    return found


def by_seeds(recordings: Iterable[Events], ours: Sequence[Foretold]) -> list[Foretold]:
    """What `markov2` would have said in the same places."""
    model = Markov2()
    found = []
    lessons = [
        moment.learned
        for events in recordings
        for moment in moments(events)
        if moment.learned is not None
    ]
    for learned, same in zip(lessons, ours, strict=True):
        _, ranked = model.predict(learned.after) or ("", [])
        said = tuple((bare(token), share) for token, share in ranked[:TOLD])
        found.append(same._replace(said=said))
        model.observe(learned.after, learned.token)
    return found


def recognised(trip: Trip, events: Events, ways: Ways) -> Recognised:
    name = trip.course.name
    after: int | None = None
    done = 0
    best: Within | None = None
    for prediction, index, learned in moments(events):
        best = next(iter(prediction.within), None)
        known = best is not None and best.workflow == name and best.probability >= EVEN
        if not known:
            after = None
        elif after is None:
            after = done
        done += learned is not None and index not in trip.extra
    ended = best is not None and best.workflow == name and best.step == best.of
    return Recognised(name, after, parted(ways, name), ended)


def run_of(workflow: str, events: Events, ways: Ways, extra: Container[int] = ()) -> Run:
    """What a free run did. `extra` are places of steps that it was begun with and that are no part
    of the workflow."""
    plans: dict[int, PlanProposed] = {}
    asked: set[int] = set()
    started: dict[int, None] = {}
    stopped = ""
    for envelope in events:
        match envelope.event:
            case PlanProposed() as plan:
                plans[plan.step] = plan
            case ApprovalRequested(step=step):
                asked.add(step)
            case ActionStarted(step=step) | QueryStarted(step=step):
                started[step] = None
            case RunStopped(reason=reason, detail=detail):
                stopped = f"{reason}: {detail}"
            case _:
                pass
    done: list[str] = []
    steps: list[Step] = []
    for place, number in enumerate(started):
        plan = plans[number]
        token = doing(plan.action)
        if plan.driver == "prediction":
            fits = token in fitting(ways, done)
            meant = ways[workflow][: len(done) + 1] == (*done, token)
            steps.append(Step(token, plan.probability or 0, number in asked, fits, meant))
        if place not in extra:
            done.append(token)
    return Run(workflow, tuple(steps), len(ways[workflow]) - len(done), stopped)
